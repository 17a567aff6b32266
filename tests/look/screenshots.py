"""Pictures of the page's main states: bash tests/screenshots.sh FOLDER [--update]"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from browser import House

from look.chromium import launched
from look.states import STATES, open_page

SIZES = ((1280, 720), (1920, 1080), (390, 844))
THEMES = ("light", "dark")
SETTLED = 600  # milliseconds: Plotly draws anew when the window's size has changed


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests/screenshots.sh", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument(
        "--update", action="store_true", help="the page is meant to look like this: write the reference"
    )
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    house = House()
    try:
        with launched() as browser:
            for theme in THEMES:
                shoot(browser, house, theme, asked.folder)
            if asked.update:
                from look import appearance

                appearance.write(appearance.take(browser, house))
                print(appearance.REFERENCE)
    finally:
        house.gate.open()
        house.page.close()


def shoot(browser: Any, house: House, theme: str, folder: Path) -> None:
    """One tab goes through all states, and in each through all sizes."""
    page = open_page(browser, house, theme, SIZES[0])
    for name, state in STATES.items():
        with state(page, house):
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(SETTLED)
                file = folder / f"{name}-{width}x{height}-{theme}.png"
                page.screenshot(path=file)
                print(file)
            width, height = SIZES[0]
            page.set_viewport_size({"width": width, "height": height})
    page.close()


if __name__ == "__main__":
    main()
