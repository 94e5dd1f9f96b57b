# %%
# @title colab-boot: pytorch 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "pytorch",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "39b4feb5d93f3067ca1a669c2cae021e50e5479d2ddbce4ffcb3f6bb98273053", "packed": (
    "eNpNUF1Lw0AQfL9fsZwPgtSQ1C8UFYoUFasWrS9KkPW6aY4md+H20uK/9y5J1Zc7mJ3ZmZ09mH8vrFMlWAO+JLixFX7B7fwNXGu8rukC1kQN"
    "d0Nd44r2Gew2kDvVtiQXcA+F9pwI8dE4W+iKcmGwJrgC2Xx3TCk25FgHl4CN0/FpkmVJKsWSWDnd+GGyS7PVvuwsW26xAmXrBk3g8GgXtPf3"
    "Jfp/ubuAwKVuWIYwHt2KfC5Uu8S4HVtvpRgO44B8SBV1h12g9EyOQH6ho8OjJBvLHAD2/u4eAZol1KhKbYh758AFY/u5WDVtv3NxHBfNuneS"
    "pWn874b/9ljmIVnhQj1b69aci/6SWEvs5ED2wEbv2toh2C61HYBQNKp1cI16h4YL6+pQcBxfX52MLk9DteiRyfMgQaWoIoeeBqChwvf8NMnO"
    "pWAsyJNh6/jXhcwmF4vnh+nT/fv05fVzPnmZzGbT2f3rY+QUWDFJ8QPaA7LE"
)},
    "lock": {"sha256": "bbadc1c7ff012b92734a3c25fe25c7e27ac474e4ded6896aeb2a258aa3877dba", "packed": (
    "eNrtndlWW1m2pu/jKTxclxVirL65OPUG9QRn5PBZrU0GBg7gCDtr1LvXNyWwt4SEBIEzK9LOxjbS2sCeezb//P+1pv7Hm/9d+nhTv7z5r3Z1"
    "UeqqXl3dvbm4ar/91xlv/TbenN+9KZfjjzc35e7DuHlz96Fcvhn9/O788j3vnf3y+7i5Pb+6fPMfb8wvN+O/P53fjFu+ePu//kOd6TP19peP"
    "5e7m/LO8ZJQJZ1qfGf739pdf/vP65mqeX4y//XJZPg5ZcP3l7uqmfXi7+KZfL+I73X4oxgd50ebq5qi+ZzutCrEVXULIzbQylNHDq+FdzN30"
    "Xttwc7ZqZ6g1JxOt8lZ++n/elZv34+5v3358LTdjZc80v9zNp8u780ev8vt92PxW8rX8StcX5W5e3XyU1z6Wyy8X55efPr8z70x69zmFd8G9"
    "/aV96kXe1lYu6Dfn3NxqXlxd3cirPqmz4M9UePvL++tPYrn/fBvP/Ntf37xNrF//leWvvPlq/WP/9ku5vpOlf/t2H2fXpf1W3o/F/ZTWxsXg"
    "wY0ti+oz7eRX+ePDGBe88H/eyFPYvmC1WbS6/mJXl1eXY8W9nf3x4YJf4dtTGNnZrJpJwdYUbR06zWDszH26VFRPc/gxp7ajxKmLUiqbqkrM"
    "yqWUWpBvdv4P+ck2ZePCr2/OL/tYu0ofs3y6uGPFx3FXerm7N+HUubjcbZ6WHxrTcEn5EUvsrmn/9s3/5a6+rI14PaZc/vbeyd4eMdX51Ydy"
    "ff1lfBm1XFzcbrvgWTzTe+21c9VqvfJpo3Gj1mgbgh4mGxy1Or5Kw/dSkgmzKR21Dw2TFq2dU7xYzbCj2xhcNN+Mpr2y6ajNvM+2xelHcrPN"
    "Fqz1jbhxodfgQylLm8n93N1dn2ArWbU0kRV3OWgjVq82K1bt2mpz/+fXgDFKu/t4OVtGkY77Xv0aW49sawf20yX5WaLOjqQQu87TuZGCyjqp"
    "6UoibcziWhw9VWe9n4rXSzfYZWFbnNTE49YN1ieiIJRmplcml9lMDoEUE/g1XFtad97eXo923Li35+8vy8VOyB6K2Iflq/WSp12P3wrnm6kS"
    "hjkr77FRHsFmq0oipKZqU1U8sg7lc6xq2ll1HoTuHMmMb+aJLqujtiHqOz9suFi8czwSk2uw0xCpPeK7L/C8y8urO7JTX/WrtmUgdabO3F4D"
    "PVzyjktW62VPG8lHXfgFW8hZN+dVNb5QWHpyxUZyjSmkG29diJQfrXUz3FqqpWC1bo36ZiRvlT1qpKRbCKa27Euwjno2fNEx5WBMda1sOdDd"
    "l+txc9REX86vtkzjJPDMftuwdrV5/0jSwrl978WXlvGSZFWuZJTanfMlNVNnJH9P20b2SlOAnR9F+9qc7tpltwgs45M+bpYZmxm9pkbCb9XH"
    "aAlaLaVd6xmsWppFHOfzMbPc3d3sJPWwgSd7zCJrV5v3nzZLIyGXQp4xfdbCw7O2FTeiniMAPZoN0xFf1XQTFO6DnyTbzVTOloYNv5klRO+O"
    "Z5vInQddQ+8O8wbbKxE6KMCqV83Pe35EtXFzdz7PHyMu7j7uM879Bauvi562kDEm9kZ0zKG4cZ8NqExHsY7YJ8ZEYSMLO58dj1qQmtXdkKg1"
    "/+p14TjWmpSPmsj45kLqs3UVeCak4WzIx9W3PnxMfddx2tWN5LV7J+IfgmHH7d3tMcN9KDe34447v/lYLvgVb3bqoQO27bPf5rp3365brdd+"
    "38JI2gJaBANAG7Xhn6FhXzPLrGQ5eS/62kl7iYRvegjJ2KjDSFkHlWb/9hiMcXzP457aqYJNOx909rUEcIfPeRRVQR5+O35PtfjFeftty8jp"
    "7EBiWy9drd8+gmDDzBMoZkNLOkTna+6BBBV7yboH3bOPWCTQVAzX8Snvjfe2kaOpj3GBYLUWYHfULo0sn3qLvEvj0vToPmRqrmtAW0Dflnt+"
    "ev+eLmuWNlYfPtVj5qHNWFV+PJdsZzoaD78/08k17x6uWW3W7XdE8S73PJ8rDgjUWnIaj4ohdzV9JGGVQc7C17QHbWTr0tSuA5ZAa8nQIoRU"
    "wzRhAXSTjUn7E9Kjdi1HnXqPuk5qdVfNz67JJlP76bZq6brRPMGk1/S9U37wzQ4iy0/Y9NtFq/XCp72QWt9nBOrPGJWhs6mxKEOCz7kQMQrk"
    "PpRTAg+yBcYSxCPjldweXVBYeCHoPpijdlK68DRGj4MuTDCOjo7azQ+1EfNvtVHbbnWCve6uri5+O7/b9UB1IFLFWveXrDbLsJU5e9JeYNKU"
    "gJGTguKUsoCTHhy3ZwGqOrnq4AGwGgmoZUdgzmJCHq3nCEswFkXF2OCOd510T4RsHjyilDE5uAZcMqvKrlYXnutW8n0pAbc7KE3t96eH1av1"
    "iqcdKY6ZPdBDGXF7Y7CS8B+hVVrulloHz7dkch8BtqT4UfGnFmOnDTXKLtI8mC0Zf4InNdtay0mnmCjuOjiiLxujaLlcNVsN+UmNeD+/uNhB"
    "9vYs7TUMK1frd4+ANJJ7obmp3smj68AQekBLAo7dFKOpdDM5b0CZZNqUKvg/gF2JDv7scZnjg/HHw8ub4GGkbJBGqtBvGRAPD8N5x9ctL43y"
    "1RdAHh/5VudYqY3bY5EmNhCSbgdzmHy2F7Q9LF9tlhzB+ilCDUx6EOLJFA/294oHrHQ11YYc8aZIGxTJUx5aJ49MM8DDp+2uzeuFEwVlw6sS"
    "FEtz7ZZHXjol+ubN1T/G5cX57U6KOkv74+/b+tV6zf76qJ+ujctX/aGCScxhbRxRN+m+C7SFGlQ+bWmdyVtYA8tnN0ZLvE9jXnpUARdV0dlk"
    "F2nNGarud2knfl1SFEcsveE7dloLf2YPGHq9fPWw5AhwmzCOZRLFADUqQKZXztA9MzWKp+uTL4B21LWmVWgkObDnmD2aGJuuC1vpbIn24326"
    "Kp6O1FdPtw7b0whlIz8a7IKx9Ct76Qetd7KgDvvNxsrV5t0jIMM2yJg6ogdtDFtnIO7M7AWQ27CKUYHuq9pepHeVoDT0+65a3SroeEnWRn+K"
    "wZ5BbHxtxI4YZa4+j92w9ftpxw/zHWtX6/clWOOq1HP7nM5q14BQ1MMW+e9oTRtkEwhEUhfgMktnQAI0AuxVxKyUVOhAGJFSIcMJT78ghpzX"
    "Lp0APLItM/Ljh7dQlYkvA1x74DeXti2OlzcLXw2+bUu1v2d9WL1arzjS8HcQWQT6O0UXORtYQ+CBMigFkSevKiDK1eCgHJultQzeAXbhYwuY"
    "3fsFxwikOMFGVCkI3oQ9dYJU7Aqkn5rLwXsejHsuUbRZsx16Jh3wMVm72rz/tFV6VnkClOh6FL9dpPFONCs0PAU9o9N7UjkLFW+SVTw2ke4z"
    "J18hFn0uC2AGEabjcchKRleK3tKMSXcrdC5yA2wUy1sz+k94zs7qbQcyB3L74qp3XLXarFwdQfk9KBfpdnwBfk94aTjGobib0XRWUK9FhWET"
    "Dgex0ayDaWqQRnMWuoFF/0hXZU8AIkXwK1UdBj9X3LY4BJpIvx9MgxfZ5qu/SWu/vtlK+A+6093Vb+NS+J31q3c35fJWhEL5+mkLn/fLsqut"
    "7AXAslBklSP4N9ITSLkiw9eQkMs8DTgYb5BGfCMtT1GearMkMFyuOUWJLCERucnlpR0JVe9P8L0JM6K8tm5MS2vpplLewMlB+fHvLTOu2eq9"
    "9Bv//lJujmGMv59f/p1fccdcZ2GfvTZrV+v3nzZZ8gPVmDQ9XTZ02RrGB1KBv/GskCAqQpnUSVv8xO2ySr1MsACtFt1FWLYM8Bv5OGsZaBKQ"
    "RLp04BW5QSsyJgw7aiA4xzy7xfxYbn7rV39cruiqr7/sNJpmf4w+XPPu/O7d9ZfVet0xVSDS4jQYfoRepCQHkeg89ZFGm1uIKMB4Wjeke8jc"
    "YmubZOuECkyybq58MxM0Yzqe1SpSQqUncXT7EMuT7ixTEoF3NdOPb0GKm/OTjPTp+hZqesd/DkhJ39av1mu+L2WbhkZZypEMiHfYdTK00SQS"
    "Hgoj/+3Ww6XXBKSCHlL4JRaJPg0SPhTmkrIlrF+1GbiPuiPm7Z9udlt5vZ8FWi9drd8+Epjk+lScHl4D2oujqGaIZp31BPF7lYclfwmrgcYw"
    "AmIn1EbxVLwcappp4XF0Uq8qJuyE3BHbXH+EIdwpngdq52btSh9viuAKEXaRapVEZZItMS7K/gutUrRoaYBI8FmC5idomoLVJoYs+LIlwrQt"
    "pUtsepxwJcwdvVaLoLtGeeHbAmfozXRV2GqL6bj98vG4WYQB6edtG+OHQ9svvi5frZd833issw9DvxnIbh1yqAx4NQvkGE0lD4CtshnGNtwD"
    "JqTC+NA2wRBGTbuZwzIefbDmOI0kNLnnGdZeXQE4E4x1QD+WIgRAGAe68xOK5hbRtB2gUVrJg7a+v2Z1v068EVMf9EeqF8J/8xYKVnVpOpUC"
    "XCUonkinHgdpBmFUUxCAvb20Et2AI5ObLWW530Ajt7vjhAaAxQF2DJ0DkNcitpYBTeIA27Dlc3+T/rStLsfdH1c3v33eKRF7abaHtZSHIxwb"
    "z5Z4E2JH2oAxLB2TddTLjl18TiVE5KDiU6V5BE5hrGxnqQFEQJ+06CWNphSq4+m9eDAZMY9+x7fseUAmwVMW6ACFS6XnIozLTx93gIU5xPGv"
    "l67Wbx8Ul/ZE4zJwH+1kgbWda9yaJvo77WSycPSg9shffULTA0QaRDR6ACHawzCxZdU1uged1pL+QQPQ0b4uWXa4OyiXvez0CRj793Ox4jMb"
    "hcvfSX5l1T7Vi/JI8ZNW3e59Guur3m2uWj2s/OauW9nwIBkyBrAUD548JF+kMUMTqYSaN5rA84QffXgn/0G/UymnbKRBk4Feh2CPS5LYWJH2"
    "T+nPalExCSUq+yoqcg8ogCbfk4QnMvMj2epBivp1Yat+ecmf2m69eHt18fvRnTXfvoX8cX13/ljiQjp7yuJd/uDC1f3iA0Y/TBCPiuCi0iBF"
    "1Ine3EHBhrbBDLAN+GaGjl+6iKiBsjcJCbKDN0XoN9sW6AdwrqH44vez+em2vPz95q7tsWU6Zsv1hfe2THtsSQJReyu/OShZ90yAU4zoWSza"
    "BtQnLbM0zbkL4cd/rDJorxXlD/Xai3pWJG8rnklckFcZSoLMqv5/MPD9XubHJs7hmInvL13dL99v5GfyqBSztdPGCPtVjAUmzREDLTfsKUIS"
    "RrCk1aga8N12nYyeEOypDNH0Xdrai4L+bf71Nn7IKUsL5zON8H/mj9j48vKdXLr6uvy5mbgbNahfzio/csdX0e0ytBjRT/bt0VIoNQ0kfP6o"
    "wwV4BpsjtA/kBRh1Lnh9WpuAPY/jLKtKrz0017ut0utrH5JDB5QeI+r5bDDxYMk5d+h9QQ3qLOgnjchVq68rX8VHuTU3A9wPgjAtJFDDDohF"
    "2By8tVeanRlNzxnyH1LNNLSSLnseR8m9l2638BntgTth5xqUtbIarKeldvJksgcjAtH8dAhOf9pL1+L7zjkAf4gr+2ZbXlg9rHwV29LAW+g1"
    "+DNfKGcov1oLq93Qn3RssQlpzU1j9DpAq2QFegZ0KlFZUA+We0mBDfFfH/9Atr5tWSWbsc/s03BALlt9XfrcuNe0gZYY7iUM3auCaht0//Aj"
    "yHsAYOCXVdMal7qHIqr0qfAXQhllh9KybPYzXZo5YX/V97bjPQx7lADcWXjaSTcXrr4ufq4tFW1QRu3sA65IAe8VAa+idBMwPdXnQb+PJ9ZU"
    "OpgWmwLAsnO1VECCXlDksoHNQZ2csDveKw9Eoz+WfYUk6VnRlmsEUVjlTP3TxryWjaa7xgywSE+3BZvrVg9rXyXkTQV9ZiGZlB7INw6FQZpa"
    "UadU0bqAprqPFY4uNgoWMjHVC7vzWCyEypIIgGg22cbvl05f3hhsTHdx9xgMqEO7S3bMfnG3QQPr9UdM/8jI6DqIqgX5mWLvuyu4lZChpNka"
    "Mswl8DV6eIA4oEeqbnDzXaiqHLtd7vHVSI+ybTOfwFFVYBoPBKVXN+j5MmEseNZw0pU4eSEQuGzt4rERjQit+QkrymUb+22W7k8D+iDFRwUH"
    "FUnWJIRJn7PoLhsxA5muC2nVTZpEuM0OykTxonERqtX4CS/jlkezcnAZ7et1G6znWPD3v5/fcce/PbOx+nrdq/ZVQnRBO5kMg4pbaJHBIeBD"
    "qdikNdyNbstMZ+0A/BvbsTBVDZ5aQQjGRfwjTmq82/5zyII596aDXx+n2RMfyu2Hj+PjY8+WEwD+yaeyvnDj2+vFr5OWs5oKnnXA0siByiTb"
    "jr3sQOYhZdqIKWICeSN0RUM2hk4ICJi0w7LWtGAh0aa08S7869z97vMz6Ri55AkiRj9z654NcIswXWrWgWRUndwUmntxBlrGdT3JICTauT65"
    "WjBAyGSa7smbfYlpHT7/L+NlNq+cX77fPSq1l9j9uloOSx1R7jwJ0gPXBTYF6Kc5jdO+DZBAUhEK3CT6KIRiarOpUsVwPGS3TIUBTi21AKW4"
    "wVfdf3aYr92zfe8rcXs6U3vP+u4Us0NGlbWr9fuvRZcLb1VgVCKKVPSBVlVV0CeEQaHlz01ZX4uzY31yAlEr48INVhdNT2SIJTQwEArIWce1"
    "+hCmqSKVpqZq8XAUGRWnQxIU2ZD5AilmbfgdPTnvVwZl6Wrz9pHtaloDN01JOhgN4NQofBR56DvZw96iM10QfspyksRlRFUTsYgDJehh/fLo"
    "RcKSJ2wOx3tpf2FmtOyKwdzF5ArTGCI9QJrP3zF/fX5xcfXH4+y3F29uFm/y3hNHfZ6pjWKlYCs+JnshAZwaTJmrggwx1gbfbSyVh08JCdB+"
    "NbrslLOmJZB5IxgXW7W0I3MeN2Pg0QxqUMCdm+m65dJx6iFnmPXo/VEduVdYjpjy5uqa1PBh7LiZPxCqD8tX6yXfV38O9PJJR18MLSm6Cwm0"
    "udFTG3JiKpP24U4nQAv9ZVqQVvYRqRpHK9BWy6NqAfUqf5e5AafJz9e3n+7Ot3eG+LO8HwBt1q7W74tlw8423i3YeRyhPi9tJjwZ5djILgri"
    "PlTk/ZJpUz1UNUW9IdDGqlFlDHU4kRJiQ+TqrZmAVr+o6iYZeJnj+00q8k3hwakAk9ujUkI3wthQ8RDTzOGatc6NR8zOo7nZTRTp0CHo+9Wr"
    "zYrDmeKgvzZvkN1LCTOgjCifehqmwfnXCQdFnpidPjElEboTvWuzJUBAR1gYVtrldmkF1AnhOC3dhoZI0CZrKFjgquAKob1hVSwQKb2k5nx5"
    "/3Fc3j2q3YfS6/3y1WbJkc1McnbGiKBsJp0lUkghkwWKDFmyUJQrTRBGFP6pO5qkibSX/JQYxNWWh0/RULU/4cCHUQS181R2rE1phuVyoCsL"
    "CoN4Ms/cQLcZh7Piu49HEW3k2OPZ9dXt3QFDyaXvHi5dLZYfP/9XUgXYxTrhkIks0mJL0OxFeIwiuyfJefAbQHLaFzuTV0LMQ/xEF6HW4vbW"
    "uBOK9qiYasiuHTnvROGeVQ5EQZoWSNa+RXPcY72jlvvH44Mx5oCl/rE5FHPCyUhiZ8ZgMk6V4GXIQwNZWPZfWjSINC0i/YSaqTgYcqaq0QTT"
    "0dnUQNJQy+EV0JwnHAB8DgF0omW+lI8XO/u/Dmxl2Kxdrd//zpu/im4I7yU2iq9BIW4xeigy73RwMu2CvtgEn1SpSWS3hJkh5kPRQBII3sVZ"
    "ZnJZVH+p7uVmvB+fH3ur1vufynr56uuS7/tgijZAy+kbIBoBkvJJyQa02BSB9iT+9UFpR8NBwXEy5wD8ifjsXFF5pK0HA+X8umfmnmXj+23v"
    "2znUmv1bkR+WrzZLjvQ4EZ0CTb0XoTLh1Un6oG+otUEBRudA6aClCzIyCSIopzXxDtjR9OJ1uS00uHQCN6H6kMMrjVwDgqT3Q78zAPSIbhri"
    "9jbtE8vwuhjtdDj5gGlYutq8feRAHKWv+xGG7FKs08SYS7WydRpqhnaGmx8FHQ0NQiOs5zxsBGhn2UlrSlbbxy3N8aNKBg8k0QLcaavB1KLf"
    "xVJmiARDt+m5o35kJ/rduLy9urk9TWxYXHCvMEhUqj2Q+nk4GWqLIABZ0NpLigQNp0G5lHMgGNR2CCqDr1XIB03hplbMiE4OvB0lxgVOhsRS"
    "7oTsOFw3EEqEH9VORg8NorwFOZBH9VFHcPJiKtzzMiGe+ulamLRtgyd9qN3+dsFqs+hpl5xydt73daM1kcEdrTLR2sk2AGdaPQg0jC1tXSoK"
    "RK1BJaYNKRKaZUuSTKYAHE9nJvYUIT60gpLUjgAYkgRQQGFr3Hz2ttDbD+MCf3n/oXx8dE5zb7guLlgf1nTHQU4cbQpVYuQ4L80ssC5p3MbR"
    "HAewbZ2pwOAUmAHCV7ZfAKu1UWjhI4XlSVbSnH/VQwAnhe35591tGPGA95x/Xm3ePW4U2fRH2w/3kUlnsM2ynbr60mgXSDKqW5k6QykwQyP/"
    "UQsqERnpy0KzZhmDaDNencDvOae7l5+j5DC6UXFM2QmEJgbM3B7FuNMnHLHPl92dxYcHVq7XnjarEoduDe+Gk9JO0x8UQzGDU5kyKRQ6FG4D"
    "xAbLUXOAhZfqNWXMm66dNYsiiDRCUjtuIaRmvn0VyRB3hTakBdEF0Usw4vN3XC8OFO4cTz3AJH+7YLVZJOk+/+lsbyGMgVPwuk2rVqHxHWjL"
    "4mLZ8y/uDjIfMR+BqAEpEnWTF7KCXY4I8IvuS/wun0KLaBmn4UASlW4lNVurHFWksRNN0ZYXYq49s2bvB83usyVrV5v3X0CGqBmSbDsI2Khr"
    "qYUy4DPSS5rqxTVQNBxdhQcHoBy3Kf4nPKbrxOySZvbgNW3MCYeXpuxULR16ysoYpka/kpubaHw0hyDj5xVJuf/yqW9Oa57OqC6ue4ah1xe8"
    "3NrBQ9Sp2qvJvUz4HxiCWqOSQyYTEsoi81dhojC7DBFes0MYpSAFNIrLcgwoHnwKQfCcNvgkVn9p4p1wD09YbnPFarPqBabrQRdPhgrVwWQ2"
    "1SCWuAkAb3NynAZwoFORIVuw99y0h49GDRk5yZb/smTyvTnpYEqsMoa1e7oRhzSI26P5DWnlnEUceYEgcvff/ePOkdcQ9/eqsnS1eftI+aBq"
    "AiwHvQACbVhzTiIHyXjQGmgqNZ0oUiYyZw4xdNQQP2XSrwoyv3cuxxrY6E6wirV1ynGphDDXoOqGdVLDZLaStf0Z40Ze0PFvLd3m6eXAyF5L"
    "Li5ZbZYdEYSFdCqpFCvThIgR2Cp4SOhvgpXnrlqCoyITulnJgw54Ia03XlUmBMhSk5RByPmUvTZZdprhsQ4fD0NGninYnAJJoKqb5uXjo+9u"
    "zu92AtWeHYrT9drV+v1XU+AimF1oD6g+agwykJNZxCFBhlKETeoFCquLCtFnoBQD8kKVEXyKtmEuFTidcNiQToCA0+ruUtcVHVTo2IAgmqxF"
    "UK0KwdQ+G+CswfOjZLd3u9J67SbNHRl/YL02rdDbE0QouWhhiAQ2jKSkKkATpYRzxWjwQBRcqOQsY33NsAZvyW1ru7E/YWoL/RoEQTfodAhH"
    "qJ8e2GM6tIoc/Cz+pWjly7XstBifpYPHPrvj4w7NB9pc9+7bdSt3wrQgOqpWCn+SrPAW25B0Y+AeNSwbkg2kRXFy/GUAVkZdnzagR0UGjuSs"
    "kZbDbnz8J4yi+vXNYpjEy2Yu3f1DfpvHo3D3V4714s0YXHu8PetNURfsOqnNQGcm9kS17rQINGJORXq26bvzaH1+oC7StsHS9zi87CRcgGYe"
    "SjhhFmblAVoLiWfJq6BnDwwcMsotkCdUejYx/+mGPr3u7sg8MFj0fvFqveDYCNaqNKZpatIbaStnYWFoAcVJyZw+5EIFLHC0mPT2dPtUUzo5"
    "eCJYANW34jPHEzYGlSSDXrFI96iPcnQUVKwRdmDyRS55wWjaz58/lNsPO+n/wNCgzdrV+v3vPEHCgN/oIQiiUej7E8KooeKFplzKrlfxSTRa"
    "n6nBsm0MbYKyQd+Ag6IULWUyHkF+VdHiROJ3vZ1gZ8bQgaG/snS1efv72jWOiCCICYIMt4J2dF4P4aEIZW4Vjt0VWi/u2XnodENTkYan1y2h"
    "1uaWHqt80Me7i1qgVNRYa3RxwltAp9I/EtGV/6tjY7+XE1rXn/GyTloqrt5ff9r6pJM97+584onsWz30kSfWP/7IEyPV+9FHnqAMBbX+Xj8/"
    "8uTxs//5GSbbRvj5oSTHP5Tkh/qUkR/zY0N+lM8B+UE+2ONH/KSOnx+98X0+euOH+SyNF08t/UuP3P8xZuj/6EPxTyT0fw63Pzjc/oeeVv8q"
    "7vNXnDr/c4z8K9bJv/Jc+B9k0PvPye27uf7nKPb9dvmzs9X/XYaIP3Mq+F9xbPWL51D/2AOXf05QvnvJSOR//9G/L53l+8LhvTIRxuyO6hLK"
    "RR+d4CszYczqYflzB5+l0mA1o+6ih6cGV19lYgkhV8hOlmJdkHKVzO1woscHhRtOX8v6uNBy4hGpG3I7myMutjsz0+yZr/P19WeNjpSpvPdj"
    "ox6ZMp+ZeHQy7/3wqLUx5YJXGbFjZc7L0LEN2XdP6sK0HfoUlwQDTcE+5PuJTJAAyDgu1vVgSIS1TiJbbpbW3hxlxZ5tsfU44v3el9VJw4wX"
    "DpjVq9iM3rdVBSroBdmw5mpyBUC3Lj6KlBTxS/lwYZnZ0SmZ1stpNTqKmvHatFQXaSBSOOaTzzXa5e+tHbKZPT60uLWlyeyrDNiCN16LEhUe"
    "SrQZ+dgYyMTatO0Sx3L6NxZcKARpwwyYkzwaqCsGKKWX9BSvA67Sa5tMRjW/3GZc/fpGKzH64GFsvRkzwTrJHBjXQusAbgQr9FpHmhtAjVZo"
    "3CAlZpoK0VuOkSzFLKC8tDL5dY32MHz5peF5f/3rB2jpsBZJaq4a0BIG9t4o111SXSYIdwsuMzI/qDg5W9pmcwl0oqYcu63Lk5PZyw7J1zTb"
    "Q1l58Shm8/JRzHDeaIWqKPJRtbJZfsrGp+mCAZ5JLHaEj+DbDB36K3oczupEU1BsgBZftndI/SFp84qmkSnJj11JPlYG+t8eG7B870UPy1/F"
    "j1xHXEQkXmcrjKJrkGEdsFxB9kAMOUEw0M/hB4UxbbIXVOnJRaq7uXVmLVstx3Zf05XWk48fG2y9tf3IDFV54d5g98tfxV5a5qEpZStsuRra"
    "AtZ0kwEnUCcph9xk142N2XgtHbMtmETJQHUtx7SWI39R2NBz3Staaz3M+LG1RFvKx3KVXHtvrof1zw29ao2V7egTMh1abXA3cueNBF/lE8Ki"
    "7ByV+YYQkNOHSXKKzULClGRpC5aCvXz0UY7hFW2zhLU7wRflftUJw42/xt/miufax9kIYtKlmyBAsor8WEz29JcWji1ANIU1GiWZW5VhJWeM"
    "MqSnYjy3ZJ1NiF7c8DVD7X7m8L5C548jhM3VX8ucfwIhPDfgZDZAj5T+Ckkf1p9qlYi8AatLWs8+E3kOwXMI6RAQd7uMVqjr3U3aLj9oHjgm"
    "cyjCie3Rn+mElmOIzS47caSlXI4hNiu1vRXwtGEA66N2MMDQWYq+ktYHsY9OsiF9RyuDiiDDHOwFFrNQ4srUWL3sQJZP2lwKfSmK3JVfD75f"
    "nFfw99XH68em8evPwTFPWefr1RvjPFxxIBQPn06UUUJUKzukYZHPuZApjMlEhOXqu0wxGmTuQQU0Kgd0dESEniuRCC7d+uynlOXw6Oul8cu9"
    "DfTJc5fNC+cuu+RJP0LpOJQAGWkPf5eQROG4C4yvacYnIBMhR+AB04m8EWHFEMqGL8swyyESaDa+nkl+P//4vl2hVu0PJ1g8/eSU2YfLv0WU"
    "XPJcp0EWtc7HRMbhTydnEWcohlJWA8rSRDWfQ+bcILDI6Lla0ROMTCLqWQ69LngEi7JkjHpFCz2MjH5Bf/f14tdv7xLkuvCk6OzkZaHVPagH"
    "VE1Zo5uDkClVRFZdIRQyAgPYHLjekeWjBZAuTAaigmU8NXd/BdpPUFt7S9/zEv1imrR56TRp84rTpJUz05DbJ/0ysl6vSQa9+jGIXmkI0bLp"
    "p6mejScSjBwdXn9GdzQwF7kuD3Ra2SWhXhHNr4c9v6CPlutev38WsWIYpWSmWI9eF4gaAzPYAvCMDlLG0FrjYLe7TDilN8oyi6WNLPtm9OIw"
    "ccp00H/eSn/psc8/5zi/7hznH2Yw8/MnLf/Q44F/zvt9hXm/Pwf4/ulk8xefyPtzxO6e9PtvPjP35xDcE4fg/pxq+8+aavsjjqn9YebO/hwk"
    "e3CQ7PeaDPvvMPf0Bxlk+uLJpD/SBM7XHan5P4VDS29/Of/I+tXV5cWXA/NG/rUDKZ/9a77GLMfv9UP/klMQf441PGWs4cvnFP5VR+z9nJl3"
    "ygnXp4bg/VvPvvuBhtn9nE538nS6n+PmThw3t3cYzf8DPG2N+w=="
)},
    "variables": ["TOKENIZERS_PARALLELISM"],
}


