"""The page's first replay: one thing after another, in two lanes, and the others with the result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import alone, nested

from csd.stage.log import log_of

TRACK = '.cs-track-row[data-lane="1"] .cs-pending'
LOOKS = f"[...document.querySelectorAll('{TRACK} path[data-look]')].map(path => path.dataset.look).sort().join('')"
STRUCK = "nodes => nodes.map(node => getComputedStyle(node).textDecorationLine).join()"
ROWS = "[...document.querySelectorAll('.cs-track-row')].map(row => {})"


def by_hand(one):
    """Frames come by hand: a slow machine may draw none before an act is over."""
    one.page.clock.install(time=0)
    one.page.clock.pause_at(1)
    return one


def test_the_first_replay_shows_guesses_then_their_check_then_what_it_gave(bare):
    fast = alone(), nested()
    one = by_hand(bare()).show(*fast, play=True)
    one.page.clock.run_for(500)
    assert one.text(".cs-idea b") == "A cascade of small models guesses 5 tokens ahead."
    assert one.text(".cs-pace").endswith("\xa0ms, in slow motion"), "the race's own time, at several speeds"
    assert one.text(".cs-selected .cs-runs b") == "0 runs"
    one.page.clock.run_for(2000)
    assert one.text(".cs-idea b") == "One run of the big model checks all 5."
    assert one.page.is_visible(".cs-selected .cs-frame") and one.text(".cs-selected .cs-runs b") == "1 run"
    words = one.page.locator(".cs-wrong-words .cs-word")
    assert words.evaluate_all(STRUCK) == "underline,underline", "as any guess"
    one.page.clock.run_for(1500)
    assert one.text(".cs-idea b") == "3 of 5 guesses are right."
    assert one.page.locator(f"{TRACK} .cs-strike").count() == 2 and one.page.locator(f"{TRACK} .cs-sure").count() == 3
    assert one.seen(1) == "", "it is not written yet"
    assert words.evaluate_all(STRUCK) == "line-through,line-through"
    one.page.clock.run_for(1500)
    assert one.page.locator(".cs-strike").count() == 0 and words.count() == 0
    assert one.text(".cs-idea b") == "That run gave 4 tokens: 3 guesses and one of its own."
    assert one.text(".cs-rest") == "The big model alone wrote 0 in the same 45.0 ms."
    stood = one.page.evaluate("stage.time")
    one.page.clock.run_for(400)
    assert one.page.evaluate("stage.time") == stood, "to see what the run gave"
    one.page.evaluate("log => stage.update({race: 'next', log})", log_of(fast, "next", play=True))
    assert one.text(".cs-pace") == "real time", "a later race is one of the visitor's own"
    assert not one.errors


def test_the_first_replay_begins_with_the_big_model_alone(bare):
    quick = alone(tuple(range(1, 9)), 0.01)
    one = by_hand(bare()).show(quick, nested(), play=True)
    one.page.clock.run_for(900)
    assert one.page.get_attribute(".cascade-stage", "data-opening") == "alone"
    assert not one.text(".cs-rest").strip() and one.text(".cs-runs b") == "1 run"
    assert one.page.eval_on_selector(".cs-track-row.cs-selected", "row => getComputedStyle(row).opacity") == "0.4"
    assert one.page.locator(".cs-guess").count() == 0, "the other lane stands"
    one.page.clock.run_for(2000)
    ran = one.text(".cs-runs b")
    one.page.clock.run_for(600)
    assert one.page.get_attribute(".cascade-stage", "data-opening") == "guesses"
    assert one.text(".cs-runs b") == ran, "it waits while the other lane guesses"
    one.page.clock.run_for(1200)
    assert one.page.evaluate(LOOKS), "from the same moment on"
    assert not one.errors


def test_the_first_replay_shows_two_lanes_and_the_others_come_between_them_with_the_result(bare):
    other = replace(nested(), header=replace(nested().header, method="speculative"))
    one = by_hand(bare()).show(alone(), other, nested(), play=True)
    one.page.clock.run_for(500)
    assert one.page.locator(".cascade-stage[data-opening]").count() == 1
    seen, tops = (
        ROWS.format("row.offsetHeight > 0 && getComputedStyle(row).opacity > 0"),
        ROWS.format("row.getBoundingClientRect().top"),
    )
    assert one.page.evaluate(seen) == [True, False, True]
    below = "document.querySelector('.cs-bar').getBoundingClientRect().top"
    stood = one.page.evaluate(below)
    big, _, own = one.page.evaluate(tops)
    one.page.clock.run_for(6500)
    assert one.page.evaluate(seen) == [True, False, True], "until the lane that the race is about is done"
    one.page.clock.run_for(3500)
    assert one.page.get_attribute(".cascade-stage", "data-opening") == "ends" and one.text(".cs-idea b").endswith(
        "tokens."
    )
    one.page.clock.run_for(2000)
    assert one.page.locator(".cascade-stage[data-opening]").count() == 0
    assert one.state() == "done" and one.page.is_visible(".cs-lead"), (
        "at that moment, and not when the slowest lane is done"
    )
    one.page.wait_for_function(f"{seen}.every(Boolean)")
    one.page.wait_for_function("!document.getAnimations().length")
    assert one.page.evaluate(tops)[0] == big and one.page.evaluate(tops)[2] > own
    assert one.page.evaluate(below) == pytest.approx(stood, abs=1), "what is below the lanes stays"
    assert not one.errors


@pytest.mark.parametrize("key", [">", "1"])
def test_another_speed_or_lane_ends_the_opening_and_the_replay_goes_on(bare, key):
    one = by_hand(bare()).show(alone(), nested(), play=True)
    one.page.clock.run_for(500)
    one.press(key)
    one.page.clock.run_for(100)
    assert one.page.locator(".cascade-stage[data-opening]").count() == 0
    assert one.state() == "replay" and one.text(".cs-idea b") != "A cascade of small models guesses 5 tokens ahead."
    assert not one.errors


def test_a_pause_keeps_the_picture_of_the_opening_and_play_goes_on_with_it(bare):
    one = by_hand(bare()).show(alone(), nested(), play=True)
    one.page.clock.run_for(1000)
    told = one.text(".cs-idea")
    assert one.text(".cs-idea b") == "A cascade of small models guesses 5 tokens ahead."
    one.press("Space")
    one.page.clock.run_for(5000)
    assert one.text(".cs-idea") == told and one.text(".cs-replay") == "Play"
    assert one.text(".cs-selected .cs-runs b") == "0 runs" and one.page.locator(".cs-now").count() == 0
    one.press("Space")
    one.page.clock.run_for(1500)
    assert one.text(".cs-idea b") == "One run of the big model checks all 5."
    one.press("Space", "Escape")
    assert one.state() == "done" and one.page.locator(".cascade-stage[data-opening]").count() == 0
    assert not one.errors


@pytest.mark.parametrize(
    ("key", "state"), [("ArrowRight", "replay"), ("1", "replay"), (">", "replay"), ("o", "replay")]
)
def test_who_leaves_the_paused_opening_finds_a_step_or_a_lane(bare, key, state):
    one = by_hand(bare()).show(alone(), nested(), play=True)
    one.page.clock.run_for(2500)
    one.press("Space", key)
    assert one.page.locator(".cascade-stage[data-opening]").count() == 0 and one.state() == state
    assert one.page.locator(".cascade-stage[data-unasked]").count() == 0
    assert not one.errors


def test_a_race_that_is_refused_ends_the_opening_with_the_result(bare):
    one = by_hand(bare()).show(alone(), nested(), play=True)
    one.page.clock.run_for(2500)
    one.page.evaluate("stage.wait(true)")
    one.page.evaluate("stage.wait(false, 'The prompt is empty.')")
    assert one.state() == "done" and one.page.locator(".cascade-stage[data-opening]").count() == 0
    assert not one.errors
