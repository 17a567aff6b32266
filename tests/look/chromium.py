"""Chromium without a window, as the tests and the commands start it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",  # widths of text do not depend on the system's hinting
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """The path of the browser that CHROMIUM names, else of the system's."""
    names = (os.environ.get("CHROMIUM") or NAMES[0], *NAMES[1:])
    return next((found for name in names if (found := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Any]:
    """A browser for the length of the block. Raises SystemExit with a sentence where there is none."""
    from playwright.sync_api import sync_playwright

    path = find()
    if path is None:
        raise SystemExit("Chromium was not found. Set CHROMIUM to its path.")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()
