"""A headless Chromium that is driven over a pipe: standard library alone, no driver to install."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --disable-extensions
--hide-scrollbars --remote-debugging-pipe"""
# The browser reads from its descriptor 3 and writes to 4.
START = """import os, sys
a, b = (os.dup(int(fd)) for fd in sys.argv[1:3])
a, b = os.dup(a), os.dup(b)
os.dup2(a, 3), os.dup2(b, 4)
os.execv(sys.argv[3], sys.argv[3:])"""
PATIENCE = 60  # seconds for an answer
ARROWS = ("PageUp", "PageDown", "End", "Home", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")
KEYS = dict(zip(ARROWS, range(33, 41), strict=True))


def program() -> str | None:
    """The browser's path, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser; ``errors`` is what it complained of."""

    def __init__(self) -> None:
        found = program()
        assert found is not None
        self.home = tempfile.mkdtemp(prefix="refsolve-browser-")
        theirs, self.out = os.pipe()
        self.inp, ours = os.pipe()
        own = [found, *FLAGS.split(), f"--user-data-dir={self.home}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-ISc", START, str(theirs), str(ours), *own],
            pass_fds=(theirs, ours),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(ours)
        self.number, self.buffer, self.session = 0, b"", ""
        self.errors: list[str] = []
        self.loaded = False
        try:
            self._attach()
        except (RuntimeError, OSError):
            self.close()
            raise

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser and remove its folder."""
        with contextlib.suppress(OSError):
            os.write(self.out, b'{"id":0,"method":"Browser.close"}\0')
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.home, ignore_errors=True)

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], deadline - time.monotonic())
            more = os.read(self.inp, 1 << 20) if ready else b""
            if not more:
                raise RuntimeError("the browser does not answer")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.errors.append(str(said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            if not (url := said["request"]["url"]).startswith(("file:", "data:")):
                self.errors.append(f"asks for {url}")
        elif method == "Page.loadEventFired":
            self.loaded = True
        return message

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command of the DevTools protocol."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                result: dict[str, Any] = found["result"]
                return result

    def open(self, page: Path, width: int = 1400, height: int = 1000, **media: str) -> None:
        """Load a file; ``media`` are features such as prefers_color_scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        features = [{"name": k.replace("_", "-"), "value": v} for k, v in media.items()]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.errors.clear()
        self.loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self.loaded:
            self._read()

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page, after the next frame is drawn."""
        code = f"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({expression}))))"
        found = self.call(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def middle(self, selector: str, nth: int = 0) -> tuple[float, float]:
        """The centre of an element on the screen, after it was scrolled there."""
        x, y = self.ask(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{nth}];"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return x, y

    def drag(self, selector: str, dx: float, dy: float, *, nth: int = 0, steps: int = 8,
             touch: bool = False, beside: float = 0.0) -> None:  # fmt: skip
        """Press an element, so far beside its middle, move by (dx, dy) pixels, release."""
        x, y = (v + beside for v in self.middle(selector, nth))
        for i in range(steps + 2):
            at = {"x": x + dx * min(i, steps) / steps, "y": y + dy * min(i, steps) / steps}
            kind = 0 if i == 0 else 2 if i == steps + 1 else 1
            if touch:
                name = ("touchStart", "touchMove", "touchEnd")[kind]
                self.call(
                    "Input.dispatchTouchEvent", type=name, touchPoints=[at] if kind < 2 else []
                )
            else:
                name = ("mousePressed", "mouseMoved", "mouseReleased")[kind]
                self.call("Input.dispatchMouseEvent", type=name, button="left", buttons=int(kind < 2),
                          clickCount=1, **at)  # fmt: skip

    def press(self, key: str, times: int = 1) -> None:
        """Press a key on what has the focus."""
        code = KEYS.get(key, ord(key[0].upper()))
        for _ in range(times):
            for kind in ("rawKeyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))
