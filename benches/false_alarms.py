"""Counts false alarms: packages with compiled code are installed as they are found, imported, and judged.

    python3 benches/false_alarms.py --uv PATH --colab-boot PATH [--python 3.12] [--as-of 2025-03-01] [--workers 2] [--only NAME]... [--most 300]

Every package of `matrix/linking/` is a profile of its own: its newest release of that day with what that brings. uv makes the environment; a process of its own
imports the package; `colab-boot audit` judges the environment, `colab-boot plan` a profile that pins the package and, where they are there, NumPy and torch.

For each: `right` (it imports, and nothing is objected to), `alarm` (it imports, and something is objected to: ours to mend), `warned` (it does not
import, and that was said), `missed` (it does not import for a library, NumPy or torch, and nothing was said), `other` (it does not import for other
reasons), `none` (it can't be installed). Nothing is left on disk but uv's cache, which is emptied where it grows.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What has to be imported for the compiled code to be loaded, where the package goes on without it and loses what it is there for.
MODULES = {"xformers": "torch, xformers._C", "mpi4py": "mpi4py.MPI"}
OWN = """
import importlib, importlib.metadata as metadata, re, sys
name = re.sub("[-_.]+", "-", sys.argv[1]).lower()
tops = [top for top, all in metadata.packages_distributions().items() if name in [re.sub("[-_.]+", "-", one).lower() for one in all]]
tops = [top for top in tops if top.isidentifier() and top not in ("tests", "test", "docs", "examples", "benchmarks", "scripts", "tools")]
for top in [top for top in tops if not top.startswith("_")] or tops:
    importlib.import_module(top)
"""
OURS = {"family-broken", "library-missing", "library-too-old", "resolve-no-solution", "gpu-not-covered", "driver-too-old"}
LINKED = re.compile(r"cannot open shared object|undefined symbol|numpy\.dtype size|NumPy 1\.x|_ARRAY_API|GLIBC|multiarray failed to import", re.I)


def judged(options, folder, interpreter, name):
    """Codes and first lines of what is objected to."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "COLAB_BOOT_CACHE_DIR": str(Path(options.scratch) / "cache"), "COLAB_BOOT_STATE_DIR": f"{folder}/state"}
    listed = subprocess.run(
        [options.uv, "pip", "freeze", "--python", interpreter], capture_output=True, text=True, check=True
    ).stdout
    pins = dict(line.split("==", 1) for line in listed.split() if "==" in line)
    wanted = {one: pins[one] for one in (name, "numpy", "torch") if one in pins}
    lines = "".join(f'{one} = "=={version}"\n' for one, version in wanted.items())
    Path(folder, "p.toml").write_text(f'[profile]\nname = "p"\nversion = "1.0.0"\n[policy]\ninstalled = "ignore"\n[packages]\n{lines}')
    objections = []
    for verb in (["audit", "--json"], ["plan", f"{folder}/p.toml", "--json"]):
        try:
            run = subprocess.run(
                [options.colab_boot, *verb, "--python", interpreter], capture_output=True, text=True, env=environment, cwd=folder, timeout=600
            )
        except subprocess.TimeoutExpired:
            objections.append(f"{verb[0]}: no answer in 600 s")
            continue
        try:
            findings = json.loads(run.stdout).get("findings", [])
        except ValueError:
            objections.append(f"{verb[0]}: {run.stderr.strip()[:200]}")
            continue
        is_error = lambda one: one["severity"] == "error" and (verb[0] == "plan" or one["code"] in OURS)
        ours = [one for one in findings if is_error(one) or one["code"] == "system-library-missing"]
        objections += [f"{verb[0]}: {one['code']}: {one['message'].splitlines()[0]}" for one in ours]
    return objections, pins.get(name, "?")


def tried(options, name):
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        interpreter = f"{folder}/venv/bin/python"
        subprocess.run([options.uv, "venv", "-q", "--python", options.python, f"{folder}/venv"], check=True)
        as_of = ["--exclude-newer", options.as_of] if options.as_of else []
        try:
            install = subprocess.run(
                [options.uv, "pip", "install", "-q", "--python", interpreter, "--only-binary", ":all:", *as_of, name],
                capture_output=True, text=True, timeout=900,
            )
        except subprocess.TimeoutExpired:
            return "none", "?", "no end in 900 s"
        if install.returncode:
            return "none", "?", (install.stderr.strip().splitlines() or [""])[-1][:120]
        code = [f"import {MODULES[name]}"] if name in MODULES else [OWN, name]
        try:
            run = subprocess.run([interpreter, "-W", "ignore", "-c", *code], capture_output=True, text=True, cwd="/", timeout=300)
            failed, said = run.returncode != 0, run.stderr
        except subprocess.TimeoutExpired:
            failed, said = True, "no end in 300 s"
        objections, version = judged(options, folder, interpreter, name)
        last = (said.strip().splitlines() or [""])[-1][:160]
    if not failed:
        return ("alarm" if objections else "right"), version, "; ".join(objections)
    if objections:
        return "warned", version, "; ".join([*objections, last])
    return ("missed" if LINKED.search(said) else "other"), version, last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uv", required=True)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--python", default="3.12")
    parser.add_argument("--as-of")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--most", type=int, default=1000)
    options = parser.parse_args()
    options.colab_boot = str(Path(options.colab_boot).resolve())
    folder = Path(__file__).parent.parent / "matrix/linking"
    names = options.only or sorted(path.stem for path in folder.glob("*.toml"))
    counts = Counter()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.workers) as pool:
        options.scratch = scratch
        for name, (kind, version, said) in zip(names[: options.most], pool.map(lambda one: tried(options, one), names[: options.most])):
            counts[kind] += 1
            print(f"{kind:8}{name} {version}{': ' + said if said else ''}", flush=True)
            if shutil.disk_usage(scratch).free < 12 << 30:
                subprocess.run([options.uv, "cache", "clean", "-q"], check=False)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(1 if counts["alarm"] or counts["missed"] else 0)


if __name__ == "__main__":
    main()
