"""What several test files share: the embedded family, a served page, a browser, and the markers `fast` and `browser`."""

from __future__ import annotations

import os
import shutil

import pytest
from browser import House

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
)
PAGE_FIXTURES = {"chromium", "house", "served"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that serve the page or open Chromium `browser`, and all that are neither `browser` nor `slow` `fast`."""
    for item in items:
        if PAGE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
        elif item.get_closest_marker("slow") is None:
            item.add_marker("fast")


@pytest.fixture(scope="session")
def embedded():
    """The embedded family on the CPU, opened once."""
    from csd.models import catalog
    from csd.models.family import load_family

    return load_family(catalog.find("embedded"), "cpu")


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
        pytest.skip("Chromium was not found; set CHROMIUM to its path")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()
