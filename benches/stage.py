"""Copies a data set with `colab-boot stage`, `cp -r` and `rsync -a` in turn, into folders that are new each time, and once more when all is there.

    python3 benches/stage.py --colab-boot target/release/colab-boot [--from FOLDER] [--into FOLDER]

Without --from: 4,000 files of 100 kB and two of 300 MB, made here. The page cache is dropped before each run where that is allowed (root); `stage` also takes a digest of each
file. Medians, and the worst of --runs.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def made(folder):
    block = os.urandom(100_000)
    for number in range(4000):
        place = folder / f"{number % 40:02}"
        place.mkdir(exist_ok=True, parents=True)
        (place / f"{number:06}.jpg").write_bytes(number.to_bytes(4, "big") + block)
    for name in ("one", "two"):
        with open(folder / f"{name}.bin", "wb") as file:
            for _ in range(3000):
                file.write(block)
    os.sync()


def drop():
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        return True
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--from", dest="source")
    parser.add_argument("--into", default=tempfile.gettempdir())
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.into) as work:
        work = Path(work)
        source = Path(options.source) if options.source else work / "set"
        if not options.source:
            made(source)
        tools = {"stage": [options.colab_boot, "stage"], "cp": ["cp", "-r"], "rsync": ["rsync", "-a"]}
        tools = {name: command for name, command in tools.items() if shutil.which(command[0])}
        first, again = {name: [] for name in tools}, {name: [] for name in tools}
        cold = drop()
        for _ in range(options.runs):
            for name, command in tools.items():
                target = work / f"to-{name}"
                for times in (first, again):
                    if times is again and name == "cp":
                        continue
                    drop()
                    started = time.monotonic()
                    place = [f"{source}/", str(target)] if name == "rsync" else [str(source), str(target)]
                    subprocess.run([*command, *place], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    times[name].append(time.monotonic() - started)
                shutil.rmtree(target)
        print(f"page cache {'dropped before each run' if cold else 'warm: it could not be dropped'}")
        for name in tools:
            line = f"{name:6} {statistics.median(first[name]):6.2f} s (worst {max(first[name]):.2f})"
            if again[name]:
                line += f"; again {statistics.median(again[name]):.2f} s (worst {max(again[name]):.2f})"
            print(line)


if __name__ == "__main__":
    main()
