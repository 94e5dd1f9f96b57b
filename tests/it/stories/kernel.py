"""A user at a Jupyter server, told by lines of JSON on standard input what to do; answers each with a line of JSON.

start              → {"kernel": ID, "pid": PID}: another one in the place of one that never answers
run ID CELLS       → {"statuses": [...], "outputs": [...], "pages": [...]}: the cells are queued at once, as "Run all" does
send ID CELL       → {}: nothing is waited for
stop ID            → {}: the kernel is ended
restart ID         → {}: the kernel is restarted, as the menu does
interrupt ID       → {}: the kernel is interrupted, as the stop button does
settle ID OLD      → {"pid": PID}: waits until the kernel answers, in another process than OLD where that is given
"""

import json
import os
import sys
import time
import urllib.request
import uuid

import websocket

URL, TOKEN = os.environ["JUPYTER_URL"], os.environ["JUPYTER_TOKEN"]
PATIENCE = 120


def call(method, path, body=None):
    data = json.dumps(body or {}).encode() if method == "POST" else None
    request = urllib.request.Request(URL + path, method=method, data=data)
    request.add_header("Authorization", "token " + TOKEN)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read() or b"null")


class Channel:
    def __init__(self, kernel):
        address = f"{URL.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?token={TOKEN}"
        # The server answers once the kernel has started, which takes its time on a busy machine.
        self.socket = websocket.create_connection(address, timeout=60)
        self.socket.settimeout(1)
        self.session = uuid.uuid4().hex

    def send(self, code):
        name = uuid.uuid4().hex
        header = {"msg_id": name, "session": self.session, "username": "test", "msg_type": "execute_request", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": []}
        self.socket.send(json.dumps(message))
        return name

    def collect(self, names, patience=PATIENCE):
        replies, idle, outputs, pages = {}, set(), {name: "" for name in names}, {name: "" for name in names}
        end = time.monotonic() + patience
        while (len(replies) < len(names) or len(idle) < len(names)) and time.monotonic() < end:
            try:
                message = json.loads(self.socket.recv())
            except websocket.WebSocketTimeoutException:
                continue
            parent = message["parent_header"].get("msg_id")
            kind, content = message["msg_type"], message["content"]
            if parent not in outputs:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                idle.add(parent)
            elif kind == "execute_reply":
                replies[parent] = content["status"]
            elif kind == "stream":
                outputs[parent] += content["text"]
            elif kind == "display_data":
                outputs[parent] += content["data"].get("text/plain", "") + "\n"
                pages[parent] += content["data"].get("text/html", "")
            elif kind == "error":
                outputs[parent] += "\n".join(content["traceback"]) + "\n"
        return [replies.get(name) for name in names], [outputs[name] for name in names], [pages[name] for name in names]


def start():
    """A kernel that answers. The ports that the server chose for one may be another process's by the time it binds them."""
    for patience in (40, PATIENCE):
        kernel = call("POST", "api/kernels", {"name": "day"})["id"]
        try:
            return {"kernel": kernel, "pid": settle(kernel, None, patience)}
        except TimeoutError as error:
            last = error
            call("DELETE", f"api/kernels/{kernel}")
    raise last


def settle(kernel, old, patience=PATIENCE):
    end, seen, may_retry = time.monotonic() + patience, "nothing", old is not None
    while time.monotonic() < end:
        try:
            channel = Channel(kernel)
            _, (said,), _ = channel.collect([channel.send("import os; print(os.getpid())")], patience=5)
            channel.socket.close()
            if said.strip().isdigit() and int(said) != old:
                return int(said)
            seen = f"an answer {said!r}"
        except (OSError, websocket.WebSocketException) as error:
            seen = repr(error)
        if may_retry and seen == "an answer ''" and time.monotonic() > end - patience / 2:
            # The ports of a kernel that restarts may be another process's by the time it binds them again.
            may_retry = False
            print(f"kernel {kernel} does not answer after its restart: it is restarted once more", file=sys.stderr)
            call("POST", f"api/kernels/{kernel}/restart", {})
        time.sleep(0.1)
    raise TimeoutError(f"the kernel did not come back after {old}: {seen}; the server says {call('GET', f'api/kernels/{kernel}')}")


channels = {}
for line in sys.stdin:
    verb, *rest = json.loads(line)
    answer = {}
    if verb == "start":
        answer = start()
    elif verb == "run":
        kernel, cells = rest
        channel = Channel(kernel)
        statuses, outputs, pages = channel.collect([channel.send(cell) for cell in cells])
        channel.socket.close()
        answer = {"statuses": statuses, "outputs": outputs, "pages": pages}
    elif verb == "send":
        kernel, cell = rest
        channels[kernel] = Channel(kernel)
        channels[kernel].send(cell)
    elif verb == "stop":
        call("DELETE", f"api/kernels/{rest[0]}")
    elif verb == "restart":
        call("POST", f"api/kernels/{rest[0]}/restart")
    elif verb == "interrupt":
        call("POST", f"api/kernels/{rest[0]}/interrupt")
    elif verb == "settle":
        answer = {"pid": settle(*rest)}
    print(json.dumps(answer), flush=True)
