"""Searches in which versions conflict, beside uv, on an index that this script makes up: time and memory of one cold lock each.

    python3 benches/conflicts.py --colab-boot PATH --uv PATH [--runs N] [KIND SIZE]...
"""

import argparse
import hashlib
import http.server
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

SETS = [("pigeonhole", 7), ("pigeonhole", 8), ("interlock", 200), ("chain", 150), ("extras", 5000), ("extras", 30000)]


def packages(kind, size):
    """Name, version and requirements of everything on the index, and what is asked of it."""
    if kind == "pigeonhole":
        # One package more than there are versions, and no two may have the same.
        table = {
            f"p{at}": {f"{version}.0": [f"p{other}!={version}.0" for other in range(at + 1, size + 1)] for version in range(1, size + 1)}
            for at in range(size + 1)
        }
        return table, list(table)
    if kind == "interlock":
        # A ring of six, each of which wants the next one at its own version, and the last one a step off.
        table = {
            f"r{at}": {f"{version}.0": [f"r{(at + 1) % 6}=={version + (at == 5)}.0"] for version in range(1, size + 1)}
            for at in range(6)
        }
        return table, list(table)
    if kind == "chain":
        # Of three packages only the oldest versions fit each other.
        numbers = range(1, size + 1)
        table = {
            "a": {f"{at}.0": [f"b<={max(1, size - at)}.0", f"c=={at}.0"] for at in numbers},
            "b": {f"{at}.0": [f"a<={max(1, size - at)}.0"] for at in numbers},
            "c": {f"{at}.0": [f"b>={at}.0"] for at in numbers},
        }
        return table, list(table)
    if kind == "extras":
        # One package with so many extras, of which two hundred are asked for.
        table = {f"d{at}": {"1.0": []} for at in range(200)}
        table["big"] = {"1.0": [f"d{at}; extra=='e{at}'" for at in range(size)]}
        return table, ["big[" + ",".join(f"e{at}" for at in range(200)) + "]"]
    sys.exit(f"no such kind: {kind}")


def metadata(name, version, requires):
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    text += "".join(f"Requires-Dist: {line}\n" for line in requires)
    extras = [line.split("'")[1] for line in requires if "extra==" in line]
    return (text + "".join(f"Provides-Extra: {extra}\n" for extra in extras)).encode()


def serve(table):
    """An index on loopback; returns its address."""
    texts = {f"{name}-{version}-py3-none-any.whl": metadata(name, version, table[name][version]) for name in table for version in table[name]}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            first, _, rest = self.path.strip("/").partition("/")
            status, kind, body = 200, "text/plain", b""
            if first == "simple" and rest in table:
                kind = "application/vnd.pypi.simple.v1+json"
                body = page(rest)
            elif first == "f" and rest.removesuffix(".metadata") in texts:
                body = texts[rest.removesuffix(".metadata")]
            else:
                status = 404
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def page(name):
        files = []
        for version in table[name]:
            file = f"{name}-{version}-py3-none-any.whl"
            digest = hashlib.sha256(file.encode()).hexdigest()
            sidecar = {"sha256": hashlib.sha256(texts[file]).hexdigest()}
            files.append({"filename": file, "url": f"/f/{file}", "size": 1000, "hashes": {"sha256": digest}, "core-metadata": sidecar})
        return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "versions": list(table[name]), "files": files}).encode()

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """A connection that is closed early is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/simple"


def measure(command, environment, folder):
    """Seconds, megabytes at the peak, exit code."""
    began = time.monotonic()
    pid = os.posix_spawn(
        command[0], command, environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, str(folder / f"out.{fd}"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) for fd in (1, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    return time.monotonic() - began, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--uv", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("sets", nargs="*", metavar="KIND SIZE")
    options = parser.parse_args()
    sets = list(zip(options.sets[::2], map(int, options.sets[1::2]))) or SETS
    print("| search | colab-boot s, median (worst) | MB | uv s, median (worst) | MB | exit codes |\n|---|---|---|---|---|---|")
    for kind, size in sets:
        table, roots = packages(kind, size)
        url = serve(table)
        rows = {"ours": [], "uv": []}
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                wanted = []
                for root in roots:
                    bare, _, extras = root.rstrip("]").partition("[")
                    wanted.append(f"{bare} = {{ version = '*', extras = {json.dumps(extras.split(','))} }}" if extras else f"{bare} = '*'")
                (folder / "p.toml").write_text("[profile]\nname='p'\nversion='1.0.0'\n[packages]\n" + "\n".join(wanted) + "\n")
                (folder / "p.in").write_text("\n".join(roots) + "\n")
                environment = {"PATH": os.environ["PATH"], "HOME": name, "COLAB_BOOT_CACHE_DIR": f"{name}/cache"}
                ours = [options.colab_boot, "lock", f"{name}/p.toml", "--runtime", "bare-3.12", "--index-url", url]
                theirs = [options.uv, "pip", "compile", f"{name}/p.in", "--no-config", "--cache-dir", f"{name}/uv", "--index-url", url, "--python", sys.executable, "--python-version", "3.12", "--quiet"]
                rows["ours"].append(measure(ours, environment, folder))
                rows["uv"].append(measure(theirs, environment, folder))
        cells = []
        for tool in ("ours", "uv"):
            seconds = [row[0] for row in rows[tool]]
            cells += [f"{statistics.median(seconds):.2f} ({max(seconds):.2f})", f"{max(row[1] for row in rows[tool]):.0f}"]
        print(f"| {kind} of {size:,} | {' | '.join(cells)} | {rows['ours'][0][2]}, {rows['uv'][0][2]} |", flush=True)


main()
