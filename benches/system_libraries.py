"""Writes `matrix/system.toml`: which Debian or Ubuntu package has each shared library that wheels need from the system.

    python3 benches/system_libraries.py [--into matrix]

The libraries are those that the rows of `matrix/linking/` name and that are neither CUDA's nor another wheel's; the packages are looked up in the
`Contents-amd64` files of the archives. Of several packages with one library the one is taken that is called after it. What only a `-dev` package has is
another wheel's: Debian's libtorch-dev has a `libtorch.so`, and no torch of pip is ever linked against that one.
"""

import argparse
import collections
import gzip
import re
import tomllib
import urllib.request
from pathlib import Path

DEBIAN, UBUNTU = "http://deb.debian.org/debian/dists", "http://archive.ubuntu.com/ubuntu/dists"
RELEASES = {
    "debian 12": [f"{DEBIAN}/bookworm/main/Contents-amd64.gz"],
    "debian 13": [f"{DEBIAN}/trixie/main/Contents-amd64.gz"],
    "ubuntu 20.04": [f"{UBUNTU}/focal/Contents-amd64.gz"],
    "ubuntu 22.04": [f"{UBUNTU}/jammy/Contents-amd64.gz"],
    "ubuntu 24.04": [f"{UBUNTU}/noble/Contents-amd64.gz"],
}
LINE = re.compile(r"^(?:usr/)?lib/(?:x86_64-linux-gnu/)?([^/\s]+\.so[^/\s]*)\s+(\S+)$")


CUDA = re.compile(r"lib(cuda|cudart|cublas|cudnn|cufft|cufile|cupti|curand|cusolver|cusparse|cutensor|nccl|npp|nv)")


def wanted(folder):
    """Sonames that rows name, but for CUDA's: those come as wheels."""
    names = set()
    for path in folder.glob("linking/*.toml"):
        for row in tomllib.loads(path.read_text()).get("releases", []):
            for group in [*row.get("needs", []), row.get("some", [])]:
                names.update(name for name in group if not CUDA.match(name))
    return names


def likeness(library, package):
    """How much a package is called after a library: `libgl1` for `libGL.so.1`."""
    stem, _, number = library.partition(".so")
    plain = re.sub(r"[^a-z0-9]", "", stem.lower())
    name = re.sub(r"[^a-z0-9]", "", package.lower().removesuffix("t64"))
    called = name.startswith(plain)
    exact = name == plain + re.sub(r"[^0-9]", "", number)
    unusual = any(word in package for word in ("-dev", "-dbg", "cross", "32", "-amd64", "mariadb", "-tests", "-doc"))
    return (not unusual, exact, called, -len(package))


def packages(urls, names):
    found = collections.defaultdict(list)
    for url in urls:
        with urllib.request.urlopen(url, timeout=300) as reply, gzip.open(reply, "rt", errors="replace") as lines:
            for line in lines:
                match = LINE.match(line)
                if match and match[1] in names:
                    # `admin/libc6,libs/other`: section and name of each.
                    found[match[1]] += [word.rsplit("/", 1)[-1] for word in match[2].split(",")]
    best = {name: max(set(all), key=lambda package: likeness(name, package)) for name, all in found.items()}
    return {name: package for name, package in best.items() if not package.endswith("-dev")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=Path("matrix"))
    into = parser.parse_args().into
    names = wanted(into)
    by_release = {release: packages(urls, names) for release, urls in RELEASES.items()}
    text = (
        "# Which Debian or Ubuntu package has a shared library that wheels need from the system. Written by `benches/system_libraries.py` from the\n"
        "# `Contents-amd64` files of the archives. One name where all releases agree that have it.\n\n[library]\n"
    )
    for name in sorted(names):
        rows = {release: found[name] for release, found in by_release.items() if name in found}
        if not rows:
            continue
        if len(rows) == len(RELEASES) and len(set(rows.values())) == 1:
            text += f'"{name}" = "{next(iter(rows.values()))}"\n'
        else:
            cells = ", ".join(f'"{release}" = "{package}"' for release, package in rows.items())
            text += f'"{name}" = {{ {cells} }}\n'
    (into / "system.toml").write_text(text)


if __name__ == "__main__":
    main()
