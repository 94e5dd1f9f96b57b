# %%
# @title colab-boot: pytorch 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; do not edit, run that command again.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import builtins as colab_boot_builtins, types as colab_boot_types

colab_boot_kept = {**colab_boot_builtins.globals()}
import ast, base64, builtins, gc, hashlib, http.client, io, json, os, pathlib, shutil, subprocess, sys, tempfile
import signal, sysconfig, threading, time, types, urllib.request, zipfile, zlib

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
    "lock": {"sha256": "412257f3ec310b85a6a3f08d65f824226802282a53b461a860000f3d73e1d891", "packed": (
    "eNrtndtyW0mynu/7KRTypRuMOh/CsX3lWz/BxIR2HSVOUyQ3SfVI4/C7+0uAlBZAgADZ1Ix7pOkYSQRqkVy58vDn/1cl/tub/136eFO/vPnP"
    "dnVR6qpeXd29ubhqv/3n2Zv/dfXmkq9GP7/7H29uPl2+uftQ7t60q48fy2V/U96X88uzX34fN7fnV5dv/uON+eVm/Nen85txyxdv/+d/qDN9"
    "pt7+8rHc3Zx/lpeMMuFM6zNjz8zbX375y/XN1Ty/GH/95bJ8HLLg+svd1U378HbxTb9exHe6/VCMD/KizdXNUX3PdloVYiu6hJCbaWUoo4dX"
    "w7uYu+m9tuHmbNXOUGtOJlrlrfz0v9yVm/fj7q/ffnwtN2NlzzS/HHd7d/7oVX6/D5vfSr6WX+n6otzNq5uP8hpW+XJxfvnp8zvzzqR3n1N4"
    "F9zbX9qnXuRtbeWCfnPOza3mxdXVjbzqkzoL/kyFt7+8v/4klvvL23jm3/765m1i/fqvLH/lzVfrH/vXX8r1nSz967f7OLsu7bfyfizup7Q2"
    "LsZNuRtbFtVn2smv8vcPY1zwwv95I09h+4LVZtHq+otdXV5djhX3dvb3Dxf8Ct+ewsjOZtVMCramaOvQaQZjZ+7TpaJ6msOPObUdJU5dlFLZ"
    "VFViVi6l1IJ8s/N/yE+2KRsXfn1zftnH2lX6mOXTxR0rPo670svdvQmnzsXlbvO0/NCYhkvKj1hid037t2/+L3f1ZW3E6zHl8rf3Tvb2iKnO"
    "rz6U6+sv48uo5eLidtsFz+KZ3muvnatW65VPG40btUbbEPQw2eCo1fFVGr6XkkyYTemofWiYtGjtnOLFaoYd3cbgovlmNO2VTUdt5n22LU4/"
    "kptttmCtb8SNC70GH0pZ2kzu5+7u+gRbyaqliay4y0EbsXq1WbFq11ab+z+/BoxR2t3Hy9kyinTc9+rX2HpkWzuwny7JzxJ1diSF2HWezo0U"
    "VNZJTVcSaWMW1+LoqTrr/VS8XrrBLgvb4qQmHrdusD4RBaE0M70yucxmcgikmMCv4drSuvP29nq048a9PX9/WS52QvZQxD4sX62XPO16/FY4"
    "30yVMMxZeY+N8gg2W1USITVVm6rikXUon2NV086q8yB050hmfDNPdFkdtQ1R3/lhw8XineORmFyDnYZI7RHffYHnXVKPyE591a/aloHUmTpz"
    "ew30cMk7Llmtlz1tJB914RdsIWfdnFfV+EJh6ckVG8k1ppBuvHUhUn601s1wa6mWgtW6NeqbkbxV9qiRkm4hmNqyL8E66tnwRceUgzHVtbLl"
    "QHdfrsfNURN9Ob/aMo2TwDP7bcPa1eb9I0kL5/a9F19axkuSVbmSUWp3zpfUTJ2R/D1tG9krTQF2fhTta3O6a5fdIrCMT/q4WWZsZvSaGgm/"
    "VR+jJWi1lHatZ7BqaRZxnM/HzHJ3d7OT1MMGnuwxi6xdbd5/2iyNhFwKecb0WQsPz9pW3Ih6jgD0aDZMR3xV001QuA9+kmw3UzlbGjb8ZpYQ"
    "vTuebSJ3HnQNvTvMG2yvROigAKteNT/v+RHVxs3d+Tx/jLi4+7jPOPcXrL4uetpCxpjYG9Exh+LGfTagMh3FOmKfGBOFjSzsfHY8akFqVndD"
    "otb8q9eF41hrUj5qIuObC6nP1lXgmZCGsyEfV9/68DH1XcdpVzeS1+6diH8Ihh23d7fHDPeh3NyOO+785mO54Fe82amHDti2z36b6959u261"
    "Xvt9CyNpC2gRDABt1IZ/hoZ9zSyzkuXkvehrJ+0lEr7pISRjow4jZR1Umv3bYzDG8T2Pe2qnCjbtfNDZ1xLAHT7nUVQFefjt+D3V4hfn7bct"
    "I6ezA4ltvXS1fvsIgg0zT6CYDS3pEJ2vuQcSVOwl6x50zz5ikUBTMVzHp7w33ttGjqY+xgWC1VqA3VG7NLJ86i3yLo1L06P7kKm5rgFtAX1b"
    "7vnp/fvzy/eztLH68KkeMw9txqry47lkO9PRePj9mU6uefdwzWqzbr8jine55/lccUCg1pLTeFQMuavpIwmrDHIWvqY9aCNbl6Z2HbAEWkuG"
    "FiGkGqYJC6CbbEzan5AetWs56tR71HVSq7tqfnZNNpnaT7dVS9eN5gkmvS53H6b84JsdRJafsOm3i1brhU97IbW+zwjUnzEqQ2dTY1GGBJ9z"
    "IWIUyH0opwQeZAuMJYhHxiu5PbqgsPBC0H0wR+2kdOFpjB4HXZhgHB0dtZsfaiPm32qjtt3qBHvdXV1d/HZ+t+uB6kCkirXuL1ltlmErc/ak"
    "vcCkKQEjJwXFKWUBJz04bs8CVHVy1cEDYDUSUMuOwJzFhDxazxGWYCyKirHBHe866Z4I2Tx4RCljcnANuGRWlV2tLjzXreT7UgJud1Ca2u9P"
    "D6tX6xVPO1IcM3ughzLi9sZgJeE/Qqu03C21Dp5vyeQ+AmxJ8aPiTy3GThtqlF2keTBbMv4ET2q2tZaTTjFR3HVwRF82RtFyuWq2GvKTGvF+"
    "fnGxg+ztWdprGFau1u8eAWkk90JzU72TR9eBIfSAlgQcuylGU+lmct6AMsm0KVXwfwC7Eh382eMyxwfjj4eXN8HDSNkgjVSh3zIgHh6G846v"
    "W14a5asvgDw+8q3OsVIbt8ciTWwgJN0O5jD5bC9oe1i+2iw5gvVThBqY9CDEkyke7O8VD1jpaqoNOeJNkTYokqc8tE4emWaAh0/bXZvXCycK"
    "yoZXJSiW5totj7x0SvTNm6t/jMuL89udFHWW9sfft/Wr9Zr99VE/XRuXr/pDBZOYw9o4om7SfRdoCzWofNrSOpO3sAaWz26Mlnifxrz0qAIu"
    "qqKzyS7SmjNU3e/STvy6pCiOWHrDd+y0Fv7MHjD0evnqYckR4DZhHMskigFqVIBMr5yhe2ZqFE/XJ18A7ahrTavQSHJgzzF7NDE2XRe20tkS"
    "7cf7dFU8Hamvnm4dtqcRykZ+NNgFY+lX9tIPWu9kQR32m42Vq827R0CGbZAxdUQP2hi2zkDcmdkLILdhFaMC3Ve1vUjvKkFp6PddtbpV0PGS"
    "rI3+FIM9g9j42ogdMcpcfR67Yev3044f5jvWrtbvS7DGVann9jmd1a4BoaiHLfLfaE0bZBMIRFIX4DJLZ0ACNALsVcSslFToQBiRUiHDCU+/"
    "IIac1y6dADyyLTPy44e3UJWJLwNce+A3l7Ytjpc3C18Nvm1Ltb9nfVi9Wq840vB3EFkE+jtFFzkbWEPggTIoBZEnryogytXgoBybpbUM3gF2"
    "4WMLmN37BccIpDjBRlQpCN6EPXWCVOwKpJ+ay8F7Hox7LlG0WbMdeiYd8DFZu9q8/7RVelZ5ApToehS/XaTxTjQrNDwFPaPTe1I5CxVvklU8"
    "NpHuMydfIRZ9LgtgBhGm43HISkZXit7SjEl3K3QucgNsFMtbM/oPeM7O6m0HMgdy++Kqd1y12qxcHUH5PSgX6XZ8AX5PeGk4xqG4m9F0VlCv"
    "RYVhEw4HsdGsg2lqkEZzFrqBRf9IV2VPACJF8CtVHQY/V9y2OASaSL8fTIMX2earv0lrv77ZSvgPutPd1W/jUvid9at3N+XyVoRC+fppC5/3"
    "y7KrrewFwLJQZJUj+DfSE0i5IsPXkJDLPA04GG+QRnwjLU9RnmqzJDBcrjlFiSwhEbnJ5aUdCVXvT/C9CTOivLZuTEtr6aZS3sDJQfnx7y0z"
    "rtnqvfQb//5Sbo5hjL+dX/6NX3HHXGdhn702a1fr9582WfID1Zg0PV02dNkaxgdSgb/xrJAgKkKZ1Elb/MTtskq9TLAArRbdRVi2DPAb+Thr"
    "GWgSkES6dOAVuUErMiYMO2ogOMc8u8X8WG5+61d/v1zRVV9/2Wk0zf4Yfbjm3fndu+svq/W6Y6pApMVpMPwIvUhJDiLReeojjTa3EFGA8bRu"
    "SPeQucXWNsnWCRWYZN1c+WYmaMZ0PKtVpIRKT+Lo9iGWJ91ZpiQC72qmH9+CFDfnJxnp0/Ut1PSO/xyQkr6tX63XfF/KNg2NspQjGRDvsOtk"
    "aKNJJDwURv7r1sOl1wSkgh5S+CUWiT4NEj4U5pKyJaxftRm4j7oj5u2fbnZbeb2fBVovXa3fPhKY5PpUnB5eA9qLo6hmiGad9QTxe5WHJX8J"
    "q4HGMAJiJ9RG8VS8HGqaaeFxdFKvKibshNwR21x/hCHcKZ4Haudm7Uofb4rgChF2kWqVRGWSLTEuyv4LrVK0aGmASPBZguYnaJqC1SaGLPiy"
    "JcK0LaVLbHqccCXMHb1Wi6C7Rnnh2wJn6M10Vdhqi+m4/fLxuFmEAennbRvjh0PbL74uX62XfN94rLMPQ78ZyG4dcqgMeDUL5BhNJQ+ArbIZ"
    "xjbcAyakwvjQNsEQRk27mcMyHn2w5jiNJDS55xnWXl0BOBOMdUA/liIEQBgHuvMTiuYW0bQdoFFayYO2vr9mdb9OvBFTH/RHqhfCf/MWClZ1"
    "aTqVAlwlKJ5Ipx4HaQZhVFMQgL29tBLdgCOTmy1lud9AI7e744QGgMUBdgydA5DXIraWAU3iANuw5XN/k/60rS7H3d+vbn77vFMi9tJsD2sp"
    "D0c4Np4t8SbEjrQBY1g6Juuolx27+JxKiMhBxadK8wicwljZzlIDiIA+adFLGk0pVMfTe/FgMmIe/Y5v2fOATIKnLNABCpdKz0UYl58+7gAL"
    "c4jjXy9drd8+KC7ticZl4D7ayQJrO9e4NU30d9rJZOHoQe2Rv/qEpgeINIho9ABCtIdhYsuqa3QPOq0l/YMGoKN9XbLscHdQLnvZ6RMw9u/n"
    "YsVnNgqXv5P8yqp9qhflkeInrbrd+zTWV73bXLV6WPnNXbey4UEyZAxgKR48eUi+SGOGJlIJNW80gecJP/rwTv6DfqdSTtlIgyYDvQ7BHpck"
    "sbEi7Z/Sn9WiYhJKVPZVVOQeUABNvicJT2TmR7LVgxT168JW/fKSP7XdevH26uL3oztrvn0L+eP67vyxxIV09pTFu/zBhav7xQeMfpggHhXB"
    "RaVBiqgTvbmDgg1tgxlgG/DNDB2/dBFRA2VvEhJkB2+K0G+2LdAP4FxD8cXvZ/PTbXn5+81d22PLdMyW6wvvbZn22JIEovZWfnNQsu6ZAKcY"
    "0bNYtA2oT1pmaZpzF8KP/1ll0F4ryh/qtRf1rEjeVjyTuCCvMpQEmVX9/2Dg+73Mj02cwzET31+6ul++38jP5FEpZmunjRH2qxgLTJojBlpu"
    "2FOEJIxgSatRNeC77ToZPSHYUxmi6bu0tRcF/dv86238kFOWFs5nGuH/zB+x8eXlO7l09XX5czNxN2pQv5xVfuSOr6LbZWgxop/s26OlUGoa"
    "SPj8UYcL8Aw2R2gfyAsw6lzw+rQ2AXsex1lWlV57aK53W6XX1z4khw4oPUbU89lg4sGSc+7Q+4Ia1FnQTxqRq1ZfV76Kj3Jrbga4HwRhWkig"
    "hh0Qi7A5eGuvNDszmp4z5D+kmmloJV32PI6Sey/dbuEz2gN3ws41KGtlNVhPS+3kyWQPRgSi+ekQnP6wl67F951zAP4QV/bNtrywelj5Kral"
    "gbfQa/BnvlDOUH61Fla7oT/p2GIT0pqbxuh1gFbJCvQM6FSisqAeLPeSAhvivz7+gWx927JKNmOf2afhgFy2+rr0uXGvaQMtMdxLGLpXBdU2"
    "6P7hR5D3AMDAL6umNS51D0VU6VPhL4Qyyg6lZdnsZ7o0c8L+qu9tx3sY9igBuLPwtJNuLlx9XfxcWyraoIza2QdckQLeKwJeRekmYHqqz4N+"
    "H0+sqXQwLTYFgGXnaqmABL2gyGUDm4M6OWF3vFceiEZ/LPsKSdKzoi3XCKKwypn6h415LRtNd40ZYJGebgs2160e1r5KyJsK+sxCMik9kG8c"
    "CoM0taJOqaJ1AU11HyscXWwULGRiqhd257FYCJUlEQDRbLKN3y+dvrwx2Jju4u4xGFCHdpfsmP3iboMG1uuPmP6RkdF1EFUL8jPF3ndXcCsh"
    "Q0mzNWSYS+Br9PAAcUCPVN3g5rtQVTl2u9zjq5EeZdtmPoGjqsA0HghKr27Q82XCWPCs4aQrcfJCIHDZ2sVjIxoRWvMTVpTLNvbbLN2fBvRB"
    "io8KDiqSrEkIkz5n0V02YgYyXRfSqps0iXCbHZSJ4kXjIlSr8RNexi2PZuXgMtrX6zZYz7Hg7387v+OOf3tmY/X1ulftq4TognYyGQYVt9Ai"
    "g0PAh1KxSWu4G92Wmc7aAfg3tmNhqho8tYIQjIv4R5zUeLf955AFc+5NB78+TrMnPpTbDx/Hx8eeLScA/JNPZX3hxrfXi18nLWc1FTzrgKWR"
    "A5VJth172YHMQ8q0EVPEBPJG6IqGbAydEBAwaYdlrWnBQqJNaeNd+Ne5+93nZ9IxcskTRIx+5tY9G+AWYbrUrAPJqDq5KTT34gy0jOt6kkFI"
    "tHN9crVggJDJNN2TN/sS0zp8/l/Gy2xeOb98v3tUai+x+3W1HJY6otx5EqQHrgtsCtBPcxqnfRsggaQiFLhJ9FEIxdRmU6WK4XjIbpkKA5xa"
    "agFKcYOvuv/sMF+7Z/veV+L2dKb2nvXdKWaHjCprV+v3X4suF96qwKhEFKnoA62qqqBPCINCy5+bsr4WZ8f65ASiVsaFG6wump7IEEtoYCAU"
    "kLOOa/UhTFNFKk1N1eLhKDIqTockKLIh8wVSzNrwO3py3q8MytLV5u0j29W0Bm6aknQwGsCpUfgo8tB3soe9RWe6IPyU5SSJy4iqJmIRB0rQ"
    "w/rl0YuEJU/YHI730v7CzGjZFYO5i8kVpjFEeoA0n79j/vr84uLq74+z3168uVm8yXtPHPV5pjaKlYKt+JjshQRwajBlrgoyxFgbfLexVB4+"
    "JSRA+9XoslPOmpZA5o1gXGzV0o7MedyMgUczqEEBd26m65ZLx6mHnGHWo/dHdeReYTliypura1LDh7HjZv5AqD4sX62XfF/9OdDLJx19MbSk"
    "6C4k0OZGT23IialM2oc7nQAt9JdpQVrZR6RqHK1AWy2PqgXUq/xd5gacJj9f3366O9/eGeLP8n4AtFm7Wr8vlg0723i3YOdxhPq8tJnwZJRj"
    "I7soiPtQkfdLpk31UNUU9YZAG6tGlTHU4URKiA2Rq7dmAlr9oqqbZOBlju83qcg3hQenAkxuj0oJ3QhjQ8VDTDOHa9Y6Nx4xO4/mZjdRpEOH"
    "oO9XrzYrDmeKg/7avEF2LyXMgDKifOppmAbnXyccFHlidvrElEToTvSuzZYAAR1hYVhpl9ulFVAnhOO0dBsaIkGbrKFggauCK4T2hlWxQKT0"
    "kprz5f3HcXn3qHYfSq/3y1ebJUc2M8nZGSOCspl0lkghhUwWKDJkyUJRrjRBGFH4p+5okibSXvJTYhBXWx4+RUPV/oQDH0YR1M5T2bE2pRmW"
    "y4GuLCgM4sk8cwPdZhzOiu8+HkW0kWOPZ9dXt3cHDCWXvnu4dLVYfvz8X0kVYBfrhEMmskiLLUGzF+ExiuyeJOfBbwDJaV/sTF4JMQ/xE12E"
    "WovbW+NOKNqjYqohu3bkvBOFe1Y5EAVpWiBZ+xbNcY/1jlruH48PxpgDlvrH5lDMCScjiZ0Zg8k4VYKXIQ8NZGHZf2nRINK0iPQTaqbiYMiZ"
    "qkYTTEdnUwNJQy2HV0BznnAA8DkE0ImW+VI+Xuzs/zqwlWGzdrV+/ztv/iq6IbyX2Ci+BoW4xeihyLzTwcm0C/piE3xSpSaR3RJmhpgPRQNJ"
    "IHgXZ5nJZVH9qbqXm/F+fH7srVrvfyrr5auvS77vgynaAC2nb4BoBEjKJyUb0GJTBNqT+NcHpR0NBwXHyZwD8Cfis3NF5ZG2HgyU8+uemXuW"
    "je+3vW/nUGv2b0V+WL7aLDnS40R0CjT1XoTKhFcn6YO+odYGBRidA6WDli7IyCSIoJzWxDtgR9OL1+W20ODSCdyE6kMOrzRyDQiS3g/9zgDQ"
    "I7ppiNvbtE8sw+titNPh5AOmYelq8/aRA3GUvu5HGLJLsU4TYy7VytZpqBnaGW5+FHQ0NAiNsJ7zsBGgnWUnrSlZbR+3NMePKhk8kEQLcKet"
    "BlOLfhdLmSESDN2m5476kZ3od+Py9urm9jSxYXHBvcIgUan2QOrn4WSoLYIAZEFrLykSNJwG5VLOgWBQ2yGoDL5WIR80hZtaMSM6OfB2lBgX"
    "OBkSS7kTsuNw3UAoEX5UOxk9NIjyFuRAHtVHHcHJi6lwz8uEeOqna2HStg2e9KF2+9sFq82ip11yytl539eN1kQGd7TKRGsn2wCcafUg0DC2"
    "tHWpKBC1BpWYNqRIaJYtSTKZAnA8nZnYU4T40ApKUjsCYEgSQAGFrXHz2dtCbz+MC/zl/Yfy8dE5zb3hurhgfVjTHQc5cbQpVImR47w0s8C6"
    "pHEbR3McwLZ1pgKDU2AGCF/ZfgGs1kahhY8UlidZSXP+VQ8BnBS25593t2HEA95z/nm1efe4UWTTH20/3EcmncE2y3bq6kujXSDJqG5l6gyl"
    "wAyN/EctqERkpC8LzZplDKLNeHUCv+ec7l5+jpLD6EbFMWUnEJoYMHN7FONOn3DEPl92dxYfHli5XnvarEocujW8G05KO01/UAzFDE5lyqRQ"
    "6FC4DRAbLEfNARZeqteUMW+6dtYsiiDSCEntuIWQmvn2VSRD3BXakBZEF0QvwYjP33G9OFC4czz1AJP87YLVZpGk+/yHs72FMAZOwes2rVqF"
    "xnegLYuLZc+/uDvIfMR8BKIGpEjUTV7ICnY5IsAvui/xu3wKLaJlnIYDSVS6ldRsrXJUkcZONEVbXoi59syavR80u8+WrF1t3n8BGaJmSLLt"
    "IGCjrqUWyoDPSC9pqhfXQNFwdBUeHIBy3Kb4n/CYrhOzS5rZg9e0MSccXpqyU7V06CkrY5ga/UpubqLx0RyCjJ9XJOX+y6e+Oa15OqO6uO4Z"
    "hl5f8HJrBw9Rp2qvJvcy4X9gCGqNSg6ZTEgoi8xfhYnC7DJEeM0OYZSCFNAoLssxoHjwKQTBc9rgk1j9pYl3wj08YbnNFavNqheYrgddPBkq"
    "VAeT2VSDWOImALzNyXEawIFORYZswd5z0x4+GjVk5CRb/suSyffmpIMpscoY1u7pRhzSIG6P5jeklXMWceQFgsjdf/WPO0deQ9zfq8rS1ebt"
    "I+WDqgmwHPQCCLRhzTmJHCTjQWugqdR0okiZyJw5xNBRQ/yUSb8qyPzeuRxrYKM7wSrW1inHpRLCXIOqG9ZJDZPZStb2Z4wbeUHHv7V0m6eX"
    "AyN7Lbm4ZLVZdkQQFtKppFKsTBMiRmCr4CGhvwlWnrtqCY6KTOhmJQ864IW03nhVmRAgS01SBiHnU/baZNlphsc6fDwMGXmmYHMKJIGqbpqX"
    "j4++uzm/2wlUe3YoTtdrV+v3X02Bi2B2oT2g+qgxyEBOZhGHBBlKETapFyisLipEn4FSDMgLVUbwKdqGuVTgdMJhQzoBAk6ru0tdV3RQoWMD"
    "gmiyFkG1KgRT+2yAswbPj5Ld3u1K67WbNHdk/IH12rRCb08QoeSihSES2DCSkqoATZQSzhWjwQNRcKGSs4z1NcMavCW3re3G/oSpLfRrEATd"
    "oNMhHKF+emCP6dAqcvCz+JeilS/XstNifJYOHvvsjo87NB9oc927b9et3AnTguioWin8SbLCW2xD0o2Be9SwbEg2kBbFyfGXAVgZdX3agB4V"
    "GTiSs0ZaDrvx8Z8wiurXN4thEi+buXT3D/ltHo/C3V851os3Y3Dt8fasN0VdsOukNgOdmdgT1brTItCIORXp2abvzqP1+YG6SNsGS9/j8LKT"
    "cAGaeSjhhFmYlQdoLSSeJa+Cnj0wcMgot0CeUOnZxPynG/r0ursj88Bg0fvFq/WCYyNYq9KYpqlJb6StnIWFoQUUJyVz+pALFbDA0WLS29Pt"
    "U03p5OCJYAFU34rPHE/YGFSSDHrFIt2jPsrRUVCxRtiByRe55AWjaT9//lBuP+yk/wNDgzZrV+v3v/MECQN+o4cgiEah708Io4aKF5pyKbte"
    "xSfRaH2mBsu2MbQJygZ9Aw6KUrSUyXgE+VVFixOJ3/V2gp0ZQweG/srS1ebt72vXOCKCICYIMtwK2tF5PYSHIpS5VTh2V2i9uGfnodMNTUUa"
    "nl63hFqbW3qs8kEf7y5qgVJRY63RxQlvAZ1K/0hEV/6vjo39Xk5oXX/Gyzppqbh6f/1p65NO9ry784knsm/10EeeWP/4I0+MVO9HH3mCMhTU"
    "+nv9/MiTx8/+52eYbBvh54eSHP9Qkh/qU0Z+zI8N+VE+B+QH+WCPH/GTOn5+9Mb3+eiNH+azNF48tfRPPXL/x5ih/6MPxT+R0P853P7gcPsf"
    "elr9q7jPn3Hq/M8x8q9YJ//Mc+F/kEHvPye37+b6n6PY99vlj85W/3cZIv7MqeB/xrHVL55D/WMPXP45QfnuJSOR//1H/750lu8Lh/fKRBiz"
    "O6pLKBd9dIKvzIQxq4flzx18lkqD1Yy6ix6eGlx9lYklhFwhO1mKdUHKVTK3w4keHxRuOH0t6+NCy4lHpG7I7WyOuNjuzEyzZ77O19efNTpS"
    "pvLej416ZMp8ZuLRybz3w6PWxpQLXmXEjpU5L0PHNmTfPakL03boU1wSDDQF+5DvJzJBAiDjuFjXgyER1jqJbLlZWntzlBV7tsXW44j3e19W"
    "Jw0zXjhgVq9iM3rfVhWooBdkw5qryRUA3br4KFJSxC/lw4VlZkenZFovp9XoKGrGa9NSXaSBSOGYTz7XaJe/t3bIZvb40OLWliazrzJgC954"
    "LUpUeCjRZuRjYyATa9O2SxzL6d9YcKEQpA0zYE7yaKCuGKCUXtJTvA64Sq9tMhnV/HKbcfXrG63E6IOHsfVmzATrJHNgXAutA7gRrNBrHWlu"
    "ADVaoXGDlJhpKkRvOUayFLOA8tLK5Nc12sPw5ZeG5/31rx+gpcNaJKm5akBLGNh7o1x3SXWZINwtuMzI/KDi5Gxpm80l0Imacuy2Lk9OZi87"
    "JF/TbA9l5cWjmM3LRzHDeaMVqqLIR9XKZvkpG5+mCwZ4JrHYET6CbzN06K/ocTirE01BsQFafNneIfWHpM0rmkamJD92JflYGeh/e2zA8r0X"
    "PSx/FT9yHXERkXidrTCKrkGGdcByBdkDMeQEwUA/hx8UxrTJXlClJxep7ubWmbVstRzbfU1XWk8+fmyw9db2IzNU5YV7g90vfxV7aZmHppSt"
    "sOVqaAtY000GnECdpBxyk103NmbjtXTMtmASJQPVtRzTWo78RWFDz3WvaK31MOPH1hJtKR/LVXLtvbke1j839Ko1VrajT8h0aLXB3cidNxJ8"
    "lU8Ii7JzVOYbQkBOHybJKTYLCVOSpS1YCvby0Uc5hle0zRLW7gRflPtVJww3/hp/myueax9nI4hJl26CAMkq8mMx2dNfWji2ANEU1miUZG5V"
    "hpWcMcqQnorx3JJ1NiF6ccPXDLX7mcP7Cp0/jhA2V38tc/4JhPDcgJPZAD1S+iskfVh/qlUi8gasLmk9+0zkOQTPIaRDQNztMlqhrnc3abv8"
    "oHngmMyhCCe2R3+kE1qOITa77MSRlnI5htis1PZWwNOGAayP2sEAQ2cp+kpaH8Q+OsmG9B2tDCqCDHOwF1jMQokrU2P1sgNZPmlzKfSlKHJX"
    "fj34frm3QTx5rrB54VxhlzzhJZSFg+mWke3wUwnJDw63wGiaZnwCEuBSOBYwFM8aEdYHIWj4snSjHCKOZOPrmeTrwN8XoPOvF78+OE9Qo8Jy"
    "oZISVUKKemoWmIikBBannS5VJDJdaQcz9DDICrDVEVWjBU4sGmfqIRzRqZH3FSY9QUzsTVzPC9PFLGDz0lnA5hVnAStnpiEyJ90OokyvScZ0"
    "euR44wXOo0TSDZH7Gk8kGDn4uf6E5WjoO3NdHsezonGrV8Ri61G9L+iC5LrX736Eah5GKZkI1RGlC222gddpgeIK/pchotY4uMku8ylBtlkm"
    "abSRZdeDXhwFTZn+549b6U89tPfnFN7XncL7w4zVff6c3B96uOvPaa2vMK315/jVP5xs/uTzVH8OSN2Tfv/NJ57+HGF64gjTnzNJ/1kzSX/E"
    "IaM/zNTQn2NAD44B/V5zPf8dplb+IGMoXzxX8kean/i6AxH/u3Bo6e0v5x9Zv7q6vPhyYFrEP2mc4NUuXZGemiV4tdqsOJTljHtmr+7hbbRL"
    "Qt9AcLSKqE+EQjMDH9H+QUzkfk2vIZIHRFiuUPwyvjLPMeqCFIPehvg/4aOsYpSPcLRQJmFCnwRPe2PXn0hM6Znq0ciIPzCT8dnP+jXGGX6v"
    "H/qnHAT4c7LfKZP9Xj6q7886Ze7n2LhTDnk+NQfu33r82w80z+3ngLaTB7T9nLh24sS1vfNY/h88sT54"
)},
    "variables": ["TOKENIZERS_PARALLELISM"],
    "golden": None,
    "silent": set(),  # what can't be reached
}


