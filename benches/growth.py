#!/usr/bin/env python3
"""How time and memory grow with the number of requirements: 50, 200 and 800 of them, from what a Colab image holds.

    python3 benches/growth.py --colab-boot target/release/colab-boot --uv uv [--runs 3]

Needs the package index. The names are those of the newest bundled image, with the names that come along (`matrix/closure.toml`); what has no
wheel for the target, or no version beside the rest, is left out first (the last one of those that a conflict names). Each tool chooses versions
itself. Cold and offline, medians.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
import tomllib

from peers import ROOT, run_ours, run_uv

def names():
    image = tomllib.loads((ROOT / "runtimes/colab-latest-gpu.toml").read_text())
    closure = tomllib.loads((ROOT / "matrix/closure.toml").read_text())["needs"]
    return list(dict.fromkeys([*image["packages"], *(re.sub(r"\[.*", "", name) for name in closure)]))


def solvable(binary, folder, wanted):
    """`wanted` without what can't be had together; found by asking again and again, from a warm cache."""
    while True:
        cost = run_ours(binary, folder, wanted)
        if not cost.code:
            return wanted
        report = json.loads((folder / "report.json").read_text())
        places = [place["line"] for finding in report["findings"] for place in finding.get("places", [])]
        lines = (folder / "bench.toml").read_text().splitlines()
        if cost.code != 1 or not places:
            raise SystemExit(cost.error)
        gone = lines[max(places) - 1].partition(" ")[0]
        print(f"without {gone}: {report['findings'][0]['message']}", file=sys.stderr, flush=True)
        wanted = [name for name in wanted if name != gone]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--sizes", default="50,200,800")
    options = options.parse_args()
    ours = str(pathlib.Path(options.colab_boot).resolve())
    with tempfile.TemporaryDirectory() as folder:
        every = solvable(ours, pathlib.Path(folder), names())
    print("| requirements | mode | colab-boot wall s | uv | CPU s, ours / uv | MB of memory, ours / uv |\n|---|---|---|---|---|---|")
    for size in map(int, options.sizes.split(",")):
        # Spread over the list, so that each size has the same mix.
        chosen = every[:: max(1, len(every) // size)][:size]
        costs = {"cold": ([], []), "offline": ([], [])}
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for mode, more in (("cold", []), ("offline", ["--offline"])):
                    costs[mode][0].append(run_ours(ours, folder, chosen, None, more))
                    costs[mode][1].append(run_uv(options.uv, folder, chosen, None, more))
        for mode, (mine, other) in costs.items():
            median = lambda costs, what: statistics.median(getattr(cost, what) for cost in costs)
            failed = [cost.error.strip().splitlines()[0] for cost in mine + other if cost.code]
            print(f"| {len(chosen)} | {mode} | {median(mine, 'wall'):.2f} | {median(other, 'wall'):.2f} | {median(mine, 'cpu'):.2f} / {median(other, 'cpu'):.2f} "
                  f"| {median(mine, 'memory') / 1e6:.0f} / {median(other, 'memory') / 1e6:.0f} |" + (f" failed: {failed[0]}" if failed else ""), flush=True)


if __name__ == "__main__":
    main()
