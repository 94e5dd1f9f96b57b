# %%
# @title colab-boot: pytorch 2026.10.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "pytorch",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "5cc6428b0a6f0237b83e28ce90552d414e36398c4cfafb7620cb74b693f12ff1", "packed": (
    "eNpNUF1LAzEQfM+vWOKDIPW41g9QVChSarFqaeuL5ZBtutcLvUuObK6l/97cR9WXBGZndmbnDGbHpXUqA2vAZwTPNsc1jGef4CrjdUH3sCMq"
    "uRnqArd0zmAPgdyoDhm5gHtItedIiFXpbKpzSoTBguARZHlsmFLsybEOLgEbxIPbqB9HsRQbYuV06bvJKc1B+6yxrLjCHJQtSjSBw71T0Nbf"
    "Z+j/5W4CAme6ZBnCeHRb8olQ1Qbr7Vh5K0V3GAdkJVWtu2wCxdeyB3KNji6vov5AJgBw9nd3D9BsoECVaUPcOgcuGNvOxbas2p3LZtG0eYf9"
    "OK7/l+4fX8skJEtdqOdg3Y4T0V5S11J3ciFbYK9PbZ0QrDbadkAoGtUuuNZ6h4ZT64pQcD1+erzpPdyGatEjk+dOgkpRTg49dUBJqW/5cdS/"
    "k4IxJU+GreNfFzL7RCw/Xkfvk6/RfPE9G86H0+loOlm81ZwUcyYpfgDT2LK/"
)},
    "lock": {"sha256": "727491ec89d5baada8d6e4c8b90b5b79ac71e9d1324842103059598c771601c3", "packed": (
    "eNrtndtyHMm1nu/nKRj0pacReT5cbL+Bn0Ch4M7jEBoQgABQIuXwu/tb3SBZ3exGNTCgxt6mYoIUUVkAalXmWv8hc/V/e/M/Sx9v6uc3/9lu"
    "rkrd1JubhzdXN+33/7zg0u/jzeXDm3I9/vnmrjy8H3dvHt6X6zejXz5cXv/GtYtf/jHu7i9vrt/8xxvzy934+8fLu3HPP97+j/9QF/pCvf3l"
    "Q3m4u/wkXzLKhAutL4y9MG9/+eUvt3c38/Jq/PWX6/JhyIDbzw83d+3928U3fbxJyXe6f1+MD/JF31pwJlVVwlTGxprsMKmNrLw33Wk3bLA5"
    "NddmmTUGo1qNroZspzZzavnpf3kod7+Nh79++/G13I2NvdD8cncfrx8uv/sqv9/73W8l/5Zf6faqPMybuw/ytQ/l+vPV5fXHT+/MO5PefUrh"
    "XXBvf2kfe5HL3JDe/tLvLnm4zby6ubnbPonxF4FI2be//Hb7USL3l7fxwr/99c3bxA/Y/pXlr7z71/bH/vWXcvsgQ//67Tkubkv7vfw2Fs9T"
    "WhtXgxc39iKqL7SX3/2f78e44gv/6428hf0bNrtBm9vPdnN9cz02PNvFP99f8St8ews5Du4oqkY7nG81hdjrTM13311v1hidvXNWqaFaytm0"
    "aC0XzJjWttHkm13+S36yzc5k/+uby+s+tlOlj1k+Xj0w4sN4KL08bEPorIkzWd6kykrlOl23KVertO3WzvH2zf/mqT5vg3g7ptz+9nGSvV0J"
    "1fX1zQPP3Tf9pu1Fi5l3EY8G68st77hlsx32dLhCbVbXWkcLfZYyetMhhl6b1r32ksMcxhRTfXNELI9autY8VXOu5N7Ct3B5k8JqsJTmLjV6"
    "HCm15rzS0U3bYlE25pD8MlgPn2/H3dkhktH3B0FKJ2bU1yBtb9psBz4dpqmi4cUm5UaxPg/+mjqnqsuMhSWfnU1JlxSnRDMGN1OdzLRas9N5"
    "qG9h0taZuBon7zNRmX4kN9tswVrPDM6ONxN8KGVvUn3uhcTQVkP1+fJmL0DuQodTEWLsZnf96cC0EMoI1g1VkzHJ5lCTvFRdR7WGsJjQyXFa"
    "mRlrLU453VSf1admMll0LzDe6NXIDDOy9zN21wo/yTgfm/Yq5OZDcjosI/P+4eH2k1mJS7u6bL/vxSVd+At9LCzboZvt5aejkmr1lmVkFL+Y"
    "VzYFMhDFIQZtyTbFlFZ685PXTIZSBDB1parrM/s4bFxExQQd7KvOl/cff/uNQjlLG5v3H+taeKgUm8qP55b99UXWzxfuaJy4592Xeza7cZt2"
    "a7V5/HOvKrnHqnRxtFZ9vxR70S4W69xIowxSfQtUT7KtSV7PybRgdsxGGW7ZUofdGGSv2EoJLre0jK32Wum8Gt0Uu81RuTp4U1LeSY3VqZjz"
    "7GmWupe1tmDhjJjegl2m/OC7g0KYj6/JbVC/3bTZDlxJ7sb0GZ1TM0YWoA2VRGuKDjkXKqRisgzlFOUvZ5t1SnOMXHXoqgFVwmJxMqGCedXs"
    "vj+vno6XfP/78bA//fyFOR6oL6M32xFPR4hXmgFpyTA7pu9V28HCtHkAymxnnebsdYqVgDVqH5km+zpD84lqmc1ioQaVWN7rIbKz66B9K1ZN"
    "pf2cweoYoynelRT20td5KKFfXl0d1D13PH3JyM326tNB0UO3Ye3IMRX+kIQypydHOaaRNZLgmwsttuDbjDqStGZtxjgWXmYGLFeYOmd9xViH"
    "q8zG5GOyPhbWWxqpR2OqYm4ug/J1LgCjPvCtLolSG/drU0hiIAzioACaLYT+PlRfhm92Q56Ol9F9NCARS0zrMKhMW4RpW69WTyiArdax9pLz"
    "Tl52DT0qn5lerEpW3Ld4GYLoXnedLeN1mPn50jnpat7f3472PQE6kah2wzdfhqxUyt7DCC6MnEFWydSe/MyxOD9C9SYU4tEjSNwyKVqIcKVh"
    "oidF+dmqn8vY6WjTauyKnabrmGVqO61bZx0CX5xrSWfj9CvH7r3WB4vzFOZi5EadgbiCbYDLOqInuw9LNqL2G6mKPTdDJlGgz1nJXiOYLsDA"
    "dJILU7HV0NIiqdvo9Tq/SRqMZypzugSpFHb4omPKFJcKBmuHgKvd3I01zPV+bj6Nh4O6dwKtv5/vGLvZXhf4kDalXtpvEMIofRRB6HgKQRiW"
    "Xo0tK9e6ztoV5WxuYWirQtMQQpdjS7XDFbOadZD6Rp1etwKS7WGR3yCIZL11eJat8ATjh7epusQ/A2wp8JvPmnUcL4dn3yK+tzxlHh1NbF/H"
    "b3ZjVipBUF6XYYoDvsegVCSDTSYU9dHlQjKrBtzVanVDOx+qo0YqslJNUIBcvkUqee/XwX3rHrAGi3BqVDWciCfa16IIxkjZPRvcPw46Pzaf"
    "zgvMVL5pW5CpHPkXgUEznQIrLxatfJpKAH4wyD2z9BwG0TAhDwqC7S5M/y0wFNm8PoFQFERHskNeQ/Y5BTN9IV2KyOHKH5lAB6P3Q+VOrMlv"
    "N73jps124ArSMtRIyR6ELNaONCIZqpK+QmFCxYrQMIBanuwOLHUdyWySpaltGd6tl1OJsrk+l3IaPk5Tiw8s42opF0xk0LA2kHIXlyFbiFK/"
    "vtlL+18Um4eb38c1P/9u+9WHu3J9LxKb/Pvp+F7267IXVHTGozGVgRu5+HQcyVxlRE1qis57ayMwEjaSURlABUFVQ1JDvhlokOgQgHlSda9k"
    "cRYoOHeBWLM/I3UZlA1dYTyTaY1CBPeePlJSotaEdj+MW4nh1zfnrc2/XV7/rZiD2OiLcCw4u7Gb7fUVQOFHo5rDBF02EBltIcI9ymoFZohG"
    "E8oUyaJ46n7MKnWkHIX0B12fIe4JEuiDqwGC2jNlVRfwVUtuMEqFXjZgoGRBE55LDj+Uu9/7zT+vN5cPPOkBXrXH1+OXe95dPry7/bzZjns6"
    "TLEUyK8u4HiYH/LDiKmLvIcgygIlPkgrrDv4SkPnsqheOiuULJBYJg6LBMY8OmM1eootVAusBx+3Qim0Y2nDewATbS+B3V2eFaSPt/dljoP5"
    "o44rEt/Gb7ZjjqsR61DiPIkiDYIHinVRhB+rewBhRJMGAJdwhdwhOZlFmURfVYp5STqPPg30IZ/0EtTmtA7RIqpE0GCTji6JXMRiFYnWJAWj"
    "7X0Poj2uupXw9o93h6RSHy+a26Gb7eWVhYmAnIrTwwv/LS4zsXIIALA5MwpeZlY4VUWIiEIJIMpeFd9QUdEU50K3yTmuL0uD5hNg6a2rMGux"
    "gZkN4kLI7tSF1JcxOVhyK7G5xTx6f4BdT63L7diNXl+PyDGUpTmSqrV10lQASyBrWa0StKZNYCMVMemeTGhgLMimrxZE2VLqy7TuLTFd50FA"
    "XIfe2CLruRlRb0MubsyqqyJWe5z7/vOH9bAsufj+zInMjnw0PIt7No/jJEysyZOBIm8HgZgkda+MzCUgp29DchhsRA/H/HEt9gTo8jmgw45o"
    "EOoQRC1LYpHfuT+tZy48ujmYorXEyLINWla0LdU7pCAVzFHC+HSsrsfDP2/ufv90kLuOOjpfxpK3VqycwYoxUudi0iBnZGQHYVMdHQVhBSgV"
    "4tSheJwJplblixGVq9RAqSq89UXW0c4YtZ53CuFQTEZUC74l6R0GYIIvgDgFOE7PLX3XHz8cVDyD1u6PhkWGbraXTyvLz0zbKLxdRIDAquoa"
    "MA9cJV8nJELm25wYOuCE1qhXylPb+SvgcFR0nJq8WkIHEBIKz3qWYgUzhbDdHDUQKI8YAl3ojmIxE57cmSC1XPdyAFeJ9j8uJYzPxKvX/7js"
    "l2XTPtarcs9f2hyK/umUvri79d3u1ndy6+bL8G8z9/gL+q5YlOZGjLp7hH7MW6+rkFCiU8hutsEtUSNw2aGcOqkUlMFVgilSUSKzd5EOeUMu"
    "5DMIQ4FnRswYJMgwHeYnkCfARTzCE2bfnqr2NUr9+noXpF8Xobu/uRI//cvXz5r6X7+h/HH7cHki9Fk9Gfkuf3D3IvpZHQn+80WTgc9SVRzE"
    "xQRszWrIiPCJLi/I5RF5KQH5JGlUJ4GU4JmqGign88rS4o0Ajx389XVfyHNjfP2Pu4d2KsZ2Lcbbu5cxtsdjrI7G2JyKMRXGB3z05M2YgEOx"
    "BZJrAUCQu9NYDqT0EIdxjYzNW0BeRmsIeiDWZ+SRbxwZp1opk//UGD/uV3nxTH68//XnMk/fsRdaFRF9YstW0rUjByuQeghoE1jTrUjKiUoC"
    "0VwqkMnZnSs1LyoltCYG/ydG+Uv6WYY3y9Ykc2GeTtLcuovs1+HPTdLZZSz7OgI6C9MxYJOqbPnPTmwijByIITJEyshUET0H8RNOCQN3vSHx"
    "L6BYVAH248L6xgg88ljJ+A6hVkpsELG7qIn6X0Pw/cWRnPPhyEQV5G4v0tMJgVsf5+iX4a8yS0UC60YP0REgAELwoM/VWQ858mAU3KLh8DMq"
    "einQV8iewm/qXSGdxUU2oGJqncIZm5k0WoitZCB0OtzySU1NoDzVZO72GF4eXoJ2JL4XWiSdlfDyhcf4Pg5/lfBqiGFG35D5q6APIAwtGwZG"
    "syKZIeREDXnIcIwJw7KFCCqPkYKPAt5dMC6tEXGt+/OyAOiuHwmuYi7mtTwr9z5G98v45+aBao1F5IADMF1AsDy8BKpRy5iyGMVGI4PgTuLm"
    "4SNDOUzEEw2pJKtGy8ttBqC7fIaN/sNCuYRuB5kgSnieDubu7q/JYHfHc8OJVASO0qUbRDjyKzx3FJM9pAO11waFBTAxlaVukW0zuCDCUfOE"
    "e4kZvOBxZFWZ5OvrfuK0hImVT0SHaA1Mftn+aCuGbBz55fG8LXf3xyGAX4dau7u/AgD/BNR67uonrXoSWpUHrGErejCf9CiEFunYZ9IALBoV"
    "QZN4PbhX4elXXKlaSZGLIKfE/AaXvWpyfRUusQvf1ZHChtiywuG+3LsL/nb8SuC/88hkJ6RC/ETTUxC52AZuPtStjZojGQMBRiWkCPwFcZYT"
    "snms3uYO38M7W4aY2WhDPmN3oIVzOCZumk0cj1wmaofs80UExKt94Ty+bu3q+yCCmeIJdWIXRbltF7/d0FcCr9Eqkpxv1XfjkQydmNehFeR7"
    "X2Xzrpa5zFwD2vrSUEETwrvEFF9koVLgb8PdzJ/HEq7/8bfLB57495cQsa83vz4PS1q2Zdmoi/BdEaMxP8CoiSwL7SKYBSpsgZyw3twJa28G"
    "ZFrijBawttxDbrwjaD9GfPiKWZ8QH45m4uclkut/3L//MD58/5Is0s6T83934+4FbQe/ygrAg5qG3DHhwTjB+ChAi+YHjocX5ha7hyeTzBsv"
    "MMASfAngkRlNI4nU5f40hApFDfV/3gp4+PQSfiz3vT4v9lUjLiil0XR79Pi7tRlyS8MaDaVTFLW1xhVXupyrgJVgpE854lLJ7HqxGYuE6//9"
    "gHj3lcvr3/bTdDhOML6O3siIp7X1LgVoxpaGk62hjsfuWDDB1JlVmcBYIG5RpfMfNa7izDd8G4tMZvHjl2TBEJrwqpbeaWH4yKa1rwrx+ZLw"
    "o7x8aNTr40GVsVujXr/alm98GpdVQxQ2Q9mhmXdVJRwM6IIZVPmqrGwKUbk2iK+GrSWLD1IAzBG2sbch1eI7q/UN9RYUYZGDNOleJ+eY/xPK"
    "guJWAIPxBa7PNvL7IMycMFVl6GZ3eWWDFrC1CiOYkt08kgHWQ5zAHk/BGlb2Y0XZ9lERxVWeEZcR239Q+jH7ylisWOvPOZgyQBnQiiaCg+xE"
    "AcSFNJEf5dX4GZ+/f/n28urq5p/7+U88+qPpbzd4sxvwasaPMz2gA9gyKfAV1arCQqsqlHZrEZUsk0jjJscRekQsRPfC0DcteVAYkVgIWRqI"
    "dcYOXkixG16SKG6mIUFk8oaq+IwKC7N/L2M9ejkrobz/+HC579tHUfaORnI7drO9LiEM32+rXEFNZ67dGJBOzcwGe9JtqZIToybliXznWWMl"
    "K/RAipWYbCRYDyfCwZXiE2ZemmpA2PWVm2C85ATZyTKmS5jaCD124K4rqMH+HsL9zLldoCsR/lzu7g5mK9VDnUiGu9Gb3YjT0/Vk8FrUuLVo"
    "pdmU0Fl7cYoxCY6pecpummRbza3hWW73AxNUJBb+52Qv9DJ43ssWlDNOEr1ob/la0B4PqB1sw3Qn6vLj8M1uyNMJkKJcrYsxmVLjcFD3FjPV"
    "IhSWczIRTTpPEVE1WSsUOSW2FU8RqVIvSw1aFnVcZ5ixeUVtabUmMX1DadSEAvZMjCcBP/cE49enlV25h973id1MX+55J/dsduNeuqPpuymX"
    "dM/wReLWmVay6avjeZMAaxFxr2jZD6bkYKMUmIAo6oIGDuluQSt9uXcp6HhGSUkjie2F4gJwwit0rNLCF9IkQ1r1krOOt59/+zCuDw4MicVx"
    "oqo8Dt/shqyc9rDBNmhE0M0V2ShumUgWTYgs1mWLIUlHNg4a9GRm4GTlWjRlVl/U2CDLhAaJ0W49QJhTWN7OV9Y9TIaZZpXLiQUZmezNPHPv"
    "3O7A+IbvPr4rF+5k4d3e9O7LTZvtwJUtTR6jMsyILIFfE/1AwCGZWbxflCAmWR8Ym4UnadNbqADgf7be1PSEcomZs0l+PXMFZo2QcI2Yj5xX"
    "A3nTgIuEw2ub9jTMR0i7FqjP5cN+fCSRn0haMnazvf5jNxfWIvQsIae1Pqiso0XxzrR3lFYt28GRdFg9qkh+yi61OnsJoYBkJbwLyAf5iupV"
    "D4D8aCpyN34bn460YpDOAMdey3b85tuYH/tqpuVNUJt1AHZUihLAmNqgwOOgEMIl9HEiQhhKN7Wq19p8MYpM11Vtyz3uCqEpve5x+mdE+fKg"
    "34W0XTieF2ToZnd5pVDbCpWFnRlrJrrZHNnEzFXSYqLyTo3lBoGLuEKxdNsNki1zWSrRoNwsNDUQ0BniwuTO1KFrDYKOeJ8yCgPJOHfCTnF7"
    "bqGWzcMP4/r+5u7MNgOLGx5bDMi0Uwc4+/g0e1JX7wEtgIqQERzIAjxmkoPJ0lPEWo9twXOOBIFBwqmNWQgp7r0o+EWJS1+YhKvcGQlATmPM"
    "5lAhkNMiSX0wxRGFEigUCW4FUS/6XTxvsZM6Pt4+3Nxc7Qc8bc9kHo341xs2u0ErvQuKhnM5371FJwfPpJlQoxChqOAzmDlQ2ScM0LFgHSp7"
    "warZ6jrdJ6m735YrcTkDW6M+Wigk8w+FvqDpeLElKnXcWSy+8Vy96/79uGK6/Pa+fDiw1f1x4Li4YbMdRIDMxdMHBUaDT6RpZo/Si4AVnDSz"
    "hoIOFkFOmKmIBgaPTZl4Jg+dFZnFwOfC8rhhjt6/6rbts1bt58MtpVpYxfEFK2M3u+srW21Jz63JpisEF6eLqgWJCkcgkbIiK096L1BzLSZN"
    "BtGSnKud1oWosRuXx78CcqA9A9xUWDHfvvIiFK8jakE7uqD+SJV//lbbxXmmA0nKHgc4327Y7Aa9UjaDlCKjSHFsM/ew3fKPIk/GxyYNfI1M"
    "5jHxRCxg/cBvW3e26QkERy5Y2lk2y97Q1VB2j6hK/a9aK1SzoY3AmRB4YzhltrywaB7pEvXYIupYMBm72V3f2BcIA2BmlElpM4KUx2I0AfKB"
    "6kFqxlueTgEKBUMgUTkXQxxyMp1CwJQEZ5flqkTAM5SQdebLJB+luT46MLMgiSZAu6U2D1mkST+vDEgEyse+Oy92vsS1uO8Zod7e8CXez482"
    "DgXCKbI9z4xSGEl36INDQFt0CAA1tW4pILyDjpCnMAuxQzTwelI64vLMQRLJ6wxnJADnhhBLU+zUkl6TBQlplaNG+n6+zLoM8cGK909EbnfH"
    "ZjfqBaHDqCtIxlb2aGMvMXHCQFjIPbk+U9iKVz5PUqiKrecAAwz8qxqCC31Me2zF2DNOmqXQFNCkaM0rC3hTpXp4i6is0sXlJaH7e/9wwJLj"
    "CcVPhm52l1ewhxEeZSDFoAw5gIMIQvXoaCmmT2WAdkVaSeHvZ9QrYV3awCxqrHOWaJdx0WccNMD1QDGA7smhH8QJZqgF+1Bgm0g97hltD15A"
    "2/aGHjRxOXF0annLZjfs6YgqjZAESlHI87hwntjBisFxpEgtB1Ws7U0sozpYRg2LODkrVSTLHqo6l64wmE/r9VWa+EHYUD1XC1xxAUdEozzK"
    "ci1O7Z+NfV7rt4e7y4eDhWovwqlIydjN9vrrnYWB2U8vBlIIKKi2OIOpBK9FmInakJnQIXqCu/aJ1Z7IdoHl7ZtS1J+lJaJTAsEBUtYZm2wi"
    "hLJV6wO8pQagOD6ehtkoQm2fjXHuPt4/3D8c6qpKyoA/HskvN2x2g1ZaDRZpmFd4likZpxolyV66c0DEwTMJud4lD5+FmVu+xhLGPwp9op74"
    "PVMY+2NdByS8ww+nvByECQjYM8/Bj0R2bLh/5XgnjnOPY+/Q9EFpyMfNo+3Yze76SqMEq6KcUmgFaQS1GFQXIDxAYpCXT8Nm3+RJmG0zY+wi"
    "9GG+SasEb7DI9jqhQTvO0OcxiTF/OggSyR9IiGnE90SvljPabr4U3X2+lZ0C45MweuJzf2Ynvd19777dd1ZXPShWQzJKWrqX8WfDkcS9kM5n"
    "0pAJ8CsdcmymurU5hFrwcHGLTRRG7NLV8P4cU+M5uw0ODvmfKBJfhPpfDy2Or3uPfv0a1ctr6Rj0cAb6+278YeMr/8RL+HbbtgvWyuqujQnn"
    "ccWdqRZHsU7C4QfIGrrQEWEK0G/IAciE54TCooNBSzBI9FU3u9T5mezrxQQpP6vkZKe0wEarmbAVUE8tq4NX8wIb5OFf8s2/l0uPtljYDd5p"
    "pWFdF1CUOVwv6ZoDuUBtN3EWSiu0VJpuBLgpDKsFKq6JVvnJYh4OrhUFduz1WRVXeL06RL5bsVZRDxpBtvghNmG54cFRqFTaj8++xfF0mD59"
    "el/u3x8u6OPreTd2s73+Y8VkSi+k1PiOXlyZhcpWwYu6ywaEgovpLMADOwjtb2TJpy3UHkHJyP9kwUUO4EtndMZ6ThI45vwuGxxu2zZvp5Jy"
    "m99uP+41Lz5y9aCJsXQePtXF2Pr/q7sY23O6GK+C2QYHYl0hHjWdsLi1N6MqOf+XFS6DprjlRtqHk4p+lKYSN60VLAY5JbQ4A2ClNfGx7PPy"
    "tsSXN+/L7e3n8XnUcnV1aLKG48zo8K7NduQaeHByyHS6GhHSkAYz/j1ELlEFM9kErVEhTWfoEiQyygZyjA895QiannXvrL85ekxvWdf4Balo"
    "Zzy8jDrYDGeP662Poze7ET82X4AKZW8c0iwgnCpS5Uw0zueQHTh4UIhpGomrky/Iwr5gtLC+Z7FNts75xVYwHaPNRxPGIlyPTQFXo3V/+dt1"
    "uTpYJScE2K/DN3q9oRS12UDg8CBMzdJjnafL2CDZQspslp1UU22Pawy0w8jqgUdsuyQRi2QWzyuL6lXmxpP9ut15/brd008NmitN98ay12L4"
    "VXEutkuigP1w3MuQbY8ozdWjw2vA8ISjFnTi0a1Ryz4hyj791Oc14D7SVdqudJVe5/Kpoi3LDicnK9vpFLAfcPcnxqErmN1GdnlZ2MLUA+o1"
    "pT2VyMNM8KiWC1+74/L6YSe5ted8eDiQLsRSPvGcMnazu77WPdtFcH4RzUc4C8JDKwAlLbyuS+UHNgVbsfmD4gUX4U94ccrZIir5wkeIeKWv"
    "MYnbuHu4nJffg0aDBHi0L/Huhs3XQSuv1sSQxU4jaaMDusk0hgma4rLsc4uyuUaapVqIbg44j75L+7IyNbqCWjae0vgBya2/2i+sY/eaf5VN"
    "AX//OO5Xt60hG9+BcXiUuw/lSqyP7w4/HAXSj/e9+3bf9uxD+LHpH7UU/meolkJQsElY+w7PXeQvSIWtcEVco97whEWYqINE2XxOsfIq+sKS"
    "MkDIo0cwl9uMzgzhkd7q9une6nYNFGS0Ji/N3Ibxk4WD4dYtigiLBVKcfAQB+OgHebBr1Ckj7SdswZOTHVRL60NLy2b3x3Pg0fbUJ3dSfW1P"
    "fcYWKnybjETM0vKzayNHDTsvEqFRmpeK6zCRmUzuIwQxBIe0z8L6kSOjoIG+t7sxmRUE9OJ+01bg98l+01xdyYJWDq/NCcuxmASdBJcQNcaE"
    "VJti0L3jTNJpwENrpLkoJTBoXyPSCMOXGhEc3Junn/I1G0hbsUWebiC9G7K2EYH8VpGnNNwZaR7xFRtJV8QbaQc0RENECoKe4YSC8KQJiJm4"
    "UYj5iIkHJ37z+c9/rKnx+ZrYvLv517i+urw/s5Pvt/Hfuvl+nxD103lv+VV/ckM/QFc2lyMZCPQrzg05ZaSlORZi9AgIzDlmJ9t2uQ4qFNiw"
    "o88OxrQIqDNk0vMK669LwPuSltr+VB+5by21/XorOWhjimB7flE53TalOUTWhTUkJzbE/tEF5Ti62RDtG/liFDVke0eMCI12r29E0P7l0+m/"
    "XmvsY9DiBa2u3YkGxF9aXbvdmYz4h1tdR3IkCgI+9ZBamUoOcDsgph7ep+SiAoZhMWLL2hpmQEqoxsAxEmm4LC0KZ3R0ZiW3vqx39UFw1EV+"
    "qnP1ZjtiZY92d/jJLogLJ9seKJAN3KCMzYCbKru+cP9qcFDFZrFdg3dFGSfQCSaxAEMRNdb9cfqwG3NgrqTjSGg7drO7vnIqEetyNv4nO1kS"
    "InSZ0vqvJPSQIr3sguwvBT7PwS08ZAZE5+QRiUiPZQEPIs56fNV3+0Rb6dOt3g/aSuv1D2bqduC2SUdpNyBPwFm3hUPSD042qnWbiq8Co6rl"
    "vZP8cFK2n8aAZ2KnWe7EglSuUah/a59orZ/oE61X5kaM24+jcrlneRDQgsoapTiw2skIBMfCnZ0oRNlBQwlQIx3mABazVITlmTa1Gpc9T2iP"
    "Y/H/P5e7qz/S9Fid2fR4FU6niBcBImAKmIYfq1MOinIPnQBfwZaERXuligJaUypzxDh0qYXupadmXG74tGYFFZzTxfj/xTa7L+6bK1i7X7aH"
    "gwMVJxqRfB2+2Q75wWcqZh8GwCTdNzu1suCpNBvRSptsaHWtOioHygR6W5JT8ga8oLKT3jCy63CBF32wa1VygRfPWRpPN9YNZzbWDWuNdWeD"
    "IbvmMR7JnQKfFF5yTtIIQ3rFDiwhVCitUG8KuAlH3w2HNelQZcpST9Woj06fCRuf3xFWHV8hXzrCqgtzchfMM/emKqjnnHJMMCGoFPACuULa"
    "BoIwe+szZSRYio4xk4zaRg/DyOeKdN3VoPIukbQBSkf74vLyfYfXny1dV6bYj+3RerQj0Paj7kxcbdH6tS/Q4w2v0r3DxiQnn2OTD9IYTbx5"
    "1AFmXpTPQ912DCPfT6wCqr9i4nb5/EFBBaaTyJY7qdHX8VZWlLGfXW3P7Gr7h9rUtnaqeZpZ71Lb2rJ3mnlmAy/M1CGiaYJD2jaIEqhoNqT7"
    "YFmhc3qDyyZ9FB3TDZ0uUj4BT064ZutLWcq4gFcTXzs4/7/28P3ZlPdFTXl/dtk92WX3Z9vc57XN/dkH9zl9cH82tj3d2PZnp9qVTrU/W8++"
    "pPXsz16yz+8l+7M57HnNYX92e312t9ef7Vv/ze1bf/ZjPacf62s1WFWrDVZXrJlqw9RyFNZaV8SaRgQMsou5yaNqB2wHo1cvHwuOoWULoizm"
    "3pwRt8qbvNzNa9cK4p/QMNWc7MO4a5hqvvRhfA3degxpfgdLxqSQz0ofGD7Ks8QQrZS02bHIqs7CthH+8DnyCEmYdTNKPiFuucIMxRWH41XE"
    "/J8NUI+H5e7mlm/2fnx3mO14U8kvw7eH2H6wMaZlj0yp2J8WZiPnN5E5XbRFjiIZ3618vjD+qdJhRPlYStHrR8VLnWDVNpcSoOzKfE1j7Ei3"
    "Uw/N8090O91eP9bt9Hhj05NY4nnLUQ77Jq2NfKInCyqgq4LHopzdahFjvhWfYtWD2BJnqCMavimqtwZNqsMtwatRyTwnub2wp6lOFyd7Je56"
    "mu5GvKSnKapx0ng9E0XLK78FoC0mU2fM8pnfs7eUU5KOYIlZJj0PAyu8+M5IuyCNsscnYW2/TnI60TJSrbeMXN93oLdJo3eQTzeolhbhUofc"
    "U+gRBcpWh3Mo58bz6DhbaVYXk5/Zhc5kWG5ZNkJ1/vjOg6d6QIolpS5ub+4fzuoEuRi+fmq0JPJv2/awGExmk3RL2ilWQ6ekozUBqxUkN3So"
    "i50JQYGEW8iriL6k5/1PRs4rS+HMLo8P//p+I6Y58ej/2m3CNOuP6mVrbjCZ157wTFjLo8pRtjApNBjKtrU6pf0XU6CPoZC78ZhInChHZqrl"
    "SR0s99W92z8bWj7R0PLP7lDppfukfbJB5W7Ij4100dRyPX3D5ZTPMehAoSRdPhJKJlQ3QhxET2qZLIw1j1qHiKLEYFEZE3AZaelnsUIonhO0"
    "x91i+3nImuOn5r4M3+yGrOwFjbXUbrF0pYe2VyiRqGlYS2NQZqwSM8lu9xhAnlrOkoXF5LW6QPOXn6wdsITjqxSb7xtsikDtTjfY3F5e2fys"
    "XO7QI1EXXZ0mxlyqlY+Tx8IItsqHJ5SUdYQ15h5yHjamiihtE2hj6Z/JnnfzCudiTnfMjOd0zIw7eJH+cIu5DgUwcEQrPqvkY7RD6RmQPDna"
    "apucc4McY8PABXHRT++yyVM1r2UX6TIT44U8H3+9vAPmf4UGj8+dNZefDr2xU9Pl8tNmd3X9KR0ZbiIXyQ4FCsvssoGtIoACsmIBbEtzqE6u"
    "kL0zaZAsKukhAk9Ds2bPFdTKr9SY57WfON2K8YRksN+K8VE3yH+8E2OQZmyzpda0Em9POwqDJTZoRzbVmgaUL/K3aiTLRALhC1khI0jviT3t"
    "OLq8xlNeobXifxfFLb395fID4zc311efT7SX+HPbEj7713yNjn4/6od+3wsvxBMdQ3e98OTyyoEllpwT7YD0klTYsgJqWZLD7TVE2ckObW4Q"
    "opYDFgZJ2iMeU8MhiGHZuU1kCveHjr+9bnM7dVZvu1X+iDygUuCRsbuQC5Immdk2bSizV6tTV7DlKEdb0KEq5iHqehUv3jCAdL3cpbaVwfRr"
    "9gM52jjshHj1tXGYWzvbQolpmhIsXX/rlEbzNcte3IplNbcf4gSfQiHRwaP3YpQWEjygLhfZbpUXwp4P1KznnW359ctven91+eGcx98N/C4G"
    "6mQM3skNu0CsnXDBK5YVAl/G2PTKkH0bdXoA9lTHRck1FycdehhQ+6hokjmBAnOMzIyx1yDXvV5OXmuI5p/REM2vBUFO/mP24smhGSX8OKge"
    "pKRJbwtEWGm8CHTPrUTbg3zCKkYJ6prSUO/hlxDOyaeVrMqQj4c4f32zONryrPNPx1tv+ROZ8mvrLb/NlWutt0JxkXWBhWaVSGkIh+AWr1Fj"
    "WdtuCsx1cuAfbINlHoP4mnX62GbzXe+13vJrW1bPUhY+3gE7qz38/JrjU+Bx8GY7YKU0IJbqgO/K+4fwWziLg5Hi4SclZ8TRDBV8lelPqZDd"
    "ODwmagJcCFCr+v7n7sU1o/DMrgZH+oWdbM752C/sieacr0XuXZbPxgsTMbU0hzjSgste9sJ56YTTK/7PdKPWWFPPgemRDHKLHOtoyRSzt++N"
    "FfQqRHcr4++j+VMNX2XoZnf5B6sgtkNqYDzSVoAEmkODA+EwiyRL6UTw8GQJ08MA+MonidVS5HO4ykSu93pZTZW25tyuK/8H9QSOVg=="
)},
    "variables": ["TOKENIZERS_PARALLELISM"],
    "golden": None,
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