class ColabBootStop(Exception):
    """Ends the cell, and with it the cells queued behind it, in one line instead of a traceback."""

    def _render_traceback_(self):
        return [str(self)]


def colab_boot_home():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(home) / "colab-boot"


def colab_boot_write(path, data, mode=0o644):
    """Writes a file whole: beside its place, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(name, mode)
    os.replace(name, path)


def colab_boot_binary():
    """COLAB_BOOT_BINARY, then PATH, then the pinned download. A download with another digest is not run."""
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot")
    if found:
        return found
    wanted = COLAB_BOOT["binary"]
    if not wanted["url"]:
        raise ColabBootStop("colab-boot is not on PATH, and this cell was built without an address to get it from")
    folder = colab_boot_home() / "bin" / wanted["sha256"]
    path, kept = folder / "colab-boot", folder / "download"
    data = kept.read_bytes() if kept.is_file() else b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        with urllib.request.urlopen(wanted["url"], timeout=60) as reply:
            data = reply.read(64 << 20)
        digest = hashlib.sha256(data).hexdigest()
        if digest != wanted["sha256"]:
            raise ColabBootStop(f"the download has sha256 {digest}, this cell expects {wanted['sha256']}; it was not run")
        colab_boot_write(kept, data)
    if data.startswith(b"PK"):  # a wheel; what is to run lies in it
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            data = wheel.read(next(name for name in wheel.namelist() if name.endswith(".data/scripts/colab-boot")))
    # At each run: what lies there may have been changed, or cut short by a full disk.
    if not path.is_file() or path.read_bytes() != data or not os.access(path, os.X_OK):
        colab_boot_write(path, data, 0o755)
    return str(path)


def colab_boot_files():
    """Profile and lock on disk, checked against their digests."""
    folder = colab_boot_home() / "cells" / COLAB_BOOT["lock"]["sha256"][:12]
    for kind, suffix in (("profile", "toml"), ("lock", "lock")):
        data = zlib.decompress(base64.b64decode(COLAB_BOOT[kind]["packed"]))
        if hashlib.sha256(data).hexdigest() != COLAB_BOOT[kind]["sha256"]:
            raise ColabBootStop(f"the {kind} in this cell was changed; make the cell anew with `colab-boot golden build`")
        colab_boot_write(folder / f"{COLAB_BOOT['name']}.{suffix}", data)
    return folder / f"{COLAB_BOOT['name']}.toml"


def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing and initialises no device."""

    def of(module, attribute):
        try:  # a module may be anything, and have any text; JSON may not
            value = getattr(module, attribute, None)
            return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
        except Exception:
            return None

    def encodable(text):
        return isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text

    modules, loaded = {}, {name: module for name, module in dict(sys.modules).items() if encodable(name)}
    for name, module in loaded.items():
        top = loaded.get(name.split(".")[0])
        file = of(module, "__file__")
        # What lies in a regular package goes with it; namespace packages have no file of their own.
        if file is None or ("." in name and of(top, "__file__") is not None):
            continue
        modules[name] = {"file": file, "version": of(module, "__version__")}

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    initialised = {}
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
    if "jax" in loaded:
        bridge = loaded.get("jax._src.xla_bridge")
        initialised["jax"] = asked(lambda: bridge is not None and bridge.backends_are_initialized())
    if "tensorflow" in loaded:
        context = loaded.get("tensorflow.python.eager.context")
        initialised["tensorflow"] = asked(lambda: context.context()._initialized)
    return {
        "schema": 1,
        "pid": os.getpid(),
        "modules": modules,
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry or os.getcwd() for entry in sys.path if encodable(entry)],
    }


