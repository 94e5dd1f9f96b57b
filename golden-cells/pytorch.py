# %%
# @title colab-boot: pytorch 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zlib

COLAB_BOOT = {
    "name": "pytorch",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "8f0ddc3e0dabeaaa4040523010f92e81960b9b4709ecdea8503539673d77f005", "packed": (
    "eNpNkF9LwzAUxd/zKUJ8EERLN3CiOGHIkOHUsc0XR5FrdruGtU3JvV3ZtzfpH/H13HNyficXcnXeWqczaUvJGcpnm8OPfFl9SleXbAp8kEfE"
    "itqjKeCAlyRt481tqsnQeZ1lapgiIXaVs6nJMRElFCinUlXn1qnECR0Z3+K1cTyeRKNRFCuxR9LOVNxfBprGcNZW1lRDLrUtKii9h64H0K6f"
    "M+B/3C2gpMxUpDwMgzsgJ0LXewivQ81WiX4YeWWndMjdtEDxnUp8KHWevLHuSInoSgJxwL1SnXAyw5BBgXpvbC/4PwB99Bwh76Ck1LrCbw/n"
    "p+nt9ePErwYGQqY+Alpjjg4Ye6HClDt/HI3ulSBIkbEk6+ivBctTIrYfr/P3xdd8vflezdaz5XK+XGzegieFnFCJX21Al8I="
)},
    "lock": {"sha256": "d6afec51dda2f0b1d94dcd7e1d406437ac78893294afbfb13d347349c5d6de96", "packed": (
    "eNq1WMl2ozgU3fsrOO5lxxwBZlpU/0F/QU5OShbCqA2CEsIx+fp+MhkkmZihUps4Bvm+Qe++6S/nX5xR59A7P0ld4sPuUNfSKWty+unCqxN1"
    "mHQwpy+OwLKgwpEF5g7NmGT8CO/czZmKltXc+eF4G0F/dUzQFr5s//mBXM9F202FpWAX9chHfuR6nut7283msRF1zkr6tOG4oup108takGKr"
    "QX78BHDaAvthpB4mOcoyElCU4QPFGO/RHoV+gDyUpz5NvDRCh/Swj1FKSUZxEqIgDNIoDrI4zhEKlfRHicWRyqdP8YP9V4Eo3h2bbrsRHZfs"
    "y7egbzFoGbie73oBPCqxzGtRqYcV5n3JeHd59p+D8PmSRM/RfrshXYbVa/hFst1kgoG1u7ysa6Gehn7oRuiKBTKUIx+3sRtuH8BqcML1I1Uf"
    "6fANUND2aYMbqY4+fRrmNpic8JFqBmJCaEnhHqnhYs/19sq/L0V/FdfQXCrot/vZToCyusBN09OeHnBZtubtubHrfSKrs1I2MxDVKR0oUDpq"
    "SHnbNpRMA7XsyHFpmWtYO1MnzmsJjst2WU0MOOQid/8JJ/uGikmwntUGyF6Z53+iKI0uUyhSCsvb0UC4ZaYRKiTL2S3rAC02VSK1oCoyBvXg"
    "H8V32sp2SkSBRUvljgMzcMlewUPm5e4hpj8kzQUtGTkZOIlrOrE7HiFJ5ZjQXdEdJuAyLDHo2Fr3ggxmzGJExsrSCpFAUf0d5UMSOLDqSskA"
    "ltB2yl4lWeVly3V+6sbj2Mvsz0X9SnnJWmmxJRkLqQedXRPAA1Wt8ArBJ+g79C48z3K2F+nIH3E7AZPvLtQ2PdRTzkK13sWaiEgP9DksH86Y"
    "BvrJb+hlnTbV841L0erFg2Nc0XuJkPWJcsXn61MpMG9V9VPf76vBMo7tBK9RZMiQo5kG/u+xmAq6CotTVr/wHZO7prc47etGCgYdxwRY1gmb"
    "0Z6eaSxpE2iK8hkjZrBF45VyprV6FjH1jBUfRnh2H5B3leU18Jlu8Z3QwDzDZpDMDwt+Bs/gHekOJW7hw/PNAIWWyTX6gI8fZJwP5x80lLYu"
    "VXP1/nzoLmdqkMEfQspRJVLX13LuYtiukewL41K0HpefCfkKNvgdWCH/BO5bb/3tjngPBB0ydT3ol90wWgma53JETw9qGFT2tT5QBX0EFXp/"
    "yC5rQYFr2QioakHS9U7ViWS5IFbIq3Eb1RiOhkBohde3kHqQV45cJjLz7wLUkh2AeXXV3IKGqh+/TrsrcPlo9vFV9U/XAZ5ZdSR1Rsm4+VAp"
    "Vmp6/o9JmHRPM7LELaXuJOzROFl25/zcFhWtbjVTQ0e40lx5+aasNTyBfsye42aVWruXW1dz3wq2FWS6BjObhqtsq0tKdVLNG5/gVEMwKaiF"
    "FRpOWdQfNW0nWWlRM9Wv33Ty1ZIJSBAr6hczBBJz/p7rt/5YUS5vrgAtbFOHddQOpNIbc1XPgtymbqU+zg43P4n6eju8+YtRelyVVseL9Cr3"
    "p8Nc0CO93BrimaV2Cd7bQGK6OfD1bdDMCLherhFJqlov3Cq1OKeS8rYW9gyQfD3U2bu+ZT5tC1pC3j8WuLqZnJdqzy52GxQbqxcruO+jaXOp"
    "NTobiW2BqSOb6eta+m9VCJIl7lVAuMtgvp0hcTg4LXZear1CnpmCsv0Srcb8lVXWfB3FOqe+n8rGUavfCoyCs2iTPYTpjV+SdfHSN2Dojl4U"
    "JQHO3iuaS6rRtdqDo+1BFi155Kty+u1GN1iYtWHtAd1tYMVfaNSlecvay6XAbWE1YMYaa2aqvFZ7a2m1H+sMnjb/AzhMbE0="
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
