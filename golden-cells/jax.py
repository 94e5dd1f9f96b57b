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
    "lock": {"sha256": "2840e8fe27b3500de1d7fa4776727170bb48603d012fa26b646c80ea59509cc1", "packed": (
    "eNrtm91SW0mWhe/9FARzW1Lk/89FzxvME1RU0PlryxaCAVFl98S8+3wp2eYAggOG6q5pK6rCwFEehNbZuffaa+X+j5P/SrWd5C8nfy8X65QX"
    "+eJie7K+KJ/+vuSlT+1ktT1Jm/bHyVXafmhXJ9sPaXPS6mq72rznteW739vV9epic/K3E/Xuqv33zeqqXfPD6X/+TSzlUpy+O0/bq9XncUkJ"
    "5ZZSLhX/n7579+vl1UVfrdtv7zbpvI0FH9Pn08kv/H4Dv+X6Q1LWjYs6xBada6mXmKOWKckcZAsm1RK0T047Luviq63eSOeS7NEGx2u2pOzH"
    "O/+6TVfv2/a327fO6aot9FLyh13dbLarB1cvv2w/7P+q8fP4ky7Xadsvrs7HtfO0+bJebW4+n6kzFc4+B3fmzOm7clPTeJkbwum7erXiwy36"
    "+uLialy1yi4dKOnTd+8vbwZqv576pT395eQ08Aa7L3F8ifufdm/727t0uR1Lf7v9HMvLVD6l923yeVK+Xi8uv9yBUy7N+Lv/+NDamp//52Sg"
    "/23x2eWXxW4Bd+nF5mLTFnym5R8f1rz1Lfqi6t6ccKn2ZLqv2RkfVa2m+NSaaU0UHUDZ1l611dmnoFvVLVrfSzZ+/LLVP8a7SuWsib+crDa1"
    "7cKjtp5u1ltWnLdtqmm7gy6aVoqIzdpWbYreFGuMCamGmKwq4vTkf/lEX3bgXVxuiSCQurjK6fOifGjl0+XFarM9nQFrtQvE67vBZ/fxewCu"
    "r8sX+yVPA5Zy01I2q3wJTo1AtKJHo0MLNhbZk7cuJGlkVirlUoW0TSrRgkvBumgngBnnwixe3mnhZHY8kpak0zV3nlhRQdQsay138HoZTG27"
    "Wl/fiyj5SEjt1i72rz8NUCZUvDayW1Nzk0bYZIwVWbF5lfDZpFCUjz4II1Q2tgdPXsjR1F4sFyYAeRW1mUXISq1FcK7nKoxsqtXmtJaxJS76"
    "KF6BUF/fy2Bil+8OATSWLvYvP42Pk8l2J8AgZdOcUaLX5LuNukedbSsy1ZwILTaczqqLEWtGsAeLMDXFW3yMDSLqWXyCr7GaKnyyuUtJNMng"
    "svfO2168uxNBX1P4HCzX15et3E/tdqkPx85++eLbkqfhaT0Hn7rmo0QpwMQUvgGgUEg+BAk/9Ni96YWPUmLxLYnWq1feF5n1JHyidtLOwyPI"
    "O+SibJ3KqaiSW1LjrQGbHSan8Ox3zNPgfLihePAX3IHHLKU7DM635Yv9kqfBIQM3QkIbMmgVMWQVgmithdy6kkGrlpqrEnBMKNY71Xv3jcec"
    "PQEg6wQcza6bz9ZSJd5C99RrNLImEwBGuZKCaUoX+Yq99fHh1qIeLuUhkD7u99bu9ZnwiRQqvs9JROItZkl29l14ayshE5XVNhNKOhSRjKjd"
    "mRDISCH5WkNqtwhp0nO08xAZHZO2TcgYKQuh8xakfTJciqorX6cQ7fLJqGePFjauPW8PDkgGHZGkm49X25dAeba/72zcdwDWO9zHf+U+D4C2"
    "owY1kkkMRKIRWhYIWRTkNEqgTi2U2kwAhmyyEzl1Izp49+y8VsFN96kMxmk7XwubzqIYo2Jg8xdpYuq5mxJiJPlHZaZQT/FZ37xfbV6A5379"
    "jyC6u/MW03Kp+X37f58Hq5O1uEGyDGXAJZGzjU5LLXyU5HsuSicsBaRYIEsqs709qHYSeiNib2ENIQbj1Tyoht1NkSm8WQqxxiadpDabmK1v"
    "qtwDdR7G9Sq/BDuWvwYwH7QMLabiI7s7etWDLN6z+7u1Plf4BgQkBiW9lcW1prtLsdBGRHa+URPAXDCBBmSecNQoVYnU0kQUCqqpkjX0Hip/"
    "iPT5PmLfN/zT0J2nq0/14o/NYrW9z/TNUh2uHt/uOVttB+HfrXs6QVI6WyZBSdObjSYapZwZ+7VG6qfwopLuQ1Vs2l500rl08htEg2WymHSL"
    "V5Qu+FmwMts066RMheoo1W2uEXbjRrPXZb8TXler8mEOpHpztb4fXocZ2W7pYvfy05AEI0RIUEdL5I9goU7QkZKXOmzD0qzoYgRNKA/Xwdh0"
    "rxbSUJSMLoceJpBEP18wlC3GBdhuFaStpIlE5ciQloRpfbhTMO7FxAw260Xdfrm81/eIpV2ag/isz/bLF7slz9h7B7vihxGWqrH09GABcXBN"
    "6gy78g0urgr1Ue6KhKXNN7Y4nTLdEsROwPFktb3fwmkF21jMpzA2eaX97NlmelhLCHcfAgRXxdIoSgc25Nc8xXfbtrm+uLreXlzNldzz6/fj"
    "4r2OSR3ObF8XL3YLDmOrhDSHoJUvBFyM9pLS4J3Jig9ffUk0GdAdMaQUqI+MVYpAGOsuo+m0jUqITDNho5WTLW0gMWE+gi3NSqFlQaTppfMM"
    "tS0kReOQD6xL6SDleRk73Nyc38uBiiC1h5DeLV3sXn6zGPa0WkGyL22zQOdMjVpFR36HbBOjsG2hSykeGgmfHF8cIkBOyudgxVQWsRBtG+dB"
    "zdoKp8jDUHeUF1sdKdlVSjgpphV3CNQHwXybAuZY5nVZAfC9+B8/XrV2XS4u5zbD5vdVXSUoU16na74MTW26L1DIUJ8Obo39rWf7W8/GrYtv"
    "y1/KQkMqpnlP3kh6tDwW2SUZBXSJ/E2DEhMColBoiEYGVAL2SqUGJfK7l9PqTy2E8Uc1X/5JWAL1osE8XDfsIk3dYLfBwwrbyz7NQn+ZQFc3"
    "mz1y04vXF+uhKu6uP/MR1PHP5Xb1yGOI4smnUMc/3D15ElEceBDz6epBM5ZEyQK+UZNyOcesIhRTlToelonN84CcKzJIpyrVVVtvYfixZiiC"
    "DJOnI4Uyg2b9yQ/n+Xhvfi/lMbj1HNzj5ina+jDa4iDa6jG0VXW18KkRirJNKCMihzCaUanr2Ava0o4lLa1zEB7SikcSIMORK+F3Uk7KANdh"
    "fOEvhPbV9jVwc/fb4508Uq9FHkE+6nRb3itkkeIKUnZFLEEKpiGjhTKFekz8a9lDp2NuyOcxmmmrRr8lVPzL4P3VMvnhfPL1/rfPKCBRW6gF"
    "qbfVbqi2VFdDyRQVE8OhmKL64ApRBLwYoBSsBVWRWI1JOYoJVbfGO/sXQfxbHZhCHZcSn2hp3dNgbzZ7lL8vf2kJTQXzJwo+piVENW1xR4Uv"
    "3TiFnDiSB+JxcbZ0PAjkVvgMSSQAA62LUxNDw1nUdhfkPGGHr/tMPTZFqsGOyEi9J9GVwulwtr4Jqr1vDwSwRILWy/B00uDWr7H7bfmbRK+p"
    "OGtKtl1mBk8+rGowE21pKjHELA1yM0n3rIfsXYbFI2TnJoF46c0dbXuo+HE+gFHLacCGiNvowDEVug3JelFGTFfv3gTqKWe5h7YHvpmEsb/7"
    "O+D7O14axkZjZaDIVIVcho9Eiz50fAs/115oJzA88BD0yBlaoNXiUqGTx57RIvCnbrFVGCOweTGPbS841136DpT4FojjnvYK0yrnGnyLb4Pt"
    "Zbq6PpyK7Xz529/9PRHbJ8rfC4N5hDGOPHWND5uJZUxkEqXEyCe2Da1l0djILTQvCXTbhj1Hi5QF+hMhOQEcmiIdtfJPDuZXsexNKeuHD0Et"
    "1fD0H38C47Y9+vulh8NaPtqImmAJ3JpgFsbXZClAtKHgYKxNqHOqKCxoGvpuwB0KAvDNF6sVxphNU5Sj8+Cs/V+h5m1+/7ja8uk//Qip+37z"
    "23O6gOSHnOERU4jXIfahnXiKGpkCCoe5nGhoNGWK3iWiklIaqZbDwPWapD6xj/CBDAD+E9vJ7wXvsUD/5ZG08sxHdv3hvJ0/fGCaxt0++bh2"
    "N+4f1m7xm+QfYbDXUAg7/FogwOeQ8INtw5eygwX6auHfJKQylDFYhk3OgqtXNEkx3/FCh90r4r+WDaLWLNpqc31z/gDdg+WT9Wf79TtQZ2R/"
    "PvFwyFzswSVaQMIaBw+yUfBzYRu6YTkhpHiZKY1AirnUm1AhRYGeOEGLEqfnGR4mDOQwlwjqeqhnQ/D1IUIq86A2L3OV9krWXVV7dwTrICw7"
    "s5iXZ5xiXegMNEZEJL0ONioS7nGmqkEHtNGBhjqj8ImMeREdvlgefrHt0N8yPadiaN2ceMY5DLry3qmbAcuYZ+GTg05j5uNcGZcPCXzP84If"
    "6HsP7LeDOtzutrPb2/Y23JzBjlpAwnPoopGcaMzQdXi2NYQsG4Vo2G80usQ9mTLHiFcpm6iIcFzocrrtpJTqGbhhzthYm0RKNQhBzeDDWBzn"
    "gJmHUvEAt6fBAlJ++4d2g2q5XrUHaCl7eL/d3ne2v2+xX/s0XAiTPG8cJMxqR2rSIsCaiCM4T0d28eMkS4W5JtUTDqQzxKVSNFI29lYncGG/"
    "2fnDUBmyFbDgk4GCSdSGqBoVDLUN7qD0aw5sAMD2It/0O3jZpYpL9wheu+WL/ZIhyodFyit9OOk/3J46+A7piWi849QSJrXSugjTyfS5Wwg/"
    "Zi/ZX0qHmuK6iwGjEbOy4ilNjklpFAIf3jRjvRS565vtan0Pt3i4aO7XLnavD8zcPczu0Jd5puMPLX0U9IAdFNiUzuDFKbg9JkeKHvaO1dEd"
    "MNhA494y5TXowO7zRSVRS6GJys1MOb0SYb5MqKwrYjwU3lU8UY8rhX4W0SMk7F6o14D+5f05u/T6Pl8Xj2zvr8sX+yUzjrFMsalxJlP1So1U"
    "GNyVMKxQcT9KajauqR4yPmil6AaaQ49vNCwyMJsefmFPSjuva4/TWrjQFsKv4TElkFBNDIJNME4+qBfa6JdfvqTzuxHpUI/0YWTG2sXu9T/X"
    "yMQJLoVs7wtWuKqqFSTWMPIe7aHEEzNBIVgHkYbJFjF8csfogdDkhp1eJooqNM2LN93zP2hk7h7Gnf4GdeOwIT+WLvYvz5A5Hn21zY0O3OSu"
    "/DhlhQkbhiTk9DjF2FIYVRKzvZIdm/aBUux1YLtOVVBlxn/z2zR200Uj2yrRsXwpvNqn1J3nyVcdXliC997jvYPH7nD07dYu9q//aPQ9cHfZ"
    "rFDdXsd5W1D0hpbOI+YMRq+qNU53fFcaPK5RaQwI0hkOTUkZImRSW6zzjho7b5k7iSSdYHpiUBmHZCHxKxPaah1nOR8/ojAD5er8ct0+Xl9s"
    "7p83Pcz5btcvdmsOQyqf3rfTq/ZR5WIcZQ4jUHpDjwgZQUwopPpohS27E+FsaOynKlUUXXdId+Bx9BrwbO9Y6NwX52WLEtCxpc3VY4HBNLUx"
    "EILuCzQU7Um/opZMPfL7Z4/Cwb08uWOxX/VmZxMow+T9aG2oFpxQIiI/moAaKSjPynqNuAlTLhb/2xU0MmAo5DQaPZsngj01xQVv7DOgNdAr"
    "tj3iXVBeofmN5+gDXaQgDbxBnrw9d3AfYHmwXn9fv9ivmaHhFXG9Y3VCi4tCuFE0E8n1RvbKdXfOvCTaXR9lic151cABDS0mOptkp10LJcjO"
    "IwYPiB2BjuY6wFe7GYM0Jolxipp0I1+YMbdfLleb94v2ecQV2Fw/83T5/r6z2/uedcwcIbukcdZbe0Piw6XPkBY+mzQtwgzJ+8kgspAdqQUE"
    "l7aIBKE6lHZKT5iOKFgv33TGZX8E/5eTH42zm9/XFxeX93u+Rzrk/eLFfsGfy318tlkmumcamB1PRNttjf5Q0GSPrZaa31mcXmRURwBKEdcO"
    "yGIKakq9jcECEc/Il0Wh+MBM85j48nrI8qTN1CwkteX0inz5j9Xl5YN6dDBAx8pdJZoJSTVKJXWTXFcq2xixqtbQZWWzJpVGgUkNagjdpvkj"
    "bBw1g8xPCQojZu8cJdHz3WAOogxnpza8zlxyNLEY6U2ijIcYy5NTIRMk9lOYu8FH4RfvL2/uzCMeePXeXOIYJnxsMFHb42DiawYTf/pJw59w"
    "dPCnmwX82Yb7fq5pveP43XH87jh+dxy/O47fHcfvHpaEf9d5uuOA3OyA3HHi7ZUTb8cRtuMI27/RCNtxJu2fOZN2HDJ71ZDZcWrslVNjxzGw"
    "V4+BHee6njXXdRzU+vFBrePk1Qsmr46jVK8dpTrORv3QbNRx2OlVw07H6aV/4fTSTzyO9DPMFx0Hhh4B4ueaADqO9LwFFMcZnbdA8f/50M1x"
    "iuZZUzQ/7VjMcc7l+U7jcXDl0cGV4yTK8ydRjqMlP/msyHH4402GP36uaY4Dx4D/D/7GyaY="
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