def colab_boot_run(verb, *options):
    """Runs colab-boot for this kernel, passes on what it says, returns its exit code and its report."""
    command = [colab_boot_binary(), verb, str(colab_boot_files()), "--python", sys.executable, *options]
    named = [name for name in os.environ.get("COLAB_BOOT_ENV_NAMES", "").split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        facts, report = os.path.join(folder, "facts.json"), os.path.join(folder, "report.json")
        with open(facts, "w") as file:
            json.dump(colab_boot_facts({*COLAB_BOOT["variables"], *named, "COLAB_BOOT_ENV"}), file)
        command += ["--kernel-pid", str(os.getpid()), "--kernel-modules", facts, f"--json={report}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
        try:
            with open(report) as file:
                return process.returncode, json.load(file)["report"] or {}
        except (OSError, ValueError):
            return process.returncode, {}


def colab_boot_set(variables):
    """Gives this kernel the variables that it has not read too early; the others came with its restart."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def colab_boot_server():
    """Address and token of the Jupyter server that owns this kernel; None where there is no way to find out."""
    if os.environ.get("COLAB_JUPYTER_IP"):
        port = os.environ.get("KMP_TARGET_PORT", "9000")
        return f"http://{os.environ['COLAB_JUPYTER_IP']}:{port}/", os.environ.get("COLAB_JUPYTER_TOKEN", "")
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    for path in pathlib.Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        try:
            server = json.loads(path.read_text())
            if str(server["pid"]) == os.environ.get("JPY_PARENT_PID"):
                return server["url"], server.get("token", "")
        except (OSError, ValueError, TypeError, KeyError):
            pass  # of a server that was killed while it wrote, or of something else
    return None


# Runs apart from the kernel: asks the server for a restart, which no front end takes for a crash. By then the queued cells are
# gone. If the server won't, the kernel is ended, and the server starts another.
COLAB_BOOT_RESTART = """
import os, signal, sys, time, urllib.request
url, pid, token = sys.argv[1], int(sys.argv[2]), sys.stdin.readline().strip()
time.sleep(0.7)
try:
    request = urllib.request.Request(url, data=b"{}", method="POST", headers={"Authorization": "token " + token})
    urllib.request.urlopen(request, timeout=30).read()
except Exception:
    os.kill(pid, signal.SIGKILL)
"""


def colab_boot_restart():
    """Restarts this kernel so that no queued cell runs in it: raising aborts them, a plain shutdown would let them run."""
    if os.environ.get("COLAB_BOOT_RESTART") == "external":
        print("colab-boot: restart the kernel from outside, then run this cell again", flush=True)
        return
    from ipykernel.connect import get_connection_file

    server = colab_boot_server()
    kernel = pathlib.Path(get_connection_file()).stem.split("-", 1)[-1]
    if server:
        url = f"{server[0]}api/kernels/{kernel}/restart"
        arguments = [sys.executable, "-I", "-c", COLAB_BOOT_RESTART, url, str(os.getpid())]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen(arguments, start_new_session=True, stdin=subprocess.PIPE, text=True, **quiet)
        child.stdin.write(server[1] + "\n")  # not an argument: those can be read by everybody
        child.stdin.close()
    else:
        get_ipython().kernel.do_shutdown(True)  # noqa: F821
    raise ColabBootStop("colab-boot: the kernel restarts now, once; run all cells again when it is back")


def colab_boot_apply():
    code, report = colab_boot_run("apply", "--locked")
    colab_boot_set(report.get("set-live") or {})
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; what to do stands above")


colab_boot_apply()

# %%
# Holds the installed files against the lock and tests each framework in a process of its own.
if colab_boot_run("verify")[0]:
    raise ColabBootStop("colab-boot verify found problems; they stand above")
