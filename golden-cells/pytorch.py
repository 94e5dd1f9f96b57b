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
    "lock": {"sha256": "abcb67c15ede60f1337f8add318f63cfd5f478d6f2a8526f766d5aa8411a58ec", "packed": (
    "eNrtndtSW1m2pu/zKRzuy04R83y42P0G/QQ7Krzn0aYSAxtwpl0d/e79DQnsJSEhQeKqzrIro2wjzQWsscbhH/8/59D/ePO/Sx9v6pc3/9Wu"
    "Lkpd1auruzcXV+23/zrjrd/Gm/O7N+Vy/PHmptx9GDdv7j6Uyzejn9+dX77nvbNffh83t+dXl2/+44355Wb896fzm3HLF2//13+oM32m3v7y"
    "sdzdnH+Wl4wy4UzrM2Pf/vLLf17fXM3zi/G3Xy7LxyFvX3+5u7ppH94uvuXXS/g+tx+K8UFetLm6Oarv2U6rQmxFlxByM60MZfTwangXcze9"
    "1zbcnK3aGWrNyUSr/Pqn/+dduXk/7v727cfXcjNW9kybt7/cfLq8O3/0Kr/fh81vJV/Lr3R9Ue7m1c1Hee1jufxycX756fM7886kd59TeBfc"
    "21/ap17kbW3lgn5zzs2t5sXV1Y286pM6C/5Mhbe/vL/+JHb7z7fxzL/99c3bxPr1X1n+ypuv1j/2b7+U6ztZ+rdv93F2Xdpv5f1Y3E9pbVwM"
    "HtvYsqg+005+lT8+jHHBC//njTyF7QtWm0Wr6y92dXl1OVbc29kfHy74Fb49hZGdzaqZFGxN0dah0wzGztynS0X1NIcfc2o7Spy6KKWyqarE"
    "rFxKqQX5Zuf/kJ9sUzYu/Prm/LKPtaP0McuniztWfBx3pZe7exNOnYvL3eZp+aExDZeUH7HE7pr2b9/8X+7qy9qI12PK5W/vneztEVOdX30o"
    "19dfxpdRy8XF7bYLnsUzvddeO1et1iufNho3ao22IehhssFRq+OrNHwvJZkwm9JR+9AwadHaOcWL1Qw7uo3BRfPNaNorm47azPtsW5x+JDfb"
    "bMFa34gbF3oNPpSytJncz93d9Qm2klVLE1lxl4M2YvVqs2LVrq02939+DRijtLuPl7NlFOm479WvsfXItnZgP12SnyXq7EgKses8nRspqKyT"
    "mq4k0sYsrsXRU3XW+6l4vXSDXRa2xUlNPG7dYH0iCkJpZnplcpnN5BBIMYFfw7Wldeft7fVox417e/7+slzshOyhiH1Yvlovedr1+K1wvpkq"
    "YZiz8h4b5RFstqokQmqqNlXFI+tQPseqpp1V50HozpHM+Gae6LI6ahuivvPDhovFO8cjMbkGOw2R2iO++wLPu7y8uiM79VW/alsGUmfqzO01"
    "0MMl77hktV72tJF81IVfsIWcdXNeVeMLhaUnV2wk15hCuvHWhUj50Vo3w62lWgpW69aob0byVtmjRkq6hWBqy74E66hnwxcdUw7GVNfKlgPd"
    "fbkeN0dN9OX8ass0TgLP7LcNa1eb948kLZzb9158aRkvSVblSkap3TlfUjN1RvL3tG1krzQF2PlRtK/N6a5ddovAMj7p42aZsZnRa2ok/FZ9"
    "jJag1VLatZ7BqqVZxHE+HzPL3d3NTlIPG3CyxyyydrV5/2mzNBJyKeQZ02ctPDxrW3Ej6jkC0KPZMB3xVU03QeE++Emy3UzlbGnY8JtZQvTu"
    "eLaJ3HnQNfTuMG+wvRKhgwKsetX8vOdHVBs3d+fz/DHi4u7jPuPcX7D6uuhpCxljYm9ExxyKG/fZgMp0FOuIfWJMFDaysPPZ8agFqVndDYla"
    "869eF45jrUn5qImMby6kPltXgWdCGs6GfFx968PH1Hcdp13dSF67dyL+IQh23N7dHjPch3JzO+6485uP5YJf8WanHjpg2z77ba579+261Xrt"
    "9y2MpC2gRTAAtFEb/hka9jWzzEqWk/eir520l0j4poeQjI06jJR1UGn2b4/BGMf3PO6pnSrYtPNBZ19LAHf4nEdRFeTht+P3VItfnLfftoyc"
    "zg4ktvXS1frtIwg2zDyBYja0pEN0vuYeSFCxl6x70D37iEUCTcVwHZ/y3nhvGzma+hgXCFZrAXZH7dLI8qm3yLs0Lk2P7kOm5roGtAX0bbnn"
    "p/fv6bFmaWP14VM9Zh7ajFXlx3PJdqaj8fD7M51c8+7hmtVm3X5HFO9yz/O54oBArSWn8agYclfTRxJWGeQsfE170Ea2Lk3tOmAJtJYMLUJI"
    "NUwTFkA32Zi0PyE9atdy1Kn3qOukVnfV/OyabDK1n26rlq4bzRNMek3XO+UH3+wgsvyETb9dtFovfNoLqfV9RqD+jFEZOpsaizIk+JwLEaNA"
    "7kM5JfAgW2AsQTwyXsnt0QWFhReC7oM5aielC09j9DjowgTj6Oio3fxQGzH/Vhu17VYn2Ovu6urit/O7XQ9UByJVrHV/yWqzDFuZsyftBSZN"
    "CRg5KShOKQs46cFxexagqpOrDh4Aq5GAWnYE5iwm5NF6jrAEY1FUjA3ueNdJ90TI5sEjShmTg2vAJbOq7Gp14bluJd+XEnC7g9LUfn96WL1a"
    "r3jakeKY2QM9lBG3NwYrCf8RWqXlbql18HxLJvcRYEuKHxV/ajF22lCj7CLNg9mS8Sd4UrOttZx0ioniroMj+rIxipbLVbPVkJ/UiPfzi4sd"
    "ZG/P0l7DsHK1fvcISCO5F5qb6p08ug4MoQe0JODYTTGaSjeT8waUSaZNqYL/A9iV6ODPHpc5Phh/PLy8CR5GygZppAr9lgHx8DCcd3zd8tIo"
    "X30B5PGRb3WOldq4PRZpYgOh6HYwh8lne0Hbw/LVZskRrJ8i1MCkByGeTPFgf694wEpXU23IEW+KtEGRPOWhdfLINAM8fNru2rxeOFFQNrwq"
    "QbE012555KVTom/eXP1jXF6c3+6kqLO0P/6+rV+t1+yvj/rp2rh81R8qmMQc1sYRdZPuu0BbqEHl05bWmbyFNbB8dmO0xPs05qVHFXBRFZ1N"
    "dpHWnKHqfpd24tclRXHE0hu+Y6e18Gf2gKHXy1cPS44AtwnjWCZRDFCjAmR65QzdM1OjeLo++QJoR11rWoVGkgN7jtmjibHpurCVzpZoP96n"
    "q+LpSH31dOuwPY1QNvKjwS4YS7+yl37QeicL6rDfbKxcbd49AjJsg4ypI3rQxrB1BuLOzF4AuQ2rGBXovqrtRXpXCUpDv++q1a2CjpdkbfSn"
    "GOwZxMbXRuyIUebq89gNW7+fdvww37F2tX5fgjWuSj23z+msdg0IRT1skf9Ga9ogmkAgkroAl1k6AxKgEWCvImalpEIHwoiUChlOePoFMeS8"
    "dukE4JFtmZEfP7yFqkx8GeDaA7+5tG1xvLxZ+GrwbVuq/T3rw+rVesWRhr+DyCLQ3ym6yNnAGgIPlEEpiDx5VQFRrgYH5dgsrWXwDrALH1vA"
    "7N4vOEYgxQk2okpB8CbsqROkYlcg/dRcDt7zYNxziaLNmu3QM+mAj8na1eb9p63Ss8oToETXo/jtIo13olmh4SnoGZ3ek8pZqHiTrOKxiXSf"
    "OfkKsehzWQAziDAdj0NWMrpS9JZmTLpboXORG2CjWN6a0X/Cc3ZWbzuQOZDbF1e946rVZuXqCMrvQblIt+ML8HvCS8MxDsXdjKazgnotKgyb"
    "cDiIjWYdTFODNJqz0A0s+ke6KnsCECmCX6nqMPi54rbFIdBE+v1gGrzINl/9TVr79c1Wwn/Qne6ufhuXwu+sX727KZe3IhTK109b+Lxfll1t"
    "ZS8AloUiqxzBv5GeQMoVGb6GhFzmacDBeIM04htpeYryVJslgeFyzSlKZAmJyE0uL+1IqHp/gu9NmBHltXVjWlpLN5XyBk4Oyo9/b5lxzVbv"
    "pd/495dycwxj/P388u/8ijvmOgv77LVZu1q//7TJkh+oxqTp6bKhy9YwPpAK/I1nhQRREcqkTtriJ26XVeplggVoteguwrJlgN/Ix1nLQJOA"
    "JNKlA6/IDVqRMWHYUQPBOebZLebHcvNbv/rjckVXff1lp9E0+2P04Zp353fvrr+s1uuOqQKRFqfB8CP0IiU5iETnqY802txCRAHG07oh3UPm"
    "FlvbJFsnVGCSdXPlm5mgGdPxrFaREio9iaPbh1iedGeZkgi8q5l+fAtS3JyfZKRP17dQ0zv+c0BK+rZ+tV7zfSnbNDTKUo5kQLzDrpOhjSaR"
    "8FAY+a9bD5deE5AKekjhl1gk+jRI+FCYS8qWsH7VZuA+6o6Yt3+62W3l9X4WaL10tX77SGCS61NxengNaC+OopohmnXWE8TvVR6W/CWsBhrD"
    "CIidUBvFU/FyqGmmhcfRSb2qmLATckdsc/0RhnCneB6onZu1K328KYIrRNhFqlUSlUm2xLgo+y+0StGipQEiwWcJmp+gaQpWmxiy4MuWCNO2"
    "lC6x6XHClTB39Fotgu4a5YVvC5yhN9NVYastpuP2y8fjZhEGpJ+3bYwfDm2/+Lp8tV7yfeOxzj4M/WYgu3XIoTLg1SyQYzSVPAC2ymYY23AP"
    "mJAK40PbBEMYNe1mDst49MGa4zSS0OSeZ1h7dQXgTDDWAf1YihAAYRzozk8omltE03aARmklD9r6/prV/TrxRkx90B+pXgj/zVsoWNWl6VQK"
    "cJWgeCKdehykGYRRTUEA9vbSSnQDjkxutpTlfgON3O6OExoAFgfYMXQOQF6L2FoGNIkDbMOWz/1N+tO2uhx3f1zd/PZ5p0Tspdke1lIejnBs"
    "PFviTYgdaQPGsHRM1lEvO3bxOZUQkYOKT5XmETiFsbKdpQYQAX3Sopc0mlKojqf34sFkxDz6Hd+y5wGZBE9ZoAMULpWeizAuP33cARbmEMe/"
    "Xrpav31QXNoTjcvAfbSTBdZ2rnFrmujvtJPJwtGD2iN/9QlNDxBpENHoAYRoD8PEllXX6B50Wkv6Bw1AR/u6ZNnh7qBc9rLTJ2Ds38/Fis9s"
    "FC5/J/mVVftUL8ojxU9adbv3aayvere5avWw8pu7bmXDg2TIGMBSPHjykHyRxgxNpBJq3mgCzxN+9OGd/Af9TqWcspEGTQZ6HYI9LkliY0Xa"
    "P6U/q0XFJJSo7KuoyD2gAJp8TxKeyMyPZKsHKerXha365SV/arv14u3Vxe9Hd9Z8+xbyx/Xd+WOJC+nsKYt3+YMLV/eLDxj9MEE8KoKLSoMU"
    "USd6cwcFG9oGM8A24JsZOn7pIqIGyt4kJMgO3hSh32xboB/AuYbii9/P5qfb8vL3m7u2x5bpmC3XF97bMu2xJQlE7a385qBk3TMBTjGiZ7Fo"
    "G1CftMzSNOcuhB//s8qgvVaUP9RrL+pZkbyteCZxQV5lKAkyq/r/wcD3e5kfmziHYya+v3R1v3y/kZ/Jo1LM1k4bI+xXMRaYNEcMtNywpwhJ"
    "GMGSVqNqwHfbdTJ6QrCnMkTTd2lrLwr6t/nX2/ghpywtnM80wv+ZP2Ljy8t3cunq6/LnZuJu1KB+Oav8yB1fRbfL0GJEP9m3R0uh1DSQ8Pmj"
    "DhfgGWyO0D6QF2DUueD1aW0C9jyOs6wqvfbQXO+2Sq+vfUgOHVB6jKjns8HEgyXn3KH3BTWos6CfNCJXrb6ufBUf5dbcDHA/CMK0kEANOyAW"
    "YXPw1l5pdmY0PWfIf0g109BKuux5HCX3Xrrdwme0B+6EnWtQ1spqsJ6W2smTyR6MCETz0yE4/WkvXYvvO+cA/CGu7JtteWH1sPJVbEsDb6HX"
    "4M98oZyh/GotrHZDf9KxxSakNTeN0esArZIV6BnQqURlQT1Y7iUFNsR/ffwD2fq2ZZVsxj6zT8MBuWz1delz417TBlpiuJcwdK8Kqm3Q/cOP"
    "IO8BgIFfVk1rXOoeiqjSp8JfCGWUHUrLstnPdGnmhP1V39uO9zDsUQJwZ+FpJ91cuPq6+Lm2VLRBGbWzD7giBbxXBLyK0k3A9FSfB/0+nlhT"
    "6WBabAoAy87VUgEJekGRywY2B3Vywu54rzwQjf5Y9hWSpGdFW64RRGGVM/VPG/NaNpruGjPAIj3dFmyuWz2sfZWQNxX0mYVkUnog3zgUBmlq"
    "RZ1SResCmuo+Vji62ChYyMRUL+zOY7EQKksiAKLZZBu/Xzp9eWOwMd3F3WMwoA7tLtkx+8XdBg2s1x8x/SMjo+sgqhbkZ4q9767gVkKGkmZr"
    "yDCXwNfo4QHigB6pusHNd6Gqcux2ucdXIz3Kts18AkdVgWk8EJRe3aDny4Sx4FnDSVfi5IVA4LK1i8dGNCK05iesKJdt7LdZuj8N6IMUHxUc"
    "VCRZkxAmfc6iu2zEDGS6LqRVN2kS4TY7KBPFi8ZFqFbjJ7yMWx7NysFltK/XbbCeY8Hf/35+xx3/9szG6ut1r9pXCdEF7WQyDCpuoUUGh4AP"
    "pWKT1nA3ui0znbUD8G9sx8JUNXhqBSEYF/GPOKnxbvvPIQvm3JsOfn2cZk98KLcfPo6Pjz1bTgD4J5/K+sKNb68Xv05azmoqeNYBSyMHKpNs"
    "O/ayA5mHlGkjpogJ5I3QFQ3ZGDohIGDSDsta04KFRJvSxrvwr3P3u8/PpGPkkieIGP3MrXs2wC3CdKlZB5JRdXJTaO7FGWgZ1/Ukg5Bo5/rk"
    "asEAIZNpuidv9iWmdfj8v4yX2bxyfvl+96jUXmL362o5LHVEufMkSA9cF9gUoJ/mNE77NkACSUUocJPooxCKqc2mShXD8ZDdMhUGOLXUApTi"
    "Bl91/9lhvnbP9r2vxO3pTO0967tTzA4ZVdau1u+/Fl0uvFWBUYkoUtEHWlVVQZ8QBoWWPzdlfS3OjvXJCUStjAs3WF00PZEhltDAQCggZx3X"
    "6kOYpopUmpqqxcNRZFScDklQZEPmC6SYteF39OS8XxmUpavN20e2q2kN3DQl6WA0gFOj8FHkoe9kD3uLznRB+CnLSRKXEVVNxCIOlKCH9cuj"
    "FwlLnrA5HO+l/YWZ0bIrBnMXkytMY4j0AGk+f8f89fnFxdUfj7PfXry5WbzJe08c9XmmNoqVgq34mOyFBHBqMGWuCjLEWBt8t7FUHj4lJED7"
    "1eiyU86alkDmjWBcbNXSjsx53IyBRzOoQQF3bqbrlkvHqYecYdaj90d15F5hOWLKm6trUsOHseNm/kCoPixfrZd8X/050MsnHX0xtKToLiTQ"
    "5kZPbciJqUzahzudAC30l2lBWtlHpGocrUBbLY+qBdSr/F3mBpwmP1/ffro7394Z4s/yfgC0Wbtavy+WDTvbeLdg53GE+ry0mfBklGMjuyiI"
    "+1CR90umTfVQ1RT1hkAbq0aVMdThREqIDZGrt2YCWv2iqptk4GWO7zepyDeFB6cCTG6PSgndCGNDxUNMM4dr1jo3HjE7j+ZmN1GkQ4eg71ev"
    "NisOZ4qD/tq8QXYvJcyAMqJ86mmYBudfJxwUeWJ2+sSUROhO9K7NlgABHWFhWGmX26UVUCeE47R0GxoiQZusoWCBq4IrhPaGVbFApPSSmvPl"
    "/cdxefeodh9Kr/fLV5slRzYzydkZI4KymXSWSCGFTBYoMmTJQlGuNEEYUfin7miSJtJe8lNiEFdbHj5FQ9X+hAMfRhHUzlPZsTalGZbLga4s"
    "KAziyTxzA91mHM6K7z4eRbSRY49n11e3dwcMJZe+e7h0tVh+/PxfSRVgF+uEQyaySIstQbMX4TGK7J4k58FvAMlpX+xMXgkxD/ETXYRai9tb"
    "404o2qNiqiG7duS8E4V7VjkQBWlaIFn7Fs1xj/WOWu4fjw/GmAOW+sfmUMwJJyOJnRmDyThVgpchDw1kYdl/adEg0rSI9BNqpuJgyJmqRhNM"
    "R2dTA0lDLYdXQHOecADwOQTQiZb5Uj5e7Oz/OrCVYbN2tX7/O2/+KrohvJfYKL4GhbjF6KHIvNPBybQL+mITfFKlJpHdEmaGmA9FA0kgeBdn"
    "mcllUf2lupeb8X58fuytWu9/Kuvlq69Lvu+DKdoALadvgGgESMonJRvQYlME2pP41welHQ0HBcfJnAPwJ+Kzc0XlkbYeDJTz656Ze5aN77e9"
    "b+dQa/ZvRX5YvtosOdLjRHQKNPVehMqEVyfpg76h1gYFGJ0DpYOWLsjIJIignNbEO2BH04vX5bbQ4NIJ3ITqQw6vNHINCJLeD/3OANAjummI"
    "29u0TyzD62K00+HkA6Zh6Wrz9pEDcZS+7kcYskuxThNjLtXK1mmoGdoZbn4UdDQ0CI2wnvOwEaCdZSetKVltH7c0x48qGTyQRAtwp60GU4t+"
    "F0uZIRIM3abnjvqRneh34/L26ub2NLFhccG9wiBRqfZA6ufhZKgtggBkQWsvKRI0nAblUs6BYFDbIagMvlYhHzSFm1oxIzo58HaUGBc4GRJL"
    "uROy43DdQCgRflQ7GT00iPIW5EAe1UcdwcmLqXDPy4R46qdrYdK2DZ70oXb72wWrzaKnXXLK2Xnf143WRAZ3tMpEayfbAJxp9SDQMLa0dako"
    "ELUGlZg2pEholi1JMpkCcDydmdhThPjQCkpSOwJgSBJAAYWtcfPZ20JvP4wL/OX9h/Lx0TnNveG6uGB9WNMdBzlxtClUiZHjvDSzwLqkcRtH"
    "cxzAtnWmAoNTYAYIX9l+AazWRqGFjxSWJ1lJc/5VDwGcFLbnn3e3YcQD3nP+ebV597hRZNMfbT/cRyadwTbLdurqS6NdIMmobmXqDKXADI38"
    "Ry2oRGSkLwvNmmUMos14dQK/55zuXn6OksPoRsUxZScQmhgwc3sU406fcMQ+X3Z3Fh8eWLlee9qsShy6NbwbTko7TX9QDMUMTmXKpFDoULgN"
    "EBssR80BFl6q15Qxb7p21iyKINIISe24hZCa+fZVJEPcFdqQFkQXRC/BiM/fcb04ULhzPPUAk/ztgtVmkaT7/KezvYUwBk7B6zatWoXGd6At"
    "i4tlz7+4O8h8xHwEogakSNRNXsgKdjkiwC+6L/G7fAotomWchgNJVLqV1GytclSRxk40RVteiLn2zJq9HzS7z5asXW3efwEZomZIsu0gYKOu"
    "pRbKgM9IL2mqF9dA0XB0FR4cgHLcpvif8JiuE7NLmtmD17QxJxxemrJTtXToKStjmBr9Sm5uovHRHIKMn1ck5f7Lp745rXk6o7q47hmGXl/w"
    "cmsHD1Gnaq8m9zLhf2AIao1KDplMSCiLzF+FicLsMkR4zQ5hlIIU0CguyzGgePApBMFz2uCTWP2liXfCPTxhuc0Vq82qF5iuB108GSpUB5PZ"
    "VINY4iYAvM3JcRrAgU5FhmzB3nPTHj4aNWTkJFv+y5LJ9+akgymxyhjW7ulGHNIgbo/mN6SVcxZx5AWCyN1/9487R15D3N+rytLV5u0j5YOq"
    "CbAc9AIItGHNOYkcJONBa6Cp1HSiSJnInDnE0FFD/JRJvyrI/N65HGtgozvBKtbWKcelEsJcg6ob1kkNk9lK1vZnjBt5Qce/tXSbp5cDI3st"
    "ubhktVl2RBAW0qmkUqxMEyJGYKvgIaG/CVaeu2oJjopM6GYlDzrghbTeeFWZECBLTVIGIedT9tpk2WmGxzp8PAwZeaZgcwokgapumpePj767"
    "Ob/bCVR7dihO12tX6/dfTYGLYHahPaD6qDHIQE5mEYcEGUoRNqkXKKwuKkSfgVIMyAtVRvAp2oa5VOB0wmFDOgECTqu7S11XdFChYwOCaLIW"
    "QbUqBFP7bICzBs+Pkt3e7UrrtZs0d2T8gfXatEJvTxCh5KKFIRLYMJKSqgBNlBLOFaPBA1FwoZKzjPU1wxq8Jbet7cb+hKkt9GsQBN2g0yEc"
    "oX56YI/p0Cpy8LP4l6KVL9ey02J8lg4e++yOjzs0H2hz3btv163cCdOC6KhaKfxJssJbbEPSjYF71LBsSDaQFsXJ8ZcBWBl1fdqAHhUZOJKz"
    "RloOu/HxnzCK6tc3i2ESL5u5dPcP+W0ej8LdXznWizdjcO3x9qw3RV2w66Q2A52Z2BPVutMi0Ig5FenZpu/Oo/X5gbpI2wZL3+PwspNwAZp5"
    "KOGEWZiVB2gtJJ4lr4KePTBwyCi3QJ5Q6dnE/Kcb+vS6uyPzwGDR+8Wr9YJjI1ir0pimqUlvpK2chYWhBRQnJXP6kAsVsMDRYtLb0+1TTenk"
    "4IlgAVTfis8cT9gYVJIMesUi3aM+ytFRULFG2IHJF7nkBaNpP3/+UG4/7KT/A0ODNmtX6/e/8wQJA36jhyCIRqHvTwijhooXmnIpu17FJ9Fo"
    "faYGy7YxtAnKBn0DDopStJTJeAT5VUWLE4nf9XaCnRlDB4b+ytLV5u3va9c4IoIgJggy3Ara0Xk9hIcilLlVOHZXaL24Z+eh0w1NRRqeXreE"
    "WptbeqzyQR/vLmqBUlFjrdHFCW8BnUr/SERX/q+Ojf1eTmhdf8LLOmmpuHp//Wnrk072vLvziSeyb/XQR55Y//gjT4xU70cfeYIyFNT6e/38"
    "yJPHz/7nZ5hsG+Hnh5Ic/1CSH+pTRn7Mjw35UT4H5Af5YI8f8ZM6fn70xvf56I0f5rM0Xjy19C89cv/HmKH/ow/FP5HQ/znc/uBw+x96Wv2r"
    "uM9fcer8zzHyr1gn/8pz4X+QQe8/J7fv5vqfo9j32+XPzlb/dxki/syp4H/FsdUvnkP9Yw9c/jlB+e4lI5H//Uf/vnSW7wuH98pEGLM7qkso"
    "F310gq/MhDGrh+XPHXyWSoPVjLqLHp4aXH2ViSWEXCE7WYp1QcpVMrfDiR4fFG44fS3r40LLiUekbsjtbI642O7MTLNnvs7X1581OlKm8t6P"
    "jXpkynxm4tHJvPfDo9bGlAteZcSOlTkvQ8c2ZN89qQvTduhTXBIMNAX7kO8nMkECIOO4WNeDIRHWOolsuVlae3OUFXu2xdbjiPd7X1YnDTNe"
    "OGBWr2Izet9WFaigF2TDmqvJFQDduvgoUlLEL+XDhWVmR6dkWi+n1egoasZr01JdpIFI4ZhPPtdol7+3dshm9vjQ4taWJrOvMmAL3ngtSlR4"
    "KNFm5GNjIBNr07ZLHMvp31hwoRCkDTNgTvJooK4YoJRe0lO8DrhKr20yGdX8cptx9esbrcTog4ex9WbMBOskc2BcC60DuBGs0GsdaW4ANVqh"
    "cYOUmGkqRG85RrIUs4Dy0srk1zXaw/Dll4bn/fWvH6Clw1okqblqQEsY2HujXHdJdZkg3C24zMj8oOLkbGmbzSXQiZpy7LYuT05mLzskX9Ns"
    "D2XlxaOYzctHMcN5oxWqoshH1cpm+Skbn6YLBngmsdgRPoJvM3Tor+hxOKsTTUGxAVp82d4h9YekzSuaRqYkP3Yl+VgZ6H97bMDyvRc9LH8V"
    "P3IdcRGReJ2tMIquQYZ1wHIF2QMx5ATBQD+HHxTGtMleUKUnF6nu5taZtWy1HNt9TVdaTz5+bLD11vYjM1TlhXuD3S9/FXtpmYemlK2w5Wpo"
    "C1jTTQacQJ2kHHKTXTc2ZuO1dMy2YBIlA9W1HNNajvxFYUPPda9orfUw48fWEm0pH8tVcu29uR7WPzf0qjVWtqNPyHRotcHdyJ03EnyVTwiL"
    "snNU5htCQE4fJskpNgsJU5KlLVgK9vLRRzmGV7TNEtbuBF+U+1UnDDf+Gn+bK55rH2cjiEmXboIAySryYzHZ019aOLYA0RTWaJRkblWGlZwx"
    "ypCeivHcknU2IXpxw9cMtfuZw/sKnT+OEDZXfy1z/gmE8NyAk9kAPVL6KyR9WH+qVSLyBqwuaT37TOQ5BM8hpENA3O0yWqGudzdpu/ygeeCY"
    "zKEIJ7ZHf6YTWo4hNrvsxJGWcjmG2KzU9lbA04YBrI/awQBDZyn6SlofxD46yYb0Ha0MKoIMc7AXWMxCiStTY/WyA1k+aXMp9KUocld+Pfh+"
    "cV7B31cfrx+bxq8/B8c8ZZ2vV2+M83DFgVA8fDpRRglRreyQhkU+50KmMCYTEZar7zLFaJC5BxXQqBzQ0REReq5EIrh067OfUpbDo6+Xxi/3"
    "NtAnz102L5y77JIn/Qil41ACZKQ9/F1CEoXjLjC+phmfgEyEHIEHTCfyRoQVQygbvizDLIdIoNn4eib5/fzj+3aFWrU/nGDx9JNTZh8u/xZR"
    "cslznQZZ1DofExmHP52cRZyhGEpZDShLE9V8Dplzg8Aio+dqRU8wMomoZzn0uuARLMqSMeoVLfQwMvoF/d3Xi1+/vUuQ68KTorOTl4VW96Ae"
    "UDVljW4OQqZUEVl1hVDICAxgc+B6R5aPFkC6MBmICpbx1Nz9FWg/QW3tLX3PS/SLadLmpdOkzStOk1bOTENun/TLyHq9Jhn06scgeqUhRMum"
    "n6Z6Np5IMHJ0eP0Z3dHAXOS6PNBpZZeEekU0vx72/II+Wq57/f5ZxIphlJKZYj16XSBqDMxgC8AzOkgZQ2uNg93uMuGU3ijLLJY2suyb0YvD"
    "xCnTQf95K/2lxz7/nOP8unOcf5jBzM+ftPxDjwf+Oe/3Feb9/hzg+6eTzV98Iu/PEbt70u+/+czcn0NwTxyC+3Oq7T9rqu2POKb2h5k7+3OQ"
    "7MFBst9rMuy/w9zTH2SQ6Ysnk/5IEzhfd6Tm/xQOLb395fwj61dXlxdfDswb+dcOpHz2r/kasxy/1w/9S05B/DnW8JSxhi+fU/hXHbH3c2be"
    "KSdcnxqC9289++4HGmb3czrdydPpfo6bO3Hc3N5hNP8P+HiNnQ=="
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
