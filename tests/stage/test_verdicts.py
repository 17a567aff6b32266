"""The result in two sentences where there is room, and in one on a phone and on a slide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from csd.stage import log as stage
from csd.stage import tour
from csd.web.races import recorded_races

FIRST = next(iter(recorded_races().values())).recording.traces


def show(one, traces):
    one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(traces, "r"))
    one.page.focus(".cascade-stage")
    one.press("End")
    return one


def seen(one):
    words = one.page.locator(".cs-hero").inner_text()
    return " ".join(words.split())


@pytest.mark.parametrize(
    ("traces", "beside"),
    [
        (FIRST, "1.2× as fast as speculative decoding: the small model ran 11 times, not 73."),
        (tour.LOSING.traces, "Its guesses cost more than they saved."),
    ],
)
def test_how_fast_it_is_stands_alone_and_beside_whom_in_the_line_below(bare, traces, beside):
    one = show(bare(), traces)
    factor = one.text(".cs-factor")
    assert seen(one) == f"The cascade is {factor} as fast as the big model alone"
    assert one.page.locator(".cs-beside").inner_text().strip() == beside
    assert not one.page.is_visible(".cs-cause")
    end = "node => getComputedStyle(node, '::after').content"
    assert one.page.eval_on_selector(".cs-lead", end) == '"."'


def test_the_key_says_what_is_pale_beside_a_long_title(bare):
    *others, last = FIRST
    long = replace(last, header=replace(last.header, method="adaptive cascade"))
    keys = {}
    for name, traces in (("cascade", FIRST), ("adaptive cascade", (*others, long))):
        one = show(bare(), traces)
        assert f"when the {name} was done" in one.text(".cs-track-title")
        right, goal = one.page.evaluate(
            """[[".cs-later-key", "right"], [".cs-goal", "left"]].map(([part, side]) =>
              document.querySelector(part).getBoundingClientRect()[side])"""
        )
        assert one.page.is_visible(".cs-later-key") and right < goal
        keys[name] = one.text(".cs-run-key").strip()
    assert keys == {"cascade": "= a run of the big model", "adaptive cascade": "= a run"}


@pytest.mark.parametrize(("size", "keys"), [((390, 844), ""), ((1280, 720), "p")])
def test_on_a_phone_and_on_a_slide_it_is_one_sentence(bare, size, keys):
    one = show(bare(size=size), FIRST)
    one.press(*keys, "End")
    assert seen(one).endswith("as fast as the big model alone, and 1.2× as fast as speculative decoding")
    assert not one.page.is_visible(".cs-beside")
    assert one.page.locator(".cs-cause").inner_text().strip() == "The small model ran 11 times, not 73."
    left, clause = one.page.evaluate(
        """[".cs-joint", ".cs-clause"].map((part) => document.querySelector(part).getBoundingClientRect().left)"""
    )
    assert left > clause + 50, "no line begins with the comma"
