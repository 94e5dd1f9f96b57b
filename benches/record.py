#!/usr/bin/env python3
"""Records what both tools ask an index for, so that a server on loopback can answer it again: pages in JSON with advertised METADATA
(PEP 658), METADATA, and the last bytes of wheels. Hosts are stripped: links are relative.

    python3 benches/record.py --colab-boot target/release/colab-boot --uv uv --into /tmp/recorded

Needs the package index. Each set of `peers.py` is locked by both tools through a proxy that keeps what it passes on; for a wheel whose
METADATA is asked for, it is read from the wheel by ranges.
"""

import argparse
import io
import json
import pathlib
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from peers import SETS, colab_boot, default_index, uv

JSON = "application/vnd.pypi.simple.v1+json"
TAIL = 512 << 10


class Wheel(io.RawIOBase):
    """A wheel on a server as a file: `zipfile` reads what it needs."""

    def __init__(self, url):
        self.url, self.at = url, 0
        first = self.fetch(f"bytes=-{TAIL}")
        self.size, self.tail = first

    def fetch(self, part):
        with urllib.request.urlopen(urllib.request.Request(self.url, headers={"Range": part}), timeout=120) as reply:
            body = reply.read()
            total = reply.headers.get("Content-Range", f"/{len(body)}").rpartition("/")[2]
            return int(total), body

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.at = offset + {0: 0, 1: self.at, 2: self.size}[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        start, end = self.at, min(self.size, self.at + len(buffer))
        if end <= start:
            return 0
        held = self.size - len(self.tail)
        body = self.tail[start - held : end - held] if start >= held else self.fetch(f"bytes={start}-{end - 1}")[1]
        buffer[: len(body)] = body
        self.at += len(body)
        return len(body)


class Recorder(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    index = default_index().rstrip("/")
    folder: pathlib.Path
    urls: dict = {}
    wheels: dict = {}
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # a tool that has its answer leaves in the middle of a reply

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        try:
            if parts[0] == "simple":
                body, kind = self.page(parts[1]), JSON
            else:
                body, kind = self.file(urllib.parse.unquote(parts[1])), "application/octet-stream"
        except (urllib.error.HTTPError, KeyError) as error:
            self.reply(getattr(error, "code", 404), b"", "text/plain")
            return
        self.reply(200, body, kind)

    do_HEAD = do_GET

    def reply(self, status, body, kind):
        part = self.headers.get("Range")
        total, extra = len(body), None
        if status == 200 and part and not self.path.endswith(".metadata"):
            total, body = body if isinstance(body, tuple) else (len(body), body)
            low, _, high = part.removeprefix("bytes=").partition("-")
            start = int(low) if low else max(0, total - int(high))
            end = total if not low or not high else min(total, int(high) + 1)
            held = total - len(body)
            status, body, extra = 206, body[max(0, start - held) : end - held], f"bytes {start}-{end - 1}/{total}"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if extra:
            self.send_header("Content-Range", extra)
        body = b"" if isinstance(body, tuple) else body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def page(self, name):
        kept = self.folder / "pages" / f"{name}.json"
        address = f"{self.index}/{name}/"
        request = urllib.request.Request(address, headers={"Accept": JSON})
        with urllib.request.urlopen(request, timeout=120) as reply:
            listing = json.loads(reply.read())
        for file in listing["files"]:
            with Recorder.lock:
                Recorder.urls[file["filename"]] = urllib.parse.urljoin(address, file["url"])
            file["url"] = f"../../files/{urllib.parse.quote(file['filename'])}"
            if file["filename"].endswith(".whl"):
                file["core-metadata"] = True
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": listing["files"], "versions": []}).encode()
        kept.write_bytes(body)
        return body

    def file(self, name):
        wheel = name.removesuffix(".metadata")
        with Recorder.lock:
            url = Recorder.urls[wheel]
        if wheel not in Recorder.wheels:
            Recorder.wheels[wheel] = Wheel(url)
        opened = Recorder.wheels[wheel]
        if name == wheel:
            (self.folder / "tails" / wheel).write_bytes(opened.size.to_bytes(8, "little") + opened.tail)
            return (opened.size, opened.tail)
        kept = self.folder / "metadata" / name
        if not kept.exists():
            archive = zipfile.ZipFile(io.BufferedReader(Wheel(url), 1 << 20))
            member = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA") and one.count("/") == 1)
            kept.write_bytes(archive.read(member))
        return kept.read_bytes()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--into", required=True, type=pathlib.Path)
    options = options.parse_args()
    for name in ("pages", "metadata", "tails"):
        (options.into / name).mkdir(parents=True, exist_ok=True)
    Recorder.folder = options.into
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/simple"
    ours = str(pathlib.Path(options.colab_boot).resolve())
    for name, requirements in SETS.items():
        with tempfile.TemporaryDirectory() as folder:
            mine, why = colab_boot(ours, pathlib.Path(folder), requirements, address)
            other, reason = uv(options.uv, pathlib.Path(folder), requirements, address)
        print(name, len(mine) if mine else why, len(other) if other else reason, flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
