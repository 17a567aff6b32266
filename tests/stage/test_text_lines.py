"""Where a text and its lines begin: behind the words of the prompt that it goes on with, and behind an indentation."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from bare import greedy
from handmade import alone, nested

from csd.record.recording import bundled_recordings
from csd.stage.log import log_of
from csd.web.races import recorded_races

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


@pytest.mark.parametrize(("pieces", "joined"), [({}, True), ({5: "\n   ", 6: " return"}, False)])
def test_no_line_stands_under_an_indentation(bare, pieces, joined):
    """Of a token that ends with one, and of the next, by the same writer, whose space is the end of it."""
    first, second = (replace(trace, pieces={**trace.pieces, **pieces}) for trace in (alone(), nested()))
    one = bare().show(greedy(first), greedy(second))
    one.press("End")
    token = one.page.locator(".cs-lane.cs-selected .cs-token[data-i]").nth(5)
    assert ("cs-continues" in token.get_attribute("class").split()) == joined
    spaces = one.page.locator(".cs-lane.cs-selected .cs-newline + .cs-space")
    grounds = spaces.evaluate_all("nodes => nodes.map(node => getComputedStyle(node).backgroundImage)")
    assert grounds == ([] if joined else ["none"]), "it lies over the line"


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_code_stands_in_columns_above_what_replays_it(bare, size):
    one = bare(size=size)
    race = next(race for name, race in recorded_races().items() if "code" in name)
    one.page.add_style_tag(content=f".cascade-stage {{ margin-top: {0.24 * size[1]}px; }}")  # as on the page
    one.page.evaluate("log => stage.update({race: String(log.length), log})", log_of(race.recording.traces, "r"))
    one.page.focus(".cascade-stage")
    one.press("End")
    text = one.page.locator(".cs-lane.cs-selected .cs-text")
    assert int(text.evaluate("node => node.style.columnCount")) > 1
    assert text.evaluate("node => node.scrollHeight <= node.clientHeight + 2"), "all of it"
    assert one.page.evaluate("document.querySelector('.cs-transport').getBoundingClientRect().bottom <= innerHeight")


def test_code_that_is_being_written_fills_one_column_after_another(bare):
    """A line stays where it was when the next column begins, and nothing is scrolled."""
    one = bare()
    race = next(race for name, race in recorded_races().items() if "code" in name)
    log = log_of(race.recording.traces, "r").splitlines(keepends=True)
    seen = []
    for end in range(1, len(log)):
        one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log[:end]))
        seen.append(
            one.page.evaluate("""() => {
              const text = document.querySelector(".cs-lane.cs-selected .cs-text");
              const lefts = [...text.querySelectorAll(".cs-word")].map((word) => Math.round(word.getBoundingClientRect().left));
              return [lefts, text.scrollTop, text.scrollHeight - text.clientHeight];
            }""")
        )
    assert one.state() == "live" and len(seen[-1][0]) > 40
    for before, after in pairwise(seen):
        assert after[0][: len(before[0])] == before[0]
    assert all(top <= 4 and hidden <= 4 for _, top, hidden in seen)
    assert not one.errors


def test_a_step_brings_its_words_into_sight_wherever_the_text_was_scrolled_to(bare):
    one = bare(size=(390, 844)).show(*bundled_recordings()["1-story-an-otter-makes-a-boat"].traces)
    one.page.evaluate("stage.goTo(4, 1)")
    top = one.page.evaluate("""() => {
      const text = [...document.querySelectorAll(".cs-text")].find(({ clientHeight }) => clientHeight);
      text.scrollTop = 60; // as a browser does with a text that was hidden and is shown again
      const was = text.scrollTop;
      stage.goTo(4, 1);
      return [was > 0, text.scrollTop];
    }""")
    assert top == [True, 0]
    assert not one.errors
