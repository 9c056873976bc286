"""A real Chromium over its DevTools protocol, spoken through a pipe: needs nothing but the browser itself."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE_S = 60
_AT_3_AND_4 = """
import os, sys
for number, place in ((int(sys.argv[1]), 103), (int(sys.argv[2]), 104), (103, 3), (104, 4)):
    os.dup2(number, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def browser_path() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


class Chromium:
    """One page of a headless browser, without a network unless it visits an address of this machine."""

    def __init__(self) -> None:
        path = browser_path()
        assert path is not None
        self._profile = tempfile.mkdtemp(prefix="heddle-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        arguments = [
            path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
            f"--user-data-dir={self._profile}",
        ]  # fmt: skip

        # The browser looks for its pipe at 3 and 4. A small Python puts it there and becomes the browser: code run
        # between fork and exec in this process, which has threads, would be asking for trouble.
        launch = [sys.executable, "-c", _AT_3_AND_4, str(to_browser), str(from_browser), *arguments]
        self._process = subprocess.Popen(
            launch, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._session = ""
        self._from = "file:"  # what the page may ask for without a complaint
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.connected(False)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            result: dict[str, Any] = answer["result"]
            return result

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def connected(self, wanted: bool) -> None:
        speed = -1 if wanted else 0
        self.call(
            "Network.emulateNetworkConditions", offline=not wanted, latency=0, downloadThroughput=speed,
            uploadThroughput=speed,
        )  # fmt: skip

    def open(self, path: Path, *, width: int = 1200, dark: bool = False) -> None:
        """Load the file and wait until it is there."""
        self.connected(False)
        self._from = "file:"
        self._load(path.resolve().as_uri(), width, dark)

    def visit(self, url: str, *, width: int = 1200, dark: bool = False) -> None:
        """Load a page of a server, which may ask that server for more, and nobody else."""
        self.connected(True)
        self._from = "/".join(url.split("/")[:3]) + "/"
        self._load(url, width, dark)

    def until(self, expression: str, within_s: float = PATIENCE_S) -> None:
        """Wait until it is true. How soon it is depends on what else the machine does."""
        began_s = time.monotonic()
        while not self.evaluate(expression):
            if time.monotonic() - began_s > within_s:
                shown = self.evaluate("document.querySelector('main').innerText")
                raise AssertionError(f"not within {within_s} s: {expression}\n{shown}")
            time.sleep(0.05)

    def _load(self, url: str, width: int, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        # By way of an empty page: the one before must be gone before its successor is listened to, or what it still
        # asks for counts as the successor's; and another fragment of the same page would load nothing.
        self._navigate("about:blank")
        self._navigate(url)

    def _navigate(self, url: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE_S
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > deadline:
                raise RuntimeError("the page does not load")
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings on the console, exceptions, and everything that was asked of the network."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(self._from):
                found.append(f"asked for {parameters['request']['url']}")
        return found

    def screenshot(self, path: Path) -> None:
        """The whole page."""
        height = self.evaluate("document.documentElement.scrollHeight")
        width = self.evaluate("window.innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))
