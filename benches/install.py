#!/usr/bin/env python3
"""Installation beside uv and pip: the same pins and digests into fresh virtual environments, and again where all is in place.

    python3 benches/install.py --colab-boot target/release/colab-boot --uv uv --runs 5
    python3 benches/install.py … --sets torch --from folder

From `index`: caches are empty, wheels are downloaded. From `folder`: the wheels lie in a folder, there is no network and caches are
empty. `second`: another environment has the same packages, and the caches are as its installation from the index has left them.
`limited`: from an index on this machine that sends 20 MB per second on each connection. `again`: everything is installed; one run before
is not counted. The set `small` is 1,000 generated wheels of six files each, which no index has.

The tools alternate, each run in folders of its own, and nothing is deleted before all is done: for minutes after a deletion ext4 looks for other inodes than those that have become free, which takes
several times as long as the installation. So the disk needs room for every run, and some minutes since the last deletion; or give a
`--folder` in memory (tmpfs), where `--delete` does no harm. Prints a Markdown table of medians in seconds (the worst, and the
processor's seconds; the most memory of a process), with the ratio to uv.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile

from limited_index import LimitedIndex

SETS = {
    "thirty": ["pandas", "scikit-learn", "matplotlib", "fastapi", "xgboost-cpu", "polars", "seaborn"],
    "hundred": ["jupyterlab", "pandas", "scikit-learn", "matplotlib", "polars", "xgboost-cpu", "opencv-python-headless", "pyarrow"],
    "cublas": ["nvidia-cublas-cu12==12.8.4.1"],
    "torch": ["torch==2.9.1", "torchvision", "torchaudio"],
    "small": [f"small-{number}" for number in range(1000)],
}
LIMIT = 20_000_000
HARDWARE = ["--gpu", "T4", "--driver", "580.82.07"]


class World:
    """One set: its lock, its pins, its wheels."""

    def __init__(self, name, arguments, folder):
        self.name, self.arguments, self.folder = name, arguments, folder
        self.house, self.worlds, self.index = folder / "house", 0, None
        folder.mkdir()
        lines = []
        for one in SETS[name]:
            package, _, version = one.partition("==")
            lines.append(f"{package} = '{'==' + version if version else '*'}'")
        self.profile = folder / "p.toml"
        self.profile.write_text("[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\n" + "\n".join(lines) + "\n")
        self.fresh()
        found = self.generate() if name == "small" else []
        self.ours("lock", self.profile, *HARDWARE, "--python", self.python(), *found)
        lock = tomllib.loads((folder / "p.lock").read_text())
        packages = lock["target"][0]["package"]
        pins = [f"{one['name']}=={one['version']} --hash=sha256:{one['wheel']['sha256']}" for one in packages]
        self.pins = folder / "pins.txt"
        self.pins.write_text("\n".join(pins) + "\n")
        self.count, self.size = len(packages), sum(one["wheel"].get("size", 0) for one in packages)

    def generate(self):
        """The wheels of the set `small`, and how they are found."""
        self.house.mkdir()
        for package in SETS["small"]:
            module = package.replace("-", "_")
            info = f"{module}-1.0.dist-info"
            members = {f"{module}/part_{part}.py": f"value = {part}\n" * 100 for part in range(3)}
            members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
            members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            members[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*members, f"{info}/RECORD"])
            with zipfile.ZipFile(self.house / f"{module}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
                for path, text in members.items():
                    wheel.writestr(path, text)
        return ["--find-links", self.house, "--offline"]

    def python(self):
        return self.venv / "bin/python"

    def fresh(self):
        """A virtual environment and caches as on the first day."""
        if self.arguments.delete and self.worlds:
            shutil.rmtree(self.folder / f"venv-{self.worlds}")
            shutil.rmtree(self.caches, ignore_errors=True)
        self.worlds += 1
        self.venv, self.caches = self.folder / f"venv-{self.worlds}", self.folder / f"caches-{self.worlds}"
        subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        os.sync()  # what the run before has left to write is not this one's

    def second(self):
        """Another virtual environment beside the one that was filled, with the same caches."""
        self.venv = self.venv.parent / f"{self.venv.name}" / "second"
        subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        os.sync()

    def environment(self):
        at = {"COLAB_BOOT_CACHE_DIR": "ours", "COLAB_BOOT_STATE_DIR": "state", "UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip"}
        uv = str(pathlib.Path(shutil.which(self.arguments.uv)).parent)
        caches = {name: str(self.caches / folder) for name, folder in at.items()}
        return {**os.environ, **caches, "PATH": f"{uv}:{os.environ['PATH']}"}

    def ours(self, *words):
        self.run(self.arguments.colab_boot, *words)

    def run(self, *words):
        with tempfile.TemporaryFile("w+") as output:
            started = time.perf_counter()
            process = subprocess.Popen([str(word) for word in words], env=self.environment(), stdout=output, stderr=output)
            _, status, used = os.wait4(process.pid, 0)
            wall, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
            if process.returncode:
                output.seek(0)
                sys.exit(f"{words}: {output.read()}")
        self.processor, self.memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
        return wall

    def install(self, tool, source):
        python, folder = self.python(), source == "folder"
        if tool == "colab-boot":
            more = ["--wheelhouse", self.house] if folder else []
            more = ["--index-url", self.index] if source == "limited" else more
            return self.run(self.arguments.colab_boot, "apply", self.profile, "--locked", "--python", python, *HARDWARE, *more)
        more = ["--no-index", "--find-links", self.house] if folder else []
        more = ["--default-index" if tool == "uv" else "--index-url", self.index] if source == "limited" else more
        more += ["--no-deps", "--require-hashes", "--requirement", self.pins]
        if tool == "uv":
            return self.run(self.arguments.uv, "pip", "install", "--python", python, *more)
        return self.run(python, "-m", "pip", "install", "--disable-pip-version-check", *more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--uv", default="uv")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--from", nargs="+", dest="sources", default=["index", "folder", "again"])
    parser.add_argument("--tools", nargs="+", default=["colab-boot", "uv", "pip"])
    parser.add_argument("--delete", action="store_true", help="delete what a run has left before the next")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work; by default a temporary folder")
    arguments = parser.parse_args()
    print("| set | packages | from | " + " | ".join(arguments.tools) + " | ratio to uv |")
    print("|---|---|---|" + "---|" * (len(arguments.tools) + 1))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name in arguments.sets:
            world = World(name, arguments, pathlib.Path(folder) / name)
            if {"folder", "limited"} & set(arguments.sources) and not world.house.is_dir():
                world.ours("fetch", world.folder / "p.lock", "--into", world.house)
            for source in arguments.sources:
                if source == "limited":
                    with LimitedIndex(world.house, LIMIT) as world.index:
                        measure(world, source, arguments)
                else:
                    measure(world, source, arguments)
            if arguments.delete:
                shutil.rmtree(world.folder)


def measure(world, source, arguments):
    times = {tool: [] for tool in arguments.tools}
    processor, memory = {tool: [] for tool in arguments.tools}, {tool: 0 for tool in arguments.tools}
    for tool in arguments.tools if source == "again" else []:
        world.fresh()
        world.install("uv", "index")
        world.install(tool, source)
        time.sleep(3)  # what has just changed is not remembered
        world.install(tool, source)
        times[tool] = [world.install(tool, source) for _ in range(max(10, arguments.runs))]
    first = "folder" if world.name == "small" else "index"
    for _ in range(0 if source == "again" else arguments.runs):
        for tool in arguments.tools:
            world.fresh()
            if source == "second":
                world.install(tool, first)
                world.second()
            times[tool].append(world.install(tool, first if source == "second" else source))
            processor[tool].append(world.processor)
            memory[tool] = max(memory[tool], world.memory)
    medians = {tool: statistics.median(all_of) for tool, all_of in times.items()}
    ratio = medians["colab-boot"] / medians["uv"] if {"colab-boot", "uv"} <= medians.keys() else float("nan")
    cells = []
    for tool in arguments.tools:
        seconds = f", {statistics.median(processor[tool]):.2f}; {memory[tool]:.0f} MB" if processor[tool] else ""
        cells.append(f"{medians[tool]:.3f} ({max(times[tool]):.3f}{seconds})")
    cells = " | ".join(cells)
    print(f"| {world.name} | {world.count}, {world.size / 1e6:.0f} MB | {source} | {cells} | {ratio:.2f} |", flush=True)


main()
