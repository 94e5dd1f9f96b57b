#!/usr/bin/env python3
"""How time and memory grow with the number of requirements: 50, 200 and 800 of them, from what a Colab image holds.

    python3 benches/growth.py --colab-boot target/release/colab-boot --uv uv [--runs 3]

Needs the package index. The names are those of the newest bundled image, with the names that come along (`matrix/closure.toml`) up to 800,
without what no index has or what no two of them agree on; each tool chooses versions itself. Cold and offline, medians.
"""

import argparse
import pathlib
import re
import statistics
import tempfile
import tomllib

from peers import ROOT, profile, run_ours, run_uv

# Not on the index for CPython 3.12 on Linux, in the image from elsewhere, or at odds with the rest whatever their versions.
APART = pathlib.Path(__file__).with_name("growth-apart.txt")


def names():
    image = tomllib.loads((ROOT / "runtimes/colab-latest-gpu.toml").read_text())
    closure = tomllib.loads((ROOT / "matrix/closure.toml").read_text())["needs"]
    apart = set(APART.read_text().split())
    known = [*image["packages"], *(re.sub(r"\[.*", "", name) for name in closure)]
    return [name for name in dict.fromkeys(known) if name not in apart]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--sizes", default="50,200,800")
    options = options.parse_args()
    ours = str(pathlib.Path(options.colab_boot).resolve())
    every = names()
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
