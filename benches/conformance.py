#!/usr/bin/env python3
"""Holds colab-boot's versions, specifiers, markers and tags against Python's `packaging` on the real data of popular packages.

    pip install packaging
    cargo build --release --example conformance
    python3 benches/conformance.py --answers target/release/examples/conformance

Needs the package index: pages of the packages below, and METADATA of some of their releases, read by ranges. Prints counts, and the
first of each kind of difference; ends with 1 if there is any that is not listed as meant.
"""

import argparse
import collections
import concurrent.futures
import io
import itertools
import json
import pathlib
import subprocess
import sys
import urllib.request
import zipfile

import packaging
from packaging.markers import InvalidMarker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from peers import default_index  # noqa: E402

PACKAGES = """numpy pandas scipy matplotlib scikit-learn torch torchvision torchaudio tensorflow keras jax jaxlib flax optax transformers
tokenizers datasets accelerate peft safetensors huggingface-hub sentencepiece protobuf grpcio requests urllib3 certifi charset-normalizer
idna setuptools wheel pip six python-dateutil pytz tzdata pillow pyyaml jinja2 markupsafe click flask fastapi starlette pydantic
pydantic-core uvicorn httpx aiohttp sqlalchemy polars pyarrow xgboost lightgbm boto3 botocore s3transfer cryptography cffi pytest ipython
ipykernel notebook dask xarray numba spacy""".split()
RELEASES = 8
PYTHONS = [("3.11.9", "glibc 2.28", False), ("3.12.4", "glibc 2.35", False), ("3.13.1", "glibc 2.39", False), ("3.13.1", "glibc 2.35", True)]
VERSIONS = "1.0 1.0.dev1 1.0a1 1.0a2.dev3 1.0b2 1.0rc1 1.0.post1 1.0.post1.dev2 1.0+local 1.0+cu128 1.0+9 1.0+10 1.0.1 1.0.1+cu1 1.1 1.1a1 1.10 2.0.dev0 2.0a0 2.0 2.0.post2 2.0+x 1!0.5 1!1.0 1!1.0rc1".split()