def colab_boot_front():
    """What runs this code: the "kernel" of a notebook, "ipython" without one, or plain "python"."""
    shell = sys.modules["IPython"].get_ipython() if hasattr(sys.modules.get("IPython"), "get_ipython") else None
    if shell is None:
        return "python"
    return "ipython" if getattr(shell, "kernel", None) is None else "kernel"


class ColabBootStop(SystemExit if colab_boot_front() == "python" else Exception):
    """Ends the cell, and with it the cells queued behind it, in one line instead of a traceback. A script ends with its exit code."""

    def __init__(self, message, code=1):
        super().__init__(message)
        if colab_boot_front() == "kernel":
            colab_boot_escalate(self)
        if isinstance(self, SystemExit):
            print(message, file=sys.stderr, flush=True)
            self.code = code

    def _render_traceback_(self):
        return [str(self)]


def colab_boot_escalate(stop):
    """`%%capture` runs its cell in a cell: what stops the inner one is only printed, into what is captured, and the queued cells would run. The outer
    cell gets the error, too."""
    shell, frame, depth = sys.modules["IPython"].get_ipython(), sys._getframe(), 0
    while frame:
        depth += frame.f_code.co_name == "run_cell_async"
        frame = frame.f_back

    def fail(result):
        if result.error_in_exec is not stop:
            shell.events.unregister("post_run_cell", fail)
            result.error_in_exec = stop
            shell.showtraceback((type(stop), stop, None))

    if depth > 1:
        shell.events.register("post_run_cell", fail)


