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
    "lock": {"sha256": "b21afbb717851726b4040eef830d752c184569fb152a85b5649434c56839e213", "packed": (
    "eNrtndtyG0mWZd/1FTLN4yRofr889PzBfEFZmdqvEispkk1CmVKNzb/38gBJBUCAATChqs6UKq0kEfAgGSfOZZ+93Q/+19v/m2p7m7++/c9y"
    "c5XyKt/crN9e3ZRf//OCt35tby/Xb9N1+/3tXVp/bHdv1x/T9dtWL9eX1x947+LNb+3u/vLm+u1/vFVv7tp/fb68a/d88e7//Ie4kBfi3ZtP"
    "aX13+WW8pIRyF1JeKH0h371587fbu5t+edX+/uY6fWpjwe3X9c1d+fhu9k2fLuI73X9Myrrxoo7Z9JZtjbpr4XxJMjkXiyqpCSWbFc0aH6uq"
    "NZdmei9Zd5dzDMprYfX46X9bp7sPbf33bz8+p7u24ndT797cfb5eXz57ld/v4+a3Gl+PX+n2Kq37zd2n8dqndP316vL685f36r0K778E996Z"
    "d2/K55rG21KPC+rdJTe36lc3N3fjVRvEhbMXwr178+H287Dc3975C/vul7fvAuunv+L4K26+mn7s39+k2/VY+vdv93Fxm8qv6UOb3U8qpV01"
    "Hlzbsqi8kGb8Kr9/bO2KF/7f2/EUti9YbRatbr/q1fXNdVtxbxe/f7ziV/j2FFo0OoqigtM5eJ2bDN0p3WPtJiRRQ2+29S51S77LJISIKovk"
    "ozAhhOLGN7v85/jJOkRl3C9vL69rm1yltp4+X61Z8amtU03rBxN2GZOJVceu+aE+NBOEbT75aoq0797+f+7q62TE29bH5e8enOzdgqkubz6m"
    "29uv7WvL6erqftsFL/xw2D322rlqNa182WjcqFZSOyebigpHzYavQrM1paBcL0J6aV3BpElKYwQvZtV0q9o749U3o0krdFi0mbVRF99tC6aX"
    "XpzWthA3xtXsrEtpbrNxP+v17RG2GqvmJtLDXQ7aiNWrzYpVudVSPfz5FDBKSPMQLxfzKJJ+36tPsfXMtrphP5mC7cnLaEgKvsrYjWnBiSiD"
    "6CYF0kZPpvhWQzba2i54PVWFXWa2xUmVX7au0zYQBS4V1a1QMfWionOkGMevYcrcuv3+/raVZePeX364Tlc7IXsoYh+Xr6YlL7sevxXO10Mm"
    "DGMU1mKj2JyOWqRASHVRush4ZG7CRp9F1z3L2Ajd3oJq38zjTRSLtiHqKz+sGZ+sMTwSFbPTXRGp1eO7r/C86+ubNdmprupN2TKQuBAXZq+B"
    "Hi95zyWradnLRrJeJn7B4mKUxViRlU0UlhpM0p5coxLpxmrjPOVHSlkUtxZySlitaiW+GclqoReNFGRxTuUSbXLaUM+aTdKH6JTKpqQtB1p/"
    "vW13iyb6enmzZRozAk/ttw1rV5v3F5IWzm1rTTaViJcELWImo+RqjE2hqNw9+bvr0qIVkgJsbEvS5mJklSaaWWApG+SyWbovqtUcCgm/ZOu9"
    "JmjlKO1SdqfF3CzDcb4smWW9vttJ6m4DT/aYZaxdbd5/2SyFhJwSeUbVnhMPT+uSTPOyNwf0KNp1Q3xlVZUTuA9+EnRVXRidCjb8ZhbnrVnO"
    "Np47dzK7Wg3mdbpmIrRRgEXNkp93ekSVdre+7JfPERd37/cZ5+GC1dOily2klPK1EB29CW7cRgUqk35YZ9jH+0BhIwsbGw2PeiA1LasiUUv+"
    "VfPMcbRWIS6aSNliXKi9VOF4JqThqMjH2ZbarA9113HKzd3Iaw9OxD8Ghm336/slw31Md/dtzZ3ffUpX/Ip3O/XQANv22W9z3ftv162mtd+3"
    "MJK2gBZOAdBaLvinK9hX9dQzWW68522upL1AwlfVuaC0l66FKJ0IvX57DEoZvueyp1aqYJHGOhltTg7cYWNsSWSQh92O32MtfnVZft0ycrg4"
    "kNimpavp7QUE63rsQDHtSpDOG5tjdSQoX1OU1ckarccijqaimYpPWaus1YUcTX30MwQr5QB2i3YpZPlQi+ddGpciW7UuUnNNAdoC+rbc8/OH"
    "D3RZPZW2+vg5L5mHNmOV+fFcsp3paDzs/kw3rnn/eM1qs26/Iw7vMqf5XDJAoFKCkXiUd7GKbj0JKzVyFr4mLWgjahO6NBWwBFoLihbBhey6"
    "cjOgG7QP0h6RHqUp0ctQq5e5U6urKLZXSTbp0nazVUunRvMIk97S9/bxg+92EFl8wabfLlpNC1/2Qmp97R6o370Xis4m+yQUCT7GRMQIkHsT"
    "Rgx4EDUwliBuEa/k9uiC3MwLQfdOLdpJyMTTaNU3urCBcaQ31G5+qPaYf6uN2narI+y1vrm5+vVyveuB4kCkDms9XLLaLMNW6uJFe4FJQwBG"
    "dgqKEUIDTqoz3J4GqMpgsoEHwGokoBINgdmTcrGVGj0sQZsVFaWdWe466Z4I2dh4RCFicnANuKRnEU3Oxp3qVuP7UgLud1Ca2O9Pj6tX04qX"
    "Hcm3Hi3QQ6jh9kphpcF/uJJpuUsoFTxfgoq1OdiSZFvGn4r3lTZUCT1L82C2oOwRnlR0KSUGGXyguEtniL6olKDlMlltNeRHNeL18upqB9nr"
    "i7DXMKxcTe8ugDSSe6K5ydaMR1eBIfSAmgTsq0pKUul6MFaBMsm0IWTwvwO7Eh38Wf08xztll8PLKmdhpLQbjVSi31IgHh6GsYavS5wb5ckX"
    "QB6f+FaXWKm0+6VIGzYYJN0O5lDxYi9oe1y+2ixZwPrBQw10ehDiSSUL9reCByxkVlm76PEmTxvkyVMWWie2SDPAw6ftzsXKmRM5od1ZCYq5"
    "uXbLIy8dE3397uaf7frq8n4nRV2E/fH3bf1qWrO/PsqXa+P8VXuoYBJzWBtHlGV03wnaQjQqn9S0zuQtrIHlo2mtBN6nMU/VC4eLCm900LO0"
    "ZhRV97u0E7/MKYoFS2/4jp3Wwl7oA4aelq8elywAtw7jmDpRDFCjAkR65Qjd00OheJra+QJoR10rUrhCkgN7tl698r7IPLOVjJpoX+7TRbJ0"
    "pDZbunXYnkIoq/GjwS4YS57ZSz9KuZMFpdtvNlauNu8ugAxdIGNy8xa00XTujrhTvSZAbsEqSji6r6xrGr3rCEpFv2+yliWDjudkrbfHGOwE"
    "YuOpEVswSl99abtha/fTjh/7e9aupvdHsPpVypf6lM5q14BQ1E2n8V8rRSpkEwhEUhfgMo7OgASoBrAXHrNSUqEDYURShgwnPO2MGDJWmnAE"
    "8Ig6dc+Pb1ZDVQa+dHDtjt98tG2+vb5ZeDL4ti3F/p71cfVqWrHQ8FcQmQf6G0EX2QtYY8ADoVAKPE9eZECUyc5AORZNa+msAezCxyYwu7Uz"
    "jhFIcYSNqFIQvAF7ygCpWAVIPxQTnbU8GHMqUbRZsx16KhzwsbF2tXn/ZavUKGIHKNH1CH47T+MdaFZoeBJ6RqX3pHImKl4nq1hsMrrPGGyG"
    "WLQxzYAZRJj0y5CVjC4EvaVqne520LnIDbBRLC9FyT/gOTurtx1IHcjts6vec9Vqs3K1gPKrE8bT7dgE/O7w0nCMTXA3rcgooF6TcE0HHA5i"
    "o2gD01QgjXpPdAOz/pGuSh8BRNLAr1R1GPyYcdtkEGg8/b5TBV5km6/+Jq398nYr4T/qTuubX9v14HemV9d36fp+CIXj65ctfFmv0662shcA"
    "j4VDVlnAv56eYJQrMnx2AbnM0oCD8RppxBbSch/KUy6aBIbLFSMokckFIjeYOLcjoWrtEb7XYUaEldq0rmktTRfCKjg5KD/+vWXGia3eS7/x"
    "76/pbglj/OPy+h/8ijvmunD77LVZu5ref9lkwTZUY9J0N1HRZUsYH0gF/sazXICocKlTJ3WyHbeLItTUwQK0WnQXbt4ywG/EZdbS0SQgidTR"
    "gWfkBinImDDsqIHgHHVyi/kp3f1ab36/XtFV337daTTV/hh9vOb95fr97dfVtG5JFfC0OAWGH6EXKclAJBpLfaTR5hY8CjCeVhXpHjI36Vw6"
    "2TqgApOsi0nfzATNGJazWkZKyPQkhm4fYrnTnUVKIvAuR/rxLUhxd3mUkT7f3kNN7/jPASnp2/rVtOb7UrahSZSl6MmAeIeekqH2KpDwUBj5"
    "r2oLl54DkAp6SOCXWMTb0Ej4UJhzypawPmsz8BB1C+atn+92W3m5nwWalq6mtxcCk1wfkpHNSkB7MhTVCNEso+wgfiti0+SvwWqgMTSH2Am1"
    "kSwVL7oceph5HJ3UWcWEnZBbsM3tJxjCneJ5oHZu1q7kclMEV4iwi1QrRlSGsSXG+LH/QorgNVoaIBJ8FqD5CZoiYLWJIQ2+LIEwLXPpEpsu"
    "E66EuaHXKh50VygvfFvgDL2ZzAJbbTEd918/LZtlMCD1smxjfHdo+8XT8tW05PvGY+61KfpNR3arkEOpwatpIEcrIlgAbB6bYXTBPWBCMowP"
    "bRMMoZe0m9HN49E6rZZppEGTW55hrtkkgDPBmBv0Y0qDAHDtQHd+RNHcIpq2A9SPVvKgrR+uWT2sG96IqQ/6I9UL4b9YDQUr6mg6hQBcBSge"
    "T6fuG2kGYVRSEIC9NZXkTYMjGzeb0ny/gURuN8uEBoDFAHYUnQOQVyO2pgZNYgDbsOV9f5P+sq2u2/r3m7tfv+yUiL002+NaysMCx8azJd4G"
    "sTPagNY0HZM21MuKXWwMyXnkoGRDpnkETmGsqHvKDkRAnzTrJZWkFIrl9J4smIyYR7/jW9bYIJPgKRN0gMClwqkI4/rzpx1goQ5x/NPS1fT2"
    "QXFpTzTOA/fZThZY2z7h1tDR32kng4ajB7V7/qodmh4gUiCi0QMI0eqa8iWKKtE96LTm9A8agPT6vGTZ4e4gXde00ydg7N8uhxVPbBSufyP5"
    "pVX5nK/SM8VvtOp679OYrnq/uWr1uPKbu25lw4NkSGvAUjy485BsGo0Zmkgm1KySBJ4l/OjDK/kP+p1K2cdGGjQZ6HUIdj8niZUe0v4x/VlO"
    "wodBiY59FRm5BxRAk29Jwh2Z+Zls9ShF/TKzVb2+5k+pt168v7n6bXFnzbdvMf64XV8+l7iQzl6yeB1/cOHqYfEBox8miFtGcBGhkSJyR2+u"
    "oGBF26Aa2AZ8013FL41H1EDZ64QE2cGqNOg3XWboB3Auofj897P58ba8/u1uXfbYMizZcrrwwZZhjy1JIGJv5VcHJesaCXCKET2LRtuA+qRl"
    "Hk1zrIPw439aKLTXjPKHem2HepZG3hY8Ez8jryKUBJlV/E8w8MNe5ucmjm7JxA+Xrh6W7zfyiTwqxWxyWu9hv5LSwKTevKPlhj1FSMIImrTq"
    "RQG+6yqDkh2CPaQ2NH0TtvaioH+rf7+NH3PK3MLxQiL8X9gFG19fvx+Xrp6Wn5qJqxKN+mW0sC1WfBXdLkKLEf1k3+o1hVLSQMLnt9yMg2fQ"
    "0UP7QF6AUfuM16e1cdhzGWdpkWqurphadR69vrQuGHTA0WN42U8GE4+W7H2H3h+oQVw4+aIRuWr1tPIsPsqtme7gfhCEaSGBGrpBLMLm4K01"
    "0+x0r2qMkP+QaqqgldSx57GlWGuqeguf0R6YI3auQVkLLcF6ctROnky0YEQgmu0GwekPe+kkvu+cA7CHuLJvtuWF1ePKs9iWBl5Dr8Gf2UQ5"
    "Q/mVcrDaBf1J+uLLIK25aYyeG2iVrEDPgE41VBbUg/leUmCD//fHP5CtbltWjM3YF/plODAuWz0tPTXuJW2gJoZrck3WLKDaGt0//AjyHgAY"
    "+KVF18qEaqGIMn0q/MWgjKJBaZk3+5EuTR2xv+p72/EBhj1LAObCveykmwtXT4tPtaWgDYqonbXBFQngvSDghR/dBExPtrHR7+OJOaQKpsWm"
    "ALBoTE4ZkCBnFPnYwGagTo7YHW+FBaLRH499hSTpntGWswdRaGFU/sPGvB0bTXeN6WCRXm4LNtetHteeJeRVBn3GQTIJ2ZBvDArDaGqHOiWS"
    "lAk0Va3PcHS+ULCQiale2J3HoiFU5kQARLOK2n+/dPr6xmBjuqv1czAgDu0u2TH71XqDBqb1C6Z/ZmR0HUTVhPxMsbfVJNxqkKGk2ewizCXw"
    "1Vt4AN+gR7IscPN1UFXRVz3f4yuRHse2zXgER5WBaTwQlF5ZoOdTh7HgWcNJZ+LklUDgupSr50ZUQ2iNL1hxXLax32bp/jQgD1J8VHBQ0cia"
    "hDDpsydZx0ZMR6arg7SqKnQiXEcDZSJ4URkP1apsh5cx86NZ0ZmI9nXeBusUC/72j8s1d/zriY3V03Vn7asG0QXtpCIMKm4hhwwOAe9Sxial"
    "4G50W6obrRvgX+mKhalq8NQCQtDP4h9xUuLd+l9DFvS+Nx388jzNHvlQ7j9+ap+ee/Y4AWBffCrThRvfnhafJy1H0QU8a4OlGQcqw9h2bMcO"
    "ZB5SpI3oQ0wgb7gqaMhakwEBAZNWWNYcZiwk2pRU1rh/n7uvv5xIx4xLXiBi5Ilb97SDW4TpEj03JKNsxk2huSejoGVMlZ0MQqLt08nVhAFc"
    "JNNUS96sc0xr8Pl/Gy+zeeXy+sPuUam9xO7T6nFYakG5syRIC1wfsMlBP/WujLSlgQSC8FDgKtBHIRRTm1UeVQzHQ3aLVBjg1FwLEIIbPOv+"
    "s8N87Z7te0/E7fFM7QPru1PMDhl1rF1N75+LLh+8VYJR8ShS3jpaVZFBnxAGiZY/FqFtTka36eQEolbEhQusLprekCHm0EBBKCBnLWv1znWV"
    "h1QaisjJwlFEVJwKSZDGhsxXSDGT4Xf05LhfGRxLV5u3F7arSQncVClIpySAU6LwUeSh78Ye9uKNqgPhhzhOkpiIqKo8FjGgBNm0nR+9CFjy"
    "iM3heC/tL8yMHLtiMHdSMcM0Ok8PEPrpO+ZvL6+ubn5/nv324s3N4k3ee+Goz4naKFZyOuNjYy8kgFOCKWMWkCFKa2er9inz8CkhDtovexON"
    "MFqVADIvBONsq5Y0ZM5lMzoeTaMGOdy5qCpLTBWnbuMMs2y1PqsjDwrLginvbm5JDR/bjpvZA6H6uHw1Lfm++rOjlw/S26RoSdFdSKDFtBpK"
    "GyemImkf7rQDtNBfugZpReuRqnG0BG01P6rmUK/id5kbcJz8fHv/eX25vTPEXsT9AGizdjW9PyzrdrbxbsHOZYR6WtoMeDLKsRq7KIh7l5H3"
    "U6RNtVDVFPWCQOuzRJVR1OFASvAFkauWohxa/ayqq6DgZZb3m2Tkm8SDEw4mt3ohBt0IY0PFQ0xTh2vWlBsXzM6judtNFOHQIeiH1avNisOZ"
    "4qC/FquQ3VNy3aGMCBtqaKrA+ecOB0We6JU+MYQhdAd616KTg4D2sDCs1PPt0gKo49wyLV2ahEiQKkooWODqwBWD9oZV0UCk8Jqa8/XDp3a9"
    "fla7D6XXh+WrzZKFzUzj7IwagrLqdJZIIYlM5igyZMlEUc40QRhx8E/V0CR1pL1g+4hBXG1++BQNVdojDnwoQVAbS2XH2pRmWC4DutKgMIgn"
    "deIGus04nBXfvT2LaDWOPV7c3tyvDxhqXPr+8dLVbPny+b8UMsDO5w6HTGSRFkuAZk+Dx0hj9yQ5D34DSE77onuwYhDzED/eeKg1v7017oii"
    "3TKmamPXzjjvROHueRyIgjRNkKx1i+Z4wHqLlvvn84Mx6oCl/rk5FHPEyUhip3unIk4V4GXIQw1ZeOy/1GgQoWtE+g41k3Ew5EyRvXKqorOJ"
    "hqQh5sMroDmPOAB4CgF0pGW+pk9XO/u/Dmxl2KxdTe9/581fSRaE9+QLxVehEBfvLRSZNdKZMe2Cvlg5G0TKYchuATNDzLskgSQQvLOzzOQy"
    "L/5U3ctd+9C+PPdWKfc/lWn56mnJ930wSSqgZbcFEI0ASfmkZANadPBAexL/dFDa0HBQcMyYcwD+RHw2JonYwtaDgXI+75m5k2z8sO19O4dq"
    "tX8r8uPy1WbJQo/j0SnQ1GsaVCa8Okkf9A211ijA6BwoHbR0boxMggiKYSLeATuSXjzPt4U6E47gJkRt4/BKIdeAIOn90O8UAN2jmzq/vU37"
    "yDI8FaOdDiceMA1LV5u3Fw7EUfqqba6NXYq5K+9jynpsnYaaoZ3h5ltCR0ODkAjrMTbtAdpx7KRVKYrt45Zq+aiSwgNJtAB32mow9dDvfErd"
    "eYKh6nDqqJ+xE33dru9v7u6PExtmFzwoDCMqxR5IfRpOhtoiCEAWtPYjRYKGQ6NcjnMgGFRXCCqFr2XIB0nhplZ0j04OvG3J+xlOhsQS5ojs"
    "2ExVEEqEH9VujB5qRHlx40Ae1Ucs4OTZVLjTMiGe+vl2MGnbBg/yULv97YLVZtHLLtnH2Xlbp0arI4MbWmWitZJtAM60ehBoGHu0dSEJELUE"
    "lajSRpGQLJuTZGMKwHI6U74GD/EhBZSkNARAG0kABRS2xvSTt4Xef2xX+MuHj+nTs3Oae8N1dsF0WNMsgxzfSh9UiRrHeWlmgXVB4jaG5tiB"
    "bXMPCQYnwQwQvmP7BbBaKoEW3oKbn2QlzdmzHgI4Kmwvv+xuw/AHvOfyy2rz7rJRxqY/2n64j0g6g20e26mzTYV2gSQjqh5TZygFqknkP2pB"
    "JiI9fZkrWs1jEG3GiiP4PWNktePniHEYXQnf+tgJhCYGzNwexbjTJyzY5+vuzuLDAyuntcfNqsShS8G74aSkkfQHSVHM4FT6mBQKHQq3AWKD"
    "5cjRwcKP6tXHmDeZK2tmRRBphKS2bCGkZr59HpIh7gptSAsiE6LXwIin77ieHSjcOZ56gEn+dsFqs2ik+/iHs72GMAZOwesWKUqGxjegLY2L"
    "Rcu/uDvIfMR8BKICpAjUTV6IAnbZI8DPuq/hd/EYWkSOcRoGJJHpVkLROY+jijR2Q1PU6ZWYa8+s2YdBs/tsydrV5v1XkCGiuzC2HThsVOWo"
    "hWPAp6eXVNkO10DRMHQVFhyAclz68L/BY5pKzM5pZgtek0odcXipj52qqUJP6TGGqdCvxGI6Gh/NIcj4tCI57j99rpvTmsczqrPrTjD0dMHr"
    "re0sRJ3INatYU4f/gSHI2YtxyKRDQmlk/jyYKMw+hghP7BBGSUgBheIyHwOKBx9DEJzSBh/F6s9NvBPu7gXLba5YbVa9wnTVyWTJUC4bmMwi"
    "CsQSNwHgLWYcpwEcyJDGkC3Ye27awkejhrQYxpb/NGfyrTrqYIrPYwxrtXQjBmkQt0fza6OVMxpx5BWCyPq/6qedI6/O7+9Vx9LV5u2F8kHV"
    "BFg2egEEWjdxTkMOGuNBs6OplHSiSJnInNF5V1FDbB+TfoUb83v7fKyB9uYIq2id+zguFRDmClRd02bUsDFbSet6wriRV3T8W0u3eXqp9ytu"
    "80tWm2ULgvAgnVJISY9pQsQIbBU8JPQ3wcpzFyXAUZEJTc/kQQO8GK03XpU6BMhckxyDkOMxe23i2GmGxxp83LUx8kzA5iRIApFNV68fH72+"
    "u1zvBKq+OBSn09rV9P7ZFDgPZh+0B1QfNQYZyIxZxC5AhlKEVagJCqsOFaJ2RykG5Lk8RvAJ2oY+V+BkwGFdOAICdi2rCVVmdNBBxzoE0aA1"
    "gmoWCKb6ZIAzgednyW7vdqVp7SbNLYw/0FaqkujtCSKUXLQwRALtWhCjKkAThYBzea/wQBRcqOQ4xvqqphXeEsvWdmN7xNQW+jUIgqrQ6RCO"
    "UD8tsEdVaJVx8DPZ16KVr7djp0X7Mjp47LM7Pu7QfKDNde+/XbcyR0wLoqMqKfEnyQpv0QVJ1zvuUcKyIdlAWiQzjr80wErL02kDelRkYE/O"
    "amE+7Mb6f8Eoql/ezoZJvG7m0vqf47d5Pgp3f+WYFm/G4Orl9qwWQV3QU1Lrjs5s2BPVutIi0IgZ4enZuq3GovXZhrpI2wZLX32zYyfhDDTz"
    "UNwRszAzD1BrSDxNXgU9W2BgG6PcHHlChJOJ+c939Ol5d0fmgcGiD4tX04KlEaxZSExTRKc3knqchYWhBRQHMeb0IRcKYIGhxaS3p9unmtLJ"
    "wRPBAoi6FZ/RH7ExKIUx6BWLVIv6OI6Ogoolwg5M/pBLXjGa9suXj+n+4076PzA0aLN2Nb3/nSdIKPAbPQRB1BJ9f0AYVVQ8V4QJ0dQ8fBKN"
    "1kZq8Ng2hjZB2aBvwEFRiuYyGY8gnlW0OJL4nbYT7MwYOjD0dyxdbd7+vnb1zSMIYgI3hltBOxor2+ChCGVuFY7dJFov7tlY6HRFUxGapddN"
    "Ludi5h4rrJPL3UVOUCqiTRqd7/AW0Kn0j0R05v9iaez3fELr9BkvU9ISfvXh9vPWJ53seXfnE0/GvtVDH3mi7fOPPFGjej/7yBOUISem7/Xz"
    "I0+eP/ufn2GybYSfH0qy/KEkP9SnjPyYHxvyo3wOyA/ywR4/4id1/Pzoje/z0Rs/zGdpvHpq6Z965P6PMUP/Rx+KfySh/3O4/cHh9j/0tPqz"
    "uM+fcer8zzHyZ6yTf+a58D/IoPefk9t3c/3PUez77fJHZ6v/VYaInzgV/M84tvrVc6h/7IHLPycor18zEvmvP/r3tbN8Xzm8d0yEUbujugbl"
    "Ihcn+I6ZMGr1uPzUwWchFVhNL+vQw0OBq89jYgkhl8hOmmKdkHLFmNthhh7vBG7YbU7TcaH5xCNSN+R2VAsutjszU+2Zr/P0+kmjI8dU3oex"
    "Uc9MGS+UX5zM+zA8ajLmuOAsI3b0mPPSpC9t7LsndWHaCn2KS4KB+sA+5PuOTBAAyDgu1rVgSIS1SiKbb5aWVi2yYidbbBpHvN/7ojhqmPHM"
    "AaM4i83ofUsWoIKakA1zzCpmAHSpw0eRkjx+OT5ceMzsqJRMbcdpNTqKHPHaMFcXaSCCW/LJU412/Vsph2yml4cWlzI3mT7LgC1440mUyPBQ"
    "Q5sZHxsDmZiL1HXE8Tj96xMu5NxowxSYkzzqqCsKKCXn9BSvA67CuU02RjW/3mZcfX6jJe+tszC2VrUeYJ3GHBhTXKkAbgQr9FpDmmtAjZJo"
    "3CAleugC0XscI5mLWUD50crE8xrtcfjya8Pz4frzB2iqsBZh1FzRoCUU7L0Sppog6pggXDW4TI35QcmMs6WlFxNAJ6KPY7d5fnIy2rFD8pxm"
    "eywrrx7FrF4/ihnOG61QJEE+ynpslu9j41M3TgHPRixWhA9nS3cV+stbHE7LQFOQtIMWn7d3SP0uSHVG04wpyc9daXysDPS/Xhqw/OBFj8vP"
    "4kemIi4iEk/ZCqPI7MawDlguN/ZAtHGCoKGfww8OxrSMvaBCdi4S1fStM2tRy3Fs95yuNE0+fm6waWv7wgzV8cKDwR6Wn8VecsxDE0Jn2HLR"
    "pAasyTIGnECdhOhiGbtutI/KytEx64RJxBioLscxrfnIXxQ29FxzRmtNw4yfW2toS3EpV41rH8z1uP7U0Mta6bEdvUOmQ6s17mbceSHB5/EJ"
    "YX7sHB3zDSEgu3Wd5OSLhoRJQdMWzAX78dFH0bsz2mYOa3eCz4/7FUcMN36Kv80Vp9rHaA9ikqkqN4BkHvJjUtHSX2o4NgfR5CY0SjLXIsJK"
    "du/HkJ6M8cycdVbO2+GG5wy1h5nD+wqdXUYIm6ufypx9ASGcGnBjNkD1lP4MSe+mT7UKRF6D1SWtRxuJPIPg2Qbp4BB36xitkKfdTVLPP2ge"
    "ODbmULgj26M/0gnNxxCrXXZioaWcjyFWK7G9FfC4YQDTUTsYYOgsQV9J64PYRydZkL69HoOKIMMM7AUW01DiQmWf7diBPD5pcy70BT/krng+"
    "+H69t0E8eq6weuVcYRMs4TUoCwPTPUa2w08FJD843ASjqYqyAUiAS+FYwFA8q3lYH4SgZtPcjaLzOJL25zPJ08DfV6Dzp4vPD84D1OhguVBJ"
    "iapBilpqFpiIpAQWp51OeUhkMtMORuhhkBVgqyKqeg2cmDXO1EM4omMj7wkmvUBM7E1cp4XpbBaweu0sYHXGWcDCqK6IzE63gyhTcxhjOi1y"
    "vLIDzqNE0g2R+wpPxKlx8HP6hGWv6Dtjnh/H00PjFmfEYtOo3ld0QeO683c/g2puSogxEaoiSifabAWvUxzFFfw/hohqZeAm65hPCbKNY5JG"
    "aXHsepCzo6Ah0v/8cSv9qYf2/pzCe94pvD/MWN3T5+T+0MNdf05rPcO01p/jV/9wsvmTz1P9OSB1T/r9i088/TnC9MgRpj9nkv6rZpL+iENG"
    "f5ipoT/HgB4cA/q95nr+FaZW/iBjKF89V/JHmp943oGI/3twaOHdm8tPrF/dXF99PTAt4rRxgn98gODJv9g5Zu99rx/6p5xa93MM3TFj6F4/"
    "V+7POhLt54yzY04kvjS07C89q+wHGj72c5rY0dPEfo4HO3I82N7hIf8NARTajA=="
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
