# %%
# @title colab-boot: jax 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zlib

COLAB_BOOT = {
    "name": "jax",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "1a0afd7921532158dcdc7f06ca9e8cb24f4062981ebed4453d7ce3a98bdba244", "packed": (
    "eNpNUd1LwzAQf89fccQHQWrZJiioE8qcXww3ZANllJG21zWuS0aS2g3xf/eS9WEv4e5yv4+7O4O35BNa6SoYLR4T6A9AK3AVwkjXIoPn2QJM"
    "o5zc4m0oK2zROgqFC7ncijWeW5gdXEVIoQoojPxB42GRJ0NKDoEogI68FTVa0I2LGVvujC5ljSlTYoswBP4t9pwRzErCUz7oDa7jfj/ucVag"
    "zY3cue6H3EfwVIt9UJ7uHEX0083CidwJs0aXsrwphEf4ajeRpXzJc2/oMkj0bnhKkNKQj1abjU0ZWaGuXzhx8zDsxf1BdE/vFY8A986Ijoo0"
    "iD+FP1bWAcgvONPB1TFmS1Q/KfucJKvZ1/xl+r4aTV7H7/PV7GOcTCbTUTIf+9ZS1BZ9+07XMj+k7AzmJ9t22uQVtCSbNbJ2INZCKjqLdLTU"
    "tpu/lpkRRqKNoK0k9ftTK0RavL+iuaODSIq1w0zrDRQaQwaNxaNCzDKDYkOa3lMrjPKWaBWyJEt2qzcY5vb3Stk/o3+42Q=="
)},
    "lock": {"sha256": "0be699c19ba995d94f7385aa8d84cd560f75bb677cbc960224f45530c5283a6d", "packed": (
    "eNq1WMly2zgQvesrWJyrxcK+HJI/mC9IuRwQACXY3IaLbWVq/n2alGNRlGVtzkGkCIKvu18vaOCv6G/jfJRuop+2yk26TKuqi/LKPv1M4NWT"
    "j0IXmdK/RI3p1r6JurUpI+9CF8oVvEsWz75pQ1VG3yK8aPw/fWh8Cw/x928owQmKF4XpmvA6DBFERIJxQnCC48XiR91UWcj9/aI0hR8mPJrX"
    "eAL4/gGgtGtDuBgGsUEmc1ITzCn8lLPOygwJa7RXNiUsY0gQrbBPvWOMUyetp0ar1KWGMDZI/tGZZuW7+53orfWjQCSXq7qPF01fduHo23rT"
    "rbda0gSTBFMYyk2XVU0xDBam3OSh7F8fyAPlD69KPAgQbXtnRiNIouKFawJYu8zyqmqGUU54ItCIBTIGGn/EMuHxXRQrIGG86eGmt0+AguL7"
    "ham7Yer9zrCkNvbJrPzEQJO2+bLe7PGLEzZw+7LejKKqugMHAG7VpOZ1adfePtVVKLv4BHQY/dju+45v3f8Ofhmm70LezpTF7AbALJ8FFxpD"
    "cYf3Fo2nYNq29nYepTyhU9W2yn8OtO4hRMIvvwfFEixusPHx0ESIkCHZXtbe5zD0bzTY+DZ3+fs9xAVdllXplxC1ycs6hyDYJZzXLnPwPzVI"
    "g6k6xSjTkHGSc8cyqwmnPIXMo8oiw5DLBFPKKKuMdE4ZP4CBoQBFmRCa67solM6PJcH5zPR5F0f/vds8OmoIwqPRCGPnOWuwccg4TJb1Y9Nd"
    "ws3D9ruH4bsPeJqmN5Fv6X3AHPeWKI8E1sohzRDFlkquUcq8kZwaqFfOMyW1SVkqUGqgdGVAYJYKSYkSO+awxooJytXn3E0NzvtVKC8gaDv/"
    "GorGL3ck2ZoC3vZ6Hk8COyukUZRh44RBacq1oJgiqTHjCgaxQJxnwnLgwJBUei6BpiyV0kNM7XhSSismyUmWTvOSh/QSMmD6LQxIRbHy2lip"
    "IaG0JJnCVkpIuIxzCSsXM9wwrQiWHFvhPc2E0VbABZKNkQkDQjGlKT5NwXuOfc5FYZonV72Uy9DN1w+WkGm1aoJdnwJzfZPPeZ1W4Zm0E2j5"
    "0nWberbyoIQnLJ6b+uZS+Nf5sq2atquaU/WjaFfD4GwZItsgmFWryyp12RczLglozT8KrnHqcnx9RmDtjaqj4YaYU1gTwT13GAnmNCVaQAR6"
    "rzgkFsGIWmsllHSo7cNNaEahf5Kp4khOChOXBHF9Zk0/8MXOg6cqfmsDMDZz3/DYeN/aqj7ly/I5uGCg2qW5aeGGyb5boSGDbgjHn9TSuwmK"
    "K8styHSwrfKhnxvHz9TGDZe6C0c00ii+urhPZZTP1h4TQb9KRNP9aRlvLfkfJeu3Y6fwOsHQcidcfIGALOs+0B9DB0kT9RU8TaNwJkOCjC9h"
    "qa1N037sB37S3zelTGltfiiXJGTYGt1qWPn8GDoon09XxfHdR14+ZuzdETbP1LNdF7441JJCDePX0wAVeOlD2fbFAep+1JzGOdiKjDve+YJw"
    "Xh9/sB4cNGbzFflzPJBaeDjO6GEhyIM/AIT93PWbMADvqrTP9jB5QnQirsdse9hSzhD11NOXAm5WBdjdzpMIXdjP1ZuNKfYVgw1sQm9ukEbZ"
    "e/kHlWva1p3h5m3LMDtDEAk91hueQAtFnfvHtirnW/Zp9F1o5rSZmXfFit3M4q45moNjdBGV0KPBgd/Svw4KA0z76bHF9vzjLrpW7f4ZTsTq"
    "eVKSG3j+Fer6wG0fnNj8D5YtenY="
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
