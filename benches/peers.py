#!/usr/bin/env python3
"""colab-boot beside uv: seven sets, cold, warm and offline; wall and CPU time, memory, requests, bytes, and what was chosen.

    python3 benches/peers.py --colab-boot target/release/colab-boot --uv uv --runs 10
    python3 benches/peers.py … --environment venv
    python3 benches/peers.py … --server target/release/examples/index-server --recorded /tmp/recorded --latency 25

The first two measure what a user types, `colab-boot lock bench.toml` and `uv pip compile bench.in -o bench.txt`, in a folder with a fresh
`.venv` as `uv venv` or `python -m venv` makes it: no machine, no interpreter and no index is given by hand. The third uses the index that
`benches/record.py` recorded, served on loopback with JSON, advertised METADATA and a latency, for a recorded machine. The tools alternate. Cold: an empty cache. Warm: the cache of a run before, the lock removed. Offline: the same
with `--offline`. Requests are counted in separate runs through a proxy on loopback, so that counting costs no time where time is
measured. Prints Markdown tables; ratios are ours to theirs, of medians.
"""

import argparse
import base64
import gzip
import html
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SETS = {
    "a": ["torch==2.9.1", "torchvision", "torchaudio"],
    "b": ["tensorflow[and-cuda]==2.19.*"],
    "c": ["jax[cuda12]", "flax", "optax"],
    "d": "torch torchvision torchaudio transformers datasets accelerate peft tensorflow jax[cuda12] scikit-learn pandas matplotlib xgboost".split(),
    "e": ["gradio", "fastapi", "pydantic<2"],
    "f": ["dask[complete]", "xarray", "polars", "pyarrow", "scikit-learn", "statsmodels", "plotly"],
    "g": ["torch==2.10.0", "transformers", "trl", "bitsandbytes", "sentence-transformers", "wandb", "langchain"],
}
ROOT = pathlib.Path(__file__).parent.parent


def default_index():
    from pip._internal.models.index import PyPI

    return os.environ.get("PIP_INDEX_URL") or PyPI.simple_url


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to the index and counts them; links of pages are turned back to itself."""

    protocol_version = "HTTP/1.1"
    index = default_index().rstrip("/")
    requests = 0
    read = 0
    lock = threading.Lock()
    kept = threading.local()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.pass_on("HEAD")

    def do_GET(self):
        self.pass_on("GET")

    def pass_on(self, method):
        parts = self.path.split("/")
        if parts[1] == "simple":
            upstream = f"{self.index}/{'/'.join(parts[2:])}"
        else:
            upstream = base64.urlsafe_b64decode(parts[2]).decode() + parts[3]
        status, headers, body = self.ask(method, upstream)
        with Proxy.lock:
            Proxy.requests += 1
            Proxy.read += len(body)
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if parts[1] == "simple" and status == 200:
            body = self.turn(body.decode(), upstream).encode()
        self.send_response(status)
        for key in ("Content-Type", "Content-Range", "Accept-Ranges"):
            if headers.get(key):
                self.send_header(key, headers[key])
        length = headers.get("Content-Length", "0") if method == "HEAD" else str(len(body))
        self.send_header("Content-Length", length)
        self.end_headers()
        if method == "GET":
            try:
                self.wfile.write(body)
            except BrokenPipeError:
                pass  # asked twice, and the other answer came first

    def ask(self, method, upstream):
        """One request over a connection that this thread keeps open: the index is not to pay for our counting."""
        address = urllib.parse.urlsplit(upstream)
        headers = {key: self.headers[key] for key in ("Accept", "Range") if self.headers.get(key)}
        kept = Proxy.kept.__dict__
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        for fresh in (False, True):
            if fresh or address.netloc not in kept:
                kept[address.netloc] = kind(address.netloc, timeout=120)
            try:
                kept[address.netloc].request(method, address.path, headers=headers)
                reply = kept[address.netloc].getresponse()
                return reply.status, reply.headers, reply.read()
            except (http.client.HTTPException, OSError):
                if fresh:
                    raise

    def turn(self, page, base):
        """Links of a page, in either form, turned back to this proxy."""

        def here(url):
            url, _, fragment = url.partition("#")
            folder, _, name = urllib.parse.urljoin(base, url).rpartition("/")
            encoded = base64.urlsafe_b64encode((folder + "/").encode()).decode()
            return f"/file/{encoded}/{name}" + (f"#{fragment}" if fragment else "")

        if page.lstrip().startswith("{"):
            listing = json.loads(page)
            for file in listing["files"]:
                file["url"] = here(file["url"])
            return json.dumps(listing)
        return re.sub(r'href="([^"]+)"', lambda match: f'href="{here(html.unescape(match[1]))}"', page)


def profile(requirements):
    lines = []
    for requirement in requirements:
        name, extras, version = re.fullmatch(r"([\w.-]+)(?:\[([\w,-]+)\])?(.*)", requirement).groups()
        extras = f", extras = {json.dumps(extras.split(','))}" if extras else ""
        lines.append(f'{name} = {{ version = "{version or "*"}"{extras} }}')
    return "[profile]\nname = 'bench'\nversion = '1.0.0'\n[frameworks]\n" + "\n".join(lines) + "\n"


def machine(folder, python="3.12.1"):
    record = json.loads((ROOT / "tests/observed/laptop.json").read_text())
    record["python"]["libc"] = "glibc 2.28"
    record["python"]["version"] = python
    path = folder / "machine.json"
    path.write_text(json.dumps(record))
    return path


# Runs a command and tells what it took. A process of its own, and a small one: a child's peak memory counts what its parent had
# when it was started.
RUNNER = """
import json, os, subprocess, sys, time
started = time.monotonic()
with open('err.txt', 'wb') as err:
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=err)
    _, status, usage = os.wait4(child.pid, 0)
