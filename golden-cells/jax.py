# %%
# @title colab-boot: jax 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "jax",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "389e966eafc9b931aa1b81e84adc837a636b933c7d5d74166a1f95868375cab7", "packed": (
    "eNpNUlFr2zAQftevOJyHwXCNk5YNtnVgsqzdME0YLnQEE2T7HGuxJSPJdcLof+9JNrQv0p1039333d0CfidPMArbwPrxRwLLFSgJtkFYq5YX"
    "cLd7BD1IKzr84p8ljmgsmdx6X3T8iB8M7C62ISSXFVRaPKN2sNAlQ3IuPpEHTXkbCjSgBhsxtu+1qkWLOZO8Q7iF4B8/B4xgRhCe/FW8+hQt"
    "l1EcsApNqUVv5x9iH8LPlp995W1vyaKfWUtAyS3XR7Q5K4eKO4R7nRUZ8vdB6Qhd+RLx5yCEoOAar64jCswBYPEmM/RFOl42QhLYy6FYkGr6"
    "Z8d+mHJmNy5R6s9kGcfuvp/vu5sgJ161JrGj0ieTM9JLsP/wTvL325gYhN/ovCYUnq3mM18S4rm9sLr1wOBjwJSXPtlsj/I5Z09pctj9ze63"
    "D4d1+mvzkB12fzZJmm7XSbZxoTVvDbrwXrWivORsAdm7kVqlywZGKlsMoiWpRy4kzV5Ymtw4N7kVheZaoAlhbATFu32SiDRdtyr6K7VJkK0s"
    "FkqdoFLoPRgMThUiVmjkJ6rpOI1cS0eJWiFqomQ6dUKv2y1Fzl4BXWDT2w=="
)},
    "lock": {"sha256": "fd8b5646e9a40c346f90c70ab62377f63e6a0f8be91384c4591e63ac8c240f9e", "packed": (
    "eNrtm91SW0mWhe/9FARzWyLy/+ei5w3mCSoq6Py1ZQvBCFFl98S8+3wp2eYAggOG6q5pKxxh4CgPQuvs3HvttXL/x8l/pdpO8peTv5fLVcqL"
    "fHm5PVldlk9/P+OlT+1kuT1J6/bHySZtP7TNyfZDWp+0utwu1+957ezd721zvbxcn/ztRL3btP++WW7aNT+c/uffxJk8E6fvLtJ2s/w8Limh"
    "3JmUZ0qfydN373692lz25ar99m6dLtpY8DF9Pp38wu838FuuPyRl3bioQ2zRuZZ6iTlqmZLMQbZgUi1B++S047IuvtrqjXQuyR5tcLxmS8p+"
    "vPOv27R537a/3b51Tpu24O9Sp+82N+vt8sHVqy/bD/u/avw8/qSrVdr2y83FuHaR1l9Wy/XN53N1rsL55+DOnTl9V25qGi9zQzh9VzdLPtyi"
    "ry4vN+OqVfbMgZI+fff+6mag9uupP7Onv5ycBt5g9yWOL3H/0+5tf3uXrrZj6W+3n+PsKpVP6X2bfJ6Ur1eLqy934JRnZvzdf3xobcXP/3My"
    "0P+2+Pzqy2K3gLv0Yn25bgs+09kfH1a89S36ourenHCp9mS6r9kZH1WtpvjUmmlNFB1A2dZetdXZp6Bb1S1a30s2fvyy5T/Gu0rlrIm/nCzX"
    "te3Co7aeblZbVly0bappu4MumlaKiM3aVm2K3hRrjAmphpisKuL05H/5RF924F1ebYkgkLrc5PR5UT608unqcrnens6AtdwF4vXd4LP7+D0A"
    "19fli/2SpwFLuWkpm1W+BKdGIFrRo9GhBRuL7MlbF5I0MiuVcqlC2iaVaMGlYF20E8CMc2EWL++0cDI7HklL0umaO0+sqCBqlrWWO3i9DKa2"
    "Xa6u70WUfCSkdmsX+9efBigTKl4b2a2puUkjbDLGiqzYvEr4bFIoykcfhBEqG9uDJy/kaGovlgsTgLyK2swiZKXWIjjXcxVGNtVqc1rL2BIX"
    "fRSvQKiv7mUwsct3hwAaSxf7l5/Gx8lkuxNgkLJpzijRa/LdRt2jzrYVmWpOhBYbTmfVxYg1I9iDRZia4i0+xgYR9Sw+wddYTRU+2dylJJpk"
    "cNl7520v3t2JoK8pfA6W6+urVu6ndnumD8fOfvni25Kn4Wk9B5+65qNEKcDEFL4BoFBIPgQJP/TYvemFj1Ji8S2J1qtX3heZ9SR8onbSzsMj"
    "yDvkomydyqmokltS460Bmx0mp/Dsd8zT4Hy4oXjwF9yBx5xJdxicb8sX+yVPg0MGboSENmTQKmLIKgTRWgu5dSWDVi01VyXgmFCsd6r37huP"
    "OXsCQNYJOJpdN5+tpUq8he6p12hkTSYAjHIlBdOULvIVe+vjw61FPRxM4iFIH/d7a/f6TPhEChXf5yQi8RazJDv7Lry1lZCJymqbCSUdikhG"
    "1O5MCGSkkHytIbVbhDTpOdp5iIyOSdsmZIyUhdB5C9I+GS5F1ZWvU4h2+WTUs0cLG9eetwcHJIOOSNLNx832JVCe7+87H/cdgPUO9/Ffuc8D"
    "oO2oQY1kEgORaISWBUIWBTmNEqhTC6U2E4Ahm+xETt2IDt49O69VcNN9KoNx2s7XwqazKMaoGNj8RZqYeu6mhBhJ/lGZKdRTfFY375frF+C5"
    "X/8jiO7uvMW0XGl+3/7/58HqZC1ukCxDGXBJ5Gyj01ILHyX5novSCUsBKRbIkspsbw+qnYTeiNhbWEOIwXg1D6phd1NkCm+WQqyxSSepzSZm"
    "65sq90Cdh3G1zC/BjuWvAcwHLUOLqfjI7o5e9SCL9+z+bq3PFb4BAYlBSW9lca3p7lIstBGRnW/UBDAXTKABmSccNUpVIrU0EYWCaqpkDb2H"
    "yh8ifb6P2PcN/zR0F2nzqV7+sV4st/eZvjlTh6vHt3vOl9tB+Hfrnk6QlM6WSVDS9GajiUYpZ8Z+rZH6KbyopPtQFZu2F510Lp38BtFgmSwm"
    "3eIVpQt+FqzMNs06KVOhOkp1m2uE3bjR7HXZ74TXZlk+zIFUbzar++F1mJHtli52Lz8NSTBChAR1tET+CBbqBB0peanDNizNii5G0ITycB2M"
    "TfdqIQ1Fyehy6GECSfTzBUPZYlyA7VZB2kqaSFSODGlJmNaHOwXjXkzMYLNa1O2Xq3t9jzizZ+YgPqvz/fLFbskz9t7BrvhhhKVqLD09WEAc"
    "XJM6w658g4urQn2UuyJhafONLU6nTLcEsRNwPFlt77dwWsE2FvMpjE1eaT97tpke1hLC3YcAwVWxNIrSgQ35NU/x3batry8319vLzVzJvbh+"
    "Py7e65jU4cz2dfFit+AwtkpIcwha+ULAxWgvKQ3emaz48NWXRJMB3RFDSoH6yFilCISx7jKaTtuohMg0EzZaOdnSBhIT5iPY0qwUWhZEml46"
    "z1DbQlI0DvnAupQOUp6XscP1zcW9HKgIUnsI6d3Sxe7lN4thT6sVJPvSNgt0ztSoVXTkd8g2MQrbFrqU4qGR8MnxxSEC5KR8DlZMZREL0bZx"
    "HtSsrXCKPAx1R3mx1ZGSXaWEk2JacYdAfRDMtylgjmVelyUA34v/8eOmtetyeTW3Gda/L+syQZnyKl3zZWhq032BQob6dHBr7G893996Pm5d"
    "fFv+UhYaUjHNe/JG0qPlscguySigS+RvGpSYEBCFQkM0MqASsFcqNSiR372cVn9qIYw/qvnyT8ISqBcN5uG6YRdp6ga7DR5W2F72aRb6ywS6"
    "ul7vkZtevL5cDVVxd/2Zj6CO/662y0ceQxRPPoU6/uPuyZOI4sCDmE9XD5qxJEoW8I2alMs5ZhWhmKrU8bBMbJ4H5FyRQTpVqa7aegvDjzVD"
    "EWSYPB0plBk0609+OM/He/17KY/BrefgHjdP0daH0RYH0VaPoa2qq4VPjVCUbUIZETmE0YxKXcde0JZ2LGlpnYPwkFY8kgAZjlwJv5NyUga4"
    "DuMLfyG0N9vXwM3db4938ki9FnkE+ajTbXmvkEWKK0jZFbEEKZiGjBbKFOox8a9lD52OuSGfx2imrRr9llDxL4P3V8vkh/PJ1/vfPqOARG2h"
    "FqTeVruh2lJdDSVTVEwMh2KK6oMrRBHwYoBSsBZURWI1JuUoJlTdGu/sXwTxb3VgCnU8k/hEZ9Y9DfZ6vUf5+/KXltBUMH+i4GNaQlTTFndU"
    "+NKNU8iJI3kgHhdnS8eDQG6Fz5BEAjDQujg1MTScRW13Qc4Tdvi6z9RjU6Qa7IiM1HsSXSmcDmfrm6Da+/ZAAEskaH0Wnk4a3Po1dr8tf5Po"
    "NRVnTcm2y8zgyYdVDWaiLU0lhpilQW4m6Z71kL3LsHiE7NwkEC+9uaNtDxU/zgcwajkN2BBxGx04pkK3IVkvyojp6t2bQD3lLPfQ9sA3kzD2"
    "d38HfH/HS8PYaKwMFJmqkMvwkWjRh45v4efaC+0Ehgcegh45Qwu0WlwqdPLYM1oE/tQttgpjBDYv5rHtBee6S9+BEt8CcdzTXmFa5VyDb/Ft"
    "sL1Km+vDqdjOl7/93d8TsX2i/L0wmEcY48hT1/iwmVjGRCZRSox8YtvQWhaNjdxC85JAt23Yc7RIWaA/EZITwKEp0lEr/+RgfhXLXpeyevgQ"
    "1Jkanv7jT2Dctkd/v/RwWMtHG1ETLIFbE8zC+JosBYg2FByMtQl1ThWFBU1D3w24Q0EAvvlitcIYs2mKcnQenLX/K9S89e8fl1s+/acfIXXf"
    "b357TheQ/JAzPGIK8TrEPrQTT1EjU0DhMJcTDY2mTNG7RFRSSiPVchi4XpPUJ/YRPpABwH9iO/m94D0W6L88klae+ciuP1y0i4cPTNO42ycf"
    "1+7G/cPaLX6T/CMM9hoKYYdfCwT4HBJ+sG34UnawQF8t/JuEVIYyBsuwyVlw9YomKeY7Xuiwe0X817JB1JpFW66vby4eoHuwfLL+fL9+B+qM"
    "7M8nHg6Ziz24RAtIWOPgQTYKfi5sQzcsJ4QULzOlEUgxl3oTKqQo0BMnaFHi9DzDw4SBHOYSQV0P9WwIvj5ESGUe1OZlrtJeybqrau+OYB2E"
    "ZWcW8/KMU6wLnYHGiIik18FGRcI9zlQ16IA2OtBQZxQ+kTEvosMXy8Mvth36W6bnVAytmxPPOIdBV947dTNgGfMsfHLQacx8nCvj8iGB73le"
    "8AN974H9dlCH2912fnvb3oabM9hRC0h4Dl00khONGboOz7aGkGWjEA37jUaXuCdT5hjxKmUTFRGOC11Ot52UUj0DN8wZG2uTSKkGIagZfBiL"
    "4xww81AqHuD2NFhAym//0G5QLVfL9gAtZQ/vt9v7zvf3LfZrn4YLYZLnjYOEWe1ITVoEWBNxBOfpyC5+nGSpMNekesKBdIa4VIpGysbe6gQu"
    "7Dc7fxgqQ7YCFnwyUDCJ2hBVo4KhtsEdlH7NgQ0A2F7mm34HL3um4pl7BK/d8sV+yRDlwyLlpT6c9B9uTx18h/RENN5xagmTWmldhOlk+twt"
    "hB+zl+wvpUNNcd3FgNGIWVnxlCbHpDQKgQ9vmrFeitz1zXa5uodbPFw092sXu9cHZu4eZnfoyzzT8YeWPgp6wA4KbEpn8OIU3B6TI0UPe8fq"
    "6A4YbKBxb5nyGnRg9/mikqil0ETlZqacXokwXyZU1hUxHgrvKp6ox5VCP4voERJ2L9RrQP/y/oJden2fr4tHtvfX5Yv9khnHWKbY1DiTqXql"
    "RioM7koYVqi4HyU1G9dUDxkftFJ0A82hxzcaFhmYTQ+/sCelnde1x2ktXGgL4dfwmBJIqCYGwSYYJx/UC230qy9f0sXdiHSoR/owMmPtYvf6"
    "n2tk4gSXQrb3BStcVdUKEmsYeY/2UOKJmaAQrINIw2SLGD65Y/RAaHLDTi8TRRWa5sWb7vkfNDJ3D+NOf4O6cdiQH0sX+5dnyByPvtrmRgdu"
    "cld+nLLChA1DEnJ6nGJsKYwqidleyY5N+0Ap9jqwXacqqDLj3/w2jd100ci2SnQsXwqv9il153nyVYcXluC993jv4LE7HH27tYv96z8afQ/c"
    "XTYrVLfXcd4WFL2hpfOIOYPRq2qN0x3flQaPa1QaA4J0hkNTUoYImdQW67yjxs5b5k4iSSeYnhhUxiFZSPzKhLZax1nOx48ozEC5vLhatY/X"
    "l+v7500Pc77b9YvdmsOQyqf37fSqfVS5GEeZwwiU3tAjQkYQEwqpPlphy+5EOBsa+6lKFUXXHdIdeBy9BjzbOxY698V52aIEdGxpc/VYYDBN"
    "bQyEoPsCDUV70q+oJVOP/P7Zo3BwL0/uWOxXvdnZBMoweT9aG6oFJ5SIyI8moEYKyrOyXiNuwpSLxf92BY0MGAo5jUbP5olgT01xwRv7DGgN"
    "9Iptj3gXlFdofuM5+kAXKUgDb5Anb88d3AdYHqzX39cv9mtmaHhFXO9YndDiohBuFM1Ecr2RvXLdnTMviXbXR1lic141cEBDi4nOJtlp10IJ"
    "svOIwQNiR6CjuQ7w1W7GII1JYpyiJt3IF2bM7Zer5fr9on0ecQU21888Xb6/7/z2vmcdM0fILmmc9dbekPhw6TOkhc8mTYswQ/J+MogsZEdq"
    "AcGlLSJBqA6lndITpiMK1ss3nXHZH8H/5eRH4+zm99Xl5dX9nu+RDnm/eLFf8OdyH59tlonumQZmxxPRdlujPxQ02WOrpeZ3FqcXGdURgFLE"
    "tQOymIKaUm9jsEDEM/JlUSg+MNM8Jr68HrI8aTM1C0ltOb0iX/5jeXX1oB4dDNCxcleJZkJSjVJJ3STXlco2RqyqNXRZ2axJpVFgUoMaQrdp"
    "/ggbR80g81OCwojZO0dJ9Hw3mIMow9mpDa8zlxxNLEZ6kyjjIcby5FTIBIn9FOZu8FH4xfurmzvziAdevTeXOIYJHxtM1PY4mPiawcSfftLw"
    "Jxwd/OlmAX+24b6fa1rvOH53HL87jt8dx++O43fH8buHJeHfdZ7uOCA3OyB3nHh75cTbcYTtOML2bzTCdpxJ+2fOpB2HzF41ZHacGnvl1Nhx"
    "DOzVY2DHua5nzXUdB7V+fFDrOHn1gsmr4yjVa0epjrNRPzQbdRx2etWw03F66V84vfQTjyP9DPNFx4GhR4D4uSaAjiM9bwHFcUbnLVD8fz50"
    "c5yiedYUzU87FnOcc3m+03gcXHl0cOU4ifL8SZTjaMlPPityHP54k+GPn2ua48Ax4P8DaX3Jpw=="
)},
    "variables": ["XLA_PYTHON_CLIENT_PREALLOCATE"],
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
