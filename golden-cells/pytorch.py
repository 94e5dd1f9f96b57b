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
    "lock": {"sha256": "0b6673d24354a65edddbe00fca79a2adcbdbe40599790224fec5f7e6e5752a1f", "packed": (
    "eNrtndtyG7mypu/9FA7P5XQpcD5c7HmDeYIVK7xxtLgsS9oS3W33xLz7fCB1KFGkSpLp2BGz2N3htlmAJGQhM//8fyD9Pz7+71Tbx/zz43+W"
    "q4uUp3x1tf54cVW+/ucZj762j6v1x3TZ/vp4k9bn7ebj+jxdfmx1tV5dfuHZ2Yc/283t6ury4398VB9u2n99X920W/7w6X/9hziTZ+LTh29p"
    "fbP6MT5SQrkzKc8U/3368OEf1zdXfXXR/vnhMn1rY8D1z/XVTTn/NPuiD5P4SrfnSVk3PtQxm96yrVF3LZwvSSbnYlElNaFks6JZ42NVtebS"
    "TO8l6+5yjkF5Lawe3/0f63Tzpa3/+fjtc7ppkz6T/HA33y/Xq2ef8vOdb3+q8efxI11fpHW/uvk2PvuWLn9erC6///isPqvw+Udwn5359KF8"
    "r2k8lnpMqDcrFjf1i6urm/GpDeLM2TPhPn34cv19WO4fn/yZ/fTHx0+B8Zv/xfG/uP3T5tv+80O6Xo+h/3xcx9l1Kl/TlzZbTyqlXTReXHti"
    "UXkmzfhR/jpv7YIP/s/H8RaeTpi2g6brn3q6vLpsE2s7++v8gh/h8S20aHQURQWnc/A6Nxm6U7rH2k1IoobebOtd6pZ8l0kIEVUWyUdhQgjF"
    "jS+2+nt8Zx2iMu6Pj6vL2jZbpbaevl+sP338v/yYPzdWuW59PSxwt2s+Lax9dXWerq9/tp8tp4uL26d76syfyb0G2Jk1bUa+bAV+cq2kdk42"
    "FRU7Lxv+FJqtKQXlehHSS+sKNkpSGiP4MKumW9XeGa8erSCt0OFlI4wfcL2+fsXix6j5mvV4oQcXzehpO2Iq11qqu18ftrQS0tzt6LP5Ppd+"
    "36cPu/+ZsXTDIDIF25OX0eC2vsrYjWnBiSiD6CYFHLsnU3yrIRttbRd8nqrStsyMxTZSfsFc/fb2upVla92uvlymix0vOeQk98OnzZCXNwex"
    "hu3RQ2bnxyisZdGxOR21SEHH3kXpIrNnchM2+iy67lnGhrf0FlR7XK83URxlb1xeXq3x8DrVq/JkxeJMnJm9K76f8pkp02bYy6u2XqYia3Ex"
    "ymKsyMomgnMNJmkvbFOp+WS1cZ4QLqUsyvQUckqYoWolHldttdAvr3r987rdLK755+rqyVrN2Otq/2IZO22fLzh+t8LWmmwqkfcYtIjZtpCr"
    "MTaFonL3BLWuS4tWSLKSsS1Jm4uRVZpoZntZ2SAX1jle7Y+lda7XNzuRzm2T8J51jrHT9vnL6yxEqZTwVVV7TqRcrUsyzcveHAm2aNcNWzqr"
    "qpzgBfMmg66qC6NTwSiP63TemqMEuNJu1qu+eg4UWI7ft9q7CdPDoJeXrJTytbAhexOsxEYFmJB+LHcs2PtA+CY0GRtNx6UBGFpWRfSS/K7m"
    "2avVWoW4/GrL1c1w9rvXzG8Glmq369slS5ynm9u2Zik339IF3/NmJ+ob4MM+g2znfX6cN23G/t7wj+uTEZ0CKLRc2EGuYDDVU89EivHM21wJ"
    "HYEoqKpzQWkvXQtROhF6fbSrUoav+bJdX2vCi1X5+sRq4exAcNgMnTaPF6CR67EDCbQrQTpvbI7V4eS+piirkzVazxIdaLWZWiqZQVmri02S"
    "LOBn0EjKATAWNtD3L1/A4z2VNp1/z0vrBZBOma/HlKfRAohq90eLMefz/ZxpO27/Vhnv37xtVyTjiJclGMk79y5W0a3PXaeme2M3SEuSjNqE"
    "Lk0FO4AaggJMupBdV26GoIL2QdqFELOtMV5ho2tKnj6+0s0OMogvGOlx0rQZ+PI+cYqg6gGF3XuhunbZJ6GSJHOmBDAIlDnCCG1qjBp8hN+0"
    "yL6pgrAL5pzFVq2dennhT1/8Kwywvrq6+Lpa7+4RccA5xvLvpkzbYSxenb1oAMBOCMqUTpQ1QmhyanUm1aRBQDKYbKjpMAOBokSDL/SkXGyl"
    "Rk/F12aRVmlnfv3F17ROxMXbHbQg9r/x+9HTZsTLr9q3Hi0ZUyjbq1SKZY/i1JVMPVRCqSC/ElSszVHKJtsyb7x4XykplNCz2Ad2CMouVEuv"
    "qpLq6uJiBwPqs7B3pYycNk8XwAIRL4FrszXaEcvJnuB5TRnoq0pKEs97MFZl64lWIWSQogMU+Ybj5urngc8pu7CjH94WCfMbz1Ysu7Tbpc09"
    "FjU4jp1UqeLZXvBwP3zaDllAhcFXwpIPkS2skgUlWhGobGRWWbvoed8eBOzxdUtVHFsENoIwqIlysXL2mp3Q7vXr300CfPSaDd9vrv5ulxer"
    "2x03Pwv7t/zj+GkzZn8WkC9ngPmn9lBaYJtjPraKLKM0ShSJohHfpU5e4fvOOkwZTWsl8JyqKVUvHJtIeKODnoUGo8gtrwOef8wLwgXTbavL"
    "HRBqz/QBy22GT/dDFgBEh1JJHccBMBAWo8GtqJZ7KKQIUzt/AGJ4QzktXCFQtCRar155X2SeLV5GjYP99n10LuVOJJFuvx0YOW2fLuRGXSic"
    "c/OWJNl07s5GrXpNoKfCMpVwAO+saxp1iB0PKcZM1rJkYNecXvJ2yQIPGHxhlX360XY9xe7nVc77Z8ZOm+fDP/yU8kq/BVTvWgSWrOk0/m2l"
    "SAVzC0MSMZPpcWBIgogqvjbhsROJw1LtAKMyfBweYWd1tbHShKV8+TZY+WDBp8YR++uP+9HTZsRCNVZBBh6QaAQVQS+kyBKDFAr20atsRDYG"
    "pOAMnErRlAnOGlAUDFKSmfA7I1GCD+bX6+ztmKe7XYUDu2CMnbbPX15mjSL2wj9SCtzcUxUFidsHlSIeTx1Bfkiu5t6YwiJHJRGDzTAnNqYZ"
    "QPDaSn/Ud7sz+ukrVgcC3mzWZ2ZN25HTAh6sThgP0LWpYgOoMUiUJjSxv8goIIuScE0HtgRlZNGGQr1Qc/eewI2zWgBArZfy54wh/+Pjkyh4"
    "zzavr762y1Eebz5d36TL28H3jz+/bLJVvUy7BOxeZDUGDu51AVh50KMqREMlsguBgpHqCKzRpOm26AaohG/ORRME2BTFCBJBcgFnCSbODYN3"
    "2IVouCXM9tIR/P5nullKjf9aXf6L77mz/jO3zwDbsdPm+cs2CLah5hC7uomKEkhSMNdKvtO8excoC13qZAOdbGdjRBFq6mRPUDY41M3BJdVk"
    "jL9eLnxLN1/r1V+XEyXP9c+dokHtd4v7OZ9X68/XP6fNuCWm0cMQF1hDFBUIZANTYixZgCqI9O+RWtgLVREDoZ+SzqWDPgNyizMQsOlx3fAo"
    "YSEy3Kxeterv17ewYztv+ACB/Dh+2oz5vSRTaBI+OXqiiOtBbwKK9ioQNFR0/Fu1hc7LIURHdS3YORSf3oYGXwNHMyeZ8KSXrXW30RfsVb/f"
    "7NZZcn8RvRk6bR4v+AIBMCSD1imBd8mQOmKEcYqygw2tiE0TA0YNCW/ZHCIEhWSyRcnocuhhticA0S8vcmeXLyz2GsX3fCdFHMgQ27GTXMbD"
    "kCEoKGgiYjhCGHKv8UNblALpMZSeqYmrCVCHypUiINa6zdo2WwKeUeaSAkZaoIhuf35bXueoN+uqPEWD7pC0+DB82gz5vS6Qe22K2sERISq1"
    "dWrwDJpM2YoIFmSUh3Kri8OqAAgJinJFROMlpUN0cxewTiv16tLpFanhSZ3+1Cf8KAsOGu9uznQ3buwXbHdwxyC8WmOK1ZBGoo4CQqBVR8Rq"
    "+HsyZ5OszAlJlARP1VSSN81k5FvExjSX3iRClZGvrKBeXvxlW/91dfP1x07c3Es73I8lZi5wDiABtvioiwdgbE0DlrUhK1QWamNIDv3dJRsy"
    "hUDPY/VR95Rd6wWIPKsLlCS3CPvrifHy+7edfKgO8YabodPm8UFKeY8DzH3lmewKz9Q3gCigJLNQE7RF0KkUk7DtPURkSV2iUnCMeEV1TfkS"
    "RZUVmGnTvHqGV5RevxtHpsuadhAl1vtzNczyRkh5+ScBJE3le75Iz4j7UUfpvebdzPq8nTXdj3zcUE8iysHSs7XgFXusY3WbBibPBSYLTVNJ"
    "q9E9BSV2r8QQGEAfah+qL8QtDB8cn5/TWkoPUWwJmj8hoP+YLb5eXvKr1E8+vL26+HNRBn78EuOX6/XqObEd7IsmrOMXJk53gw9Y8TCl1bKQ"
    "hOCGV+aOsFNRGhWUt2qkZNJydxX50HiI0kBSY9PikFZR/iG7llnSBvVJKA//BiO+3jiXf96syx7jhCXjbCbeGSfsMQ4+K/bmN3VQG6oxA96h"
    "9lDB4Evhdih/RgEU6yBA+EejocWcowH2Cjs48zRin8DIflb7R+pFi2z0Wyx2d17suc2iW7LZ3dTpbvh+q72RKCLCb7YVQrUil2mye2/eUT5B"
    "D8E2m1x1UcGLAi7UVQYlu+R/qWVMaMITnRWhSf0Go9278dxk8UwimZ3ZBaNdXn4eU6eH4W+NZkj1jaButLANYZYoFVOEVcDhiGDVa7KHpHaA"
    "Umy5Gac8+8pTZFNZgpX6jFp0DlJKK3mElHlvmt53GMaRG8WZky9ahVnTw8ij7CJXjOmOShuhhuqBhKobRAu1M/upZkjY7hXCJPwjnIQq8K91"
    "HHJpKdaaqn4CK8CdZukgxHv20Ubl2jneaA9RDY/G4oPpfuRRjEUxpmEnoB9sIsb7bqUcPFyBpJa++OIUDzFir7lRn+KIgFHI7MHcQmDOTwOR"
    "HP1vcDmQRn1qKjFOsJ3pl5PemDY9DH2rq0lqD43b1OSarCjaaPpUchSvkPoAMVCDFl0rE6qlIEcRBUCkUaAj9+Y+L9wieF4tqfvvMcwdenjm"
    "c+bMvbyNthOnh8FvNY5I3kZEi9qozEVLEL9VCz9gaqkt29io3dgrOaQKtsJI4IZoTE6ZVChnpN44D4E8Hn5Deru9HkeFdq3jqNlfxpvbedP9"
    "2KN4GRIqYt8o6YVsUMIGknPUM/iWE0nKBAio1mcoDl+I4siwhHQMiZ011e68qINJU1H7d8LQtyHOrS0u1s9TnjgktO7Y8WK9zXmb8Qu2fGY1"
    "uGK0ETRnJBMwpUlV6EEOEaqyi9CEwChvrXfI8E0guMIm1kEMRF/1/NiVRHAY53Ti0dLdZSkXz62ihl4SXzDLmLY1yHbofs+TBxkS8hTJfEQe"
    "vIYQ1FEVx8kbV5OugyKoKnScSkejUxJ8qIyHelK2UzSb+ant6EzU0vvjmeTPf63WLOHrGyH4w7yjIvBBK5iOq8Ao5ajkkKegDF3KLLIUNgS4"
    "XHWjdQNVKl0xGaEeIk7Ap/iZyyFJSPaffqfH9b7XA/94HqpeaeXb82/t2/O9N85B2hfNvJm43X2bwccJbVF0Ae/UKKFj1/D07Ec7DoVh9Qg+"
    "7YP+xFVdFUD31mSA8mzU2iaiAc5IHPhuqezSfYo3bcj1jzfWymPKC1WyfONJEO2gZuAVRM/NBSpki+qFFpaMomY2VSL6gtBrH5ZDGIH6jzh3"
    "tUWWOsdWhl15vKJ5+wka5+6h671E18Pocex6gd63BBkLDhzZ3lHs966MtKWR74LwcHwqgLjRe1JRKo/QztaoglVnAQqYs5dCEOHey1/tOQ3y"
    "QGS9nrm6Y8F2IvwhK42x0+b5sfjAwRIkyl0Py+2to0oRWdhC8Zco32IR2uZkdCPreQlRHtlkBZarKDGI03kCVBSHUORHYYM3ltyRheJ++WAM"
    "nbaPFw5LSAnsUSlIpyTARyIDkMpgPyB2TfFG1QEdQxTFIqMipSjPEg25UDZt5ydKA6ZRxzhmeL26uLj663kE2Yt7toO3seOFM8ZvVERYttOZ"
    "XTDOygB8JNgmZkGlqrR2tmqfMjw/cdXBmmSPyIpqqEqA1iymzBhhL1GgjXpFcL0jeRdsc3N1XVI5bzsbwR7wjvvh02bI75WRHHVZkN4mRTUC"
    "9UsQKqbVUNo4ex0rqpsFOyWoSKgTAEK0HsUJBiVBEsxPsTvElnhMFen69vt69VRTtWdxf97ejp02z4ep3M5BrCfwZxkpvS30BPZaoFQbciWu"
    "5jKyW4pUKBYujtRVkGV8lhDDygcd8EJfIM5rKeiYcE+zEi8oiua3BPJNfFmwI7a+2fXNcOjS0N3oaTvisHMe3FHFqo54m1x3kLPChhqaKrCU"
    "uVPx45q9Ut+FMPSqQNlSNEKvE54SmZF6foJNCJK8O44sd/3zy7d2uX6WoQ6FqLvh03bIglA/zviSmytQhaICNha1kTqqBiJNIvVk4DJWGdV+"
    "NcBppGwfbAdFU+Q+uQqCciKt/OXjG9trzBO2ac+cSI07C2fXV7frAysfUz/fT51mw5fP+qeAhl987pBkbGZCS0GvJAZTZKYUy7jdQfEJ1gPo"
    "apRLMahEODNvvDDKPz2YsZiatphj0RR/Pz/Aqw4s/e/t4d1XXGtgu3bvVOS1B1hUfLmh7ozzORoaNHSNeNZdz5ktgIghsldOVch45EfVxfwG"
    "JLTP4mH/1y31Z/p2sXNY4YBmuB07bZ7/5pMKSRYEseQLKUYh9BTvLQyDNdKZcWWSGkc5G0TKYXDzAbtBJTpka+rwOqMHgcUgvP9enHvTvrQf"
    "z/eTlPvNvBk+PQz5vZZOUgFxui0qZtMiMiOJiSJKI+xK6bLfXCwyroxC04yreOAgNCRjkogtPLE0nNqS4PEWo90dLXwah7Taf5jsfvi0HbKA"
    "hj1UKVpXTYPagQnUwgDrYCYaaQaqFbIVNO/GZXTK7hg2VCE5WlJX5fmxIWfCUuH4ymSzidA7WDgeWCtDp+3jhbPyAihvm2vj0EvuyvuYsh6n"
    "2SiEAb6spiXIdmhQieAVY9MeBBfH0SmVonh6V0KZX79zPU77rdvl7dXN7ev4ztmEO5JzOILYg9XeBsBgBqD3oi4RGo8wA8wKrTnds4fns7oi"
    "hiK/Uwx4qgKwSC/do18JkVvyfgbArMTM4s0AbNaz4m3RhL30/XoQEU8tGOSh0ulxwrQd9PKm6bVGZeFIbI0decpQ9uAglaQFIgPlwz9gvYHo"
    "QxJANVkbpAMCl+PF1DkyEeNe2xE00NvzdsEb/XKevj27ZLHXQ2YTNjctzHJu9q2gwsHujtsyFCbAiyB5sYZCx1kgSg+JejlZBxTdCJfgNakE"
    "GlULbn6vhFBhj+Apqx+7AqY/8H5XP6bt0+VVjjMk1GSSt0dIgB8bJ9yyTQVg6WG0q65DgvRZNQnpT4DMOIEHkjuE3Pm2h++1C7t+F1EuLPjn"
    "7tmwwy1pNmNf141GRKCEbpGSXhoJkkyKkE0F20cvIPgeFEWQg7YlRwcRWEZToNGEQubKmFmoh24lMPz6bp5dHti5LHKA+3qcMG0HjRgYfzkE"
    "aigu0nphyVKUDJNoyPqaTYCkqkPOBESFagaLXMiEgezAB1HAh3lV5ufmx86IS0XoG0Lcnn5Pd82e9hmHsdP2+TtKT9EdCDwVx6KrHBF/9OTx"
    "KUqVKcGlgyU14E9rqkbRKX3sENynmoqbzIkxC25ApF86Nb2cCsaC0ve6vWrxespoNu8NlttMeL/5nIW4ELlmhWDdFYkgyJy9GGdnUfSLRk/L"
    "o5DHjqMzl9e5IlqHBBuJpt/nnXvYY8chFuc22/Ew94IptjOm7ah32KI6mWzKqMwGqqaIQl0e2U4qFZODTmBJGShrZYBAhJC3MGgwrC2GcU4y"
    "zclEq5bP277SFv9Vv+1cQHF+f90xhk7bxwsxldxgimigRoQTtynZB2c8OvpkR4EgqSpQJFArovOuwrCiBQ6A7UaXqz6/eae9+aVLqO8ox54M"
    "fUoVjnOwe00zmzJthy0INaNmR1tPelzrjmoU+5rKKUX8o6TRGIgSn2hieiaWGN+608Lx3lOHyJ1LC6P/V1zSkd/WBm19s1rv+IY+O+Qam7HT"
    "5vnReHcPwTmKTKgPAi9cMUJyIhLD9pBqVKgJBqAOZrN2R8IBbLg8On4IAGaf8+4ysKVcWIIir8rLG1T2LGDs1dY3Y7ehYuGGnrZSlUThVVAd"
    "+UeTZrN2LYgRKqmyQ+D1e6/YIygrkF9xNL9STSuZSDhPToDZxWYWb3CDn9dDdGw/RnnFgnebWxy6qL2d9/lx3mRecW0bMF1S4lccnvepC1KL"
    "R0NLEtYBXrc7n8w4ptvIsS1vzlxSbyDPeEGVGuaXlK1/z639Pz7OLjC+7zb7+u8RjZ73l9ofTjeDt72l9DIyr0UQLPUmMHQHKB8GkoX6XQ8M"
    "boQHrndbjY1CInJ3B2KHKKy+2XHSZIbGsLILR+AGv99QROXdIzgHegHdDZ42A5baIGUhWWsRPUHZ6XEzBU4JtBXEaAsC6y9gnEyW5BNFKUbO"
    "AMRTZlOiifrEJaJfUrFf2e/px4/zdHu+ExMP3N7ejp02z3/zrUUFjgBtKsR7lOcWFMAUeIVibQKKWh67Bu3ERjIN+QQLouXGzqYrCTp5To5j"
    "03gUqmojxO1c9j7QGmsMnbaPf6+hfPMtQxbjFrUVV5yxso0yHu8BoUDzmaRaVBmZFkZPAT9Ds9QtyeWMlDtnLayT6s396OZdkjY9czeOL/z0"
    "5fr7k86xe57udJAdJ48OtZDV9nkLWTVy1LMWstDHTmy+1qmF7KmF7KmF7KmF7KmF7KmF7KmF7KmF7KmF7KmF7O9oIXvqknnqkvn/R5fMU3PM"
    "U3NM+7u2z6kn5qkn5qkn5qkn5qkn5qkn5r9tr8h/q96Hp56Ap56Ab+4JeGqVd6hV3jt74407/Wq3YcmgXORig7xxq19N98Pf2s8lpAKr6WW1"
    "CW2+wNXncUUdl0tEJ02yTslpMe51myGBO8E27DanzRWEeVcJQjfkdlw6U73bTkvt6ZDw8PmbmlCNHnl3rTmemTKeKb/YJ++uQcfGmGPCUZok"
    "6HGxv0lf2ji2TOjCtBX6lC0JBuoD+xDvOzJBACCzcbGuBUMirFUC2fwkq7RqkRV7s8U2zQH3774oXtVacLYBoziKzah9SxaggprU+DtQs4oZ"
    "AF3q2KNISZ596WBRx43xSsrUdtyAoaLIkV0b5uoiBURwR+11tuk2WMohm+nljoOlzE2mj9LzBN54I0pkeKihzRSRISLRXaSuw4/HJT6f2ELO"
    "jTJMgTmJo468ooBSck5P8TngKhzbZKPP4vttxuzjGy15b52FsbWq9QDrNLoQmOJKBXAjWKHXGsJcA2qUROEGKdFDF4je49D+XMwCyo9SJh7X"
    "aPeNFt/rnnfzj++gqcJahJFzRYOWULD3SphqgqijuWDV4DI12lEkM+6rlV5MAJ2IPu7m5fnlrWiNd/aYZrtPK+/u0qje36URzhutUCRBPMp6"
    "HKvuMBswO04Bz4YvVoQPZ0t3FfrLWzacloGiIGkHLT4v75D6XZDquF0a92yl0coc+l8vtWq820X3w4+yj8z4+64RiTfRCqPI7FRz4/yDG2cg"
    "2jhr3tDP4QcHY1pEzVLIziRRTX9y5SdqOW4OHnMrbVouPjfY5oj1Qie58cGdwe6GH8VecvTLEUJn2HLRpAasyTJafkKdhOhiGadutI/KylEx"
    "64RJxGieKscdmnlrQhQ29FxzRGttmi4+t9bQluJSrBpz78x1P/6trpe10sjRpkOmQ6s1VjNWXgjwbCpX/DisOTpUQUB26zrByRcNCZOCpiyY"
    "C/aj3X707oi2mcPaHefzY73iFT0bH/xvO+Ot9jHag5hkqsoNIJmH/JhUtNSXGo7NQTS5DRolmGsRYSW796O9RcZ4Zs46K+ft2IbHdLW7zov7"
    "Ep1dRgjb2Q9pzr6AEN7qcON6cvWk/gxJT3xi+wQ8r8HqEtajjXieQfBsg3RwiLt1XNfOm9NNUs//skfg2Lis7l5ZHv1KJTTv3ah22YmFknLe"
    "u1FN4ulRwNddX97csoIBhs4S1JWUPoh9VJIF6dvr0REEMszAXmAxDSUuVPbZjjPC1jo1F/qCH3JXPB58v1hl8PfVt+vnprGbNvPqJes8zN4a"
    "537GAVc8fDEt1ObIVrqNgmX0tB5NvYLyCMvZ1tFdpBG5GxlQiejQ0RERasx4Irj0yV9+EOK4CGiO3ttSva+3pXpnb0sTLOFnUDoGJWC03oW/"
    "C0iicNwJxlcVZQOQCZfD8YDpeF7zsGIIZc2muZtF53E0fczelqtvX8oVatV+d4LFky+2Fbyf/uhRY8pbNw2yqDbWByIOv5pxya27pEhl2aEs"
    "dVTz3kYzDASW0YUpZ/QENfqP1DjuO854BI2ypJQ4fvfP99R3D5OPX94FyPXBk6KzE5cHrW5BPaBq0hrVHIRMykNklRlCISIwgM2B6xVZ3msA"
    "6cxkICpYxtfG7geg/QK1tTf1vS3Qz/qBqvf2A1VH7AcqjOqK2N6pl5H1ag6grWJbw3tHQYiWTT1N9iy8EafGJVMHROtewVzEPL9YqMcpCXFE"
    "NL/p7vmOOnrMO379PMSKpoQYnYSqtzJB1CiYweKAZ1SQowmiVgZ2GyMS0EKJxvTRxW6cm5GzW6ohUkH/upVObUFPbUFPbUGX24KeWl+eWl+e"
    "Wl+eWl+eWl+eWl+eWl+eWl+eWl+eWl+eWl+eWl+e+kD+W/SBPLVHfG97xP85OLTw6cPqG+Onq8uLnwf6jfz39iJ88495jK5/v+ubntrrndrr"
    "nRrJnRrJvepy2Kl/3Kl/3Kl/3Kl/3KwZzf8DRIpyuA=="
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
    path = colab_boot_home() / "bin" / wanted["sha256"] / "colab-boot"
    if not path.exists():
        with urllib.request.urlopen(wanted["url"], timeout=60) as reply:
            data = reply.read(64 << 20)
        digest = hashlib.sha256(data).hexdigest()
        if digest != wanted["sha256"]:
            raise ColabBootStop(f"the download has sha256 {digest}, this cell expects {wanted['sha256']}; it was not run")
        if data.startswith(b"PK"):  # a wheel; what is to run lies in it
            with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                data = wheel.read(next(name for name in wheel.namelist() if name.endswith(".data/scripts/colab-boot")))
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
    modules, loaded = {}, dict(sys.modules)
    for name, module in loaded.items():
        top = loaded.get(name.split(".")[0])
        file = getattr(module, "__file__", None)
        # What lies in a regular package goes with it; namespace packages have no file of their own.
        if not isinstance(file, str) or ("." in name and isinstance(getattr(top, "__file__", None), str)):
            continue
        version = getattr(module, "__version__", None)
        modules[name] = {"file": file, "version": version if isinstance(version, str) else None}

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
        "environment": {name: os.environ.get(name) for name in variables},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry or os.getcwd() for entry in sys.path if isinstance(entry, str)],
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
        server = json.loads(path.read_text())
        if str(server.get("pid")) == os.environ.get("JPY_PARENT_PID"):
            return server["url"], server.get("token", "")
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
