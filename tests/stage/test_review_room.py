"""The picture of an opened review: nothing stands on its letters, and what is out of sight is told."""

from __future__ import annotations

import re

import pytest
from variants import variants

from csd.stage import tour

LETTERS = """cell => { const range = document.createRange(); range.selectNodeContents(cell);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(cell).fontSize);
    const middle = (top + bottom) / 2;
    return { left, right, top: middle - 0.42 * size, bottom: middle + 0.5 * size }; }"""
BOX = "node => (({ left, right, top, bottom }) => ({ left, right, top, bottom }))(node.getBoundingClientRect())"


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        one["left"] < other["right"] - 0.5
        and other["left"] < one["right"] - 0.5
        and one["top"] < other["bottom"] - 0.5
        and other["top"] < one["bottom"] - 0.5
    )


WINDOWS = [  # each with the keys that open the review there
    ((1280, 720), "op"),
    ((390, 844), "o"),
    ((1280, 720), "o"),
    ((1280, 400), "o"),
    ((1920, 1080), "op"),
]


@variants("window", WINDOWS, fast=2)
def test_the_numbers_of_the_rounds_stand_on_no_letters(bare, window):
    size, keys = window
    one = bare(size=size).show(*tour.LOSING.traces)
    one.press("2", "Home", "ArrowRight", *keys)
    assert not one.page.locator(".cs-order").first.is_visible(), "the whole picture has no order"
    one.press(".")
    assert one.page.locator(".cs-order").first.is_visible()
    letters = [cell.evaluate(LETTERS) for cell in one.page.locator(".cs-cell").all()]
    numbers = [number.evaluate(BOX) for number in one.page.locator(".cs-order").all()]
    assert len(letters) > len(numbers) > 3
    assert not [(word, number) for word in letters for number in numbers if overlap(word, number)]


@variants("window", WINDOWS, fast=2)
@pytest.mark.parametrize("act", [2, 4])  # three levels, and four
def test_the_words_of_the_vertical_axis_stand_beside_the_levels(bare, act, window):
    size, keys = window
    one = bare(size=size).show(*tour.ACTS[act].traces)
    one.press("2", "Home", "ArrowRight", *keys)
    assert one.text(".cs-axis-vertical").startswith("vertical")
    axis, levels = one.page.evaluate("""() => {
      const boxes = (part) => [...document.querySelectorAll(part)].map((node) => node.getBoundingClientRect());
      return [boxes(".cs-axis-vertical > span")[0].right, boxes(".cs-score-name .cs-swatch").map(({left}) => left)];
    }""")  # at once: presenting draws the picture anew
    assert axis < min(levels)


def test_on_a_phone_a_wide_review_says_how_much_of_it_is_out_of_sight(bare):
    one = bare(size=(390, 844), touch=True).show(*tour.ACTS[4].traces)
    one.press("o")
    page, more = one.page, ".cs-score-more"
    page.evaluate("document.querySelector('.cs-score').style.width = '200px'")
    page.evaluate("document.querySelector('.cs-score').dispatchEvent(new Event('scroll'))")
    assert re.fullmatch(r"\d+ tokens? more \u2192", one.text(more))
    page.tap(more)
    page.wait_for_function("document.querySelector('.cs-score-more').textContent.startsWith('\u2190')")
    page.wait_for_function(
        "(grid => grid.scrollLeft + grid.clientWidth >= grid.scrollWidth - 2)(document.querySelector('.cs-score'))"
    )
    assert not one.errors


def test_a_lost_race_opens_a_block_that_is_read_from_afar(bare):
    """Its blocks of several writers are wide, and most of what they hold was never judged."""
    lost = tour.LOSING.traces
    one = bare().show(*lost)
    one.press("3", "End", "o")
    number = int(one.text(".cs-score-title").split()[1])
    review = lost[-1].steps[number - 1].review
    assert review.accepted < len(review.tokens) <= 12 < max(len(step.review.tokens) for step in lost[-1].steps)
    assert not one.errors
