#!/usr/bin/env python3
"""Installs the packages of a notebook image with colab-boot, pip and uv, and compares the environments.

    python3 benches/same_trees.py --colab-boot target/release/colab-boot --uv uv [--count 300] [--folder /dev/shm]

The packages are those that a bundled image names, in the newest versions that go together; each tool gets the same wheels from a
folder, with digests and without dependencies. Compared are names, bytes and modes of all files; where colab-boot, pip and uv are known
to differ (`KNOWN`), only that the file is there. Scripts of entry points are compared by what they call. Then: `pip check`,
`importlib.metadata`, the import of every top-level module, and an uninstallation of everything by pip and by uv, which has to leave
nothing. Prints what differs, and counts.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Written by each installer in its own way.
KNOWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", ".colab-boot-id", "pyvenv.cfg", ".lock")
# Not asked for here: sizes of several GB, or another framework than notebooks share.
LEFT_OUT = re.compile(r"torch|tensorflow|^jax|nvidia|cu1\d|triton|^google|^colab|^ipy|spacy|en-core|cudf|cuml|rapids|keras|pyspark|h2o")


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)


def must(*words, **more):
    done = run(*words, **more)
    if done.returncode:
        sys.exit(f"{words}\n{done.stdout}{done.stderr}")
    return done


def tree(venv):
    """Of every file its mode and a digest; of programs in `bin`, what they call."""
    found = {}
    for folder, folders, files in os.walk(venv):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in files:
            path = pathlib.Path(folder, name)
            shown = str(path.relative_to(venv))
            if shown.startswith("bin/") and (path.is_symlink() or name.startswith(("python", "activate", "Activate", "pip"))):
                continue
            content = path.read_bytes()
            if shown.startswith("bin/"):
                content = content.replace(str(venv).encode(), b"VENV")
                called = re.search(rb"^from (\S+) import (\w+)", content, re.M)
                content = b" ".join(called.groups()) if called and b"sys.exit(" in content else content
            mode = oct(path.lstat().st_mode)
            found[shown] = (mode, "" if name in KNOWN else hashlib.sha256(content).hexdigest())
    return found


IMPORTS = """
import importlib, importlib.metadata as m, json, sys
found = sorted((one.metadata["Name"], one.version, len(one.requires or []), len(one.entry_points)) for one in m.distributions())
print(json.dumps(found))
"""


def modules(venv):
    """The top-level modules of every distribution that can be imported, each in a process of its own."""
    code = "import importlib.metadata as m, json; print(json.dumps(sorted({k for k in m.packages_distributions() if k.isidentifier()})))"
    names = json.loads(must(venv / "bin/python", "-c", code).stdout)
    good = set()
    for name in names:
        done = subprocess.run(
            [venv / "bin/python", "-c", f"import {name}"], capture_output=True, timeout=120, stdin=subprocess.DEVNULL, cwd=venv
        )
        good |= {name} if done.returncode == 0 else set()
    return set(names), good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--uv", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--image", default="colab-latest-cpu")
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    image = tomllib.loads((ROOT / "runtimes" / f"{arguments.image}.toml").read_text())
    wanted = [name for name in image["packages"] if not LEFT_OUT.search(name)]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        compare(arguments, wanted, pathlib.Path(folder).resolve())


def lock(arguments, wanted, folder, environment):
    """Locks as many of the packages as go together, by leaving out those that a failed solve names."""
    profile, python = folder / "p.toml", folder / "colab-boot" / "bin" / "python"
    while wanted:
        lines = "".join(f"'{name}' = '*'\n" for name in wanted)
        profile.write_text(f"[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\n{lines}")
        done = run(arguments.colab_boot, "lock", profile, "--python", python, "--json", env=environment)
        if done.returncode == 0:
            packages = tomllib.loads((folder / "p.lock").read_text())["target"][0]["package"]
            if len(packages) <= arguments.count:
                return packages
            wanted = wanted[: int(len(wanted) * 0.9)]
            continue
        named = {name for name in wanted if re.search(rf"(?<![\\w-]){re.escape(name)}(?![\\w-])", done.stdout + done.stderr)}
        print(f"left out: {', '.join(sorted(named)) or wanted[-1]}", file=sys.stderr)
        wanted = [name for name in wanted if name not in named] if named else wanted[:-1]
    sys.exit("nothing goes together")


def compare(arguments, wanted, folder):
    environment = {**os.environ, "COLAB_BOOT_CACHE_DIR": str(folder / "cache"), "COLAB_BOOT_STATE_DIR": str(folder / "state")}
    tools = ("colab-boot", "pip", "uv")
    for tool in tools:
        must(sys.executable, "-m", "venv", folder / tool)
    packages = lock(arguments, wanted, folder, environment)
    house = folder / "house"
    must(arguments.colab_boot, "fetch", folder / "p.lock", "--into", house, env=environment)
    pins = folder / "pins.txt"
    pins.write_text("".join(f"{one['name']}=={one['version']} --hash=sha256:{one['wheel']['sha256']}\n" for one in packages))
    python = {tool: folder / tool / "bin" / "python" for tool in tools}
    must(arguments.colab_boot, "apply", folder / "p.toml", "--locked", "--python", python["colab-boot"], "--wheelhouse", house, env=environment)
    pinned = ("--no-index", "--find-links", house, "--no-deps", "--require-hashes", "--requirement", pins)
    must(python["pip"], "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", *pinned)
    must(arguments.uv, "pip", "install", "--link-mode", "copy", "--no-cache", "--python", python["uv"], *pinned)
    trees = {tool: tree(folder / tool) for tool in tools}
    own = trees["colab-boot"]
    print(f"{len(packages)} wheels, {len(own)} files, {sum(one['wheel'].get('size', 0) for one in packages) / 1e6:.0f} MB")
    for tool in tools[1:]:
        other = trees[tool]
        differs = collections.defaultdict(list)
        for path in sorted(own.keys() | other.keys()):
            if path.rsplit("/", 1)[-1] in KNOWN and (path not in own or path not in other):
                continue
            if own.get(path) != other.get(path):
                kind = "only colab-boot" if path not in other else f"only {tool}" if path not in own else "differs"
                differs[kind].append((path, own.get(path), other.get(path)))
        print(f"beside {tool}: " + (", ".join(f"{kind}: {len(all_of)}" for kind, all_of in differs.items()) or "the same"))
        for kind, all_of in differs.items():
            for path, a, b in all_of[:12]:
                print(f"  {kind}: {path} {a and (a[0], a[1][:8])} {b and (b[0], b[1][:8])}")
    said = {tool: (run(python[tool], "-m", "pip", "check").stdout, must(python[tool], "-c", IMPORTS).stdout) for tool in tools}
    for at, what in enumerate(("pip check", "importlib.metadata")):
        same = [tool for tool in tools[1:] if said[tool][at] == said["colab-boot"][at]]
        print(f"{what}: same as {', '.join(same) or 'none'}")
    (names, good), (_, by_pip) = modules(folder / "colab-boot"), modules(folder / "pip")
    print(f"imports: {len(good)} of {len(names)}; with pip {len(by_pip)}; only with one: {sorted(good ^ by_pip)}")
    second = folder / "colab-boot-second"
    must(sys.executable, "-m", "venv", second)
    before = tree(second)
    must(arguments.colab_boot, "apply", folder / "p.toml", "--locked", "--python", second / "bin/python", "--wheelhouse", house, env=environment)
    uninstall = [one["name"] for one in packages if one["name"] != "pip"]
    must(python["colab-boot"], "-m", "pip", "uninstall", "--yes", *uninstall)
    must(arguments.uv, "pip", "uninstall", "--python", second / "bin/python", *uninstall)
    for tool, venv in (("pip", folder / "colab-boot"), ("uv", second)):
        left = sorted(path for path in tree(venv).keys() - before.keys() if path.rsplit("/", 1)[-1] not in KNOWN)
        print(f"left after {tool} has uninstalled all: {len(left)} {left[:8]}")
    shutil.rmtree(second)


main()
