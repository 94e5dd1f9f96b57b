#!/usr/bin/env python3
"""Reads every wheel of tests/facts/wheel-cuda-probe.csv with `colab-boot matrix inspect` and counts agreements.

The CSV was made by another program (a Python reader of zip directories, ELF and fat binary headers), so an agreement
is two independent readings of the same wheel. Needs the package index.

    python3 benches/facts.py --colab-boot target/release/colab-boot [--only torch]
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys

FACTS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "facts" / "wheel-cuda-probe.csv"


def python_of(wheel: str) -> str:
    """`3.11` for a wheel of cp311; 3.12 where any Python will do."""
    found = re.search(r"-cp3(\d+)-cp3\d+-", wheel)
    return f"3.{found[1]}" if found else "3.12"


def inspect(program: str, specs: list, python: str, thorough: bool) -> dict:
    command = [program, "matrix", "inspect", "--json", "--python", python, "--platform", "manylinux_2_39_x86_64"]
    done = subprocess.run(command + ["--thorough"] * thorough + specs, capture_output=True, text=True)
    try:
        builds = json.loads(done.stdout)["report"]["builds"]
    except (json.JSONDecodeError, KeyError, TypeError):
        sys.exit(f"{command} {specs}: exit {done.returncode}\n{done.stderr}")
    return {f"{one['package']}=={one['version']}": one for one in builds}


def short(cuda) -> str:
    return ".".join((cuda or "").split(".")[:2])


def differences(row: dict, build: dict) -> list:
    if row["complete"].startswith("NO"):
        # The facts stop where tensorflow's text file does; we go on to the fat binaries.
        return [] if "fatbin headers" in build["method"] and build["sass"] else ["nothing was read in place of the text file"]
    expected = set(row["archs"].split())
    got = set(build["sass"]) | set(build["ptx"]) | set(build["lto"])
    found = []
    # A build number is a newer wheel of the same release: the better choice by the wheel specification.
    if row["source"] != re.sub(r"^([^-]+-[^-]+)-\d[^-]*-(cp|py)", r"\1-\2", build["wheel"]):
        found.append(f"wheel {build['wheel']}, expected {row['source']}")
    if expected != got:
        found.append(f"architectures: only in the facts {sorted(expected - got)}, only read {sorted(got - expected)}")
    # The facts leave the version empty where neither a text file nor PTX was read; we also read version files there.
    cuda = row["cuda_exact"] or row["cuda_from_ptx"]
    if cuda and not row["method"].startswith("fatbin") and short(cuda) != short(build["cuda"]):
        found.append(f"CUDA {build['cuda']}, expected {cuda}")
    if row["ptx_isa"] and row["ptx_isa"] != (build["ptx-isa"] or ""):
        found.append(f"PTX ISA {build['ptx-isa']}, expected {row['ptx_isa']}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--only", help="one package")
    options = parser.parse_args()
    groups = collections.defaultdict(list)
    for row in csv.DictReader(FACTS.open()):
        if options.only in (None, row["package"]):
            # tensorflow is listed twice where its fat binaries were read too.
            thorough = row["package"] == "tensorflow" and row["method"].startswith("fatbin")
            groups[(row["package"], python_of(row["source"]), thorough)].append(row)
    agree, requests, size = 0, 0, 0
    total = sum(len(rows) for rows in groups.values())
    for (_, python, thorough), rows in sorted(groups.items()):
        specs = [f"{row['package']}=={row['version']}" for row in rows]
        builds = inspect(options.colab_boot, specs, python, thorough)
        for row, spec in zip(rows, specs):
            build = builds[spec]
            requests, size = requests + build["requests"], size + build["bytes"]
            wrong = differences(row, build)
            agree += not wrong
            print(f"{'agrees ' if not wrong else 'DIFFERS'} {spec}  {'; '.join(wrong)}", flush=True)
    print(f"{agree} of {total} rows agree; {requests} requests, {size / 1e6:.1f} MB read")
    sys.exit(agree != total)


main()
