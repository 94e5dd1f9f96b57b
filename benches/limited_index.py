"""A package index of the wheels in a folder that sends each connection a limited number of bytes per second (PEP 503, ranges)."""

import functools
import hashlib
import http.server
import multiprocessing
import os
import re
import time
import urllib.parse

STEP = 0.02  # seconds between two pieces


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folder, digests, limit, *rest):
        self.folder, self.digests, self.limit = folder, digests, limit
        super().__init__(*rest)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = urllib.parse.unquote(self.path).strip("/").split("/")
        if parts[0] == "simple":
            return self.page(parts[1])
        path = self.folder / parts[-1]
        if not path.is_file():
            return self.send_error(404)
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, size - 1
        if asked and asked[1]:
            first, last = int(asked[1]), min(int(asked[2] or last), last)
        elif asked:
            first = max(0, size - int(asked[2]))
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        if self.command == "GET":
            self.send(path, first, last + 1)

    def send(self, path, at, end):
        due, step = time.monotonic(), int(self.limit * STEP)
        with open(path, "rb") as file:
            while at < end:
                at += os.sendfile(self.connection.fileno(), file.fileno(), at, min(step, end - at))
                due += STEP
                time.sleep(max(0, due - time.monotonic()))

    def page(self, project):
        def of_project(name):
            return re.sub(r"[-_.]+", "-", name.split("-")[0]).lower() == project

        links = [f'<a href="/files/{name}#sha256={digest}">{name}</a>' for name, digest in self.digests.items() if of_project(name)]
        body = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
        self.send_response(200 if links else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class LimitedIndex:
    """The index while the block runs; `limit` is in bytes per second and connection."""

    def __init__(self, folder, limit):
        digests = {}
        for path in sorted(folder.glob("*.whl")):
            with open(path, "rb") as file:
                digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, folder, digests, limit))
        self.url = f"http://127.0.0.1:{server.server_port}/simple/"
        self.process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)

    def __enter__(self):
        self.process.start()
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
