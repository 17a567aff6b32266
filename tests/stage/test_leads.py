"""The words of a prompt that begin the sentence with which a text goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bare import greedy
from handmade import alone

CONTENT = "text => getComputedStyle(text, '::before').content"


def after(prompt, trace):
    return replace(trace, header=replace(trace.header, text=prompt))


@pytest.mark.parametrize(
    ("prompt", "lead"), [("It was late. In the end", '"In the end "'), ("It was late.", "none"), ("Answer:", "none")]
)
def test_a_text_that_goes_on_in_the_midst_of_a_sentence_stands_behind_its_beginning(bare, prompt, lead):
    pieces = {i: f" word{i}" for i in range(20)}
    trace = greedy(after(prompt, alone(pieces=pieces)))
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade")))
    text = one.page.locator(".cs-lane.cs-selected .cs-text")
    one.press("End")
    assert text.evaluate(CONTENT) == lead
    one.press("Home", "ArrowRight")
    assert one.state() == "replay" and text.evaluate(CONTENT) == lead
    assert "In the end" not in one.seen(1), "it is no part of the text"
    assert not one.errors
