# %%
# @title colab-boot: jax 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "jax",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "1a0afd7921532158dcdc7f06ca9e8cb24f4062981ebed4453d7ce3a98bdba244", "packed": (
    "eNpNUd1rwjAQf89fcWQPg9EVdbDBvqA494VMGQ4cUiRtrzazJpKkVhn733eJffAl3OXu93F3Z/CezKGVroLh11MC/QFoBa5CGOpaZPAy/QLT"
    "KCc3eBu+FbZoHYXChVxuxArPLUwPriKkUAUURu7QeFjkyZCSQyAKoCNvRY0WdONixhZbo0tZY8qU2CA8AP8Re84IZiXhKR/0Btdxvx/3OCvQ"
    "5kZuXVch9xE812IflCdbRxFVulk4kTthVuhSljeF8Aj/201kKV/w3Bu6DBK9G54SpDTko9VmbVNGVqjrF07cPD704v4guqf3ikeAe2dER0Ua"
    "xJ/CHyvrAOQXnOng6hizBapdyubjZDn9nr1OPpbD8dvoY7acfo6S8XgyTGYj31qK2qJv3+pa5oeUncHsZNtOm7yClmSzRtYOxEpIRWeRjpba"
    "dvPXMjPCSLQRtJWkfn9qhUiL91c0d3QQSbF2mGm9hkJjyKCxeFSIWWZQrEnTe2qFUd4SrUKWZMlu9BrD3P5eKfsHo3+42Q=="
)},
    "lock": {"sha256": "99d32fd672f16300e6e730bd8eda732c0e7405e857d0aba0c28b6a95d99d2b81", "packed": (
    "eNq1WFly2zgQ/dcpWJxfi4V9+cjcYE6QcjkgAEqwuQ0X28rU3D1NyrEoyrI2p8omRRB83f16QQN/Rf8Y56N0E/2wVW7SZVpVXZRX9ulHAq+e"
    "fBS6yJT+JWpMt/ZN1K1NGXkXulCu4F2yePZNG6oy+hbhReP/7UPjW3iI//6GEpygeFGYrgmvwxBBRCQYJwT+4sXie91UWcj9/aI0hR8mPJrX"
    "eAL4/gGgtGtDuBgGsUEmc1ITzCn8K2edlRkS1mivbEpYxpAgWmGfescYp05aT41WqUsNYWyQ/L0zzcp39zvRW+tHgUguV3UfL5q+7MLRt/Wm"
    "W2+1pAkmCaYwlJsuq5piGCxMuclD2b8+kAfKH16VeBAg2vbOjEaQRMUL1wSwdpnlVdUMo5zwRKARC2QMNH6PZcLjuyhWQMJ408NNb58ABcX3"
    "C1N3w9T7nWFJbeyTWfmJgSZt82W92eMXJ2zg9mW9GUVVdQcOANyqSc3r0q69faqrUHbxCegw+rHd9x3fuv8d/DJM34W8nSmL2Q2AWT4LLjSG"
    "4g7vLRpPwbRt7e08SnlCp6ptlf8caN1DiISffg+KJVjcYOPjoYkQIQkeAL3PYei/aLDxbe7y93uIC7osq9IvIWqTl3UOQbBLOK9d5uB3apAG"
    "U3WKUaYh4yTnjmVWE055CplHlUWGIZcJppRRVhnpnDJ+AANDAYoyITTXd1EonR9LgvOZ6fMujv5/t3l01BCER6MRxs5z1mDjkHGYLOvHpruE"
    "m4ftdw/Ddx/wNE1vIt/S+4A57i1RHgmslUOaIYotlVyjlHkjOTVQr5xnSmqTslSg1EDpyoDALBWSEiV2zGGNFROUq8+5mxqc96tQXkDQdv41"
    "FI1f7kiyNQW87fU8ngR2VkijKMPGCYPSlGtBMUVSY8YVDGKBOM+E5cCBIan0XAJNWSqlh5ja8aSUVkySkyyd5iUP6SVkwPRbGJCKYuW1sVJD"
    "QmlJMoWtlJBwGecSVi5muGFaESw5tsJ7mgmjrYALJBsjEwaEYkpTfJqC9xz7nIvCNE+ueimXoZuvHywh02rVBLs+Beb6Jp/zOq3CM2kn0PKl"
    "6zb1bOVBCU9YPDf1zaXwq/NlWzVtVzWn6kfRrobB2TJEtkEwq1aXVeqyL2ZcEtCafxRc49Tl+PqMwNobVUfDDTGnsCaCe+4wEsxpSrSACPRe"
    "cUgsghG11koo6VDbh5vQjEL/JFPFkZwUJi4J4vrMmn7gi50HT1X81gZgbOa+4bHxvrVVfcqX5XNwwUC1S3PTwg2TfbdCQwbdEI4/qaV3ExRX"
    "lluQ6WBb5UM/N46fqY0bLnUXjmikUXx1cZ/KKJ+tPSaCfpWIpvvTMt5a8j9K1m/HTuF1gqHlTrj4AgFZ1n2gP4YOkibqK3iaRuFMhgQZX8JS"
    "W5um/dgP/KS/b0qZ0tr8UC5JyLA1utWw8vkxdFA+n66K47uPvHzM2LsjbJ6pZ7sufHGoJYUaxq+nASrw0oey7YsD1P2oOY1zsBUZd7zzBeG8"
    "Pv5gPThozOYr8ud4ILXwcJzRw0KQB38ACPu56zdhAN5VaZ/tYfKE6ERcj9n2sKWcIeqppy8F3KwKsLudJxG6sJ+rNxtT7CsGG9iE3twgjbL3"
    "8g8q17StO8PN25ZhdoYgEnqsNzyBFoo6949tVc637NPou9DMaTMz74oVu5nFXXM0B8foIiqhR4MDv6V/HRQGmPbTY4vt+cdddK3a/TOciNXz"
    "pCQ38Pwz1PWB2z44sfkFqsV6dw=="
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
