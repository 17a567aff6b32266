"""How far the parts of the page move by themselves, from its load to the end of a race: cumulative layout shift.

Until the page comes into view, Gradio shows a picture of its own, in the middle of a page that still grows. Nothing else is
to be seen then, so a shift of that picture alone is left out of all sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser import STORY, House, set_field

from look.states import PATIENCE, TOKENS

SCRIPT = (Path(__file__).parent / "shifts.js").read_text(encoding="utf-8")
LIMIT = 0.05
GAP, WINDOW = 1000, 5000  # milliseconds between the shifts of a window, and from its first to its last
SIZES = ((1280, 720), (1920, 1080), (390, 844))


@dataclass(frozen=True)
class Shifts:
    """CLS as web.dev defines it: the largest sum within a window; what moves within 0.5 s of a click does not count.

    `total` is the sum over the whole visit, clicks included.
    """

    cls: float
    total: float
    largest: list[Any]


def summed(seen: list[dict[str, Any]]) -> Shifts:
    """From shifts in the order of their times, in milliseconds."""
    seen = [shift for shift in seen if not shift["loading"]]
    windows: list[list[dict[str, Any]]] = []
    for shift in seen:
        if shift["after_input"]:
            continue
        is_near = windows and shift["at"] - windows[-1][-1]["at"] < GAP and shift["at"] - windows[-1][0]["at"] < WINDOW
        if is_near:
            windows[-1].append(shift)
        else:
            windows.append([shift])
    sums = [sum(shift["value"] for shift in window) for window in windows]
    largest = sorted(seen, key=lambda shift: -shift["value"])[:3]
    return Shifts(max(sums, default=0.0), sum(shift["value"] for shift in seen), largest)


def _open(browser: Any, house: House, size: tuple[int, int]) -> Any:
    """A fresh tab, in which the landing race has played to its end."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(SCRIPT)
    page.goto(house.url)
    page.wait_for_selector('#family-status [data-state="ready"]')
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    return page


def measure_opening(browser: Any, house: House, size: tuple[int, int]) -> Shifts:
    """The landing race plays to its end."""
    page = _open(browser, house, size)
    page.wait_for_timeout(600)
    seen = page.evaluate("shifts")
    page.close()
    return summed(seen)


def measure(browser: Any, house: House, size: tuple[int, int]) -> Shifts:
    """The landing race plays to its end, then a race runs to its end and its figures are drawn."""
    page = _open(browser, house, size)
    page.press("#prompt textarea", "ControlOrMeta+a")
    page.keyboard.type(STORY)  # with keys, as a visitor does: a filled field is no input to the browser
    set_field(page, "#max-new input", TOKENS)
    page.click("#race")
    page.wait_for_selector('#status p[data-state="ended"]')
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.wait_for_selector("#after")
    page.wait_for_timeout(300)
    seen = page.evaluate("shifts")
    page.close()
    return summed(seen)
