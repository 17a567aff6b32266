"""The main states of the page, in the order in which one tab can go through them.

A state is entered from the Race tab with a race on the stage, and left to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from browser import STORY, House, set_field

Page = Any  # playwright's
State = Callable[[Page, House], AbstractContextManager[None]]
TOKENS = 24
PATIENCE = 120_000  # milliseconds
IN_PLACE = "node => node.getAnimations({subtree: true}).every(one => one.playState !== 'running')"


def open_page(browser: Any, house: House, theme: str, size: tuple[int, int], query: str = "") -> Page:
    """A tab of its own that shows the landing race at its end: with reduced motion nothing plays by itself."""
    width, height = size
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce", locale="en-GB"
    )
    page.set_default_timeout(PATIENCE)
    page.goto(f"{house.url}?__theme={theme}{query}")
    page.wait_for_selector('#family-status [data-state="ready"]')
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    return page


def press(page: Page, *keys: str) -> None:
    """Keys for the stage."""
    page.focus("#stage .cascade-stage")
    for key in keys:
        page.keyboard.press(key)


def to_top(page: Page) -> None:
    page.bring_to_front()  # a page behind another one may draw no frames, and a click waits for two
    page.evaluate("scrollTo(0, 0)")


@contextmanager
def landing(page: Page, house: House) -> Iterator[None]:
    to_top(page)
    yield


@contextmanager
def review(page: Page, house: House) -> Iterator[None]:
    press(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    to_top(page)
    page.click("#stage .cs-look")
    page.wait_for_selector("#stage .cs-score")
    yield
    press(page, "Escape", "End")


@contextmanager
def presenter(page: Page, house: House) -> Iterator[None]:
    press(page, "p")
    page.wait_for_selector("#stage .cascade-stage[data-present]")
    yield
    press(page, "Escape")


@contextmanager
def presented_review(page: Page, house: House) -> Iterator[None]:
    press(page, "Home", "ArrowRight", "ArrowRight", "p", "o")
    page.wait_for_selector("#stage .cs-score")
    yield
    press(page, "Escape", "Escape", "End")


@contextmanager
def drawer(page: Page, house: House) -> Iterator[None]:
    to_top(page)
    page.click("#more")
    page.wait_for_selector("#advanced[data-open]")
    page.wait_for_function(f"({IN_PLACE})(document.querySelector('#advanced'))")
    page.evaluate("CascadePage.reveal('K')")
    yield
    page.click("#advanced-close")


@contextmanager
def tour(page: Page, house: House) -> Iterator[None]:
    """The third act."""
    to_top(page)
    page.click("#tour-start")
    page.wait_for_selector(".tour dialog[open] section:not([hidden])")
    for _ in range(4):  # each act by way of its answer
        page.click(".tour-next")
    page.wait_for_selector(".tour dialog section:nth-of-type(3):not([hidden])")
    yield
    page.click(".tour-close")


@contextmanager
def theory(page: Page, house: House) -> Iterator[None]:
    page.get_by_role("tab", name="Theory").click()
    page.wait_for_selector("#what-if-figure .chart-line")
    to_top(page)
    yield
    page.get_by_role("tab", name="Race").click()


@contextmanager
def unfolded(page: Page, house: House) -> Iterator[None]:
    """The theory with its plan, the picture of a step, its formulas and its curves."""
    with theory(page, house):
        page.click(".step-fold summary")
        page.click("#what-if-picture summary")
        page.click("#curves > button")
        page.wait_for_selector("#paper-curves .js-plotly-plot .main-svg")
        to_top(page)
        yield
        page.click("#curves > button")
        page.click("#what-if-picture summary")
        page.click(".step-fold summary")


@contextmanager
def compare(page: Page, house: House) -> Iterator[None]:
    """With its results: one short race for each kind of prompt."""
    set_field(page, "#max-new input", TOKENS)
    page.get_by_role("tab", name="Compare").click()
    page.click("#compare-repeats label")
    page.click("#compare")
    page.wait_for_selector('#compare-status p[data-state="ended"]')
    page.wait_for_selector("#compare-figure .speeds-bar")
    to_top(page)
    yield
    page.get_by_role("tab", name="Race").click()


@contextmanager
def running(page: Page, house: House) -> Iterator[None]:
    """A race of the embedded family, held in its middle."""
    house.gate.hold("Step", after=2 * TOKENS)
    page.fill("#prompt textarea", STORY)
    set_field(page, "#max-new input", TOKENS)
    page.click("#race")
    house.gate.wait()
    page.wait_for_function("document.querySelectorAll('#stage .cs-token').length > 12")
    yield
    house.gate.open()
    page.wait_for_selector('#status p[data-state="ended"]')


@contextmanager
def done(page: Page, house: House) -> Iterator[None]:
    """The race that `running` began, with its figures."""
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.click("#after > button")
    page.wait_for_function("document.querySelectorAll('#after .js-plotly-plot .main-svg').length >= 5")
    to_top(page)
    yield


STATES: dict[str, State] = {
    state.__name__.replace("_", "-"): state
    for state in (landing, review, presenter, presented_review, drawer, tour, theory, unfolded, compare, running, done)
}
