"""Guesses that wait for the target's check: on the track, in the text, and in the slow first step of the first replay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import alone, nested

from csd.stage.log import log_of

TRACK = '.cs-track-row[data-lane="1"] .cs-pending'
LOOKS = f"[...document.querySelectorAll('{TRACK} path[data-look]')].map(path => path.dataset.look).sort().join('')"
WORDS = "[...document.querySelectorAll('.cs-lane[data-lane=\"1\"] .cs-guess')].map(token => token.textContent).join('')"

ROWS = "[...document.querySelectorAll('.cs-track-row')].map(row => {})"


def test_guesses_are_pale_until_the_big_model_has_checked_them(bare):
    one = bare().show_at(0.2025, alone(), nested())
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("0", "The"), "the second copied token is wrong"
    one.page.evaluate("stage.seek(0.2185)")
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("012", "The fox ran")
    assert one.page.locator(f"{TRACK}[data-checked]").count() == 0
    one.page.evaluate("stage.seek(0.23)")
    assert one.page.locator(f"{TRACK}[data-checked]").count() == 1
    assert one.page.locator(".cs-guess .cs-word").first.is_visible() and one.page.locator(".cs-guess-key").is_visible()
    assert one.seen(1) == "", "a guess is no text yet"
    one.page.evaluate("stage.seek(0.2455)")
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("", "") and one.seen(1) == "The fox ran home"
    one.press("End")
    assert one.page.evaluate(LOOKS) == "" and not one.page.locator(".cs-guess-key").is_visible()
    assert not one.errors


@pytest.mark.slow
def test_the_first_replay_shows_its_first_step_slowly_and_says_what_happens(bare):
    fast = nested(), nested()  # of 275 ms, of which the first step takes 45 ms
    one = bare().show(*fast, play=True)
    one.page.wait_for_function(
        "document.querySelector('.cs-rest').textContent.includes('checks all guesses in one run')"
    )
    assert one.text(".cs-pace") == "slow motion", "at several speeds"
    one.page.evaluate("log => stage.update({race: 'next', log})", log_of(fast, "next", play=True))
    assert one.text(".cs-pace") == "slow motion, 22× slower", "a later race is one of the visitor's own"
    assert not one.errors


def test_the_first_replay_begins_with_two_lanes_and_the_others_wait_pale_in_their_places(bare):
    other = replace(nested(), header=replace(nested().header, method="speculative"))
    one = bare()
    one.page.clock.install(time=0)  # frames come by hand: a slow machine may draw none before the first step is over
    one.page.clock.pause_at(1)
    one.show(alone(), other, nested(), play=True)
    one.page.clock.run_for(500)  # milliseconds, of the three seconds that the first step takes
    assert one.page.locator(".cascade-stage[data-opening]").count() == 1
    seen, tops = ROWS.format("getComputedStyle(row).opacity === '1'"), ROWS.format("row.getBoundingClientRect().top")
    assert one.page.evaluate(seen) == [True, False, True]
    stood = one.page.evaluate(tops)
    one.page.clock.run_for(1500)
    assert one.page.evaluate(seen) == [True, False, True], "until the lane that the race is about is done"
    while one.page.evaluate("stage.time < 0.28"):  # after which it has nothing more to write
        one.page.clock.run_for(100)
    assert one.page.locator(".cascade-stage[data-opening]").count() == 0
    assert one.text(".cs-rest") == "And the other methods?"
    one.page.wait_for_function(f"{seen}.every(Boolean)")
    assert one.page.evaluate(tops) == stood
    assert not one.errors
