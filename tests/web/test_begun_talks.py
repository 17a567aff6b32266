"""Where a talk begins: with which race, and from which moment of it."""

from __future__ import annotations

import pytest
from variants import variants


@pytest.mark.slow
def test_a_talk_that_begins_again_begins_with_its_own_race(tab):
    page, stage = tab.page, "#stage .cascade-stage"
    tab.fill(tokens=12)
    own = page.get_attribute(stage, "data-race")
    page.focus(stage)
    page.keyboard.press("p")
    page.keyboard.press("l")
    page.wait_for_selector(f'{stage}[data-state=done]:not([data-race="{own}"])')
    page.keyboard.press("Home")
    page.wait_for_selector(f'{stage}[data-race="{own}"][data-present]')
    page.wait_for_selector("#stage .cs-onward:has-text('Talk: 1 of')")
    page.keyboard.press("End")
    page.wait_for_selector(".tour dialog[open][data-slide]")
    page.keyboard.press("r")  # on a slide as on the stage
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.wait_for_selector(f'{stage}[data-state=done][data-present]:not([data-race="{own}"])')
    assert not tab.errors


def test_a_race_too_short_to_judge_gives_its_place_to_the_first_one(tab):
    page, stage = tab.page, "#stage .cascade-stage"
    first = page.get_attribute(stage, "data-race")
    tab.race(tokens=4)
    assert tab.status("ended").startswith("Done")
    page.wait_for_selector(f'{stage}[data-state=done]:not([data-race="{first}"])')
    page.focus(stage)
    page.keyboard.press("p")
    page.wait_for_selector(f'{stage}[data-race="{first}"][data-present]')
    page.wait_for_selector("#stage .cs-onward:has-text('Talk: 1 of')")
    assert not tab.errors


@variants("key", ["PageDown", "ArrowRight"])
def test_a_talk_that_begins_at_an_open_step_goes_on_to_its_race_from_the_start(tab, key):
    """By a clicker at once; the arrow goes through the steps first."""
    page, stage = tab.page, "#stage .cascade-stage"
    tab.allow_motion()
    page.wait_for_selector(f"{stage}[data-state]")
    page.focus(stage)
    for before in ("End", "o", "p"):
        page.keyboard.press(before)
    page.wait_for_selector(f"{stage}[data-present][data-opened]")
    step = page.evaluate("document.querySelector('#stage .cs-scrubber').valueAsNumber")
    page.keyboard.press(key)
    while key == "ArrowRight" and page.is_visible(f"{stage}[data-opened]"):
        page.keyboard.press(key)
    page.wait_for_selector(f"{stage}[data-present]:not([data-opened])[data-state=replay]")
    assert page.evaluate("document.querySelector('#stage .cs-scrubber').valueAsNumber") < step
    page.wait_for_function(f"document.querySelector('{stage} .cs-replay').innerText === 'Pause'")
    assert not tab.errors


def test_a_look_inside_before_the_slides_comes_back_to_the_result(tab):
    page, stage = tab.page, "#stage .cascade-stage"
    page.wait_for_selector(f"{stage}[data-state=done]")
    page.focus(stage)
    page.keyboard.press("p")
    page.wait_for_selector("#stage .cs-onward:has-text('Talk: 1 of')")
    page.keyboard.press("o")
    page.wait_for_selector(f"{stage}[data-present][data-opened]")
    assert page.text_content("#stage .cs-slide-count").startswith("1 of")
    page.keyboard.press("PageDown")
    page.wait_for_selector(f"{stage}[data-present][data-state=done]:not([data-opened])")
    assert not tab.errors
