"""The stage while a race is asked for, and after one that was refused."""

from __future__ import annotations

from bare import greedy
from handmade import alone, nested


def test_a_race_that_is_refused_leaves_the_step_that_was_looked_at(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.evaluate("stage.goTo(2, 1)")
    told = one.text(".cs-score-title")
    one.page.evaluate("stage.wait(true)")
    assert one.state() == "done"
    one.page.evaluate("stage.wait(false, 'The prompt is empty.')")
    assert one.state() == "replay" and one.text(".cs-score-title") == told
    assert not one.errors