wall = time.monotonic() - started
print(json.dumps([os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]))
"""


class Cost:
    """What one run took: seconds of wall clock and CPU, bytes of memory at most."""

    def __init__(self, command, folder, environment):
        runner = [sys.executable, "-I", "-S", "-c", RUNNER, *map(str, command)]
        done = subprocess.run(runner, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        self.code, self.wall, self.cpu, self.memory = json.loads(done.stdout)
        self.error = (folder / "err.txt").read_text(errors="replace")


def run_ours(binary, folder, requirements, index=None, more=(), python="3.12.1", packages=None):
    (folder / "bench.toml").write_text(packages or profile(requirements))
    (folder / "bench.lock").unlink(missing_ok=True)
    command = [binary, "lock", "bench.toml", "--json=report.json", "--machine", machine(folder, python), "--driver", "580.82.07", "--gpu", "T4", *more]
    environment = {**os.environ, "COLAB_BOOT_CACHE_DIR": str(folder / "cache")}
    environment["COLAB_BOOT_INDEX_URL"] = index or default_index()
    return Cost(command, folder, environment)


def run_uv(binary, folder, requirements, index=None, more=(), python="3.12"):
    (folder / "bench.in").write_text("\n".join(requirements) + "\n")
    output = folder / "pylock.bench.toml"
    output.unlink(missing_ok=True)
    command = [binary, "pip", "compile", "--quiet", "--no-config", "--cache-dir", folder / "uv", "--python", sys.executable,
               "--python-version", python, "--python-platform", "x86_64-manylinux_2_28", "--only-binary", ":all:",
               "--format", "pylock.toml", "bench.in", "-o", output, "--default-index", index or default_index(), *more]
    return Cost(command, folder, {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"})


class Typed:
    """The commands as a user types them, in a folder with a fresh virtual environment."""

    def __init__(self, kind, uv):
        self.home = tempfile.TemporaryDirectory()
        self.template = pathlib.Path(self.home.name) / ".venv"
        made = [uv, "venv", "--quiet", "--python", sys.executable, self.template] if kind == "uv" else [sys.executable, "-m", "venv", self.template]
        subprocess.run(list(map(str, made)), check=True)

    def prepare(self, folder):
        if not (folder / ".venv").exists():
            shutil.copytree(self.template, folder / ".venv", symlinks=True)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
        return {**kept, **more}

    def ours(self, binary, folder, requirements, index=None, more=()):
        self.prepare(folder)
        (folder / "bench.toml").write_text(profile(requirements).replace("[frameworks]", "[packages]"))
        (folder / "bench.lock").unlink(missing_ok=True)
        return Cost([binary, "lock", "bench.toml", *more], folder, self.environment(XDG_CACHE_HOME=str(folder / "cache")))

    def uv(self, binary, folder, requirements, index=None, more=()):
        self.prepare(folder)
        (folder / "bench.in").write_text("\n".join(requirements) + "\n")
        (folder / "bench.txt").unlink(missing_ok=True)
        command = [binary, "pip", "compile", "bench.in", "-o", "bench.txt", *more]
        return Cost(command, folder, self.environment(XDG_CACHE_HOME=str(folder / "cache")))


def colab_boot(binary, folder, requirements, index=None, **more):
    """{name: (version, size)}, or None and why."""
    cost = run_ours(binary, folder, requirements, index, **more)
    if cost.code:
        return None, cost.error
    packages = json.loads((folder / "report.json").read_text())["report"]["targets"][0]["packages"]
    return {one["name"]: (one["version"], one["size"] or 0) for one in packages}, ""


def uv(binary, folder, requirements, index=None, **more):
    cost = run_uv(binary, folder, requirements, index, **more)
    if cost.code:
        return None, cost.error
    pins = {}
    for block in (folder / "pylock.bench.toml").read_text().split("[[packages]]")[1:]:
        name = re.search(r'^name = "([^"]+)"', block, re.M)[1]
        version = re.search(r'^version = "([^"]+)"', block, re.M)[1]
        pins[name] = (version, size_of(block))
    return pins, ""


def size_of(block):
    """Bytes of the wheel that a CPython 3.12 would take, as the index told uv."""
    wheels = re.findall(r'url = "([^"]+\.whl)"[^}]*?size = (\d+)', block)
    fits = [size for url, size in wheels if re.search(r"-(cp312-cp312|cp\d+-abi3|py3-none|py2\.py3-none)-[^/]*(any|manylinux[^/]*x86_64)", url)]
    return int(fits[-1]) if fits else 0


def measure(tools, requirements, runs, index):
    """{mode: {tool: [Cost]}}: the tools in turn, each with a cache of its own."""
    costs = {mode: {tool: [] for tool in tools} for mode in ("cold", "warm", "offline")}
    for _ in range(runs):
        for tool, (run, binary) in tools.items():
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                costs["cold"][tool].append(run(binary, folder, requirements, index))
                costs["warm"][tool].append(run(binary, folder, requirements, index))
                costs["offline"][tool].append(run(binary, folder, requirements, index, ["--offline"]))
    return costs


def counted(run, binary, requirements, index):
    Proxy.index = (index or default_index()).rstrip("/")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Proxy.requests = Proxy.read = 0
    with tempfile.TemporaryDirectory() as folder:
        run(binary, pathlib.Path(folder), requirements, f"http://127.0.0.1:{server.server_port}/simple")
    server.shutdown()
    return Proxy.requests, Proxy.read


def median(costs, what):
    return statistics.median(getattr(cost, what) for cost in costs)


def times(costs):
    walls = sorted(cost.wall for cost in costs)
    return f"{walls[0]:.3f} / {statistics.median(walls):.3f} / {walls[-1]:.3f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--sets", default="".join(SETS))
    options.add_argument("--environment", choices=("uv", "venv"), default="uv", help="how the virtual environment is made")
    options.add_argument("--server", help="the index-server example; with --recorded")
    options.add_argument("--recorded", help="what record.py recorded")
    options.add_argument("--latency", default="25", help="milliseconds, of the recorded index")
    options = options.parse_args()
    ours, theirs = str(pathlib.Path(options.colab_boot).resolve()), options.uv
    tools = {"colab-boot": (run_ours, ours), "uv": (run_uv, theirs)}
    typed = Typed(options.environment, theirs)
    timed = tools if options.server else {"colab-boot": (typed.ours, ours), "uv": (typed.uv, theirs)}
    index, server = None, None
    if options.server:
        server = subprocess.Popen([options.server, options.recorded, options.latency], stdout=subprocess.PIPE, text=True)
        index = server.stdout.readline().strip()
    print("| set | mode | colab-boot wall s, min / median / max | uv | ratio | worst to worst | CPU s, ours / uv | MB of memory, ours / uv |\n|---|---|---|---|---|---|---|---|")
    counts, chosen = [], []
    for name in options.sets:
        requirements = SETS[name]
        for mode, costs in measure(timed, requirements, options.runs, index).items():
            mine, other = costs["colab-boot"], costs["uv"]
            failed = [cost.error.splitlines()[-1] for cost in mine + other if cost.code]
            ratio = median(mine, "wall") / median(other, "wall")
            worst = max(cost.wall for cost in mine) / max(cost.wall for cost in other)
            cpu = f"{median(mine, 'cpu'):.2f} / {median(other, 'cpu'):.2f}"
            memory = f"{median(mine, 'memory') / 1e6:.0f} / {median(other, 'memory') / 1e6:.0f}"
            print(f"| {name} | {mode} | {times(mine)} | {times(other)} | {ratio:.2f} | {worst:.2f} | {cpu} | {memory} |" + (f" failed: {failed[0]}" if failed else ""), flush=True)
        (us, read), (them, their_read) = (counted(run, binary, requirements, index) for run, binary in tools.values())
        counts.append(f"| {name} | {us} | {them} | {us / them:.2f} | {read / 1e6:.1f} | {their_read / 1e6:.1f} |")
        with tempfile.TemporaryDirectory() as folder:
            mine, why = colab_boot(ours, pathlib.Path(folder), requirements, index)
            other, reason = uv(theirs, pathlib.Path(folder), requirements, index)
        if not mine or not other:
            chosen.append(f"- {name}: {why or reason}")
            continue
        size = lambda pins: f"{sum(size for _, size in pins.values()) / 1e9:.2f} GB"
        changed = [f"{key} {mine[key][0]} (uv {other[key][0]})" for key in sorted(mine.keys() & other.keys()) if mine[key][0] != other[key][0]]
        fewer, more = sorted(other.keys() - mine.keys()), sorted(mine.keys() - other.keys())
        chosen.append(f"- {name}: {len(mine)} packages, {size(mine)} (uv {len(other)}, {size(other)}): {', '.join(changed) or 'the same versions'}; "
                      f"not installed: {', '.join(fewer) or 'none'}; in addition: {', '.join(more) or 'none'}")
    print("\n| set | requests, cold | uv | ratio | MB read | uv |\n|---|---|---|---|---|---|\n" + "\n".join(counts))
    print("\n" + "\n".join(chosen))
    if server:
        server.terminate()


if __name__ == "__main__":
    main()
