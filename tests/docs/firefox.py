"""A headless Firefox that is driven over Marionette, the protocol that it speaks itself: standard library alone."""

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from browser import ARROWS, PATIENCE
from browser import Browser as Chromium

PREFS = {
    "marionette.port": 0,  # any free one; it is written to the profile
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.w3c_touch_events.enabled": 1,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
KEYS = dict(zip(ARROWS, map(chr, range(0xE00E, 0xE016)), strict=True))
# In the browser's own context, before a page: what it asks for is kept, the size and the media are set.
PREPARE = """const [width, height, media] = arguments;
window.asked ??= (Services.obs.addObserver(
  { observe: (r) => window.asked.push(r.QueryInterface(Ci.nsIHttpChannel)) }, "http-on-modify-request"), []);
window.asked.length = 0;
const { style } = gBrowser.selectedBrowser;
Object.assign(style, { width: `${width}px`, height: `${height}px`, minWidth: "0", flex: "none" });
Services.prefs.setIntPref("ui.prefersReducedMotion", Number(media.prefers_reduced_motion === "reduce"));
const schemes = { dark: 0, light: 1 };
Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", schemes[media.prefers_color_scheme] ?? 2);
Services.console.reset();"""
ASK = """const [code, done] = arguments;
requestAnimationFrame(() => requestAnimationFrame(() => done(window.eval(`(${code})`))));"""
# What a page complained of: the errors of its scripts, its requests, and, kept in its own process, its console.
COMPLAINTS = """const messages = Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError);
const own = window.asked.filter((r) => r.loadInfo.browsingContextID === gBrowser.selectedBrowser.browsingContext.id);
return [...messages.filter((m) => !(m.flags & 1) && m.sourceName.startsWith("file:")).map((m) => m.errorMessage),
  ...own.map((r) => `asks for ${r.URI.spec}`)];"""
CONSOLE = """const storage = Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage);
return storage.getEvents(window.windowGlobalChild.innerWindowId).filter((e) => ["error", "warn"].includes(e.level))
  .map((e) => [...e.arguments].map(String).join(" "));"""


def program() -> str | None:
    """The browser's path, if there is one."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Browser(Chromium):
    """One page in one Firefox, with the methods of the other driver."""

    def __init__(self) -> None:
        found = program()
        assert found is not None
        self.home = tempfile.mkdtemp(prefix="refsolve-firefox-")
        lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFS.items())
        Path(self.home, "user.js").write_text("".join(lines), "utf-8")
        flags = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
        self.process = subprocess.Popen(
            [found, *flags, "--profile", self.home],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0
        self.seen: list[str] = []
        try:
            port = Path(self.home, "MarionetteActivePort")
            deadline = time.monotonic() + PATIENCE
            while not (port.exists() and port.read_text()):
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError("Firefox does not answer")
                time.sleep(0.1)
            self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), PATIENCE)
            self.file = self.socket.makefile("rb")
            self._message()  # its greeting
            self.call("WebDriver:NewSession")
        except (RuntimeError, OSError):
            self.close()
            raise

    @property
    def errors(self) -> list[str]:  # type: ignore[override]
        """What the page complained of since it was opened."""
        said = self.call("WebDriver:ExecuteScript", script=CONSOLE, args=[], sandbox="system")
        return [*said, *self._own(COMPLAINTS)]

    def close(self) -> None:
        with contextlib.suppress(RuntimeError, OSError, AttributeError):
            self.call("Marionette:Quit")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if hasattr(self, "socket"):
            self.file.close()
            self.socket.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _message(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            if not (byte := self.file.read(1)):
                raise RuntimeError("Firefox does not answer")
            length += byte
        return json.loads(self.file.read(int(length[:-1])))

    def call(self, method: str, **params: Any) -> Any:
        """The result of a command of Marionette."""
        self.number += 1
        text = json.dumps([0, self.number, method, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self._message()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _own(self, script: str, *args: Any) -> Any:
        """The value of a script in the browser's own context."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteScript", script=script, args=args)
        finally:
            self.call("Marionette:SetContext", value="content")

    def open(self, page: Path, width: int = 1400, height: int = 1000, **media: str) -> None:
        self._own(PREPARE, width, height, media)
        self.call("WebDriver:Navigate", url=page.resolve().as_uri())

    def ask(self, expression: str) -> Any:
        # as the page itself would: what its scripts declare is seen
        return self.call("WebDriver:ExecuteAsyncScript", script=ASK, args=[expression])

    def _act(self, source: str, actions: list[dict[str, Any]]) -> None:
        kind: dict[str, Any] = {"type": "key"}
        if source != "key":
            kind = {"type": "pointer", "parameters": {"pointerType": source}}
        self.call("WebDriver:PerformActions", actions=[{"id": source, **kind, "actions": actions}])

    def drag(self, selector: str, dx: float, dy: float, *, nth: int = 0, steps: int = 8,
             touch: bool = False, beside: float = 0.0) -> None:  # fmt: skip
        x, y = (v + beside for v in self.middle(selector, nth))
        way = [
            {"type": "pointerMove", "x": x + dx * i / steps, "y": y + dy * i / steps, "duration": 0}
            for i in range(steps + 1)
        ]
        down, up = ({"type": f"pointer{what}", "button": 0} for what in ("Down", "Up"))
        self._act("touch" if touch else "mouse", [way[0], down, *way[1:], up])

    def press(self, key: str, times: int = 1) -> None:
        value = KEYS.get(key, key)
        pair = [{"type": f"key{what}", "value": value} for what in ("Down", "Up")]
        self._act("key", pair * times)

    def picture(self, path: Path) -> None:
        found = self.call("WebDriver:TakeScreenshot", full=True)
        path.write_bytes(base64.b64decode(found))