def colab_boot_home():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(home) / "colab-boot"


def colab_boot_temporary():
    """Where temporary files go, as far as that is known without a look at it."""
    return tempfile.tempdir or next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")


def colab_boot_reach():
    """Finds out what can't be reached of the places that this cell needs: the server of a mount may be silent, and who touches it waits for ever."""
    home, binary = str(colab_boot_home()), os.environ.get("COLAB_BOOT_BINARY")
    COLAB_BOOT["silent"] = silent = colab_boot_silent([home, binary, colab_boot_temporary(), *os.get_exec_path()])
    for place, name in ((home, "XDG_CACHE_HOME"), (binary, "COLAB_BOOT_BINARY")):
        if place in silent:
            raise ColabBootStop(f"colab-boot: {place} can't be reached: its mount does not answer; unmount it, or name another place with {name}")
    for place in sorted(silent):
        colab_boot_say(f"colab-boot: {place} is left out: its mount does not answer\n")


def colab_boot_write(path, data, mode=0o644):
    """Writes a file whole: beside its place, then renamed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except OSError as error:
        raise ColabBootStop(f"colab-boot: {path} could not be written: {error}; XDG_CACHE_HOME names another folder") from None


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
        try:
            with urllib.request.urlopen(place, timeout=60) as reply:
                return reply.read(64 << 20)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise ColabBootStop(f"colab-boot could not be fetched from {place}: {error}; COLAB_BOOT_BINARY names one that is here") from None
    path = pathlib.Path(place)
    for file in [path] if path.is_file() else sorted(path.rglob("colab[-_]boot*")):
        data = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(data).hexdigest() == digest:
            return data
    raise ColabBootStop(f"there is no colab-boot with sha256 {digest} in {place}")


def colab_boot_binary():
    """COLAB_BOOT_BINARY, then PATH, then the pinned download. A download with another digest is not run."""
    entries = [entry for entry in os.get_exec_path() if entry not in COLAB_BOOT["silent"]]
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot", path=os.pathsep.join(entries))
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


class ColabBootImports:
    """First on sys.meta_path, finds nothing, and remembers when which module was looked for, and after each cell what its file looked like: a file that has
    not changed since is what the kernel has loaded."""

    colab_boot = True

    def __init__(self):
        self.begun, self.stamps, self.again = {}, {}, set()

    def find_spec(self, name, path=None, target=None):
        now = time.time_ns()
        self.begun[name] = (now, time.monotonic_ns(), self.begun.get(name, (0, 0, now))[2])

    def look(self, *_):
        """Remembers the files of the modules that were looked for since the last time. Never fails: IPython calls it after each cell."""
        begun, self.begun = self.begun, {}
        now = time.time_ns() - time.monotonic_ns()
        for name, (wall, steady, first) in begun.items():
            try:
                module = sys.modules[name]
                if type(module).__name__ == "_LazyModule":  # it is loaded when it is used
                    self.begun[name] = (wall, steady, first)
                    continue
                stamp, names = colab_boot_stamp(colab_boot_file(module))
            except Exception:
                continue
            known = self.stamps.get(name)
            # A clock that was set back in between proves nothing; one that was set forward makes changes younger.
            is_steady = wall - steady - now < 1_000_000_000
            self.stamps[name] = (id(module), stamp if is_steady and stamp[0] < wall - 20_000_000 else None, names)
            # One that was loaded again may have left what it was before in other hands.
            if known is not None and known[1] != stamp or first != wall and stamp[0] >= first - 20_000_000:
                self.again.add(name)


def colab_boot_imports():
    """The one of this kernel; it outlives the cell that made it."""
    for finder in sys.meta_path:
        if getattr(type(finder), "colab_boot", False) and hasattr(finder, "look"):
            return finder
    finder = ColabBootImports()
    sys.meta_path.insert(0, finder)
    try:
        sys.modules["IPython"].get_ipython().events.register("post_run_cell", finder.look)
    except Exception:  # no notebook: it looks when it is asked
        pass
    return finder


def colab_boot_file(module):
    """The file that a module says it comes from, as text; an exception where it says none."""
    return os.fspath(object.__getattribute__(module, "__dict__")["__file__"])


def colab_boot_real(file, known={}):
    """The file, by the place of its folder where that was reached through links that do not say what it is."""
    if "-packages" + os.sep in file:
        return file
    folder, name = os.path.split(file)
    if not known:
        known[None] = colab_boot_far()
    if folder not in known:
        known[folder] = colab_boot_resolved(folder, known[None])
    return os.path.join(known[folder], name)


def colab_boot_text(path):
    """What a file says. It is closed at once: a filter of warnings may make an error of one that is left open."""
    with open(path) as file:
        return file.read()


def colab_boot_far():
    """Where file systems are mounted whose servers may be silent: touching them may block for ever."""
    far = ("fuse", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "lustre", "ceph", "beegfs", "gpfs", "afs", "glusterfs")
    try:
        lines = colab_boot_text("/proc/self/mountinfo").splitlines()
    except OSError:
        return set()
    return {line.split(" ")[4].replace("\\040", " ") for line in lines if line.partition(" - ")[2].split(" ")[0].split(".")[0] in far}


def colab_boot_resolved(folder, far, beyond=None):
    """A folder without links; where it leads to a mount of `far`, of which nothing is touched, as it is, or `beyond`."""
    place, parts, links = "/", folder.split("/"), 0
    while parts and folder.startswith("/") and links < 40:
        part = parts.pop(0)
        place = os.path.normpath(os.path.join(place, part))
        if place in far:
            return beyond or folder
        try:
            target = os.readlink(place)
        except OSError:
            continue
        links += 1
        place, parts = "/" if target.startswith("/") else os.path.dirname(place), target.split("/") + parts
    return folder if parts else place


def colab_boot_silent(places):
    """Those of `places` that lie on mounts whose servers do not answer for them within two seconds. Children ask, all at once: who asks may wait for ever."""
    far, asked, silent = colab_boot_far(), {}, set()
    quiet = {"cwd": "/", "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for place in {place for place in places if place and far and colab_boot_resolved(place, far, "far") == "far"}:
        try:
            asked[place] = subprocess.Popen(["/usr/bin/find", place, "-maxdepth", "0", "-empty"], **quiet)
        except (OSError, ValueError):
            pass
    end = time.monotonic() + 2
    for place, child in asked.items():
        try:
            child.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            silent.add(place)
    return silent


def colab_boot_root(file):
    """The folder of packages that a file lies in, else its own."""
    before, named, _ = file.partition("-packages" + os.sep)
    return before + named if named else os.path.dirname(file)


def colab_boot_stamp(file):
    """What a file looks like: its ctime, that of the link that leads to it counts too, and its size. And what tells that it has got or lost another name,
    which moves its ctime, and nothing else: uv links the files of all environments to those of its cache."""
    data, own = os.stat(file), os.lstat(file)
    return [max(data.st_ctime_ns, own.st_ctime_ns), data.st_size], (own.st_dev, own.st_ino, own.st_mtime_ns, own.st_nlink)


def colab_boot_is_same(known, stamp, names):
    """Whether a file that looked as `known` says and has another ctime now was only linked or unlinked elsewhere since."""
    then = known[2] if len(known) > 2 else None
    return then is not None and known[1][1] == stamp[1] and then[:3] == names[:3] and then[3] != names[3]


def colab_boot_moved(folder, started, known):
    """Whether a folder on the way to a file was renamed, or a link turned, since this process started: its files keep their ctime then. What is put into
    a folder changes its mtime, too."""
    if folder not in known:
        data = os.lstat(folder)
        is_link = data.st_mode & 0o170000 == 0o120000
        moved = data.st_ctime_ns >= started and (is_link or data.st_mtime_ns < started)
        parent = os.path.dirname(folder)
        known[folder] = moved or parent != folder and colab_boot_moved(parent, started, known)
    return known[folder]


def colab_boot_only_linked(file, started, known):
    """Whether a file with several names has got or lost one of them elsewhere, and nothing else since this process started: its content is older, and so
    is what its folder lists, and no folder on the way was renamed."""
    folder = os.path.dirname(os.path.abspath(file))
    try:
        own, above = os.lstat(file), os.stat(folder)
        is_older = own.st_nlink > 1 and own.st_mtime_ns < started and above.st_mtime_ns < started
        return is_older and not colab_boot_moved(folder, started, known)
    except OSError:
        return False


def colab_boot_clock():
    """Now, by the clock that starts of processes are counted by: that of a thread of now."""
    ticks = []
    thread = threading.Thread(target=lambda: ticks.append(int(colab_boot_text("/proc/thread-self/stat").rpartition(")")[2].split()[19])))
    thread.start()
    thread.join()
    return ticks[0]


def colab_boot_started():
    """When this process started, by the clock of files, in nanoseconds. A thread of now tells the clock that starts are counted by."""
    age = colab_boot_clock() - int(colab_boot_text("/proc/self/stat").rpartition(")")[2].split()[19])
    return time.time_ns() - (age + 1) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def colab_boot_plain(value):
    """`value` in a form that is equal for equal values of equal types; ValueError for what is not made of Python's own types alone."""
    kind = type(value)
    if kind in (bool, int, float, complex, str, bytes, type(None), type(...)):
        return (kind.__name__, repr(value))
    if kind in (tuple, list):
        return (kind.__name__, [colab_boot_plain(one) for one in value])
    if kind in (set, frozenset):
        return (kind.__name__, sorted(map(repr, map(colab_boot_plain, value))))
    if kind is dict:
        return (kind.__name__, [(colab_boot_plain(key), colab_boot_plain(one)) for key, one in value.items()])
    raise ValueError(kind.__name__)


