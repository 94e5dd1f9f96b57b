# @title colab-boot: @NAME@ @VERSION@
# Made by colab-boot @TOOL@ from the profile and lock below. Do not edit: publish or export the profile again.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import builtins as colab_boot_builtins, types as colab_boot_types

colab_boot_kept = {**colab_boot_builtins.globals()}
import ast, base64, builtins, gc, hashlib, html, http.client, io, json, os, pathlib, re, shutil, subprocess, sys, tempfile
import signal, sysconfig, threading, time, types, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "@NAME@",
    "binary": {"url": "@BINARY_URL@", "sha256": "@BINARY_SHA256@"},
    "profile": {"sha256": "@PROFILE_SHA256@", "packed": "@PROFILE@"},
    "lock": {"sha256": "@LOCK_SHA256@", "packed": "@LOCK@"},
    "variables": "@VARIABLES@",
    "golden": "@GOLDEN@",
    "silent": set(),  # what can't be reached
}


@KERNEL@


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


@FACTS@


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
