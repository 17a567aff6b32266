"""The stage while a race is asked for, and after one that was refused."""

from __future__ import annotations

from bare import greedy
from handmade import alone, nested

from csd.stage import log


def test_a_race_that_is_refused_leaves_the_step_that_was_looked_at(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.evaluate("stage.goTo(2, 1)")
    told = one.text(".cs-score-title")
    one.page.evaluate("stage.wait(true)")
    assert one.state() == "done"
    one.page.evaluate("stage.wait(false, 'The prompt is empty.')")
    assert one.state() == "replay" and one.text(".cs-score-title") == told
    assert not one.errors


def test_what_stood_above_an_earlier_race_is_gone_when_another_is_asked_for(bare):
    one = bare()
    lines = log.log_of((greedy(alone()), greedy(nested())), "r") + log.ask("Your race ended. Below is the last one.")
    one.page.evaluate("log => stage.update({ race: 'r', log })", lines)
    above = one.page.locator(".cs-empty:visible", has_text="Your race ended")
    above.wait_for()
    one.page.evaluate("stage.wait(true)")
    one.page.evaluate("stage.wait(false, 'The prompt is empty.')")
    assert above.count() == 0
    assert not one.errors
