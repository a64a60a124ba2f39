"""Controls a headless Chromium through the DevTools protocol over two pipes."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of the program: NNC_CHROMIUM, or that of Debian, or None."""
    named = os.environ.get("NNC_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """A tab that shows one file. `errors` are the errors that it logs, and `requests` are its
    requests for other files."""

    def __init__(self, program, width=1280, height=800, dark=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()  # to the browser, and from it
        # The browser reads descriptor 3 and writes to 4.
        command = ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (ours[0], theirs[1]), "sh", program,
                   "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--remote-debugging-pipe", "--hide-scrollbars", "--no-first-run",
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        self.browser = subprocess.Popen(command, pass_fds=(ours[0], theirs[1]),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.source = ours[1], theirs[0]
        self.rest, self.number, self.session = b"", 0, None
        self.events, self.errors, self.requests = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.set_dark(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.terminate()
        self.browser.wait()
        os.close(self.to)
        os.close(self.source)
        self.folder.cleanup()

    def read(self, seconds):
        """The next message, or None."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            more = os.read(self.source, 1 << 16)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        said = json.loads(message)
        self.note(said)
        return said

    def note(self, said):
        method, details = said.get("method"), said.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(details["exceptionDetails"].get("exception", {}).get("description"))
        elif method == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.errors.append(details["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        self.events.append(method)

    def call(self, method, **arguments):
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            said = self.read(60)
            if said is None:
                raise TimeoutError(method)
            if said.get("id") == self.number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]

    def open(self, file):
        """Loads a file, and returns the seconds until it is laid out and drawn."""
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(file).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            if self.read(60) is None:
                raise TimeoutError(f"{file} does not load")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - start

    def run(self, script):
        """The value of an expression, or the value that a promise resolves to."""
        said = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(f"{script}: {said['exceptionDetails']}")
        return said["result"].get("value")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def set_dark(self, dark):
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": value}])

    def key(self, key, text=None):
        """Presses a key, given by its name in events."""
        text = text if text is not None else key if len(key) == 1 else ""
        named = {"key": key, "code": key if len(key) > 1 else "", "text": text}
        if key == "Enter":
            named["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector):
        """Clicks into the middle of the first element that matches a selector."""
        place = self.run(f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
                         "found.scrollIntoView({block: 'nearest'});"
                         "const box = found.getBoundingClientRect();"
                         "return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1],
                      button="left", clickCount=1)

    def shoot(self, file=None):
        """A screenshot of the window as PNG, which is also written to `file`."""
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if file:
            pathlib.Path(file).write_bytes(png)
        return png

    def print(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
