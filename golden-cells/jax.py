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
    "lock": {"sha256": "4ee92aeb680fbdc7f7d7375ade99c6e64716b40358f662b6324294e015e7ff11", "packed": (
    "eNrtW1ly20gS/dcpGJpfg1Fb1vLRc4M5QYdDXasEmyI5XGyrJ+bu8wqQTYiCSMmivgbRHZIJZEnKh1xfIv8x+5dPeRYeZn/F1cKHJqxWu9li"
    "Fb/+Ncetr3nW7mZ+mb/PNn53lzez3Z1fznJqd+3yFvfmV9/yZtuulrM/ZuJqk/+9bzd5iw/X//yDzfmcXV/d+92m/VEvCSb0nPO5wP/XV1d/"
    "rjer0i7y56ulv89V4Iv/cT34gb8O4Kds77wgXS9K67LTOvsSXXCSe8+D5dkqn6KVxmupcVlGkygZxbX2vDiyGvco+mDqb/5z5ze3eff58KuD"
    "3+RGzjn+sM1+uWufXV0/7O76v6p+rn/SeuF3ZbW5r9fu/fJh0S73P27EjbA3P6y+0er6Ku6Tr7dxwF5fpU0L5ZqyWK029SoJmmugJK+vbtf7"
    "itqf12ZO159m1xa/oPvm6jfXf+p+7ecrv95V0c8HPeZrH7/62zzQx4ftolk/PIGTz1X9u7/f5bzA5//MKvo/hW/WD00ngFOyWa6WuYFO8+93"
    "C/zqA/osyZI10z4Vr4pJQSvjREoqGp+zyplFaYEypZIkyWC8lTnJ7MiUGJSpP6z9u/5WLjQp92nWLlPuzCPl4veL3fXsv/gTHzo0VusdTAKq"
    "rzbB/2jiXY5f16t2ubs+o33bWdb2qTVRb5Aj+j+KN73IaQR8yJLzTMJEq0W1LGLFKWmzJRd58Ya09VzxIIQPMTFOmQuWrfaWtKMBAkprewaA"
    "t+mdd+1ie/TM+QsPvZNt+vunNQ54mEYqXkilkLli5JUiFgTcSzATlLdRGGcsU0wERcUaeG5wKpVIuDDQ2Agn1UVVLoujoMG6EDOmcRVt+tun"
    "FdbcU9EMSvmgslaCleRNISeLk4Fy5D4Fj4cPG5dBFFatQTGYfWQqeXdQWJFlTp5W+DEMntNzu13neBweaS7Hn24v3vwUOa1vLsEaXyT+NscZ"
    "lFQR/4DGNsKB8RjxobhiVImc6eiiyZ7lkowwJvIgBw/YSc3ptL69kZ7W9m6PiIof+URfNed6XNuf4k0vclpbhKWMhyZVZC4xZ4OwluWcbchF"
    "cCtF9lknDm2VjWS0KKWYTAhfRsGb00BbCUN3FzXnL8+tGVF/zse0/tKbc3f/zAN2CMf4d/DMwSJc4AhZpjBDlPBQnSBJAQ9b2si8YqloZS28"
    "2nqTkvX5oLJEzHJ0RufOJ2vUfjF849rrzL7qWLMoh8t+2ezegs1Nf+6mnhvB6UnKNo8p+xlycHZhM9PcWdiKYpJH1BGOIS4g0EufbUxZWeMQ"
    "KYJmwRfFCgAsQRsprB66BrdKSzoT8YcKL/a37fINAPXyvwNRd/IAUlxL/Lz+6+tw0jxFXZO9QmzUnoVATksumXEcQRAXuWaEqBoJGHgR4FEG"
    "MJVgTIZNHXCy1lllxFmUzuOyaMNbwID4exAwVnKbnY/GwaGcEcXyaAwcrhCZkJAmkTedFdwQjzpnWbR3EfWpg7MpMUBAW2VR2Z6H4JePncbi"
    "3m++ptX3ZdPujmtCNRfjIfXnmZt2V0vDTu50kEGCyAEFD1clk1NOCaFVdZHkkCWYYcnKYpOAn5QovQyxOC+RHyHGo/IHABzX1pzWftPGu3Na"
    "p/1mcWwA45VBJ9p0t0/raBVj1iuUfxx5Do8TwRPNCHy7IEkSc1lGxdB/OG40KgdZEjFPUXCngy12oKMzZ6Lo0VM7o+yiSbuH9VHJy+Y0V6MK"
    "L2568aYTeYW5j3Y4z23AJ0Xoz6CcLF5nLkMi+LpGkxAtIOoiJ6FlUxS19AGFMgoMhlqDJyrlgA8xeA4Tr/KBR1/Hv3Z5uV1ttrvV5lxiud/e"
    "1otHxbIYjw6Pwk0nMA6WYFyNYcXfiCCrrQLipdEqCLhMMtGjHEWWZrXPRcbmLnFmYWiycKdKSlEwFlB2kiM+8CLFnbOvzdRvq1KW+/ujOCJg"
    "RjQGXSfadLcvZmUGVbbliBuUCVholZwUTiP6ooqDFaGMYzLGaFDOoK6p3zQ6tOCFCZbYsAklVHDkXonSM3M7eN25amcbWyB2ZKH14ybnbVyt"
    "z5nr8lubWo9MHxZ+i2+VkhhaLggGNO+jxtsfvemP3tSjzU/xt1ZD1keVjYGrelmLY0KT65XQOXnEQBm58+BfmAAFo7hlVsOaU6HgESMNH+Y4"
    "JAiUkk7wt1ZDnwZYpOWyh2J4cbtaVJalu/5KTFP9st61L+Dq2ElYU/2C0wNoHRtB9nyEeFa2exYDQ1ZNXugQXBAueCtiqugrlw0Q1zpyy7VI"
    "SDmSDAUWXQoOz8MO4OZMKLAV/LK15xDA5bcYX8JPnsOvHh7CJ8fhY6PwiZfgE0mnKDVKzBjIo21lwVpBIXKZqrVKQuHuJSetkdaNsAbtHYIK"
    "whPKEs4HoRTXUajYj4Rvs3sPfjh9eQC9AZdFaI9J5IK63BjhrYo6JuuS4qAADUp3k4WKSFKwUMmLLWiWMgg/59SwqAc3xIT7OAAfWdvfduHH"
    "85d3Yp/AsNsUQ2I5FYUUhJSjkrIsgUfVYJDQkoOYRiA1zKRYorJeJFBOSvng2KBkJGU0fRSEP2PpEDs35+Ce56RPo7dc9rD9En9rXvERhLJj"
    "HoQEjEiiIyrgDWNRWoCNqf6aFPpLikWnBPoJWRt+a1GEe6m1GHCqmoxj2nLxQTCVshsxMQ6OTc7taT/F0Ufr+il+EftSCfS74LmLbgCIBy0y"
    "8q8ktB+ECkkAQ+VlCbLyepElsD+84BAD92PUE/KOcwt654OwG2bmI/gM8Djjo/3pXwj2J95qaEoa5EuwEQLkBLhpdGfZg8RHnSgNk5oZo8F6"
    "yuqmkjmHGGdABLoShI7gvA9gCW0IVSX7MLDWfrMdD2d0Pif0p38FMzqRE95obtXQMFhDsA/JBlgbZkGgTznmcbA+hSYkSkyDss2GwxQJxQtT"
    "qL0DAzmAdnCAIJIx10gg7ykB31ztLWNcPEdVzEWdtb0MaT3Ww9mLjhsef7FlUZZgWskjfyqTPKGEQ8MCWl0ReXAhIgpMktDLFQUgkWiBZDaR"
    "pADZTn4Im9MGwEnzIYa3/Pal3UGdr79Ti/w6fPlSxIJg0VIaNMawqEqtoA82iPRwTlQeGWkClbIUPKAodiCZkC+QQurYxkgExgGDDbZbWfku"
    "q/uVBV4yxU8vePIrn8H27j7fP38CEj0bncS/O9ij3wlfxOWZEkWAjymo85jgKViPKRBlUONUixdM2lEHIgbESlugnyavCYyFEai+XXgyMKnz"
    "JXbpDIPOu8ntcru/fwbXaE6B/E0v36F0hteECsEJNKsFI1w0CzA8TAWQUiOTAjlVZrDeaIoND8gXwAj8dslMWO8Y2JuB+gYZ9t3Edk8zPGX5"
    "utcLRvXsRkS4fWY+JCNKTonRnkOICmjdmcfMKCDUI+lJDLfRSwXwKRj6gmzRLiPuY0pEBWVYHE54MQF2mr2OTnndBOgZm/KM0h9lPbpjN4dj"
    "PbV/bk6Gzg9BQ4NWcogrStWmG2xlsjbwjOhcKX30OLBMRJvgHAYaPLMEygMXCh9aOucYjr8CiNPaA6P7vLvLe5A+izY/Ux/j3VETP5y76c81"
    "vexp/cHr5GhBYisQCHBvySySPZ40UnVBT2zqDDihgvKieIwptILlCMz+waGVnAb6g9Knyw76odFuFfblCQA0F26uXwCgE296kco62saHVo5H"
    "wuceIa0pyNUOnBcHx+gLaC2J+T5m5T4UQiWJEQ9CIucara4uGpNkdC5eJtDag1cAJLo9c9nXPNbbPWboR0C48dTQyzbd/QqCPgLhSdY9n6DN"
    "mOiLKFow0hZ+oBX4fYGiEbSsdwZlIchZDJmjJ2vgWQFJxEorGTdReJZiRLkdshoWi4JZcVkUH27v4Rjb40KQveBRj+JNL3JmTsS9ywL1HFJn"
    "QiYQEvEVhpJQ45maOILSGRNCTElzQmqxJcBIqMCQwEGZ4dhYIJIQf/c0bP3w4O+f2oxGry7HVa2yTXf/Y6cdmP/EiImaiRijiyQyJqZka+xA"
    "Z8CzQqWGKSJZ5itxj0FpDAVcM/JwyCWmOGCYmLGGfci0o0P3SSWM1nN8rlZFm/72maKCKZco69pNqVCEqW8QSIlJORpwjVFFREVrMUUkzMwS"
    "IkyWxiLhGGnhIUNWSKj637sTTT+gOHp1TI/bRyfb9Pd/1z6ezXTgH6ihSqovWAEWo1DNm5hRP3opEikti0JF6RKuIfwqQIKmoHbwQiFFDwIu"
    "aaMxWnjL6PAMNu39epG/bFfL4/eRxmuPg3zTyYxjxE+7yvAqvdhW1pfRMAuUpmQ0ixajVhTkIBcdMYrdS3rwIVDaiQvHiiyo5izwLcliUvNk"
    "EoZzzlw0wA5HXcdjeDvqPoMTTS91sZkhko1l0hHZRFAcbaLDR2VLzAxJSJCRIHsUZ5EwxtKxENJ5iSAgUeNTGFCMgqFzN4o+JNYc5oHHiPHR"
    "rPRLvullztR3CXRgwYBDFRUF2mSBAajXJSu4Xepe/YserYtxPDoM7UWGYqAgMNbjIC2G9S3iMtG7ow6Gp+3ytsk/6pOHsttXvvDXn7s5nHvV"
    "m38K5bv3+CqNQvDA9Cwg14Kg5yo7VChFG6/Q0iLCxJLx+CWhg7NJgxtEPLbD9zrJ8Ne85vhp9ruWsP+2WK3Wx+X+C91OL9z0Ah+bsk2gwD06"
    "IZS6Xb0C8ipntAYMDZMjY3023WDDsAAWBjHHO1D7KIUcZpfDmk5hcizZZWPO3+16/SxIj5pQlezC8xmjEeSTylwjXsQEz0Gvn5ItPME/vPA1"
    "6vqMEgV1HOp+kOsYemPUaBCXbbWqJ0NYad/4buxAtX5Bo9uJYKa5Xe+frCqM3D1aWah7Bi/tLEiadhamnYVpZ2HaWZh2FqadhWlnYdpZmHYW"
    "pp2FaWdh2lmYdhamnYVpZ2HaWZh2FqadhWlnYdpZmHYWpp2FaWdh2lmYdhamnYVpZ2HaWZh2FqadhWlnYdpZmHYWpp2FaWdh2lmYdhamnYVp"
    "Z2HaWZh2FqadhWlnYdpZmHYWpp2FaWfh/2Fn4X9xglTa"
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
