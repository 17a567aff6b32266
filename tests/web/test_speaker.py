"""The speaker's window: what to say on each slide of the talk, and what comes next."""

from __future__ import annotations

import pytest

from csd.stage import tour
from csd.stage.remember import SAID

STAGE = "#stage .cascade-stage"


def present(page):
    page.focus(STAGE)
    page.keyboard.press("p")
    page.wait_for_selector(f"{STAGE}[data-present]")


@pytest.mark.slow
def test_the_window_tells_every_slide_and_its_keys_and_buttons_are_those_of_the_talk(tab):
    page, title = tab.page, ".tour section:not([hidden]) h2"
    acts = [act for act in tour.ACTS if act.talk]
    page.focus(STAGE)
    page.keyboard.press("s")
    assert len(page.context.pages) == 1, "only while presenting"
    present(page)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value
    assert notes.inner_text("header span") == f"1 of {len(acts) + 2} · until 0:20"
    assert page.inner_text("#stage .cs-factor") in notes.inner_text("h1")
    assert "word for word" in notes.inner_text("main")
    for place, act in enumerate(acts):
        assert notes.inner_text("footer span") == f"Next: {act.title}"
        notes.click("button:has-text('Next')")
        assert notes.inner_text("h1") == page.inner_text(title) == act.title
        assert notes.inner_text("header span") == f"{place + 2} of {len(acts) + 2} · until {act.until}"
        assert notes.evaluate("innerHeight - document.documentElement.scrollHeight") == 0, "its buttons are in sight"
        assert notes.eval_on_selector("main", "all => all.scrollHeight - all.clientHeight") <= 0, (
            "with all that is said"
        )
        asked = (f"You may ask: {act.question}", f"Answer: {act.choices[act.right]}. {act.answer}")
        about = () if act.show == "result" else asked  # the question is about a cascade that the hall has not seen
        assert tuple(notes.locator("main p").all_inner_texts()) == (*act.say, *about)
        if act.show == "result":  # the end of its race comes first
            notes.keyboard.press("PageDown")
    assert notes.inner_text("h1") == "What to remember" and notes.inner_text("footer span") == ""
    assert notes.is_disabled("button:has-text('Next')")
    assert tuple(notes.locator("main p").all_inner_texts()) == SAID, "which the slide does not show"
    notes.click("button:has-text('Back')")
    assert notes.inner_text("h1") == page.inner_text(title) == acts[-1].title
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.inner_text("#stage .cs-factor") in notes.inner_text("h1"), "the race that lay under the slide"
    with notes.expect_event("close"):
        page.keyboard.press("Escape")
    assert not tab.errors


def test_its_clock_is_the_talks_and_begins_again_with_it(tab):
    page = tab.page
    present(page)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value
    assert notes.evaluate("getComputedStyle(document.body).fontFamily").startswith("Geist")
    notes.wait_for_function("[...document.fonts].some(face => face.status === 'loaded')")
    shows = "text => document.querySelector('header b').textContent >= text"
    for restart in (lambda: page.keyboard.press("Home"), lambda: notes.click("button:has-text('clock')")):
        notes.wait_for_function(shows, arg="0:01")
        restart()
        assert notes.inner_text("header b") == "0:00"
    notes.wait_for_function(shows, arg="0:01")
    with notes.expect_event("close"):
        notes.evaluate("setTimeout(close)")
    with page.expect_popup() as again:
        page.keyboard.press("s")
    assert again.value.inner_text("header b") >= "0:01", "the clock is the talk's, whenever the window is opened"
    assert not tab.errors
