"""The first slide of a talk: the race in slow motion, and its verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bare import greedy
from handmade import alone, nested

CONTROLS = """() => [...document.querySelectorAll(".cs-transport *, .cs-bridge *, .cs-ask *")]
    .filter(one => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })).map(one => one.className)"""


# Presses a key in the moment in which the replay has ended. Returns whether the talk went on, here into the review.
PRESS_AT_THE_END = """key => new Promise((done) => {
    const root = document.querySelector(".cascade-stage");
    new MutationObserver((_, watch) => {
        if (root.dataset.state !== "done") return;
        watch.disconnect();
        root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        done(root.hasAttribute("data-opened"));
    }).observe(root, { attributeFilter: ["data-state"] });
})"""


@pytest.mark.slow
def test_the_first_slide_is_the_race_in_slow_motion_without_a_control(bare):
    """It waits for the first press. It ends by itself, or with the second, and both lead to the verdict on the same slide."""
    one = bare().show(greedy(alone()), greedy(nested()))
    one.press("End", "p")
    assert one.state() == "replay" and one.text(".cs-runs b") == "", "at its start, for the hall"
    assert one.text(".cs-hint").startswith("Page Down: start the race")
    assert one.text(".cs-idea b") == "One prompt, two methods: which is done first?"
    assert one.text(".cs-idea span").startswith("Slow motion, ") and not one.page.is_visible(".cs-lead")
    assert one.page.is_visible(".cs-prompt-text")
    one.page.wait_for_function(f"({CONTROLS})().length === 0")
    title = one.page.locator(".cs-track").bounding_box()
    assert one.page.eval_on_selector(".cs-hint", "node => getComputedStyle(node).opacity") == "1"
    one.press("PageDown")
    one.page.wait_for_function("document.querySelector('.cs-runs b').textContent")
    one.press("PageDown")
    assert one.state() == "done" and one.page.is_visible(".cs-lead"), "the press is not lost"
    assert one.page.locator(".cs-track").bounding_box() == title, "nothing moves when the verdict comes"
    one.page.wait_for_function("getComputedStyle(document.querySelector('.cs-hint')).opacity === '0'")
    one.press("Home", "PageDown")
    assert one.state() == "replay"
    assert not one.page.evaluate(PRESS_AT_THE_END, "PageDown"), "a press that comes with the end does not go past it"
    assert one.page.is_visible(".cs-lead") and not one.page.evaluate(CONTROLS)
    one.page.hover(".cs-transport")
    one.page.wait_for_function(f"({CONTROLS})().length > 0")  # the pointer at the lower edge brings them
    assert not one.errors


def test_a_race_at_a_high_temperature_asks_whether_guessing_pays(bare):
    hot = replace(nested(), header=replace(nested().header, temperature=1.5))
    one = bare().show(replace(alone(), header=replace(alone().header, temperature=1.5)), hot)
    one.press("End", "p")
    assert one.text(".cs-idea b") == "Temperature 1.5: chance picks the words. Does guessing pay?"
    assert not one.errors


def test_who_leaves_before_its_end_is_shown_the_whole_race(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    for keys in (("End", "p"), ("End", "p", "PageDown"), ("End", "p", "ArrowRight")):
        one.press(*keys)
        assert one.state() == "replay"
        assert one.text(".cs-replay") == ("Play" if len(keys) == 2 else "Pause")
        one.press("Escape")
        assert one.state() == "done" and one.page.is_visible(".cs-lead")
    one.press("ArrowLeft", "p", "Escape")
    assert one.state() == "replay", "a step that somebody stopped at stays"
    assert not one.errors


def test_who_asks_for_less_motion_begins_a_talk_with_the_verdict(bare):
    one = bare(calm=True).show(greedy(alone()), greedy(nested()))
    one.press("End", "p")
    assert one.state() == "done" and one.page.is_visible(".cs-lead")
    assert not one.errors


def test_a_step_that_somebody_stopped_at_is_presented(bare):
    one = bare().show(alone(), nested())
    one.press("End", "ArrowLeft", "p")
    assert one.state() == "replay" and one.text(".cs-replay") == "Play", "it stands"
    assert not one.errors


def test_its_notes_follow_the_race_and_a_blocked_window_is_told_of(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.evaluate("window.kept = window.open; window.open = () => null")
    one.press("End", "p", "s")
    assert "Allow pop-ups" in one.text(".cs-prompt-refused")
    one.page.evaluate("window.open = kept")
    one.press("Home")
    with one.page.expect_popup() as opened:
        one.page.keyboard.press("s")
    notes = opened.value
    assert notes.inner_text("footer span") == "Next: the race"
    notes.keyboard.press("PageDown")
    assert notes.inner_text("footer span") == "Next: the result"
    assert notes.inner_text("h1") == one.text(".cs-idea b") and "Which of these" in notes.inner_text("main")
    notes.keyboard.press("End")
    assert notes.inner_text("h1") != one.text(".cs-idea b") and one.state() == "done"
    notes.keyboard.press("o")
    assert notes.inner_text("h1") == one.text(".cs-score-title"), "a look inside"
    assert one.text(".cs-prompt-refused") == ""
    assert not one.errors
