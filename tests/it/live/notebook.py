"""Runs a golden notebook through a real Jupyter server, as a browser would, and prints what happened as one line of JSON.

Usage: notebook.py NOTEBOOK WITNESS MODULE.ATTRIBUTE [external]. The server's address and token come from JUPYTER_URL and
JUPYTER_TOKEN. Two more cells are queued behind the first one; each writes the process it runs in, and the attribute, to WITNESS.
With `external` the kernel is restarted from here.
"""

import json
import os
import sys
import time
import urllib.request
import uuid

import websocket

URL, TOKEN = os.environ["JUPYTER_URL"], os.environ["JUPYTER_TOKEN"]
NOTEBOOK, WITNESS, SEEN = sys.argv[1:4]
PATIENCE = 240


def call(method, path):
    request = urllib.request.Request(URL + path, method=method, data=b"{}" if method == "POST" else None)
    request.add_header("Authorization", "token " + TOKEN)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read() or b"null")


class Channel:
    """The kernel's channels over the server's websocket."""

    def __init__(self, kernel):
        address = f"{URL.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?token={TOKEN}"
        # The server answers once the kernel has started, which takes its time on a busy machine.
        self.socket = websocket.create_connection(address, timeout=60)
        self.socket.settimeout(5)
        self.session = uuid.uuid4().hex
        self.statuses = []

    def send(self, code):
        name = uuid.uuid4().hex
        header = {"msg_id": name, "session": self.session, "username": "test", "msg_type": "execute_request", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": []}
        self.socket.send(json.dumps(message))
        return name

    def receive(self):
        try:
            return json.loads(self.socket.recv())
        except websocket.WebSocketTimeoutException:
            return None

    def collect(self, names):
        """Replies and outputs of the requests, until each is answered and the kernel has gone idle after it."""
        replies, idle, outputs = {}, set(), {name: "" for name in names}
        end = time.monotonic() + PATIENCE
        while (len(replies) < len(names) or len(idle) < len(names)) and time.monotonic() < end:
            message = self.receive()
            if not message:
                continue
            parent = message["parent_header"].get("msg_id")
            kind, content = message["msg_type"], message["content"]
            if kind == "status":
                self.statuses.append(content["execution_state"])
            if parent not in outputs:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                idle.add(parent)
            elif kind == "execute_reply":
                replies[parent] = content["status"]
            elif kind == "stream":
                outputs[parent] += content["text"]
            elif kind == "error":
                outputs[parent] += "\n".join(content["traceback"]) + "\n"
        return [replies.get(name) for name in names], [outputs[name] for name in names]

    def wait_for_restart(self):
        """Statuses until the new kernel has started."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            message = self.receive()
            if message and message["msg_type"] == "status":
                self.statuses.append(message["content"]["execution_state"])
                if self.statuses[-1] in ("starting", "restarting"):
                    time.sleep(2)
                    return


def witness(name):
    return f"import os, {SEEN.split('.')[0]}\nopen({WITNESS!r}, 'a').write('{name} %d %s\\n' % (os.getpid(), {SEEN}))"


cells = ["".join(cell["source"]) for cell in json.load(open(NOTEBOOK))["cells"] if cell["cell_type"] == "code"]
boot, verify = cells
kernel = call("POST", "api/kernels")["id"]
channel = Channel(kernel)

before = channel.collect([channel.send(witness("before"))])
first = channel.collect([channel.send(code) for code in (boot, witness("queued"), witness("queued"))])
if "external" in sys.argv:
    call("POST", f"api/kernels/{kernel}/restart")
else:
    channel.wait_for_restart()
channel = Channel(kernel)
started = time.monotonic()
second = channel.collect([channel.send(boot)])
seconds = time.monotonic() - started
rest = channel.collect([channel.send(code) for code in (witness("after"), verify)])
third = channel.collect([channel.send(boot), channel.send(witness("again"))])
print(json.dumps({
    "before": before, "first": first, "second": second, "seconds": seconds, "rest": rest, "third": third,
    "witness": open(WITNESS).read().split("\n")[:-1],
}))
