"""colab-boot beside uv and pip on four sets: versions chosen, wall time, requests, bytes read, bytes to install.

    python3 benches/peers.py --colab-boot target/release/colab-boot --uv uv --runs 5

Needs the package index. Times are of cold runs, each with an empty cache, the tools alternating. Requests are counted in separate
runs through a proxy on loopback, so that counting costs no time where time is measured. Prints a Markdown table.
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
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SETS = {
    "a": ["torch==2.9.1", "torchvision", "torchaudio"],
    "b": ["tensorflow[and-cuda]==2.19.*"],
    "c": ["jax[cuda12]", "flax", "optax"],
    "d": "torch torchvision torchaudio transformers datasets accelerate peft tensorflow jax[cuda12] scikit-learn pandas matplotlib xgboost".split(),
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
            self.wfile.write(body)

    def ask(self, method, upstream):
        """One request over a connection that this thread keeps open: the index is not to pay for our counting."""
        address = urllib.parse.urlsplit(upstream)
        headers = {key: self.headers[key] for key in ("Accept", "Range") if self.headers.get(key)}
        kept = Proxy.kept.__dict__
        for fresh in (False, True):
            if fresh or address.netloc not in kept:
                kept[address.netloc] = http.client.HTTPSConnection(address.netloc, timeout=120)
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
        name, extras, version = re.fullmatch(r"([\w-]+)(?:\[([\w,-]+)\])?(.*)", requirement).groups()
        extras = f", extras = {json.dumps(extras.split(','))}" if extras else ""
        lines.append(f'{name} = {{ version = "{version or "*"}"{extras} }}')
    return "[profile]\nname = 'bench'\nversion = '1.0.0'\n[frameworks]\n" + "\n".join(lines) + "\n"


def machine(folder):
    record = json.loads((ROOT / "tests/observed/laptop.json").read_text())
    record["python"]["libc"] = "glibc 2.28"
    path = folder / "machine.json"
    path.write_text(json.dumps(record))
    return path


def colab_boot(binary, folder, requirements, index=None):
    (folder / "bench.toml").write_text(profile(requirements))
    command = [binary, "lock", "bench.toml", "--json=report.json", "--machine", machine(folder), "--driver", "580.82.07", "--gpu", "T4"]
    environment = {**os.environ, "COLAB_BOOT_CACHE_DIR": str(folder / "cache")}
    environment["COLAB_BOOT_INDEX_URL"] = index or default_index()
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    packages = json.loads((folder / "report.json").read_text())["report"]["targets"][0]["packages"]
    return {one["name"]: (one["version"], one["size"] or 0) for one in packages}, ""


def uv(binary, folder, requirements, index=None, sizes=False):
    (folder / "bench.in").write_text("\n".join(requirements) + "\n")
    output = folder / "pylock.bench.toml"
    output.unlink(missing_ok=True)
    command = [binary, "pip", "compile", "--quiet", "--no-config", "--cache-dir", folder / "uv", "--python", sys.executable,
               "--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_28", "--only-binary", ":all:",
               "--format", "pylock.toml", "bench.in", "-o", output]
    command += ["--default-index", index] if index else []
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    pins = {}
    for block in output.read_text().split("[[packages]]")[1:]:
        name = re.search(r'^name = "([^"]+)"', block, re.M)[1]
        version = re.search(r'^version = "([^"]+)"', block, re.M)[1]
        pins[name] = (version, size_of(block) if sizes else 0)
    return pins, ""


def size_of(block):
    """Bytes of the wheel that a CPython 3.12 would take, asked of the index by a range of one byte."""
    urls = re.findall(r'url = "([^"]+\.whl)"', block)
    fits = [url for url in urls if re.search(r"-(cp312-cp312|cp\d+-abi3|py3-none|py2\.py3-none)-[^/]*(any|manylinux[^/]*x86_64)", url)]
    if not fits:
        return 0
    request = urllib.request.Request(fits[-1], headers={"Range": "bytes=0-0"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return int(reply.headers["Content-Range"].rpartition("/")[2])


def pip(folder, requirements):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--use-feature=fast-deps",
               "--only-binary", ":all:", "--no-cache-dir", "--report", "pip.json", *requirements]
    started = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.monotonic() - started
    if done.returncode:
        return None, seconds
    installed = json.loads((folder / "pip.json").read_text())["install"]
    return {one["metadata"]["name"].lower().replace("_", "-").replace(".", "-"): one["metadata"]["version"] for one in installed}, seconds


def timed(function, *arguments):
    with tempfile.TemporaryDirectory() as name:
        started = time.monotonic()
        result = function(*arguments[:1], pathlib.Path(name), *arguments[1:])
        return result, time.monotonic() - started


def counted(function, *arguments):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Proxy.requests = Proxy.read = 0
    timed(function, *arguments, f"http://127.0.0.1:{server.server_port}/simple")
    server.shutdown()
    return Proxy.requests, Proxy.read


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--pip", action="store_true", help="pip too, one run a set (it takes minutes)")
    options = options.parse_args()
    ours, theirs = str(pathlib.Path(options.colab_boot).resolve()), options.uv
    print("| set | tool | packages | wall s, min / median / max | requests | MB read | GB to install |\n|---|---|---|---|---|---|---|")
    notes = []
    for name, requirements in SETS.items():
        times = {"colab-boot": [], "uv": []}
        for _ in range(options.runs):
            times["colab-boot"].append(timed(colab_boot, ours, requirements)[1])
            times["uv"].append(timed(uv, theirs, requirements)[1])
        (mine, why), _ = timed(colab_boot, ours, requirements)
        with tempfile.TemporaryDirectory() as folder:
            other, _ = uv(theirs, pathlib.Path(folder), requirements, None, True)
        for tool, pins, function, binary in (("colab-boot", mine, colab_boot, ours), ("uv", other, uv, theirs)):
            requests, read = counted(function, binary, requirements)
            wall = " / ".join(f"{value:.2f}" for value in (min(times[tool]), statistics.median(times[tool]), max(times[tool])))
            count = len(pins) if pins else f"refused ({why.splitlines()[0]})"
            size = f"{sum(size for _, size in pins.values()) / 1e9:.2f}" if pins else "-"
            print(f"| {name} | {tool} | {count} | {wall} | {requests} | {read / 1e6:.1f} | {size} |", flush=True)
        if options.pip:
            with tempfile.TemporaryDirectory() as folder:
                pins, seconds = pip(pathlib.Path(folder), requirements)
            print(f"| {name} | pip | {len(pins) if pins else 'failed'} | {seconds:.1f} (one run) | | | |", flush=True)
        if mine and other:
            changed = [f"{key} {mine[key][0]} (uv {other[key][0]})" for key in sorted(mine.keys() & other.keys()) if mine[key][0] != other[key][0]]
            fewer, more = sorted(other.keys() - mine.keys()), sorted(mine.keys() - other.keys())
            notes.append(f"- {name}: {', '.join(changed) or 'the same versions'}; not installed: {', '.join(fewer) or 'none'}; in addition: {', '.join(more) or 'none'}")
    print("\n" + "\n".join(notes))


main()
