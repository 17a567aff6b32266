"""The opened review, level by level, and the budget of a lane, on a bare page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bare import greedy
from handmade import alone, nested

from csd.record import metrics
from csd.record.recording import bundled_recordings
from csd.record.trace import Proposal
from csd.stage import log as stage

NAMES = {  # of levels, by what the stage calls them
    "big model": "target",
    "small model": "mid",
    "tiny model": "small",
    "copier": "MaxGram",
    "overhead": metrics.OVERHEAD,
}


def test_a_review_opens_as_a_score(bare):
    one = bare().show(alone(), nested())
    one.page.locator('.cs-lane[data-lane="1"] .cs-token').nth(3).click()
    assert "Step 1 of 2, cascade: 4 tokens in 45.0 ms" in one.text(".cs-score-title")
    assert one.text(".cs-told") == "The big model wrote it itself, in place of a wrong guess.", "the word was clicked"
    assert one.cells(0) == [["The", "kept"], ["it", "rejected"]]
    assert one.cells(1) == [["The", "kept"], ["fox", "kept"]]
    assert one.cells(3) == [["then", "rejected"], ["and", "unjudged"]]
    assert [word for word, _ in one.cells(4)] == ["The", "fox", "ran", "home"]
    rows = one.page.eval_on_selector_all(".cs-score-name[data-level]", "all => all.map(row => row.innerText)")
    assert [row.split()[0] for row in rows] == ["big", "small", "tiny", "copier"]
    assert "1 run, 10.0 ms" in rows[1]
    assert "2 lookups, 2.0 ms" in rows[3]
    one.page.hover('.cs-cell[data-order="3"] >> nth=0')
    assert "p 0.0500, q 1.00" in one.text(".cs-tip")
    assert (
        one.text(".cs-tip-said")
        == "The copier copied it, as it followed the same words before; the big model rejected it."
    )
    one.press("o", "o")
    one.page.wait_for_selector(".cs-cell:visible")
    one.page.wait_for_timeout(300)
    assert not one.page.is_visible(".cs-tip"), "the cell has come under a pointer that rests"
    one.press(".", ".")  # the rounds one after the other: what mid has judged by then, and nothing of the target
    assert "2 of 5" in one.text(".cs-rounds")
    assert "The small model checked 2 guesses" in one.text(".cs-round-told")
    assert one.cells(0) == [["The", "kept"], ["it", "rejected"]]
    assert one.cells(1) == [
        ["The", "open"],
        ["fox", "open"],
    ]
    assert one.cells(4) == []
    one.page.click(".cs-unfold")
    one.page.wait_for_function("document.querySelector('.cs-rounds').innerText.includes('3 of 5')")
    assert not one.errors


def test_text_and_bar_follow_the_rounds(bare):
    """With the guesses as they stood when a run had ended; afterwards all is as it was before."""
    one = bare().show(alone(), nested())
    guessed = "all => all.map(node => node.textContent.trim())"

    def shown() -> tuple[list[str], str, str]:
        words = one.page.eval_on_selector_all('.cs-lane[data-lane="1"] .cs-token.cs-guess', guessed)
        return words, one.text(".cs-transport .cs-time"), one.text(".cs-score-title")

    for steps in (("ArrowRight",), ()):  # opened after it was stepped to, and from the end of the race
        one.press("2", "End", *steps, "o")
        before = shown()
        assert "Step 1 of 2" in before[2]
        one.press(".", ".")
        assert shown()[0] == ["The", "fox"]
        assert shown()[2] == before[2]
        one.press(",", ",")
        assert shown() == before
        one.press(".", "ArrowRight")
        assert "Step 2 of 2" in shown()[2]
        assert shown()[0] == []
        one.press("o")
    assert not one.errors


def test_the_budget_adds_up_to_what_the_metrics_say(bare):
    traces = (alone(), nested())
    one = bare().show(*traces)
    table = one.page.eval_on_selector_all(
        ".cs-budget tbody tr",
        "all => all.map(row => [row.cells[0].textContent, ...[...row.cells].slice(1).map(cell => cell.dataset.seconds)])",
    )
    rows = {}
    for head, *values in filter(lambda row: row[0], table):
        name = head.split(" (")[0].strip()
        rows[NAMES.get(name, name)] = values
    for lane, trace in enumerate(traces):
        expected = metrics.seconds_by_level(trace)
        shown = {name: float(values[lane]) for name, values in rows.items() if values[lane] and name in expected}
        assert shown == pytest.approx(expected, abs=1e-5)
        assert sum(shown.values()) == pytest.approx(float(rows["decoding"][lane]), abs=1e-9)
        assert float(rows["prefill"][lane]) == pytest.approx(trace.prefill_seconds)
    one.page.click("[data-chart=computed]")
    names = one.page.eval_on_selector_all(".cs-strip-marks", "all => all.map(node => node.textContent)")
    assert names == ["big", "bigsmalltinycopier"]


def test_a_step_tells_where_it_departs_from_the_plan(bare):
    one = bare().show(*bundled_recordings()["1-story-an-otter-makes-a-boat"].traces)
    one.page.evaluate("stage.goTo(4, 1)")
    one.press("o")
    assert one.page.locator(".cs-zone").all_text_contents() == [
        "9 from small model",
        "5 from tiny model",
        "2 from copier",
    ]
    assert "8 by the plan: a model that checks" in one.page.get_attribute(".cs-zone >> nth=0", "title")
    assert not one.errors


def test_a_wide_review_shows_the_correction_without_scrolling(bare):
    one = bare().show(alone(), greedy(nested()))
    one.press("Home", "ArrowRight", "o")
    assert one.text(".cs-axis-vertical").startswith("vertical")
    one.press("d")
    assert one.page.eval_on_selector(".cs-token", "node => getComputedStyle(node, '::after').content") == '"T"'
    one.press("d", "1", "End")
    edges = """() => [".cs-score-name", ".cs-cell"].map((one) => document.querySelector(one).getBoundingClientRect())
        .map((box, i) => (i ? box.left : box.right))"""
    names, own = one.page.evaluate(edges)
    assert names <= own, "the one token of a step without a draft stands beside the names"
    assert one.page.locator(".cs-axis-horizontal").count() == 0, "one writer, nothing horizontal"
    one.press("2", "Home", "ArrowRight")
    assert one.text(".cs-axis-horizontal").startswith("horizontal: cheaper")
    axis, words = (
        one.page.locator(place).bounding_box()
        for place in (".cs-axis-horizontal", ".cs-axis-horizontal .cs-axis-words")
    )
    assert words["x"] + words["width"] <= axis["x"] + axis["width"], "in as many words as there is room for"
    right = one.page.eval_on_selector(".cs-score", "node => node.getBoundingClientRect().right")
    own = one.page.eval_on_selector_all(
        ".cs-cell[data-own]", "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert own
    assert max(own) <= right
    assert one.page.eval_on_selector(".cs-score", "node => node.scrollWidth <= node.clientWidth + 1")
    letters = "parseFloat(getComputedStyle(document.querySelector('.cs-cell')).fontSize)"
    small = one.page.evaluate(letters)
    one.page.set_viewport_size({"width": 1920, "height": 1080})
    one.page.wait_for_function(f"{letters} > {1.15 * small}")  # it grows with the window, and still fits
    assert one.page.eval_on_selector(".cs-score", "node => node.scrollWidth <= node.clientWidth + 1")
    bottom = one.page.eval_on_selector(".cs-score", "node => node.getBoundingClientRect().bottom + scrollY")
    assert bottom - one.page.locator(".cascade-stage").evaluate("n => n.getBoundingClientRect().top + scrollY") < 1080


def test_at_the_end_of_a_race_the_place_names_the_step_that_is_open(bare):
    one = bare().show(alone(), nested())
    assert one.text(".cs-transport .cs-place") == "go to step"
    one.press("o", "End")
    assert one.text(".cs-score-title").startswith("Step 2 of 2, cascade")
    assert one.text(".cs-transport .cs-place") == "step 2 of 2"
    assert not one.errors


def test_a_token_opens_its_review_while_the_race_still_runs(bare):
    log = stage.log_of((alone(), nested()), "r").splitlines(keepends=True)
    one = bare()
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log[:-1]))
    assert one.state() == "live"
    assert one.page.is_disabled(".cs-replay")
    assert one.page.is_disabled("button.cs-place"), "no step to go to"
    one.page.locator('.cs-lane[data-lane="1"] .cs-token').nth(1).click()
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade"), "this lane has ended"
    one.press("ArrowRight")
    assert one.text(".cs-score-title").startswith("Step 2 of 2, cascade")
    one.press("ArrowRight", "ArrowLeft")
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log))
    assert "Step 1 of 2, cascade" in one.text(".cs-score-title"), "what was chosen stays"
    assert one.page.is_enabled(".cs-replay")
    one.press("ArrowRight")
    assert "Step 2 of 2, cascade" in one.text(".cs-score-title"), "from the chosen step, not from the last one"
    assert not one.errors


def test_the_number_of_steps_is_told_once_the_lane_has_ended(bare):
    log = stage.log_of((alone(), nested()), "r").splitlines(keepends=True)
    one = bare()
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log[:-2]))
    one.page.locator('.cs-lane[data-lane="1"] .cs-token').nth(1).click()
    assert one.text(".cs-score-title").startswith("Step 1, cascade")
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log))
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade")
    assert not one.errors


def test_a_word_that_was_chosen_in_mid_race_stays_in_sight_and_is_not_replayed_away(bare):
    words = {i: f" word{i}" for i in range(300)}
    trace = greedy(alone(tuple(range(300)), 0.01, words))
    *running, _ = stage.log_of((trace, trace), "r", play=True).splitlines(keepends=True)
    one = bare()
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(running))
    one.page.locator(".cs-lane.cs-selected .cs-text").evaluate("text => { text.scrollTop = 0; }")
    one.page.wait_for_timeout(100)
    chosen = one.page.locator(".cs-lane.cs-selected .cs-token").nth(40)
    chosen.click()
    whole = stage.log_of((trace, trace), "r", play=True)
    one.page.evaluate("log => stage.update({race: 'r', log})", whole)
    box, text = chosen.bounding_box(), one.page.locator(".cs-lane.cs-selected .cs-text").bounding_box()
    assert text["y"] <= box["y"] and box["y"] + box["height"] <= text["y"] + text["height"] + 1
    assert one.state() == "done" and one.text(".cs-score-title").startswith("Step 41 of 300")
    assert not one.errors


def test_the_review_opens_at_the_step_that_shows_both_cascades_and_offers_it_elsewhere(bare, any_length):
    one = bare().show(alone(), nested())
    one.press("o")
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade"), (
        "its block has three writers, the last one has one"
    )
    assert not one.page.is_visible(".cs-telling")
    one.press("ArrowRight")
    one.page.click(".cs-telling >> text=See step 1: vertical and horizontal")
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade")
    one.press("o")
    assert one.state() == "done" and one.page.is_visible(".cs-factor, .cs-same")
    one.press("Home", "o")
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade"), (
        "before the first step there is nothing to see"
    )
    one.press("o")
    one.press("Home", "ArrowRight", "ArrowRight", "o", "ArrowLeft", "o")
    assert one.state() == "replay", "in the middle of a race the time stays"
    one.press("Home", "Space", "o")
    assert one.text(".cs-replay") == "Play", "a review is read, while the other lanes would go on unseen"
    one.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert one.text(".cs-score-title").startswith("Step 2 of 2"), "the last step is the last one"
    one.press("o")
    one.page.evaluate("stage.seek(stage.race.lanes[1].clock + 0.01)")
    one.press("o")
    assert one.text(".cs-score-title").startswith("Step 1 of 2"), "this lane has ended, and a slower one goes on"


def test_in_a_long_block_what_was_never_reached_is_dots(bare):
    trace = nested()
    step, *_ = trace.steps
    drafts = tuple(range(1, 11)) * 3
    copies = Proposal("MaxGram", 2, drafts, ("MaxGram",) * len(drafts), 0.25, 0.001)
    review = replace(
        step.review, inner=(copies,), tokens=drafts, authors=copies.authors, accepted=2, token=4, p=(), q=()
    )
    long = replace(step, tokens=(1, 2, 4), authors=("MaxGram", "MaxGram", "target"), review=review)
    one = bare().show(alone(), replace(trace, steps=(long,)))
    one.press("o")
    words = [word for word, _ in one.cells(0)]
    assert words == ["The", "fox", "ran", "home", "to", *["·"] * 25], (
        "two that were kept, the first wrong one, two more"
    )
    assert not one.errors