def colab_boot_key(code):
    """What makes two pieces of code do the same, wherever they stand in their file."""
    consts = tuple(colab_boot_key(one) if hasattr(one, "co_code") else (type(one).__name__, repr(one)) for one in code.co_consts)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (counts, names, consts, code.co_code, getattr(code, "co_exceptiontable", b""))


def colab_boot_differs(code, name, space, live):
    """Why the module `name` with namespace `space`, of which the functions `live` are in memory, is not what `code`, its syntax tree, would make it:
    ("differs", why), or ("unknown", why) where that can't be told; None where it is the same. Runs nothing of it."""
    (tree, compiled), module = code, space.get("__name__")
    known, wanted, bodies, made, alike = set(), set(), {}, {}, {}

    def walk(outer, counts, path):
        for one in outer.co_consts:
            if hasattr(one, "co_code"):
                is_function, inner = one.co_flags & 1, path + (one.co_name,)  # CO_OPTIMIZED; not the body of a class
                inner = path if one.co_name.startswith("<generic") else inner
                known.add(colab_boot_key(one))
                bodies.setdefault(inner, []).append(colab_boot_key(one))
                if counts and is_function and not one.co_name.startswith("<"):
                    wanted.add((one.co_name, colab_boot_key(one)))
                walk(one, counts and (not is_function or one.co_name.startswith("<generic")), inner)

    walk(compiled, True, ())
    in_memory = {colab_boot_key(function.__code__): function.__name__ for function in live}
    for key, function in in_memory.items():
        if key not in known:
            return ("differs", f"`{function}`")
    unknown = [f"`{function}` is not in memory" for function, key in wanted if key not in in_memory][:1]

    def same(node, there, space):
        try:
            value = colab_boot_plain(ast.literal_eval(node))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            unknown.append(f"line {node.lineno}")
            return True
        try:
            return there in space and colab_boot_plain(space[there]) == value and apart(space[there], node)
        except ValueError:
            return False

    def apart(value, node):
        """Whether nothing else in the file made the lists, dicts and sets of `value`: in memory, names may share one of which the file gives each its own."""
        parts, place = [value], 0
        while parts:
            one, place = parts.pop(), place + 1
            if type(one) in (list, dict, set) and made.setdefault(id(one), (node, place)) != (node, place):
                return False
            if type(one) in (list, tuple, dict):
                parts.extend(one.values() if type(one) is dict else one)
        # The targets of one statement share what it makes.
        return type(value) not in (list, dict, set) or alike.setdefault(node, id(value)) == id(value)

    def of_import(node, space):
        if isinstance(node, ast.Import):
            for one in node.names:
                module = one.name if one.asname else one.name.partition(".")[0]
                if space.get(one.asname or module) is not sys.modules.get(module, 0):
                    unknown.append(f"line {node.lineno}")
        elif node.module != "__future__":
            package = name if "__path__" in dict_of(sys.modules.get(name)) else name.rpartition(".")[0]
            package = ".".join(package.split(".")[: max(len(package.split(".")) - node.level + 1, 0)])
            source = ".".join(part for part in (package if node.level else "", node.module) if part)
            for one in node.names:
                value = space.get(one.asname or one.name, 0)
                found = dict_of(sys.modules.get(source)).get(one.name, sys.modules.get(f"{source}.{one.name}", 1))
                if one.name == "*" or value is not found:
                    unknown.append(f"line {node.lineno}")

    def dict_of(value):
        return object.__getattribute__(value, "__dict__") if value is not None else {}

    def mangled(name, path):
        """What Python calls a private name of a class."""
        is_private = path and name.startswith("__") and not name.endswith("__")
        return "_" + path[-1].lstrip("_") + name if is_private else name

    def renamed(value, node, path):
        """Whether a function or a class says something else of itself than its place in the file, or has attributes of its own: a statement or a decorator
        that is gone from the file may have set them."""
        own = (value.__name__, value.__qualname__, value.__module__)
        return own != (node.name, ".".join(path + (node.name,)), module) or type(value) is types.FunctionType and bool(value.__dict__)

    def of_function(node, space, path):
        value = space.get(mangled(node.name, path))
        kinds = {"property": property, "staticmethod": staticmethod, "classmethod": classmethod}
        names = [getattr(one, "id", None) for one in node.decorator_list]
        if len(names) > 1 or not kinds.keys() >= {*names}:
            return unknown.append(f"line {node.lineno}")
        if path and not names:  # Python makes these what they are
            names = [{"__new__": "staticmethod", "__init_subclass__": "classmethod", "__class_getitem__": "classmethod"}.get(node.name)]
        if names and names[0]:
            if type(value) is not kinds[names[0]]:
                return node.name
            value = value.fget if names[0] == "property" else value.__func__
        if type(value) is not types.FunctionType or colab_boot_key(value.__code__) not in bodies.get(path + (node.name,), []):
            return node.name
        if renamed(value, node, path):
            unknown.append(f"attributes of `{node.name}`")
        own, keyed = value.__defaults__ or (), value.__kwdefaults__ or {}
        names = [(key.arg, one) for key, one in zip(node.args.kwonlyargs, node.args.kw_defaults) if one]
        if len(own) != len(node.args.defaults) or {*keyed} != {key for key, _ in names}:
            return node.name
        for one, there in [*zip(node.args.defaults, own), *((one, keyed[key]) for key, one in names)]:
            if not same(one, "default", {"default": there}):
                return node.name

    def named(node):
        """What a name, or names with dots between them, stands for in the module."""
        if isinstance(node, ast.Attribute):
            return dict_of(named(node.value)).get(node.attr)
        return space.get(node.id, getattr(builtins, node.id, None)) if isinstance(node, ast.Name) else None

    def of_class(node, space, path):
        value = space.get(mangled(node.name, path))
        if type(value) is not type or node.decorator_list or node.keywords or renamed(value, node, path):
            return unknown.append(f"line {node.lineno}")
        bases = [base for base in value.__bases__ if node.bases or base is not object]
        if len(bases) != len(node.bases) or not all(named(one) is base for one, base in zip(node.bases, bases)):
            return unknown.append(f"line {node.lineno}")
        return of_body(node, dict(vars(value)), path + (node.name,))

    def of_body(whole, space, path):
        body, meant = whole.body, {"__slots__"}
        if sys.flags.optimize < 2 and (space.get("__doc__") or "").split() != (ast.get_docstring(whole, False) or "").split():
            unknown.append("another docstring")
        for node in body:
            targets, different = getattr(node, "targets", None) or [getattr(node, "target", None)], None
            if not isinstance(node, ast.AnnAssign) or node.value is not None:
                meant.update(getattr(one, "name", getattr(one, "id", "")) for one in [node, *targets])
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                meant.update(one.asname or one.name.partition(".")[0] for one in node.names)
                of_import(node, space)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                different = of_function(node, space, path)
            elif isinstance(node, ast.ClassDef):
                different = of_class(node, space, path)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in targets:
                    if not isinstance(target, ast.Name):
                        unknown.append(f"line {node.lineno}")
                    elif not same(node.value, mangled(target.id, path), space):
                        different = target.id
            elif not (isinstance(node, (ast.Pass, ast.AnnAssign)) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                unknown.append(f"line {node.lineno}")
            if different:
                return different
        # What is in memory besides was in the file once, or a program has put it there. Python itself makes some, as the slots of a class.
        pythons = "name doc package loader spec path file cached builtins annotations annotate conditional_annotations warningregistry".split()
        made = (types.ModuleType, types.MemberDescriptorType, types.GetSetDescriptorType)
        for key, value in space.items():
            is_private = path and key.startswith("_" + path[-1].lstrip("_") + "__")
            is_pythons = key.startswith("__") and (path or key.strip("_") in pythons)
            if key not in meant and key not in stored and not is_private and not is_pythons and not isinstance(value, made):
                unknown.append(f"`{key}` is not in the file any more")

    stored = {key for node in ast.walk(tree) if isinstance(node, ast.Global) for key in node.names}
    # A program may set what its file has set: another value alone proves nothing.
    different = of_body(tree, space, ())
    if different:
        return ("unknown", f"`{different}` has another value")
    return ("unknown", unknown[0]) if unknown else None


def colab_boot_modules(loaded):
    """The names of the loaded modules that lie in site-packages, and those whose file is not known to be the one that they were loaded from: with its stamp
    then, if known, and what a comparison of their code says."""
    imports, started = colab_boot_imports(), colab_boot_started()
    imports.look()
    before, stamps, suspects, folders = imports.stamps, {}, [], {}
    installed = {name: (module, file) for name, (module, file) in loaded.items() if "-packages" + os.sep in colab_boot_real(file)}
    silent = colab_boot_silent({colab_boot_root(file) for _, file in installed.values()})
    for name, (module, file) in installed.items():
        try:
            stamp, names = (None, None) if colab_boot_root(file) in silent else colab_boot_stamp(file)
        except OSError:
            stamp = names = None
        known = before.get(name)
        # One that was loaded before anybody looked is what the kernel has loaded where its file is older than the kernel, and has not come there since.
        is_older = stamp is not None and stamp[0] < started and not colab_boot_moved(os.path.dirname(os.path.abspath(file)), started, folders)
        was = known[1] if known and known[0] == id(module) else stamp if is_older else None
        if was and stamp and was is not stamp and colab_boot_is_same(known, stamp, names):
            was = stamp
        again = stamp is not None and name in imports.again
        stamps[name] = (id(module), was, names or known and known[2:] and known[2])
        if was != stamp or was is None or again:
            suspects.append((name, file, was, stamp, again))
    imports.stamps, imports.again = stamps, set()
    return {"names": sorted(stamps), "changed": colab_boot_compared(suspects, loaded, started, folders)}


def colab_boot_functions(name, space, file):
    """The functions from `file` that the namespace of the module `name` leads to: its own, those of its classes, and what these are wrapped in."""
    # Builtins lead to the shell of the notebook, and with it to everything.
    seen = {id(builtins.__dict__), id(sys.modules), *(id(space.get(own)) for own in ("__builtins__", "__loader__", "__spec__"))}
    found, open_ = [], [space]
    while open_ and len(seen) < 50_000:
        for one in gc.get_referents(open_.pop()):
            kind = type(one)
            if id(one) in seen or kind in (types.ModuleType, types.CodeType, str, bytes, int, float) or not gc.is_tracked(one):
                continue
            if isinstance(one, type) and type.__getattribute__(one, "__module__") != name:
                continue
            if kind is types.FunctionType and one.__globals__ is not space:
                continue
            seen.add(id(one))
            if kind is types.FunctionType and one.__code__.co_filename == file:
                found.append(one)
            open_.append(one)
    return found


def colab_boot_compared(suspects, loaded, started, folders):
    """Each of the suspects with what their code says, as far as that takes no time to speak of."""
    end, function = time.thread_time() + 0.06, types.FunctionType
    # A module that no earlier cell has looked at may have been loaded twice, and its first functions may be in other hands.
    anywhere = {file: [] for _, file, was, _, again in suspects if (again or was is None) and file.endswith(".py")}
    for one in [one for one in gc.get_objects() if type(one) is function] if anywhere else []:
        if one.__code__.co_filename in anywhere:
            anywhere[one.__code__.co_filename].append(one)
    changed = []
    for name, file, was, stamp, again in suspects:
        found = ("unknown", "no source to compare")
        if stamp and file.endswith(".py"):
            try:
                if time.thread_time() + 1e-6 * stamp[1] > end and not again:  # a kilobyte takes a millisecond at most
                    raise TimeoutError
                space = object.__getattribute__(loaded[name][0], "__dict__")
                live = anywhere[file] if file in anywhere else colab_boot_functions(name, space, file)
                with open(file, "rb") as source:
                    text = source.read()
                code = ast.parse(text, file), compile(text, file, "exec", dont_inherit=True)
                found = colab_boot_differs(code, name, space, live)
            except TimeoutError:
                found = ("unknown", "too much code to compare")
            except Exception as error:
                found = ("unknown", f"{type(error).__name__}: {error}")
        # Of one that was loaded from this very file, only what was left from before can differ.
        is_proven = was == stamp or was is None and stamp and not again and colab_boot_only_linked(file, started, folders)
        found = ("same", "") if not found or found[0] == "unknown" and is_proven else found
        changed.append({"name": name, "file": colab_boot_real(file), "loaded": was, "now": stamp, "code": found[0], "why": found[1]})
    return changed


def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing, runs nothing of a module, initialises no device."""

    def own(module):
        try:  # a module may be anything, and answer to any name; what it is made of lies here
            return object.__getattribute__(module, "__dict__")
        except Exception:
            return {}

    def text(value):  # a module may have any text; JSON may not
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None

    def encodable(text):
        return isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    def told(question):
        try:
            return question()
        except Exception:
            return None

    at = told(lambda: colab_boot_clock())

    modules, files, loaded = {}, {}, {name: module for name, module in dict(sys.modules).items() if encodable(name)}
    for name, module in loaded.items():
        file = told(lambda: colab_boot_file(module))
        if not encodable(file):
            # Something that has put itself in the place of a module: what it comes from is not known.
            if module is not None and type(module) is not types.ModuleType and "." not in name:
                modules[name] = {"file": None, "version": None}
            continue
        files[name] = (module, file)
        # What lies in the folder of a regular package goes with it; namespace packages have no file of their own.
        top = own(loaded.get(name.split(".")[0])).get("__file__")
        if "." in name and encodable(top) and file.startswith(os.path.dirname(top)):
            continue
        modules[name] = {"file": told(lambda: colab_boot_real(file)), "version": text(own(module).get("__version__"))}

    def torch_memory():
        cuda = loaded["torch"].cuda
        stats, (free, total) = cuda.memory_stats(), cuda.mem_get_info()
        parts = {"reserved": "reserved_bytes.all.current", "allocated": "allocated_bytes.all.current"}
        parts.update({"split": "inactive_split_bytes.all.current", "retries": "num_alloc_retries", "failed": "num_ooms"})
        return {"free": free, "total": total, **{name: stats.get(key, 0) for name, key in parts.items()}}

    initialised, memory = {}, None
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
        memory = told(torch_memory) if initialised["torch.cuda"] else None
    if "jax" in loaded:
        bridge = loaded.get("jax._src.xla_bridge")
        initialised["jax"] = asked(lambda: bridge is not None and bridge.backends_are_initialized())
    if "tensorflow" in loaded:
        context = loaded.get("tensorflow.python.eager.context")
        initialised["tensorflow"] = asked(lambda: context.context()._initialized)
    return {
        "schema": 2,
        "pid": os.getpid(),
        "at": at,
        "modules": modules,
        **(told(lambda: colab_boot_modules(files)) or {}),
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry for entry in (entry or told(os.getcwd) for entry in sys.path) if encodable(entry)],
        "start_method": told(lambda: loaded["multiprocessing"].get_start_method(allow_none=True)),
        "hash_randomization": bool(sys.flags.hash_randomization),
        "torch_memory": memory,
    }


# What `doctor` wants to know of this kernel's environment.
COLAB_BOOT_ASKED = "CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH OMP_NUM_THREADS PYTHONHASHSEED PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF".split()
COLAB_BOOT_ASKED += "TF_FORCE_GPU_ALLOW_GROWTH XLA_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_PREALLOCATE".split()


def colab_boot_show(page):
    """Shows a page below what was printed, where the front end shows pages."""
    try:
        from IPython.display import display

        with open(page) as file:
            display({"text/html": file.read(), "text/plain": ""}, raw=True)
    except (ImportError, OSError):
        pass


def colab_boot_folder(facts):
    """A folder that goes when it is left, with the facts of this kernel in it."""
    try:
        folder = tempfile.TemporaryDirectory(dir="/tmp" if colab_boot_temporary() in COLAB_BOOT["silent"] else None)
        with open(os.path.join(folder.name, "facts.json"), "w") as file:
            json.dump(facts, file)
        return folder
    except OSError as error:
        raise ColabBootStop(f"colab-boot: there is no place for temporary files: {error}") from None


def colab_boot_run(verb, *options):
    """Runs colab-boot for this kernel, passes on what it says, returns its exit code and its report."""
    if verb != "apply":  # the cell itself has
        colab_boot_reach()
    about = [] if verb in ("doctor", "fingerprint", "status") else [str(colab_boot_files())]
    if verb == "doctor":
        about = ["--profile", str(colab_boot_files())]
    if not sys.executable:  # a program that embeds Python may leave it so
        raise ColabBootStop("colab-boot: sys.executable is empty, so this Python has no name: set it to the path of its interpreter")
    command = [colab_boot_binary(), verb, *about, "--python", sys.executable, *options]
    named = [name for name in os.environ.get("COLAB_BOOT_ENV_NAMES", "").split(",") if name]
    try:  # the file that sets them for the next kernel
        with open(os.path.join(sysconfig.get_paths()["purelib"], "colab-boot-env.pth")) as file:
            named += json.loads(file.read().split(".update(", 1)[1].strip()[:-1])
    except (OSError, ValueError, IndexError):
        pass
    if verb == "doctor":
        named += COLAB_BOOT_ASKED
    known = {**colab_boot_facts({*COLAB_BOOT["variables"], *named, "COLAB_BOOT_ENV"}), "release": COLAB_BOOT.get("unchecked")}
    with colab_boot_folder(known) as folder:
        facts, report = os.path.join(folder, "facts.json"), os.path.join(folder, "report.json")
        command += ["--kernel-pid", str(os.getpid()), "--kernel-modules", facts, f"--json={report}"]
        page = os.path.join(folder, "doctor.html")
        if verb == "doctor" and "--log" not in options and "--list" not in options:
            command.append(f"--html={page}")
        code = colab_boot_follow(command)
        colab_boot_show(page)
        try:
            with open(report) as file:
                said = json.load(file)["report"] or {}
        except (OSError, ValueError):
            return code, {}
        # Another thread may have collected the exit code: the report counts.
        ends = {"restart-pending": 10, "unproven": 1, "refused": 1}
        return code or ends.get((said.get("verdict") or {}).get("word"), 0), said


def colab_boot_say(text):
    """Prints. Where nothing reads it any more (`| head -1`), or the disk is full, the work goes on."""
    try:
        print(text, end="", flush=True)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def colab_boot_follow(command):
    """Runs a command and prints what it says. The stop button stops the command, which puts right what it has begun: its end is waited for.
    At the third press it is killed."""
    try:
        process, stopped = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), 0
    except OSError as error:
        raise ColabBootStop(f"colab-boot: {command[0]} does not run: {error}") from None
    while True:
        try:
            for line in process.stdout:
                colab_boot_say(line)
            code = process.wait()
            break
        except KeyboardInterrupt:
            stopped += 1
            colab_boot_say("colab-boot: stopping after the current step\n")
            try:  # a front end interrupts the kernel alone, or all that it has started
                process.kill() if stopped > 2 else process.send_signal(signal.SIGINT)
            except OSError:
                pass
    process.stdout.close()
    if stopped:
        raise ColabBootStop(f"colab-boot {command[1]} was stopped", 130)
    return code


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
    except (OSError, subprocess.TimeoutExpired):
        colab_boot_say(f"colab-boot: {golden['at']} did not answer; whether this release was withdrawn is unchecked\n")
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository did not answer"
        return
    colab_boot_say(done.stdout)
    if done.returncode == 1:
        raise ColabBootStop(f"colab-boot: {golden['release']} must not be used; see the reason above")
    if "golden-unchecked" in done.stdout:
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository can't be reached"
    else:
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


def colab_boot_runner():
    """The program that runs this notebook without a person, such as papermill; None where there is none."""
    try:
        words = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
    except OSError:
        return None
    names = {os.path.basename(os.path.dirname(word) if word.endswith("__main__.py") else word) for word in words}
    known = ("papermill", "jupyter-nbconvert", "nbconvert", "jupyter-execute", "execute", "nbclient", "pytest", "jupytext", "quarto")
    return next((name for name in known if name in names), None)


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
        raise ColabBootStop("colab-boot: restart the kernel from outside, then run this cell again", 10)
    if colab_boot_front() != "kernel":
        raise ColabBootStop("colab-boot: this Python is not a notebook kernel: exit it, start it again, and run this once more", 10)
    server, runner = colab_boot_server(), colab_boot_runner()
    if runner and not server:
        raise ColabBootStop(f"colab-boot: {runner} does not restart kernels: run it once more, it starts a new one")
    from ipykernel.connect import get_connection_file

    kernel = pathlib.Path(get_connection_file()).stem.split("-", 1)[-1]
    if server:
        url = f"{server[0]}api/kernels/{kernel}/restart"
        arguments = [sys.executable, "-I", "-c", COLAB_BOOT_RESTART, url, str(os.getpid())]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen(arguments, start_new_session=True, stdin=subprocess.PIPE, text=True, **quiet)
        child.stdin.write(server[1] + "\n")  # not an argument: those can be read by everybody
        child.stdin.close()
    else:
        sys.modules["IPython"].get_ipython().kernel.do_shutdown(True)
    raise ColabBootStop("colab-boot: the kernel restarts now, once; run all cells again when it is back")


def colab_boot_record():
    """Has the recorder watch this kernel, so that `colab-boot doctor --after-crash` knows how it ended. COLAB_BOOT_RECORD=0 leaves it out."""
    if os.environ.get("COLAB_BOOT_RECORD") == "0" or colab_boot_front() != "kernel":
        return
    command = [colab_boot_binary(), "record", "--start", "--kernel-pid", str(os.getpid())]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=10)
        import faulthandler

        COLAB_BOOT["crash"] = open(done.stdout.strip(), "w")
        faulthandler.enable(COLAB_BOOT["crash"])
    except (OSError, ValueError, subprocess.SubprocessError):
        pass  # a boot goes on without it; `doctor` says that nothing records the kernel


def colab_boot_seed(seed):
    """Seeds what this kernel has loaded, and asks it to be deterministic. What that promises, `colab-boot plan` says."""
    import random

    random.seed(seed)
    numpy, torch, tensorflow = (sys.modules.get(name) for name in ("numpy", "torch", "tensorflow"))
    if numpy:
        numpy.random.seed(seed % 2**32)
    if torch:
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
    if tensorflow:
        tensorflow.keras.utils.set_random_seed(seed % 2**32)
        tensorflow.config.experimental.enable_op_determinism()


def colab_boot_apply():
    colab_boot_reach()
    colab_boot_golden()
    code, report = colab_boot_run("apply", "--locked")
    colab_boot_set(report.get("set-live") or {})
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; see the messages above", code)
    colab_boot_record()


def colab_boot_apart(space, kept):
    """Gives what this cell defines names of its own, and the user's names back: what `time` or `id` is in the notebook is none of its business."""
    imported = "ast base64 builtins gc hashlib http io json os pathlib shutil subprocess sys sysconfig tempfile signal threading time types urllib zipfile zlib"
    own = {"__builtins__": builtins, "__name__": "__main__", **{name: space[name] for name in imported.split()}}
    own.update({name: value for name, value in space.items() if name.lower().replace("_", "").startswith("colabboot")})

    def moved(function):
        new = types.FunctionType(function.__code__, own, function.__name__, function.__defaults__, function.__closure__)
        new.__doc__, new.__kwdefaults__ = function.__doc__, function.__kwdefaults__
        return new

    for name, value in list(own.items()):
        if isinstance(value, types.FunctionType):
            space[name] = own[name] = moved(value)
        elif isinstance(value, type):
            for key, method in list(vars(value).items()):
                if isinstance(method, types.FunctionType):
                    setattr(value, key, moved(method))
    for name in imported.split():
        if name in kept:
            space[name] = kept[name]
        else:
            space.pop(name, None)


colab_boot_names = {"__builtins__": colab_boot_builtins, "builtins": colab_boot_builtins, "types": colab_boot_types}
colab_boot_types.FunctionType(colab_boot_apart.__code__, colab_boot_names)(colab_boot_builtins.globals(), colab_boot_kept)
colab_boot_apply()

# %%
# Compares the installed files with the lock and tests each framework in a process of its own.
if colab_boot_run("verify")[0]:
    raise ColabBootStop("colab-boot verify found problems; see the messages above")
# Built as sha256:6e6eef8be953ccc355a4afd49bad1de47dfdb8c2fb8e704aa6312fa24c47ebde
