"""A real Chromium, through its DevTools."""

import base64, json, os, pathlib, subprocess, time, urllib.request

import websocket


class Browser:
    def __init__(self, folder):
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-allow-origins=*"]
        ports = [f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(["chromium", *options, *ports], env={**os.environ, "HOME": folder}, **quiet)
        port = pathlib.Path(folder) / "DevToolsActivePort"
        for _ in range(600):
            if port.is_file() and port.read_text().strip():
                break
            time.sleep(0.1)
        url = f"http://127.0.0.1:{port.read_text().split()[0]}/json/list"
        pages = [one for one in json.load(urllib.request.urlopen(url, timeout=30)) if one["type"] == "page"]
        self.socket = websocket.create_connection(pages[0]["webSocketDebuggerUrl"], timeout=60)
        self.count, self.events = 0, []

    def __call__(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def value(self, code):
        answer = self("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def key(self, name, code):
        for kind in ("rawKeyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def open(self, url):
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=url)
        while self.value("document.readyState + location.protocol") != f"complete{url.split(':')[0]}:":
            time.sleep(0.05)

    def size(self, width, scheme):
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        shot = self("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(shot))

    def close(self):
        self.process.terminate()
        self.process.wait()
