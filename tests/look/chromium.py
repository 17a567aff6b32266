"""Chromium without a window, as the tests and the commands start it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The first two are pages that each window would start, for suggestions below an address bar that nobody sees. The others are
# playwright's own, repeated since Chromium heeds only the last list.
WITHOUT = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
    "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch", "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
)  # fmt: skip
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    f"--disable-features={','.join(WITHOUT)}",
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
