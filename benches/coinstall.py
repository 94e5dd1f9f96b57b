#!/usr/bin/env python3
"""Solves every combination of tests/facts/coinstall-grid.csv and counts agreements.

The grid was made with uv 0.13.8 as the oracle (2026-11-21): torch x tensorflow[and-cuda] x jax[cuda12 or cuda13] either resolves,
resolves into packages whose files collide, or conflicts ("implied": a pair in it already does). Here each row becomes a profile with
`one-cuda-major = false`, and the answer is compared: a lock, `files-collide`, or another conflict. Needs the package index.

    python3 benches/coinstall.py --colab-boot target/release/colab-boot [--sample 40]
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def profile(row: dict) -> str:
    wanted = []
    if row["torch"]:
        wanted.append(f"torch = '=={row['torch']}'")
    if row["tensorflow_and_cuda"]:
        wanted.append(f"tensorflow = {{ version = '=={row['tensorflow_and_cuda']}', extras = ['and-cuda'] }}")
    if row["jax"]:
        wanted.append(f"jax = {{ version = '=={row['jax']}', extras = ['{row['jax_extra']}'] }}")
    head = "[profile]\nname = 'grid'\nversion = '1.0.0'\n[frameworks]\n"
    return head + "\n".join(wanted) + "\n[policy]\none-cuda-major = false\ninstalled = 'ignore'\n"


def machine(python: str, folder: pathlib.Path) -> pathlib.Path:
    record = json.loads((ROOT / "tests" / "observed" / "laptop.json").read_text())
    observed = record.get("report", {}).get("observed", record)
    observed["python"]["version"] = f"{python}.9"
    observed["python"]["libc"] = "glibc 2.35"
    observed["distributions"] = []
    path = folder / f"machine-{python}.json"
    path.write_text(json.dumps(observed))
    return path


def key(row: dict) -> tuple:
    return tuple(row[name] for name in ("python", "torch", "tensorflow_and_cuda", "jax", "jax_extra"))


def pairs(row: dict) -> list:
    """The three pairs in a row of three."""
    return [
        dict(row, **{missing: ""}, **({"jax_extra": ""} if missing == "jax" else {}))
        for missing in ("torch", "tensorflow_and_cuda", "jax")
    ]


def solve(program: str, row: dict, at: int, folder: pathlib.Path, machines: dict) -> tuple:
    """What it came to, and the packages or the message."""
    path = folder / f"{at}.toml"
    path.write_text(profile(row))
    command = [program, "lock", str(path), "--json", "--machine", str(machines[row["python"]]), "--driver", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout)
    if done.returncode == 0:
        packages = report["report"]["targets"][0]["packages"]
        return "resolves", {one["name"]: one["version"] for one in packages}
    codes = [one["code"] for one in report["findings"] if one["severity"] == "error"]
    if done.returncode != 1 or not codes:
        return f"failed ({done.returncode})", done.stderr
    kind = "resolves-but-files-collide" if codes[0] == "files-collide" else "conflict"
    return kind, report["findings"][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--sample", type=int, help="only so many rows, evenly spread")
    options = parser.parse_args()
    rows = list(csv.DictReader((ROOT / "tests" / "facts" / "coinstall-grid.csv").open()))
    if options.sample:
        rows = rows[:: max(1, len(rows) // options.sample)]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        machines = {python: machine(python, folder) for python in {row["python"] for row in rows}}
        answer = functools.cache(lambda row: solve(options.colab_boot, dict(row), hash(row), folder, machines))
        asked = [tuple(sorted(row.items())) for row in rows]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(answer, asked))
        # A triple may be a "no" for two reasons: a pair in it conflicts, and another collides. Either answer is true of it.
        known = {key(row): kind for row, (kind, _) in zip(rows, answers)}
        explained = 0
        for row, (kind, what) in zip(rows, answers):
            expected = row["result"].removesuffix(" (implied)")
            counts[(expected, kind)] += 1
            if kind == expected:
                continue
            both = {"conflict", "resolves-but-files-collide"}
            parts = pairs(row) if {expected, kind} == both else []
            kinds = {known.get(key(pair)) or answer(tuple(sorted(pair.items())))[0] for pair in parts}
            if parts and both <= kinds:
                explained += 1
                continue
            wanted = " ".join(f"{name}=={row[name]}" for name in ("torch", "tensorflow_and_cuda", "jax") if row[name])
            said = what["message"] + " | " + " | ".join(what["notes"]) if isinstance(what, dict) and "notes" in what else what
            print(f"DIFFERS {row['python']} {wanted} {row['jax_extra']}: expected {row['result']}, got {kind}: {str(said)[:900]}")
    for (expected, kind), count in sorted(counts.items()):
        print(f"{expected:28} -> {kind:28} {count}")
    agree = sum(count for (expected, kind), count in counts.items() if expected == kind)
    print(f"{agree} of {len(rows)} rows agree; {explained} more hold a conflict and a collision, and the other one is told")


main()