def pages():
    index = default_index().rstrip("/")

    def page(name):
        request = urllib.request.Request(f"{index}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
        with urllib.request.urlopen(request, timeout=120) as reply:
            return name, json.load(reply)["files"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return dict(pool.map(page, PACKAGES))


class Wheel(io.RawIOBase):
    """A wheel on a server as a file: `zipfile` reads what it needs."""

    def __init__(self, url, size):
        self.url, self.size, self.at = url, size, 0

    def readable(self):
        return True

    seekable = readable

    def seek(self, offset, whence=0):
        self.at = offset + {0: 0, 1: self.at, 2: self.size}[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        end = min(self.size, self.at + len(buffer))
        if end <= self.at:
            return 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={self.at}-{end - 1}"})
        with urllib.request.urlopen(request, timeout=120) as reply:
            body = reply.read()
        buffer[: len(body)] = body
        self.at += len(body)
        return len(body)


def requirements(files):
    """`Requires-Dist` lines of some releases of each package."""
    chosen = []
    for listed in files.values():
        wheels = {}
        for file in listed:
            if file["filename"].endswith(".whl") and file.get("size", 0) < 60_000_000:
                wheels.setdefault(file["filename"].split("-")[1], file)
        wheels = list(wheels.values())
        chosen += wheels[:: max(1, len(wheels) // RELEASES)]

    def read(file):
        try:
            archive = zipfile.ZipFile(io.BufferedReader(Wheel(file["url"], file["size"]), 96 << 10))
            name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            text = archive.read(name).decode(errors="replace").split("\n\n")[0]
        except (OSError, zipfile.BadZipFile, StopIteration):
            return []
        return [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Requires-Dist:")]

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        return sorted(set(itertools.chain.from_iterable(pool.map(read, chosen)))), len(chosen)


def environment(python):
    version = python[0]
    return {"implementation_name": "cpython", "implementation_version": version, "os_name": "posix", "platform_machine": "x86_64",
            "platform_python_implementation": "CPython", "platform_release": "", "platform_system": "Linux", "platform_version": "",
            "python_full_version": version, "python_version": ".".join(version.split(".")[:2]), "sys_platform": "linux"}


def ranks(python):
    """{tag: rank} as `packaging` orders the tags of this Python."""
    version = tuple(map(int, python[0].split(".")[:2]))
    newest = int(python[1].rpartition(".")[2])
    legacy = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    platforms = []
    for minor in range(newest, 4, -1):
        platforms.append(f"manylinux_2_{minor}_x86_64")
        if minor in legacy:
            platforms.append(f"{legacy[minor]}_x86_64")
    platforms.append("linux_x86_64")
    abi = f"cp{version[0]}{version[1]}" + ("t" if python[2] else "")
    own = list(cpython_tags(version, abis=[abi], platforms=platforms))
    if python[2]:
        own = [tag for tag in own if tag.abi != "abi3"]
    rest = compatible_tags(version, interpreter=f"cp{version[0]}{version[1]}", platforms=platforms)
    order = {}
    for tag in itertools.chain(own, rest):
        order.setdefault(tag, len(order))
    return order


class Count:
    def __init__(self, what):
        self.what, self.pairs, self.differences, self.first = what, 0, 0, []

    def compare(self, ours, theirs, about):
        self.pairs += 1
        if ours != theirs:
            self.differences += 1
            self.first.append(f"{about}: {ours}, packaging says {theirs}")

    def tell(self):
        print(f"| {self.what} | {self.pairs} | {self.differences} |")
        for line in self.first[:5]:
            print(f"    {line}", file=sys.stderr)


def tried(function, *arguments):
    try:
        return function(*arguments)
    except (InvalidVersion, InvalidSpecifier, InvalidRequirement, InvalidMarker, InvalidWheelFilename, UndefinedEnvironmentName):
        return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--answers", required=True)
    options = options.parse_args()
    files = pages()
    wheels = sorted({file["filename"] for listed in files.values() for file in listed if file["filename"].endswith(".whl")})
    versions = {name: sorted({file["filename"].split("-")[1] for file in listed if file["filename"].endswith(".whl")}) for name, listed in files.items()}
    lines, read = requirements(files)
    texts = sorted({version.replace("_", "-") for listed in versions.values() for version in listed} | set(VERSIONS))
    contains = [(str(specifiers), VERSIONS) for specifiers in
                ["".join(pair) for pair in itertools.product(["==", "!=", "<", "<=", ">", ">=", "==="], VERSIONS)]
                + [f"~={version}" for version in VERSIONS if "+" not in version]
                + [f"{operator}{version}.*" for operator in ("==", "!=") for version in ("1", "1.0", "1.1", "2.0", "1!1")]]
    for line in lines:
        requirement = tried(Requirement, line)
        known = versions.get(canonicalize_name(requirement.name), []) if requirement else []
        if requirement and len(requirement.specifier) and known:
            contains.append((str(requirement.specifier), known))
    pythons = [f"3.{minor}.{patch}" for minor in range(6, 15) for patch in (0, 7)]
    contains += [(text, pythons) for text in sorted({file.get("requires-python") or "" for listed in files.values() for file in listed})]
    contains = [(specifiers, [text.replace("_", "-") for text in known]) for specifiers, known in contains if tried(SpecifierSet, specifiers) is not None]
    extras = {}
    for line in lines:
        found = [part.split("'" if "'" in part else '"')[1] for part in line.partition(";")[2].split("extra ==")[1:] if "'" in part or '"' in part]
        extras[line] = sorted(set(found))
    facts = [{"version": version, "architecture": "x86_64", "libc": libc, "free-threaded": free} for version, libc, free in PYTHONS]
    questions = {"versions": texts, "contains": contains, "requirements": lines, "extras": extras, "pythons": facts, "wheels": wheels}
    done = subprocess.run([options.answers], input=json.dumps(questions), capture_output=True, text=True, check=True)
    answers = json.loads(done.stdout)

    counts = [Count(what) for what in ("versions, normal form", "versions, order", "specifiers, containment", "requirements, name and extras", "markers", "wheels, fit", "wheels, best of a version")]
    normal, order, inside, parsed, markers, fit, best = counts
    for text, ours in zip(texts, answers["versions"]):
        version = tried(Version, text)
        normal.compare(ours, str(version) if version else None, text)
    valid = [Version(texts[at]) for at in answers["order"]]
    for at, (one, other) in enumerate(zip(valid, valid[1:])):
        order.compare(True, one <= other, f"{one} before {other}")
    for (specifiers, known), ours in zip(contains, answers["contains"]):
        allowed = SpecifierSet(specifiers)
        for text, held in zip(known, ours or [None] * len(known)):
            version = tried(Version, text)
            if version is not None:
                inside.compare(held, allowed.contains(version, prereleases=True), f"{text} in {specifiers}")
    for line, ours in zip(lines, answers["requirements"]):
        theirs = tried(Requirement, line)
        if theirs is None:
            continue
        parsed.compare((ours["name"], ours["extras"]) if ours else None, (canonicalize_name(theirs.name), [canonicalize_name(extra) for extra in sorted(theirs.extras, key=lambda extra: line.index(extra))]), line)
        for python, held in zip(PYTHONS, ours["applies"] if ours else []):
            for extra, applies in zip(["", *extras[line]], held):
                wanted = theirs.marker.evaluate({**environment(python), "extra": extra}) if theirs.marker else True
                markers.compare(applies, wanted, f"{line} with {extra!r} on {python[0]}")
    for python, ours in zip(PYTHONS, answers["ranks"]):
        order_of = ranks(python)
        theirs_best, ours_best = {}, {}
        for wheel, rank in zip(wheels, ours):
            name = tried(parse_wheel_filename, wheel)
            if name is None:
                continue
            known = min((order_of[tag] for tag in name[3] if tag in order_of), default=None)
            fit.compare(rank is not None, known is not None, f"{wheel} on {python}")
            key = (name[0], name[1])
            if known is not None:
                theirs_best.setdefault(key, []).append((known, tuple(-part if isinstance(part, int) else part for part in name[2]) or (0, ""), wheel))
            if rank is not None:
                build = name[2]
                ours_best.setdefault(key, []).append((tuple(rank), tuple(-part if isinstance(part, int) else part for part in build) or (0, ""), wheel))
        for key in theirs_best:
            best.compare(min(ours_best.get(key, [("",)]))[-1], min(theirs_best[key])[-1], f"{key} on {python}")
    print(f"packaging {packaging.__version__}; {len(files)} packages, {len(texts)} versions, {len(wheels)} wheels, {len(lines)} requirements of {read} METADATA\n")
    print("| what | compared | different |\n|---|---|---|")
    for count in counts:
        count.tell()
    sys.exit(any(count.differences for count in counts))


main()
