"""The main path in Firefox and in WebKit: the landing race, a race, its review, the presenter and the tour.

They take a minute, so they run when they are asked for: OTHER_BROWSERS=1 bash tests/run.sh tests/web/test_other_browsers.py
"""

from __future__ import annotations

import os

import pytest
from other_browsers import find_firefox, find_webkit, firefox, until, webkit

pytestmark = pytest.mark.skipif(not os.environ.get("OTHER_BROWSERS"), reason="OTHER_BROWSERS=1 was not set")

KEPT = "document.querySelector('#stage .cs-cell[data-fate=kept]:not([data-own]) bdi')"
STAGE = "document.querySelector('#stage .cascade-stage')"


def shown(selector: str) -> str:
    return f"document.querySelector(`{selector}`).checkVisibility()"


def exists(selector: str) -> str:
    return f"document.querySelector(`{selector}`) !== null"


@pytest.fixture(params=["firefox", "webkit"])
def other(request, tmp_path):
    if request.param == "firefox":
        if not (program := find_firefox()):
            pytest.skip("Firefox was not found: apt install firefox-esr")
        with firefox(program, tmp_path) as tab:
            yield tab
    else:
        if not (found := find_webkit()):
            pytest.skip("WebKitGTK was not found: apt install webkit2gtk-driver xvfb")
        with webkit(*found, tmp_path) as tab:
            yield tab


def test_the_main_path(other, house):
    tab = other
    tab.go(house.url)
    until(tab, exists('#family-status [data-state="ready"]'))
    until(tab, f"{STAGE}.dataset.state !== 'idle'")
    tab.click("#race")
    until(tab, exists('#status p[data-state="ended"], #status p[data-state="measured"]'))
    until(tab, f"{STAGE}.dataset.state === 'done'")
    assert "word for word" in tab.run("document.querySelector('#stage .cs-same').innerText")
    assert tab.run("document.querySelectorAll('#stage .cs-track-row').length") == 4
    tab.run(f"({STAGE}.focus(), 1)")
    tab.press("Home", "ArrowRight", "ArrowRight")
    until(tab, "document.querySelector('#stage .cs-score-title').innerText.startsWith('Step 2 of')")
    tab.click("#stage .cs-look")
    until(tab, "document.querySelectorAll('#stage .cs-score .cs-cell').length > 1")
    bottom = tab.run("document.querySelector('#stage .cs-score').getBoundingClientRect().bottom - innerHeight")
    assert bottom <= 0, "the opened review is in the window"
    word = tab.run(
        "(box => [box.width, box.height])(document.querySelector('.cs-axis-vertical .cs-term').getBoundingClientRect())"
    )
    assert word[1] > word[0], "it is written upwards"
    assert tab.run(f"getComputedStyle({KEPT}).textDecorationLine") == "underline"
    assert tab.run(
        f"getComputedStyle({KEPT}).textDecorationColor === getComputedStyle({KEPT}.parentNode).textDecorationColor"
    )
    tab.press("Escape", "p")
    until(tab, f"{STAGE}.hasAttribute('data-present')")
    tab.press("Escape")
    until(tab, f"!{STAGE}.hasAttribute('data-present')")
    tab.run("(scrollTo(0, 0), 1)")
    tab.click("#tour-start")
    until(tab, exists(".tour dialog[open]"))
    tab.click(".tour-next")
    until(tab, "document.querySelector('.tour section:not([hidden]) h2').innerText !== ''")
    tab.press("Escape")
    until(tab, "document.querySelector('.tour dialog[open]') === null")
    assert tab.run(shown("#race"))
