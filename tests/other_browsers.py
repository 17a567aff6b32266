"""Firefox and WebKitGTK as Debian has them (firefox-esr, webkit2gtk-driver), which playwright cannot drive: Firefox by
WebDriver BiDi, WebKit by WebDriver."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx
import websocket
from browser import free_port

KEYS = {"ArrowRight": "\ue014", "Home": "\ue011", "Escape": "\ue00c"}
WIDTH, HEIGHT = 1280, 720
STARTS = 60  # seconds that a browser may take to start

T = TypeVar("T")


class Tab(Protocol):
    """A page in one of them. `run` gives the value of a JavaScript expression."""

    def go(self, url: str) -> None: ...
    def run(self, expression: str) -> Any: ...
    def press(self, *keys: str) -> None: ...
    def click(self, selector: str) -> None: ...


def until(tab: Tab, expression: str, seconds: float = 90) -> None:
    """Wait for a JavaScript expression to become true."""
    end = time.monotonic() + seconds
    while not tab.run(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        time.sleep(0.2)


def find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def find_webkit() -> tuple[str, str] | None:
    """Its driver and its browser, where there is also a screen for it."""
    driver = shutil.which("WebKitWebDriver")
    browsers = glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
    return (driver, browsers[-1]) if driver and browsers and shutil.which("Xvfb") else None


class Firefox:
    def __init__(self, address: str):
        self._socket = _opened(address)
        self._numbers = itertools.count(1)
        self._call("session.new", {"capabilities": {}})
        self._page = self._call("browsingContext.getTree", {})["contexts"][0]["context"]
        size = {"width": WIDTH, "height": HEIGHT}
        self._call("browsingContext.setViewport", {"context": self._page, "viewport": size})

    def go(self, url: str) -> None:
        self._call("browsingContext.navigate", {"context": self._page, "url": url, "wait": "complete"})

    def run(self, expression: str) -> Any:
        target = {
            "expression": f"JSON.stringify({expression})",
            "target": {"context": self._page},
            "awaitPromise": True,
        }
        answer = self._call("script.evaluate", target)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def press(self, *keys: str) -> None:
        self._act(_key_actions(keys))

    def click(self, selector: str) -> None:
        self._act(_click_actions(self, selector))

    def _act(self, action: dict[str, Any]) -> None:
        self._call("input.performActions", {"context": self._page, "actions": [action]})

    def _call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]


class WebKit:
    def __init__(self, address: str, browser: str):
        self._client = httpx.Client(base_url=address, timeout=STARTS)
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"alwaysMatch": {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}}
        self._session = self._call("/session", {"capabilities": wanted})["sessionId"]
        self._of_session("window/rect", {"width": WIDTH, "height": HEIGHT + 80})

    def go(self, url: str) -> None:
        self._of_session("url", {"url": url})

    def run(self, expression: str) -> Any:
        return self._of_session("execute/sync", {"script": f"return ({expression})", "args": []})

    def press(self, *keys: str) -> None:
        self._of_session("actions", {"actions": [_key_actions(keys)]})

    def click(self, selector: str) -> None:
        self._of_session("actions", {"actions": [_click_actions(self, selector)]})

    def close(self) -> None:
        self._client.delete(f"/session/{self._session}")

    def _of_session(self, path: str, body: dict[str, Any]) -> Any:
        return self._call(f"/session/{self._session}/{path}", body)

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["value"]


@contextmanager
def firefox(program: str, folder: Path):
    port = free_port()
    profile = folder / "profile"
    profile.mkdir()
    flags = ["--headless", "--no-remote", "--remote-debugging-port", str(port), "--profile", str(profile)]
    with _running([program, *flags], {**os.environ, "HOME": str(folder)}):
        yield Firefox(f"ws://127.0.0.1:{port}/session")


@contextmanager
def webkit(driver: str, browser: str, folder: Path):
    port, screen = free_port(), next(n for n in range(90, 200) if not Path(f"/tmp/.X{n}-lock").exists())
    environment = {**os.environ, "HOME": str(folder), "DISPLAY": f":{screen}"}
    with (
        _running(["Xvfb", f":{screen}", "-screen", "0", "1400x900x24"], environment),
        _running([driver, f"--port={port}"], environment),
    ):
        tab = _patiently(lambda: WebKit(f"http://127.0.0.1:{port}", browser), httpx.ConnectError)
        try:
            yield tab
        finally:
            tab.close()


@contextmanager
def _running(command: list[str], environment: dict[str, str]):
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def _opened(address: str) -> websocket.WebSocket:
    return _patiently(lambda: websocket.create_connection(address, timeout=STARTS, suppress_origin=True), OSError)


def _patiently(start: Callable[[], T], fault: type[Exception]) -> T:
    end = time.monotonic() + STARTS
    while True:
        try:
            return start()
        except fault:
            assert time.monotonic() < end, "the browser did not start"
            time.sleep(0.2)


def _key_actions(keys: tuple[str, ...]) -> dict[str, Any]:
    pressed = [KEYS.get(key, key) for key in keys]
    return {
        "type": "key",
        "id": "keys",
        "actions": [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")],
    }


def _click_actions(tab: Tab, selector: str) -> dict[str, Any]:
    x, y = tab.run(
        f"""(() => {{ const node = document.querySelector({json.dumps(selector)}); node.scrollIntoView({{ block: "nearest" }});
        const box = node.getBoundingClientRect();
        return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]; }})()"""
    )
    steps = [
        {"type": "pointerMove", "x": x, "y": y},
        *({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")),
    ]
    return {"type": "pointer", "id": "mouse", "actions": steps}
