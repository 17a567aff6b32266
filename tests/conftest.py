"""What several test files share: the embedded family, a served page whose races a test can hold, and a browser."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gate:
    """Holds real races at a kind of record ("Prefill", "Step") until it is opened or the race is stopped."""

    def __init__(self):
        self.at = ""
        self.held = threading.Semaphore(0)
        self.opened = threading.Event()
        self.begun = 0  # races
        self.stopped = 0

    def hold(self, at: str) -> None:
        self.at = at
        self.held = threading.Semaphore(0)
        self.opened.clear()

    def open(self) -> None:
        self.at = ""
        self.opened.set()

    def wait(self, timeout: float = 60) -> None:
        assert self.held.acquire(timeout=timeout), f"no race came to a {self.at}"

    def race(self, family, settings, stopped=lambda: False):
        from csd.run import run_race

        self.begun += 1
        try:
            for event in run_race(family, settings, stopped):
                yield event
                if self.at and type(getattr(event, "record", None)).__name__ == self.at:
                    self.held.release()
                    while not self.opened.wait(0.02) and not stopped():
                        pass
        finally:
            self.stopped += stopped()


class House:
    """A served page over the embedded family: its address, its studio and its gate."""

    def __init__(self):
        from csd.models import catalog
        from csd.models.family import load_family
        from csd.web import page as layout
        from csd.web.studio import Choice, Studio

        self.gate = Gate()
        self.studio = Studio(Choice(catalog.find("embedded"), "cpu"), load_family, self.gate.race)
        self.page = layout.build(self.studio).queue(max_size=64)
        self.port = free_port()
        self.page.launch(
            server_name="127.0.0.1",
            server_port=self.port,
            prevent_thread_lock=True,
            quiet=True,
            **layout.launch_settings(),
        )
        self.url = f"http://127.0.0.1:{self.port}/"
        self.studio.want(self.studio.home)


@pytest.fixture(scope="session")
def served():
    house = House()
    yield house
    house.gate.open()
    house.page.close()


@pytest.fixture
def house(served):
    """The page with an open gate, before and after."""
    served.gate.open()
    yield served
    served.gate.open()


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = [os.environ.get("CHROMIUM") or "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("there is no Chromium here; set CHROMIUM to one")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()
