"""Finds, for packages with compiled code, the first release that was built for NumPy 2, and writes the rows for `matrix/packages.toml`.

    python3 benches/numpy_generation.py NAME... [--folder FOLDER]

A library that was compiled against NumPy 1 names `numpy.core.multiarray` or `numpy.core._multiarray_umath`, and not `numpy._core`: it fails when it is
imported beside NumPy 2, whatever its METADATA says. Releases are looked for by halving, for what was once built for NumPy 2 stays so; the
neighbours of the border are read, too. Wheels are fetched by pip, from the index that it uses, and deleted.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OLD = (b"numpy.core.multiarray", b"numpy.core._multiarray_umath")
NEW = b"numpy._core"
PYTHONS = ["3.12", "3.11", "3.10"]
KINDS = ["_2_28", "_2_27", "_2_24", "_2_17", "2014", "_2_12", "2010", "_2_5", "1"]
LINUX = [word for kind in KINDS for word in ("--platform", f"manylinux{kind}_x86_64")]


def pip(*arguments):
    return subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True)


def key(version):
    return [int(part) for part in version.split(".")]


def releases(name):
    """Final releases that have a wheel for one of the Pythons, oldest first."""
    found = set()
    for python in PYTHONS:
        reply = pip("index", "versions", name, "--python-version", python, "--only-binary", ":all:", *LINUX)
        line = re.search(r"^Available versions: (.*)$", reply.stdout, re.MULTILINE)
        found.update(line[1].split(", ") if line else [])
    return sorted((version for version in found if re.fullmatch(r"[0-9.]+", version)), key=key)


def generation(name, version):
    """`old`, `new`, `none` where no library asks for NumPy, or `gone` where there is no wheel."""
    for python in PYTHONS:
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            exactly = ["--python-version", python, *LINUX, "-d", folder, f"{name}=={version}"]
            reply = pip("download", "-q", "--no-deps", "--only-binary", ":all:", *exactly)
            wheels = list(Path(folder).glob("*.whl"))
            if reply.returncode or not wheels:
                continue
            old = new = False
            with zipfile.ZipFile(wheels[0]) as wheel:
                for member in wheel.namelist():
                    if ".so" in member:
                        library = wheel.read(member)
                        is_new = NEW in library
                        old |= not is_new and any(text in library for text in OLD)
                        new |= is_new
            return "old" if old else "new" if new else "none"
    return "gone"


def border(name):
    """The first release that is not `old`, with what was read."""
    all_releases = releases(name)
    read = {}

    def is_old(at):
        version = all_releases[at]
        if version not in read:
            read[version] = generation(name, version)
        # Releases without a wheel are the oldest ones.
        return read[version] in ("old", "gone")

    if not all_releases:
        return name, None, None, {"": "no wheels"}
    low, high = 0, len(all_releases)
    while low < high:
        middle = (low + high) // 2
        if is_old(middle):
            low = middle + 1
        else:
            high = middle
    for near in (low - 2, low - 1, low, low + 1):
        if 0 <= near < len(all_releases):
            is_old(near)
    # What is left out must be old on one side, and not on the other.
    before = [version for version in all_releases[:low] if read.get(version) == "old"]
    clean = "old" not in [read.get(version) for version in all_releases[low:]]
    first = all_releases[low] if low < len(all_releases) else None
    return name, first, before[-1] if clean and before else None, read


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("names", nargs="+")
parser.add_argument("--folder")
options = parser.parse_args()
FOLDER = options.folder
with ThreadPoolExecutor(4) as pool:
    for name, first, last, read in pool.map(border, options.names):
        print(f"# {name}: " + ", ".join(f"{version} {state}" for version, state in sorted(read.items())), file=sys.stderr, flush=True)
        if last:
            versions = f"<{first}" if first else f"<={last}"
            print(f'[[overlay]]\npackage = "{name}"\nversions = "{versions}"\nadds = "numpy<2"\nwhy = "compiled against NumPy 1"', flush=True)
            print(f'source = "libraries of {last}, and of {first or "no later release"}"\n', flush=True)