def colab_boot_fetch(place, digest):
    """The bytes at an address, of a file, of a file somewhere in a folder, as a Kaggle dataset is, or of a wheel of pip's index."""
    if place.startswith("index:"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--disable-pip-version-check", "--dest", folder, place[len("index:"):]]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            files = list(pathlib.Path(folder).iterdir())
            if not files:
                raise ColabBootStop(f"pip could not fetch {place[len('index:'):]}:\n{done.stdout.strip()}")
            return files[0].read_bytes()
    if not place.startswith("/"):
        with urllib.request.urlopen(place, timeout=60) as reply:
            return reply.read(64 << 20)
    path = pathlib.Path(place)
    for file in [path] if path.is_file() else sorted(path.rglob("colab[-_]boot*")):
        data = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(data).hexdigest() == digest:
            return data
    raise ColabBootStop(f"there is no colab-boot with sha256 {digest} in {place}")


def colab_boot_binary():
    """COLAB_BOOT_BINARY, then PATH, then the pinned download. A download with another digest is not run."""
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot")
    if found:
        return found
    wanted = COLAB_BOOT["binary"]
    if not wanted["url"]:
        raise ColabBootStop(
            "colab-boot is not on PATH, and this cell was built without a place to get it from: "
            "install it, name it with COLAB_BOOT_BINARY, or build the cell with --binary-url"
        )
    folder = colab_boot_home() / "bin" / wanted["sha256"]
    path, kept = folder / "colab-boot", folder / "download"
    data = kept.read_bytes() if kept.is_file() else b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        data = colab_boot_fetch(wanted["url"], wanted["sha256"])
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


def colab_boot_golden():
    """Asks the golden repository, once a boot, whether this release was withdrawn. One that can't be asked changes nothing."""
    golden = COLAB_BOOT["golden"]
    if not golden:
        return
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = ""
    asked = colab_boot_files().parent / "asked"
    if boot and asked.is_file() and asked.read_text() == boot:
        return
    release = f"{golden['release']}#sha256={COLAB_BOOT['lock']['sha256']}"
    command = [colab_boot_binary(), "golden", "verify", release, "--from", golden["at"]]
    command += ["--threshold", str(golden["threshold"]), "--min-seq", str(golden["min-seq"])]
    for key in golden["keys"]:
        command += ["--trusted-key", key]
    if os.environ.get("COLAB_BOOT_ALLOW_YANKED"):
        command.append("--allow-yanked")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=8)
    except subprocess.TimeoutExpired:
        print(f"colab-boot: {golden['at']} did not answer; whether this release was withdrawn is unchecked", flush=True)
        return
    print(done.stdout, end="", flush=True)
    if done.returncode == 1:
        raise ColabBootStop(f"colab-boot: {golden['release']} must not be used; why stands above")
    if "golden-unchecked" not in done.stdout:
        colab_boot_write(asked, boot.encode())


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
    colab_boot_golden()
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
