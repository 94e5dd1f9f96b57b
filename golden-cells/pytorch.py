# %%
# @title colab-boot: pytorch 2026.11.0
# Made by colab-boot 0.1.0 from the profile and lock below. Do not edit: publish or export the profile again.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import builtins as colab_boot_builtins, types as colab_boot_types

colab_boot_kept = {**colab_boot_builtins.globals()}
import ast, base64, builtins, gc, hashlib, html, http.client, io, json, os, pathlib, re, shutil, subprocess, sys, tempfile
import signal, sysconfig, threading, time, types, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "pytorch",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "39b4feb5d93f3067ca1a669c2cae021e50e5479d2ddbce4ffcb3f6bb98273053", "packed": (
    "eNpNUF1Lw0AQfL9fsZwPgtSQ1C8UFYoUFasWrS9KkPW6aY4md+H20uK/9y5J1Zc7mJndmZ09mH8vrFMlWAO+JLixFX7B7fwNXGu8rukC1kQN"
    "d6SucUX7DHYbxN3UtiQXcA+F9pwI8dE4W+iKcmGwJrgC2Xx3Sik25FgHl4CN0/FpkmVJKsWSWDnd+IHZpdlqX3aWLbdYgbJ1gyZoeLQL2vv7"
    "Ev2/3F1A4FI3LEMYj25FPheqXWLcjq23UgyHcUA+pIpzh12g9EyOQH6ho8OjJBvLHAD2/u4eAZol1KhKbYh756AFY3terJq237k4jotm3TvJ"
    "0jT+d8N/eyzzkKxwoZ6tdWvORX9JrCV2ciB7YKN3be0QbJfaDkAoGtU6uMZ5h4YL6+pQcKSvr05Gl6ehWvTI5HkYQaWoIoeeBqChwvf6NMnO"
    "pWAsyJNh6/jXhcwmF4vnh+nT/fv05fVzPnmZzGbT2f3rY9QUWDFJ8QPaA7LE"
)},
    "lock": {"sha256": "412257f3ec310b85a6a3f08d65f824226802282a53b461a860000f3d73e1d891", "packed": (
    "eNrtndtyG0mSpu/1FDLt5VbS4pyRtjZ7NbfzBG1tmjilyC6K5JBQlVRr8+7zeYKHBAgwARbUvSqxy1oSgUiS8PTwcP/99z//1/v/SLW9z9/e"
    "/2e5vky5y9fXq/eX1+XX/zx7/+/X76/4qtWL1f95f/vl6v3qPK3el+vPn9NVfZ8+pYurs3e/tdu7i+ur9//23ry7bf/15eK23fHFh//7b+pM"
    "n6kP7z6n1e3FV3nJKBPOtD4z9sx8ePfubze31+PFZfv7u6v0ucmCm2+r69ty/mH2TR8v4jvdnSfjg7xoh+zGln0d7GhV6EvSKYShmJKaMrp5"
    "1bzrh2pqzaW5cSzZjiHnIZreKm/lp/9tlW4/tdXfn358Trets2eaX45Pu7p49iq/3/n6t5Kv5Ve6uUyr8fr2s7yGVb5dXlx9+frRfDTx49cY"
    "Pgb34V35UpO8ra1cUG8v+HDdeHl9fSuv+qjOgj9T4cO7TzdfxHJ/+9Cf+Q+/vP8QWT/9Nchfw/qr6cf+/V26WcnSvz99jrObVH5Nn9rs86RS"
    "2mW7Tau2YVF9pp38Kr+ft3bJC//vvdyFzQu69aLu5pvtrq6vWsdnO/v9/JJf4ekutMHZQRUTg82xt7npOAZjx6GOLiZV49h8G0dtW+pHnZRS"
    "g8kq9YNyMcYS5Jtd/CE/2cbBuPDL+4ur2iZXqW1MXy5XrPjcVqmm1b0JRz0kN1Q7jJYf2sfmovKtT311RfsP7/+bT/VtMuJNG+XyD/dO9mHB"
    "VBfX5+nm5lv71nK6vLzbdMGz/kzvtNfWVd208mWj8UGt0TYE3cxgcNTs+Co2X1OKJoxF6V77UDBp0to5xYvZNNuq7YPrzZPRtFc2LtrM+8GW"
    "fvQturGMJVjrC/vGhZqDDynNbSafZ7W6OcBWsmpuIivustdGrO7WK7pyY7W5//Nxwxil3f1+OZvvIt3vevVxbz2zrW3YT6fox9TrwREU+qqH"
    "0bkWgxp0VKNLkbAxJlf6VmN21vtR8XqqBrvMbIuTmn7ZusH6yC4IqZjRKzOksZghBEJM4NdwZW7d8e7uppVl495dfLpKl1tbdt+OfVjeTUte"
    "dj1+K5xvjJltOAzKe2w0tGAHq1JkS42qjCrjkbkpP/RZjXbMemhs3bFF057M07tBLdqGXV/5Yc31yTvHLTFDDnY07NTa47uv8LwrziOiU+3q"
    "ddkwkDpTZ26ngR4u+cgl3bTsZSP5Xid+wRKGQRfnVTY+cbDU6JLtiTUmEW68daHn+NFaF8NHizklrFatUU9G8lbZRSNFXUIwuQw+Bes4z5pP"
    "uo9DMCa7kjYcaPXtpt0umujbxfWGaZxsPLPbNqzt1u8vBC2c29eafCoDXhKtGjIRJVfnfIrF5LEnfo+2tMErzQHsfEva5+J01W5ws41lfNTL"
    "Zhn7YlrNsRDwS/Z9b9m0Wo52rcdg1dws4jhfl8yyWt1uBfWwTk92mEXWduv3XzZLISCnRJwxdcyJm2dtSa71emyB1KPYMDr2VzbVBIX74CfR"
    "VjMqZ1PBhk9mCb13y9Gm55MHnUOtDvMGWzM7tHEAq5o1P+/4HVXa7epivHiecfHp+13Gub+ge1z0soWMMX0t7I6xKT64HwxZme7FOmKfvo8c"
    "bERh5wfHrZZMzepqCNSaf9U8cxxrTRwWTWR8cSHWsVQVuCeE4cEQj7Mvtfk+1m3HKde3EtfunYh/SA7b7lZ3S4Y7T7d3bcUnv/2cLvkVb7fO"
    "Q0fatst+6+s+Pl3XTWu/78FI2CK1CIYEreWCf4aCfc2YxkyUk/d6nythLxLwTQ0hGtvr0OKgg4pjfboNxji+57KnVk7Bop0PevA5BfIOPwwt"
    "qUzm4Tf376EWv7wov24YOZ7tCWzT0m56eyGDDeMwkorZUKIOvfN5qIEA1dc06Bp0HXyPRQJFRXMVn/LeeG8LMZrzsZ9lsFpLYrdol0KUj7X0"
    "vEvhUnSrPgycua6Q2pL0bbjnl0+fLq4+jam07vxLXjIPZUaX+fFcshnpKDz87kgn13x8uKZbr9vtiOJd7jifS44UqJToNB7Vh6Gq0fcErNSI"
    "Wfia9mQbg3Vx1K6SLJGtRUOJEGIOowmzRDfaPmp/QHjUrgy9jrX2Oo+c1VUVP1ZNNBm1H93GWToVmgeY9Catzkf5wbdbGdnwgk2fLuqmhS97"
    "IWd9HXtS/bHvlaGyyX1ShgA/DIkdo8jcm3JK0oPBksayiduAV/LxqILCzAvJ7oNZtJPSibvRat+owiTH0b3j7OaH2h7zb5RRm251gL1W19eX"
    "v16stj1Q7dmpYq37S7r1Mmxlzl60FzlpjKSRIweKU8qSnNTg+HiWRFVHlx04AFYjAJXBsTHHZMLQSh16UII2O1SMDW656qR6YssOjVsUB0xO"
    "XkNeMmY1uJxdONat5PtyBNxtZWlqtz89rO6mFS87Ut/GwZN6KCNubwxWEvwjlEzJXWKp5PMlmqG2AFqSfMv4U+n7ShlqlJ2FeXK2aPwBnlRs"
    "KWWIOvaRw10Hx+4bjFGUXC6bjYL8oEK8XlxebmX29izuNAwru+ndhSSN4J4obrJ3cusqaQg1oCUA99Ukoznpxui8Icsk0saYyf8DuSu7gz9r"
    "P4/xwfjl7eVN8CBSNkghlai3DBkPN8N5x9dlmBvl0RfIPD7zrS6wUml3SztNbCAg3VbOYYaznUnbw/JuvWQh14890MBIDcJ+MsmT+3vFDVY6"
    "m2zD0ONNPWVQT5zywDpDGygGuPmU3bl4PXOioGw4KUAxN9f28chLh+y+8fb6j3Z1eXG3FaLO4u7997S+m9bsPh/1y2fj/FW/78Bkz2FtHFEX"
    "qb4TsIVqnHzaUjoTt7AGlh9cayXyPoV5qr0KuKjqnY12Ftac4dT9LuXEL3OIYsHSa7xjq7TwZ3aPoafl3cOShcRtBHFMI7uYRI0TYKBWHoB7"
    "xlg4PF0d+YLUjnOtaBUKQY7cs421N31fdJ7ZSg+W3b5cp6vkqUh99lTroD2FrWzkR5O7YCx9Yi8913orCuqw22ys7NbvLiQZtgDG5NZ7so1m"
    "8xjYd2asiSS3YBWjAtVXtjVJ7Sqb0lDvu2x1yWTHc7C294cY7Ahg47EQWzDK2H1t29vW74Ydz8ePrO2m92Wz9l3KF/aYymrbgEDUzSb5r5Wi"
    "DW0TAERCF8nlIJUBAdBIYq96zMqRChwIIpIyYDjb08+AIee1iwckHoNNY8+Pb94CVUa+DGDtgd9cyra+vb5YeDT4pi3V7pr1YXU3rVgo+CsZ"
    "WU/q7xRV5FjINSQ9UIZOQc+dV5kkyuXggByLpbQM3pHsgscmcnbvZxgjKcUBNuKUAuCN2FNHQMWqyPRjcUPwnhvjjgWK1ms2t56Je3xM1nbr"
    "91+2Sh3UMJIoUfUofruewjtSrFDwJPoZldqTkzNx4o1EFY9NpPocos8Ai35Is8QMIEz3yykrEV0pakvTRqpbgXNpN4BGsbwUo/+E52yt3nQg"
    "sye2z676yFXdemW3kOXXoFxPteMT6fcILg3G2BSfphU9KKDXpEKzEYcD2CjWgTQVQKNxTFQDs/qRqsoekIgkyV851UHwh4zbJkeDpqfeD6aA"
    "i2zi1U+ttV/ebwT8h77T6vrXdiX4zvTq6jZd3UmjUL5+2cIX9Spt91Z2JsCyUNoqC/lvT00gxxURPodIu8xTgJPjNcKIL4TlUTpPuVgCGC5X"
    "nOKITCGyc6Mb5nZkq3p/gO+NICPKa+vaaCkt3aiUN2ByQH78e8OME1q9E37j39/S7VKO8Y+Lq3/wK26Z6yzsstd6bTe9/7LJom90jQnToxsM"
    "VbYG8QFU4G88K0SAipBGzkmb/IjbDSrWNJILUGpRXYR5yQC+MSyjloEigZZIlQo8027QiogJwk43kDzHHF1ifk63v9br3686quqbb1uFptm9"
    "Rx+u+Xix+njzrZvWLXUFekqcAsJPo5dWkgNIdJ7zkUKbj9DTAcbTqiHcA+Ymm8tItI50gQnWxaUnMwEzxuWolmklZGoSR7UPsDxSnQ0ciaR3"
    "eaAe30gpbi8OMtKXmzug6S3/2dNKelrfTWu+L2Qbm6azNPREQLzDTsHQ9iYS8Ogw8l+1Hiw9R1Iq4CGFX2KR3sdGwAfCnEO2bOuTFgP3u27B"
    "vPXL7XYpr3ejQNPSbnp7YWMS62NyEDw0STtMABIMgGY96JGM36uhWeKXoBr0GFqg2Qm0kTwn3hByHOPM46ikTtpM2NpyC7a5gRVzvnV47jk7"
    "12s7vVwUgRXS2KVVq2RXRqHEuF74F1pBz6CXRhJJfhaB+dk0RYFqs4cs+WWJbNMyb11i02XAlW3uqLVKT3ZXOF74tqQz1GY6K2y1gXTcffu8"
    "bBZBQOpF2czxwz76xePyblryffdjHmsz1JuB6FYBh1IDV7OkHK2o6Elgs5BhbME9QEIyiA9lEwhhryk3hzDfjz5YswwjCUzuuYe5ZpdInNmM"
    "uQE/piQAQGh7qvMDDs0NoGlzg/ZSSu619f013f068UZMvdcfOb1o/BdvgWBVlaJTwRYaoAvR+CMFaYQZGqOaA4G0t6aSetfAyOTDpjTnG2ja"
    "7W4Z0CBhcSQ7hsqBlBcGDWcRMIkj2QYtH3cX6S/b6qqtfr++/fXr1hGxE2Z7WMvxsICxcW/ZbwLsSBnQmqViso7zsmIXP8QUIEyF5GOmeCSd"
    "wlgw3VIOZATUSbNa0miOQrUc3pMnJ2PP07/jW9ahASaBUybgAIVLxWMzjKsvn7cSC7MP45+WdtPbe5tLO3bjfOM+Y7KA2o5T3hrh8mAXFy0Y"
    "PVl7z1+wTgbaGrYARNMPYIvW0ExfBlU1fQ8qrTn8Qw9A9/a0YNn+6gDmZNqqEzD2bxdixSMLhavfCH6pK1/yZXrW8ZNS3e68G9NVH9dXdQ8r"
    "n9x1IxruBUNaIy3Fg0dukk9SmNETyWw1bzQbz7P9qMMr8Q/4nZNyFCINPRngdQD2fg4SGyut/UPqs5xUHwUSFV5Fpt1DFkCR7wnCcAeet60e"
    "WlG/zGxVr674U9uNF++uL39bZNY8fQv542Z18bzFRevsJYtX+YMLu/vFe4y+HyBumYaLio0QkUf6zZUsGAphNY3chvxmDBW/hCSoaf2UkS1B"
    "dPAmCfxmyyz7ITnXQHz997P54ba8+u12VXbYMi7Zcrrw3pZxhy0JIGrnyW/2tqwrDDWsCRsQxG4EYciUzFI0QyUG8ON/FibAAJHYUcxwxAAs"
    "J4nbinvSz8Ar2IOayKr+fzDwPZf5uYmHsGTi+0u7++W7jXwkjsphNjkt3B/DKW9Jk8bWB0pu0FMaSRjBElZ7VUjfbdXR6BGAPaYmPX0XN7go"
    "9L/Nv97GDzFlbuHhTNP4P/MLNr66+iiXdo/Lj43EkKUa55eD1t4grxBhhzQAi7H7ib61txyUmgISPL/BxQzgDHbogX0AL8hRxxmuT2kTsOdy"
    "ngVftOYaiqvVZqn1ISxHRx9QagzYRUcnEw+WHMcteF+yBgjy+kUjclX3uPIkPspHc2MA+6EhTAlJqmEbwCJoDt5aM8UOhEfYGID/gGqm0Cup"
    "wnlsECtqqnYjP6M8cAcw14CsldXkelrOTu7M4MkRSdFgrtBw+tNeOjXft+YA/D6s7Mm2vNA9rDyJbSngLfAa+JlPHGd0frUWVBsy5aj70hcB"
    "rfnQGD03slWiAjUDfSrpstA9mHNJSRv6f/3+J2Wrm5ZVQsY+sy+nA3JZ97j02H2vKQMte7im0HSFJEQ2SvUPPkJ7jwSY9MtC4DYQMqCok541"
    "MrEkkBGUmDzOi/2BKs0cwK/63na8T8OeBQB3Fl520vWF3ePiY23JTIof6HbWBlakSO8VG171Uk2A9GQP9aclPJGRjEpOi01JwAbncsokCXoG"
    "kQuBDcZRPIAdD6OaFI36WHiFBOkx01vOPRmFVc7kP23MGyGabhszgCK9XBasr+se1p5ky8MbgbIgIJPSjfaNo8MgRa10pxRTLolsqkIOBKPr"
    "CwcWbWJOL+zObbEAKnMgAKDZDLb/fuH09YXB2nSXq+fJgNrHLtky++VqnQ1M6xdM/8zI9HVoqsLLAY0j9YcQBzsBMJQwm6ESmkD62ntwAJhN"
    "TcEyAZuvAlUNPcSwWY8R4mEU2uZwAEaVSdO4IXR6NXRf5l9ALLjXYNJMmbhXJgJXpVw+N6KRRuvwghXlsrX91kt3hwG9F+LjBCcrkqjJFiZ8"
    "MnFQhYgZiHRVQKtq4sgOt0z8QMzkReN6oFbYduAybj6aNQQ30Ps6bYF1jAV/+8fFik/865GF1eN1J62rBOgCdjIDCCpuoaUNDgAfUsYmhVEb"
    "0BvInM7aRvJvLPN9dHo1ODU8Qkw8QwsoXPFu+88BC8ZxZzj45XmYPfCm3J1/bp+fe7ZMAPgX78p04dq3p8WnCcuDGhU4K3OcRQYqo9COvTCQ"
    "uUkQK4ZRmgnEDZjGFGSN+U4aCJi0grLmOEMh6U0x2OPCv87dV1+PhGPkkheAGH0kdc8GsEWQLjXmRssoO/lQ9NwhEQDLuKphulB3QUyTyVVm"
    "yGJg7I7agrhZ5zktA63uX4bLrF+BqbE9KrUT2H1cLcNSC507T4D0pOuSNgXgp5E5QCYAGplAVD0QOMwmWAqBeABBTE4xHI+228AJQzo17wUo"
    "xQc8Kf9sP167g773CNwejtTeo75bh9k+o8rabnr/VHC54FYJRKWnI9X7QKnKVAEs20b7HBMXZZnRcbZNkxM0tRgKjQVUl56etCHmqQHz85Z2"
    "1nKvPjDEkaVVGuEwQDVnopYuTgUkSELIfEUrZjL8Vj952N0ZlKXd+u0FuhrsWkr5BAPLaBJOuFIjhzzwnXDYS++YzCDDj4NMkjB4HjEAFmEW"
    "lEzW+vnoRcSSB5DD8V7KX5AZLawYzA2NNIM0hp4aII7HM+Zv4MFf//48+u3MN9eL13HvhVGfI3ujWIkpR3xMuJAknJqccmDSH9QU4pVnch2O"
    "LJ30npOkZ24KqghkBlhVZOaFzTijajHx7t2yGQO3pnEGMTcZGM5lziNBPCSdGKehqvrsHLnvsCyY8vb6htBw3rbczO/Zqg/Lu2nJ9+0/wyU1"
    "DKb5ZChJ6bsQQIuDgsrILRNTA2Ef7BS+KcA+2B+ZFqNrtKpxtARsNR9VC3Svhu+iG3BY+/nm7svqYpMZ4hmS2nlYr9d20/ti2bBF491IO5cz"
    "1OPCZsST6RwbYVGw70OmvZ9g3gcPVM2hXmjQwsOnK4NUAAR85qgKTS5YiNArwFpnsACTbXHZq6mTK/QvD6sfJBdevxK4EcSGE49mmtl/Zk2x"
    "ccHs3Jrb7UAR9w1B36/u1iv2R4q9/lo8czY6JcZO6YwoH2ts8KOjzIoP8AD5QNSJMUqjm1Ej0CnoKkExW09RSiU7z/lJdSD5LA9XQmnMULPh"
    "/hNyABrIKwT2BlWxpEjxNWfOt0+f29Xq2dm9L7zeL+/WSxbITDI7Y6ShDA3fRFohkCCovWskSiYOZWbLGkYU/Kk6iiT4O0xZjbIHcbX58Ck9"
    "VO0PGPgwDFySh3GyY22OZlAuR3YFHYP5tmKOJNCt5XA6vnt7tqONjD2e3VzfrfYYSi79+HBpN1u+PP8HW5XEjllSMGR2FmGR6V0I5YJjJGFP"
    "EvPAN0jJKV9gIDLdBjAP8AOZDmit36TGHXBoMzMdmZmzQieQeROSfBmIAjRlBEXVDZjjPtdbtNwfzwdjzB5L/bEeijlgMpK9MzJcP+BUcOAd"
    "cajRFhb+JSP2cCUY1mPwA6QRB6OdqTLcUhhhFnI1LQ01F68A5jxgAPAYAOhAy3xLny+3+F97qAzrtd30/ncmfyUNd4aqpHD4oubQGJr0QGTe"
    "MfEoahfUxbBpGBLKUdpuTCHBTgkBrg7IUJ2B7RQ7JOI/VPVy2z61r8+9FU2unXdlWt49Lvm+NwbpDVJLeOwk0TQgOT45sklaLPQUOF/w9GRQ"
    "mklgwTKc6ByQf9J8dgydDC1u3Bgg59POzB1l43va+2YMtWY3FflhebdeslDjQCmXnnpNAmWCqxP0yb6B1tB3IGuhLgRwC0EkkwCChjgB7yQ7"
    "DMKaPKeFQrM6AJtQTEZxWjGLAezPzwZ3HwwJek/fFF5becUxPB1GWxXOsMc0LO3Wby8MxHH0Vaalm7AU88gI3JCyFeo00AzlDB++Jfpo9CA0"
    "jXXUK5AhQDdJmLSM7ajNcUuzPKpk8EACLYk7ZTU5tfTvkI9hXoDNUG08VupHmOirdnV3fXt3WLNhdsF9h0F2pdqRUh+XJwNtsQnILCjtJUSS"
    "DUfYsVbmQDCorQBUUJSoCJkc5ODmrGBAjjOagi31/SxPBsRC6GA5OiLGYQCU2H6cdiI91NjlJchAHqePWsiTZ6pwx0VCPBX+FkjapsGj3ldu"
    "P13QrRe97JKjzM77OhVaqLXAhe0ZwETcAFwmGko9ADSMLWUd+npk1JqsxJQmh4Rm2RwkExWA5XCGOk9ELMNrBSSpYVLaJkGADihoDbzZY/HY"
    "u/N2ib98Ok+fn81p7tyuswumYU23nOT0rYwClRgZ56WYJa1jwBBEgeKYAX8KjMjsL7R/xlaHiX5BWq2huRrRgZtPshLm/EmHAA7athdft2kY"
    "/R7vufjard9dNoqQ/ij7wT4QdkM8qQqdOqPXRblAkFEQA4VI0SMlqGn/cRZkdiSCZhEWu5nvQXozXh2A7zm0vbz8HCXD6EYhPiFMIHpipJmb"
    "UoxbdcKCfb5tM4v3C1ZOaw/TqsShGQ4EfqxQclC0ywlFBnqlZAtMcAGHgm2QsYFyZNj6ZHAiGSoybzqjijSj9pFe015d7kBhfPT2hJYp4Z5d"
    "Joob8PkRiiNHPJ5xPRso3BpP3YMkP13QrRdJuB/+dLRHAgLFjxFclxmvAvVXIz7QI72CWBL/4tMB5tPMp0GE0hT1FdqVoFEwJNmuZT4cJ343"
    "HAKLaJHTgG3h4VpR2NicZVSRwk56ija9MufaoTV7LzS7y5as7dbvvwIMUSOz0NAOAjZCmIWdJwKfPbUkU37iGnQ0HFWFJw+gcwytTKwLjgnD"
    "DsJe2BAV7OE9HTC8NApTNVXgKSsyTIV6BVY8A+WMYkQy4+MOSfn86UtdT2sejqjOrjvC0NMFr7d2YA6cpkPNKN2kEfwHhCDnXsmQCSSpguin"
    "aMcyoMNwCCqOEzqEUZgkBzEq41wGFA8+BCA4pgw+CNWfm3hru4cXLLe+oluveoXp0DxD5BHWMxpKSRUEpqCB4KwmFSfjNCQHMHFFZAv0ng/t"
    "waPphjQmDKH8pzmS781Bgyl9FhnW6qlGHK1B3J6eX5NSziE9kV7REFn9V/28NfIa+t21qizt1m8vHB+cmiSWjLlKgzZMmJO0g0QeNAeKSk0l"
    "SiuTNucQemj4mblqUfpVQfR7x7msAcM+B1jFItEh41KMO3KcFiBRJ2eYaCtZW4+QG3lFxb+xdBOnl4GRnZacXdKtly00hAV0gq6UrKgJsUdA"
    "q8Ahgb/ZrNx3VEbBqIiEiF0QBx3phZTeeBUau6nMe5IihDwcwrUZhGmGx6KzA2tSJM/QvaoJkABi6WheLx+Nwvlqa6Pas337dFrbTe+frAPX"
    "k7ML7AHUxxlDG8iJFjFD/IQjzgvos0BYVboQFcodylYUCFkk+FCJYDh7PhCFaBjKHQekgAz3M0xaGW+Et0ihD+ncR8s0D8poNEzt0QnOlDw/"
    "C3Y76UrT2nWYW5A/gBiBGhy1PZuITi69MJoEaHNFJacCMBFUN/iITDMhwBdIEhE+EE5ngwjPgHHZoBv7A1RbqNcACBjNKYypM9cAsZFGegVW"
    "kcHP5F+brXy7EaZF+yoVPPbZlo/bpw+0vu7j03WdO0AtiIqqoGyLVC99Vv5EM4mOA59Rg7LRsgG0SE7GX5hIRVJ0mjagRqUNzNwG+c1c7AZF"
    "5e8vRfXL+5mYxOs0l1Z/yG/zXAp398kxLV7L4Nrl8qwyCkyHfwpqiK+CWcoUHOo4lAgUYtDaqNmQGYTeioBNo7tI2QZKj0ajFybhLGnmpoQD"
    "tDDhdyaLAjX3jsaSpeljYxMpt0CcUPFoYJ4J/cuLvM3I3CMser+4mxYsSbAy1IZpCjO/4OVWZmFBaEmKoxKdPtqFaBuQfUAwywi08BiHkUoO"
    "nAgUQNWN/clM/wGTsFGEXrEIvHjat2CaZMWMGCHtoaVd8gpp2q9fz9Pd+Vb43yMatF7bTe9/ZwUJQ/5GDcEmapB5YPJRbnDiQQJiHsWhDIlP"
    "0qNFYMgKfwCDw3dB35vudaJTNG+TcQuGkzYtDgR+JzrBlsbQHtFfWdqt3/6+du2ZBoCvTj4i4lbAjgjFNMGh2Mp8VDB21IcaGvtQWYDTGRUi"
    "e4PqA7wAWdjNPVahj7xcXcDNos3Yph4d0lFgCuiJU8WwOfi/WpL9niu0Ts94mYKW6jseOLLxpJMd72498UR4q/seeWL980eeGDm9nz3yhM5Q"
    "UNP3envkyfN7//YMk00jvD2UZPmhJD/VU0Z+zseG/CzPAflJHuzxMz6p4+3RG9/n0Rs/zbM0Xq1a+kNL7v8cGvo/uyj+gYD+m7j9XnH7n1qt"
    "/iTu8yOqzr/JyJ/wnPyRdeF/EqH3N+X27Vj/JsW+2y5/Vlv9ryIifqQq+I8oW/1qHeqfW3D5TUF59RpJ5L++9O9rtXxfKd4rijBmW6pLIBe9"
    "qOArmjCme1h+rPBZhNaHBAdEbvrhUEQZzxDFErZcIjrB+uABlDAzRLfDST8+KNwQzfg0jQvNFY8I3YDbg1lwsW3NTLNDX+fx9aOkI0WV9142"
    "6pkphzPTLyrz3otHTcaUC04isWNF5wXtC0Y3YBASujAtihKAq4UcaJTch3g/0iZAVEfhuFgXCog8rQcpDj0nSyNitoiKHW2xSY54t/cN6iAx"
    "45kDDuokNqP2LYwKIQXFYzuR2oXGm0mgmV/DR2klwRXR8nBh0exgcI2nXci0GhVFRs4EYuq8v45UX1jyyWONdvVbKftsZpdFi0uZm8yeRGAL"
    "3HhqSmRwKOnNyGNjABMZhkdAl30s0799woV4IgRlGGJOTJAzsEosJpXSc3iK10mu4qlNJlLNr7cZV5/eaIyeefikkWQCwUxQJ9GBcRA6Kgk3"
    "DSv6tY4whwYpe5XCDVCCqSNoak3GSObNLFJ5KWWG0xrtQXz5tdvz/vrTb1CIKRQkcubyEGFGMEDvIQjBBYVLSnVfEQhSRvSDkpPZUtRD4Ebw"
    "HKVRxm7zfHKSqQcYkqc028Ox8mopZvN6KWYwb3qFCmUuj7MIWX4U4tOI6DLpmexF5jmQoCzotAN/9RBD2ZOI4ASmyoDF5+UdrX4eNGVOaBpR"
    "SX7uSvJYGeB/uySwfO9FD8tP4kcMcdJJ4FiUaIVR4H+KWAcoVxAORJMJgkb/HHxQENMiXFClRy5igHvcmFmDIilju6d0pUn5+LnBJmr7goaq"
    "vHBvsPvlJ7GXFj005CdRmKN7xGN94EMWETgBOoFlB9dbxH96GDlaKmabMIkSQXUtY1pzyV86bPRz3QmtNYkZP7eW9JaGpVgl196b62H9sVsv"
    "oxopdHSecAiLFqXTMcknLwT4LE8I64U5KvqGAJCjR2Uuk4EhPR+hpFAWzBv28ugjtClPaJt5Wru1+Xr5vOoAcePH/be+4lj78OgwMiZ0cUyQ"
    "RDJL+xHhMfj/OAwNKYCmMGWjBHP4C6CSKCWISA8PiRE6y6yYhtEgbnjKrXavObzroPPLGcL66sdjzr+QIRy74UQbgBHzjGBKZFpMnmoFmVY3"
    "UF3C+uB5HFPl+T2xCejAIww4EZFWyBO7Sdv5g+ZJx0SHIhxYHv2ZSmguQ2y20YmFknIuQ2w6tUkFPEwMYBq1AwEGzuIJpOgBIJ3tqCQLrW/E"
    "A2VaRzF5Cy6ehSXMHEaGEyUMZHnS5rzRBwecdtdwuvT9ameBeLCusHmlrjBy4WwvgSyYNBGZcfjW8hTJEQyX+SfRWWQMu8qwE45FGopntR7U"
    "h0YQFOq5GzFEgCPZ/nQmeRT8fUV2/njx6ZPzCDQqKBddUnaVgKLwCGkIo0YHzsuDAaC0S4sMhW/AHuBhMiuSLYa5Rmi5cQaZAqZT/dhDd95j"
    "mvQCMLEzcB23TWdawOa1WsDmhFrAiFmNMHkVQ4s8JIwHCkSR6eSJFvimpPN0IqmGiH1QWSGFyeDn9IRlZpvYonk+jmelx61OmItNUr2vqILk"
    "utNXPwI1Q91RoghVaUozlc7j4JGR4clBkv+LiCgMWLDJKvqUZLaDKGlAiRTWg56NgjIe7E+Qg/3Qor1vKrynVeH9aWR1j9fJ/anFXd/UWk+g"
    "1vomv/qng80Prqf6JpC6I/z+xRVP3yRMD5QwfdMk/Wdpkv6MIqM/jWromwzoXhnQ76Xr+VdQrfxJZChfrSv5M+knnlYQ8X8Lhgbv+eIz67vr"
    "q8tve9Qi/klygtfbcEV8SUvwuluv2BfljDuyVvfgNkxeCHwDwAELwsGGoOqWZ7HT+ydjIvbDt2zS8gAIG9DpMCJfydPUeATz7P7ZHuD/gEdZ"
    "9b08wtECmQRGjGEQUN7Y6YnEHD2jeiYZ8Sc0GY++16eQM/xeP/SHFAJ8U/Y7RNnv9VJ9P6rK3Jts3CFDni/pwP2l5d9+Ij23N4G2gwXa3hTX"
    "DlRc26nH8j88sT54"
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
    return pathlib.Path(os.environ.get("COLAB_BOOT_CACHE_DIR") or os.path.join(home, "colab-boot"))


def colab_boot_temporary():
    """Where temporary files go, as far as that is known without a look at it."""
    return tempfile.tempdir or next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")


def colab_boot_reach():
    """Finds out what can't be reached of the places that this cell needs: the server of a mount may be silent, and who touches it waits for ever."""
    home, binary = str(colab_boot_home()), os.environ.get("COLAB_BOOT_BINARY")
    COLAB_BOOT["silent"] = silent = colab_boot_silent([home, binary, colab_boot_temporary(), *os.get_exec_path()])
    for place, name in ((home, "COLAB_BOOT_CACHE_DIR"), (binary, "COLAB_BOOT_BINARY")):
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
        raise ColabBootStop(f"colab-boot: {path} could not be written: {error}; name another folder with COLAB_BOOT_CACHE_DIR") from None


# What `doctor` wants to know of this kernel's environment.
COLAB_BOOT_ASKED = "CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH OMP_NUM_THREADS PYTHONHASHSEED PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF".split()
COLAB_BOOT_ASKED += "TF_FORCE_GPU_ALLOW_GROWTH XLA_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_PREALLOCATE".split()


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
    profile = None if verb in ("fingerprint", "restore", "status") else colab_boot_files()
    about = [str(profile)] if profile else []
    if verb == "doctor" and profile:
        about = ["--profile", str(profile)]
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
        COLAB_BOOT["report"] = None
        try:
            code = colab_boot_follow(command)
            COLAB_BOOT["report"] = {}
        finally:  # one that was stopped says what it has left
            try:
                with open(report) as file:
                    COLAB_BOOT["report"] = json.load(file)["report"] or {}
            except (OSError, ValueError):
                pass
        said = COLAB_BOOT["report"]
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


def colab_boot_size(bytes):
    """`1.5 MB`, as the program writes sizes."""
    return f"{bytes / 1e6:,.1f} MB" if bytes >= 1e6 else f"{bytes / 1e3:,.1f} kB"


class ColabBootScreen:
    """Where a command's output is seen: its progress in one line that moves, its report as text with a page beside it."""

    handle, printed = None, 0.0

    def show(self, line):
        if not line.startswith("\x1e"):
            return colab_boot_say(line.replace("`colab-boot ", "`%boot ") if COLAB_BOOT.get("magic") else line)
        record = json.loads(line[1:])
        if "html" in record:
            COLAB_BOOT["codes"] = re.findall(r"^error\[([a-z-]+)\]", record["text"], re.M)
            texts = {"text/plain": record["text"].rstrip(), "text/html": record["html"]}
            if COLAB_BOOT.get("magic"):  # so that the next step can be typed in a cell
                made, cell = r"\.notebook(-plan-\d+)?\.toml:\d+:\d+", "the profile made of the cell"
                if COLAB_BOOT.get("made"):  # of requirement lines: what helps is one, too
                    texts = {kind: re.sub(made, cell, text) for kind, text in texts.items()}
                    line = r'`([\w.-]+) = (?:"|&quot;|&#34;|&#x22;)(?:\*|((?:[=<>!~]|&[gl]t;)[^`]*?))(?:"|&quot;|&#34;|&#x22;)`'
                    texts = {kind: re.sub(line, lambda line: f"`{line[1]}{line[2] or ''}`", text) for kind, text in texts.items()}
                texts = {kind: re.sub(r"\.notebook(-plan-\d+\.toml|\.toml(?=:\d))", "cell", text).replace("`colab-boot ", "`%boot ") for kind, text in texts.items()}
            return self.display(texts)
        speed, left = record["speed"], max(record["total"] - record["done"], 0)
        text = f"{colab_boot_size(record['done'])} of {colab_boot_size(record['total'])}"
        text += f", {record['files_done']} of {record['files']} files" if record["files"] else ""
        text += f", {colab_boot_size(speed)}/s" if speed else ""
        text += f", {left // speed} s left: {' '.join(record['file'].split('-')[:2])}" if speed and not record["ended"] else ""
        if colab_boot_runner():  # it keeps the first state of what is displayed
            if record["ended"] or time.monotonic() - self.printed >= 5:
                self.printed = time.monotonic()
                colab_boot_say(f"colab-boot: {text}\n")
            return
        part = 100 if record["ended"] or not record["total"] else min(100 * record["done"] / record["total"], 100)
        bar = f'<progress value="{part:.1f}" max="100" aria-label="download" style="width:100%;max-width:40em"></progress>'
        self.display({"text/plain": text, "text/html": f"<div>{bar}<br>{html.escape(text)}</div>"}, moves=True)

    def display(self, bundle, moves=False):
        try:
            from IPython.display import display
        except ImportError:
            return colab_boot_say(bundle["text/plain"] + "\n")
        if not moves:
            display(bundle, raw=True)
        elif self.handle:
            self.handle.update(bundle, raw=True)
        else:
            self.handle = display(bundle, raw=True, display_id=True)


def colab_boot_follow(command, text=None):
    """Runs a command, which reads `text`, and shows what it says. The stop button stops the command, which puts right what it has begun: its end is waited for.
    At the third press it is killed."""
    screen, stopped = ColabBootScreen(), 0
    how = {"stdin": subprocess.DEVNULL if text is None else subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    if colab_boot_front() == "kernel":
        how["env"] = {**os.environ, "COLAB_BOOT_PROGRESS": "records"}
    try:
        process = subprocess.Popen(command, **how)
        if text is not None:  # it says nothing before it has read all
            process.stdin.write(text)
            process.stdin.close()
    except OSError as error:
        raise ColabBootStop(f"colab-boot: {command[0]} does not run: {error}") from None
    while True:
        try:
            for line in process.stdout:
                screen.show(line)
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
        then = "; the same cell goes on from where it was" if command[1] in ("apply", "fetch", "restore") else ""
        raise ColabBootStop(f"colab-boot {command[1]} was stopped{then}", 130)
    return code


def colab_boot_allowed():
    """The option that allows a withdrawn release, where the user does."""
    return ["--allow-yanked"] if os.environ.get("COLAB_BOOT_ALLOW_YANKED", "").lower() not in ("", "0", "n", "no", "f", "false", "off") else []


def colab_boot_golden():
    """Asks the golden repository, once a boot and once a day in each environment, whether this release was withdrawn. One that can't be asked changes nothing."""
    golden = COLAB_BOOT["golden"]
    if not golden:
        return
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = ""
    asked = colab_boot_files().parent / "asked"
    when, _, of = asked.read_text().partition(" ") if asked.is_file() else ("", "", "")
    here = f"{boot.strip()} {os.stat(sys.prefix).st_ino} {sys.prefix}"  # another environment asks for itself
    if boot and of == here and when.isdigit() and 0 <= time.time() - int(when) < 86400:
        return
    release = f"{golden['release']}#sha256={COLAB_BOOT['lock']['sha256']}"
    command = [colab_boot_binary(), "golden", "verify", "--repo", golden["at"]]
    if golden["keys"]:
        command += [release, "--threshold", str(golden["threshold"]), "--min-seq", str(golden["min-seq"])]
    else:  # what was pinned when it was taken
        command += ["--into", str(colab_boot_files().parent)]
    for key in golden["keys"]:
        command += ["--trusted-key", key]
    command += colab_boot_allowed()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=8)
    except (OSError, subprocess.TimeoutExpired):
        colab_boot_say(f"colab-boot: {golden['at']} did not answer; whether this release was withdrawn is unchecked\n")
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository did not answer"
        return
    colab_boot_say(done.stdout)
    if done.returncode not in (0, 3):  # 3: the machine or the network failed
        withdrawn = "error[golden-yanked]" in done.stdout or "error[golden-file-differs]" in done.stdout
        must = "must not be used" if withdrawn else "can't be checked, so it is not used"
        raise ColabBootStop(f"colab-boot: {golden['release']} {must}; see the reason above")
    if done.returncode or "golden-unchecked" in done.stdout:
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository can't be reached"
    elif "--allow-yanked" not in command:
        colab_boot_write(asked, f"{int(time.time())} {here}".encode())


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
# gone. If the server won't, the kernel is ended, and the server starts another. Without a server it has ended itself by then, but for threads that it waits
# for. A process that has its number by then is left alone.
COLAB_BOOT_RESTART = """
import os, signal, sys, time, urllib.request
url, pid, token = sys.argv[1], int(sys.argv[2]), sys.stdin.readline().strip()
def started():
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[19]
    except OSError:
        return None
before = started()
time.sleep(0.7 if url else 5)
try:
    request = urllib.request.Request(url, data=b"{}", method="POST", headers={"Authorization": "token " + token})
    urllib.request.urlopen(request, timeout=30).read()
except Exception:
    if before and started() == before:
        os.kill(pid, signal.SIGKILL)
"""


def colab_boot_restart(then="run all cells again when it is back"):
    """Restarts this kernel so that no queued cell runs in it: raising aborts them, a plain shutdown would let them run."""
    if os.environ.get("COLAB_BOOT_RESTART") == "external":
        raise ColabBootStop("colab-boot: restart the kernel from outside, then run this cell again", 10)
    if colab_boot_front() != "kernel":
        raise ColabBootStop("colab-boot: this Python is not a notebook kernel: exit it, start it again, and run this once more", 10)
    server, runner = colab_boot_server(), colab_boot_runner()
    if os.environ.get("COLAB_BOOT_RESTART") == "run-all" and not runner:
        colab_boot_run_all()
    if runner and not server:
        raise ColabBootStop(f"colab-boot: {runner} does not restart kernels: run it once more, it starts a new one")
    from ipykernel.connect import get_connection_file

    kernel = pathlib.Path(get_connection_file()).stem.split("-", 1)[-1]
    url, token = (f"{server[0]}api/kernels/{kernel}/restart", server[1]) if server else ("", "")
    arguments = [sys.executable, "-I", "-c", COLAB_BOOT_RESTART, url, str(os.getpid())]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(arguments, start_new_session=True, stdin=subprocess.PIPE, text=True, **quiet)
    child.stdin.write(token + "\n")  # not an argument: those can be read by everybody
    child.stdin.close()
    if not server:
        sys.modules["IPython"].get_ipython().kernel.do_shutdown(True)
    raise ColabBootStop(f"colab-boot: the kernel restarts now, once; {then}")


def colab_boot_run_all():
    """Has JupyterLab restart this kernel and run all cells again, by its own command. A lock restarts a kernel once, so this comes to an end."""
    try:
        from ipylab import JupyterFrontEnd
    except ImportError:
        return colab_boot_say("colab-boot: COLAB_BOOT_RESTART=run-all needs ipylab, in JupyterLab and in this environment; without it, run all cells yourself\n")
    JupyterFrontEnd().commands.execute("notebook:restart-run-all")
    raise ColabBootStop("colab-boot: JupyterLab restarts the kernel now, once, and runs all cells again. If nothing happens, restart the kernel and run all cells yourself")


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


def colab_boot_apply(options=("--locked",)):
    colab_boot_reach()
    colab_boot_golden()
    code, report = colab_boot_run("apply", *options)
    colab_boot_set(report.get("set-live") or {})
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; see the messages above", code)
    colab_boot_record()


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
    """COLAB_BOOT_BINARY, then PATH, then this environment, then the pinned download. A download with another digest is not run."""
    entries = [entry for entry in os.get_exec_path() if entry not in COLAB_BOOT["silent"]]
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot", path=os.pathsep.join(entries))
    own = os.path.join(sysconfig.get_path("scripts"), "colab-boot")  # of a kernel whose environment is not on PATH
    if found or os.access(own, os.X_OK):
        return found or own
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
            raise ColabBootStop(f"the {kind} in this cell was changed; publish or export the profile again")
        colab_boot_write(folder / f"{COLAB_BOOT['name']}.{suffix}", data)
    return folder / f"{COLAB_BOOT['name']}.toml"


class ColabBootImports:
    """First on sys.meta_path, finds nothing, and remembers when which module was looked for, and after each cell what its file looked like: a file that has
    not changed since is what the kernel has loaded."""

    colab_boot = True

    def __init__(self):
        self.begun, self.stamps, self.again, self.left = {}, {}, set(), {}

    def find_spec(self, name, path=None, target=None):
        now = time.time_ns()
        self.begun[name] = (now, time.monotonic_ns(), self.begun.get(name, (0, 0, now))[2])

    def look(self, *_):
        """Remembers the files of the modules that were looked for since the last time. Never fails: IPython calls it after each cell."""
        begun, self.begun = self.begun, {}
        now = time.time_ns() - time.monotonic_ns()
        folders = colab_boot_near() if begun.keys() - sys.modules.keys() else []
        for name, (wall, steady, first) in begun.items():
            try:
                if name not in sys.modules:
                    self.leave(name, wall, folders)
                    continue
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

    def leave(self, name, since, folders):
        """Remembers what the file of a module that is not in sys.modules any more looks like: other names may still lead to the module."""
        file = colab_boot_source(name, folders)
        if file:
            stamp = colab_boot_stamp(file)[0]
            self.left[name] = (file, stamp if stamp[0] < since - 20_000_000 else None)


def colab_boot_near():
    """The folders of packages that Python looks in, but for those on mounts whose servers may be silent."""
    far = colab_boot_far()
    folders = [entry for entry in sys.path if isinstance(entry, str) and entry.endswith("-packages")]
    return [folder for folder in folders if colab_boot_resolved(folder, far, "far") != "far"]


def colab_boot_source(name, folders):
    """The file in one of these folders that a module of this name is read from; None without."""
    stem = name.replace(".", os.sep)
    files = [os.path.join(folder, stem + end) for folder in folders for end in (os.sep + "__init__.py", ".py")]
    return next(filter(os.path.isfile, files), None)


def colab_boot_left(imports, loaded):
    """Modules that were taken out of sys.modules and to which other names still lead: for each its file, what that looked like then and looks like now, and
    its namespace. Another one of that name may have been loaded since."""
    gone = imports.stamps.keys() - loaded.keys()
    folders = colab_boot_near() if gone else []
    for name in gone:
        file = colab_boot_source(name, folders)
        if file:
            imports.left.setdefault(name, (file, imports.stamps[name][1]))
    left, found = imports.left, {}
    current = {id(object.__getattribute__(loaded[name][0], "__dict__")) for name in left if name in loaded}
    for one in gc.get_objects() if left else []:
        kind = type(one)
        if kind is types.FunctionType or kind is types.ModuleType:
            space = one.__globals__ if kind is types.FunctionType else object.__getattribute__(one, "__dict__")
            name = dict.get(space, "__name__")  # its own `get` may be code of a program
            if type(name) is str and name in left and id(space) not in current and dict.get(space, "__file__") == left[name][0]:
                found[name] = space
    imports.left = {name: left[name] for name in found}
    return {name: (*left[name], colab_boot_stamp_now(left[name][0]), space) for name, space in found.items()}


def colab_boot_stamp_now(file):
    """What a file looks like; None where it is gone."""
    try:
        return colab_boot_stamp(file)[0]
    except OSError:
        return None


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
    # Cython puts a module into sys.modules under its last name, too; the import hook has not seen that name.
    alike = {known[0]: known for known in before.values()}
    for name, (module, file) in installed.items():
        is_silent = colab_boot_root(file) in silent
        try:
            stamp, names = (None, None) if is_silent else colab_boot_stamp(file)
        except OSError:
            stamp = names = None
        known = before.get(name) or alike.get(id(module))
        # One that was loaded before anybody looked is what the kernel has loaded where its file is older than the kernel, and has not come there since.
        is_older = stamp is not None and stamp[0] < started and not colab_boot_moved(os.path.dirname(os.path.abspath(file)), started, folders)
        was = known[1] if known and known[0] == id(module) else stamp if is_older else None
        if was and stamp and was is not stamp and colab_boot_is_same(known, stamp, names):
            was = stamp
        again = stamp is not None and name in imports.again
        stamps[name] = (id(module), was, names or known and known[2:] and known[2])
        if not is_silent and (was != stamp or was is None or again):
            suspects.append((name, file, was, stamp, again, object.__getattribute__(module, "__dict__")))
    left = colab_boot_left(imports, loaded)
    suspects.extend((name, file, was, stamp, True, space) for name, (file, was, stamp, space) in left.items() if was is None or was != stamp)
    imports.stamps, imports.again = stamps, set()
    compared = colab_boot_compared(suspects, started, folders)
    return {"names": sorted({*stamps, *left}), "changed": compared, "left": {name: one[0] for name, one in left.items()}}


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


def colab_boot_compared(suspects, started, folders):
    """Each of the suspects with what their code says, as far as that takes no time to speak of."""
    end, function = time.thread_time() + 0.06, types.FunctionType
    # A module that no earlier cell has looked at may have been loaded twice, and its first functions may be in other hands.
    anywhere = {file: [] for _, file, was, _, again, _ in suspects if (again or was is None) and file.endswith(".py")}
    for one in [one for one in gc.get_objects() if type(one) is function] if anywhere else []:
        if one.__code__.co_filename in anywhere:
            anywhere[one.__code__.co_filename].append(one)
    changed = []
    for name, file, was, stamp, again, space in suspects:
        found = ("unknown", "no source to compare" if stamp else "its file is gone")
        if stamp and file.endswith(".py"):
            try:
                if time.thread_time() + 1e-6 * stamp[1] > end and not again:  # a kilobyte takes a millisecond at most
                    raise TimeoutError
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
        is_proven = stamp and was == stamp or was is None and stamp and not again and colab_boot_only_linked(file, started, folders)
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

    # The extension, which is loaded anew by each `%reload_ext`, is no part of what is judged.
    is_own = lambda name: name.partition(".")[0] == "colab_boot"
    modules, files, loaded = {}, {}, {name: module for name, module in dict(sys.modules).items() if encodable(name) and not is_own(name)}
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
    seen = told(lambda: colab_boot_modules(files)) or {}
    for name, file in seen.pop("left", {}).items():
        modules.setdefault(name, {"file": told(lambda: colab_boot_real(file)), "version": None})
    return {
        "schema": 2,
        "pid": os.getpid(),
        "at": at,
        "modules": modules,
        **seen,
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry for entry in (entry or told(os.getcwd) for entry in sys.path) if encodable(entry)],
        "start_method": told(lambda: loaded["multiprocessing"].get_start_method(allow_none=True)),
        "hash_randomization": bool(sys.flags.hash_randomization),
        "torch_memory": memory,
    }


def colab_boot_apart(space, kept):
    """Gives what this cell defines names of its own, and the user's names back: what `time` or `id` is in the notebook is none of its business."""
    imported = "ast base64 builtins gc hashlib html http io json os pathlib re shutil subprocess sys sysconfig tempfile signal threading time types urllib zipfile zlib"
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
# Built as sha256:23815fa01990d31727a5d7b918159712957e26c0293108fdd0f9b1b8f721f1d4
