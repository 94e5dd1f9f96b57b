# %%
# @title colab-boot: pytorch 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "pytorch",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "8f0ddc3e0dabeaaa4040523010f92e81960b9b4709ecdea8503539673d77f005", "packed": (
    "eNpNkF9LwzAUxd/zKUJ8EERLN3CiOGHIkOHUsc0XR5FrdruGtU3JvV3ZtzfpH/H13HNyficXcnXeWqczaUvJGcpnm8OPfFl9SleXbAp8kEfE"
    "itqjKeCAlyRt481tqsnQeZ1lapgiIXaVs6nJMRElFCinUlXn1qnECR0Z3+K1cTyeRKNRFCuxR9LOVNxfBprGcNZW1lRDLrUtKii9h64H0K6f"
    "M+B/3C2gpMxUpDwMgzsgJ0LXewivQ81WiX4YeWWndMjdtEDxnUp8KHWevLHuSInoSgJxwL1SnXAyw5BBgXpvbC/4PwB99Bwh76Ck1LrCbw/n"
    "p+nt9ePErwYGQqY+Alpjjg4Ye6HClDt/HI3ulSBIkbEk6+ivBctTIrYfr/P3xdd8vflezdaz5XK+XGzegieFnFCJX21Al8I="
)},
    "lock": {"sha256": "7a1da17aef8d7586c1ef141c1115471e4394bdf757aa4101a080dabb31cc20c1", "packed": (
    "eNq1WFlyozgYfvcpKM/jxJQAsz303GBOkEqlZSGMxiBoIRyT088vk0WSSVjaXZWKbSG+f1//cv7FGXUOvfOT1CU+7A51LZ2yJqefLjw6UYdJ"
    "B3P64ggsCyocWWDu0IxJxo/wzN2cqWhZzZ0fjrcR9FfHBG3hx/afH8j1XLTdVFgKdlFHPvIj1/NcH/62m81jI+qclfRpw3FF1YWml7UgxVYD"
    "/XgJkNoC+2GkDpMcZRkJKMrwgWKM92iPQj9AHspTnyZeGqFDetjHKKUkozgJURAGaRQHWRznCIWK+qPE4kjl0yf5QQNXgijeHZtuuxEdl+zL"
    "p8BvMXAZuJ7vegEclVjmtajUYYV5XzLeXZ795yB8viTRc7TfbkiXYfUY3ki2m0wwkHaXl3Ut1Gnoh26ErlhAQ6nycRu74fYBpAYlXD9S9ZEO"
    "vwAFbZ82uJHq6tOnYG6DyQkfqSYgJoSWFCxJDRV7rrdX+n0p+iu5huZSQb/ZZzsByuoCN01Pe3rAZdma1nNj1/tEVnelbGYgqls6UKB41JDy"
    "tm0omQZq2ZHj0hLXkHYmT5zXEhSX7bKaGHDIRe7+E072DRWTYD2rDZC9Es//RFEcXaZQpBSWtqMh5JaJRqiQLGe3UQdosckSqQVVnjGwB19U"
    "xNNWtlMkCixaKnccIgOX7BU0ZBp3Dz79QWkuaMnIycBJXFOJ3fEIaSrHhO6K7jABl2GJgcfWsgsyImNWRGSsLC0XCVSov6N8UAIFVl0pGcAS"
    "2k7JqyirzGypzk/deBx7mfy5qF8pL1krrWhJxlzqQY+uCeAhVC33CkEn6B58F55nKduLdOQPv52AyXcXaose6ilnIVvvZE1EpDv6nCgf7pgC"
    "+slv8GXdNtnzDaNo9eLBMUz0XiJkfaJcxfP1VArMW1X91O/v2WAZx3aC10JkyJCjmQa+91hMOV2FxSmrX/iOyV3TWzHt60IKBh3HBFjWCTui"
    "PT3TWNQm0FTIZ4yYzhaNV8qZ0upZxOQzVvEwEmffA/KusrQGOtMl/sY1MM+w6STz3YKfQTN4R7pDiVv48HzTQaFlco0+4OOFjPPh/oOG0tal"
    "aq7ez4fuciYHGfwjpBxlInV9Lecuhu0ayb4QLkXrcfmZkK9gg9+BFfJP4L711ndXxLsj6JCp60G/7IbRStA8lyN8elDDoLKv1YEq6COo0PtD"
    "dlkLCrGWjYCqFiRdr1Q9kCwVxAp5NW6jGsNRFwgt97pLUA/0yhFjIjP/LkAt2QEir66aW9BQ9eMw767C5aPZx1fVP10HeGbVkdQZJePiQ6VY"
    "yen5PyZh0j3NyBK3IfVNwh71k2U25+e2qGh1y5kaOsKV4srLnbLWcAL9mD3HzSq1di+3rua+FWzLyXQOZjYNV9pWl5TqQTVvfIJbDcGkoBZW"
    "aChlUX/UtJ1kpRWaqW5+U8lXSSYggayoX0wXSMz5e67e+mNFubwxAVrYpg7rqB1QpTfiqp4FuU3dSn2cHSw/ifp6O7z5i1F6XJVWx4v0Kven"
    "3VzQI73cCuKZpXYJ3ttAYqo58PVt0EwPuBrX8CRVrRdulVqcU0l5Wwt7Bki+HursXd8ynbYFLSHvHwtc3UzOS7lnF7sNio3Vi+Xc36Npc6k1"
    "OhuJbYGoI5vp61r6b1UIkiXqVUC4y4b59vrrzBTmHAaG96a5mJdpdeKWmqLVmL+yyhq3o1gPsftHtnHVar8Co/4sWmwPXnujl2Sd+/QNCLqj"
    "FxWhAGevGc2d1eiW7cHR1iKLdj7yVSn9dsEbLEzisAWBZjew/C80ytS83e3lUuC2sPoxY6s1M3Nei7+1w9qPNQpPm/8BupRx9Q=="
)},
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


def colab_boot_run(verb, *options):
    """Runs colab-boot for this kernel, passes on what it says, returns its exit code."""
    command = [colab_boot_binary(), verb, str(colab_boot_files()), "--python", sys.executable, *options]
    command += ["--kernel-pid", str(os.getpid())]
    with tempfile.NamedTemporaryFile("w", suffix=".modules") as modules:
        modules.write("\n".join(sorted({name.split(".")[0] for name in sys.modules})))
        modules.flush()
        if verb == "apply":
            command += ["--kernel-modules", modules.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
    return process.returncode


def colab_boot_server():
    """Address and token of the Jupyter server that owns this kernel; None where it can't be told."""
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
    code = colab_boot_run("apply", "--locked")
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; what to do stands above")


colab_boot_apply()

# %%
# Holds the installed files against the lock and tests each framework in a process of its own.
if colab_boot_run("verify"):
    raise ColabBootStop("colab-boot verify found problems; they stand above")
