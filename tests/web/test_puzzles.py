"""The puzzles: what solves them on recorded races, whose clocks a test turns, and in a headless Chromium."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from fake_page import context

from csd.decoding.k_matrix import format_K
from csd.paths import ASSETS
from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.record.trace import Trace
from csd.web import earlier_races, puzzles, race_events
from csd.web.puzzle_panel import check_guess
from csd.web.puzzles import CHECKS, PUZZLES, copying, drop, find_question, length, lose, puzzle_value

RECORDED = {name: Race(one.traces) for name, one in bundled_recordings().items()}
STORY = RECORDED["1-story-an-otter-makes-a-boat"]
EDIT = RECORDED["2-edit-rename-the-fox"]
PAPER = RECORDED["7-story-a-robot-and-the-thunder-with-the-paper-s-k"]


def at_speed(race: Race, method: str, times: float) -> Race:
    """The race with another speed of a lane, in multiples of autoregressive decoding."""
    assert race.reference is not None
    lane = next(trace for trace in race.traces if trace.header.method == method)
    slower = (race.speedup(lane) or 1) / times
    steps = tuple(replace(step, seconds=step.seconds * slower) for step in lane.steps)
    return with_lane(race, method, replace(lane, steps=steps))


def lanes_of(race: Race, *methods: str) -> Race:
    return Race(tuple(trace for trace in race.traces if trace.header.method in methods))


def with_lane(race: Race, method: str, lane: Trace) -> Race:
    return Race(tuple(lane if trace.header.method == method else trace for trace in race.traces))


def with_K(race: Race, K: list[list[int]], speed: float) -> Race:
    lane = next(trace for trace in race.traces if trace.header.method == "cascade")
    header = replace(lane.header, settings={**lane.header.settings, "K": K}, label=f"K={format_K(K)}")
    return at_speed(with_lane(race, "cascade", replace(lane, header=header)), "cascade", speed)


def short(race: Race) -> Race:
    return Race(tuple(replace(trace, steps=trace.steps[:1]) for trace in race.traces))


def stopped(race: Race) -> Race:
    return Race(tuple(replace(trace, end="stopped") for trace in race.traces))


def said(finding) -> str:
    assert finding is not None
    return f"{finding.solved}: {finding.said}"


def test_there_are_five_puzzles_with_a_hint_and_the_lesson_has_them():
    assert [puzzle.key for puzzle in PUZZLES] == [*CHECKS, "predict"] and len(PUZZLES) == 5
    assert all(puzzle.task.endswith(".") and puzzle.hint for puzzle in PUZZLES)
    assert [puzzle.key for puzzle in PUZZLES if not puzzle.start] == ["predict"], "which says what to do itself"
    lesson = (ASSETS.parent / "docs" / "lesson.md").read_text(encoding="utf-8")
    numbered = re.findall(r"^\d\. \*\*", lesson.split("## Answers")[0], re.MULTILINE)
    assert len(numbered) == len(PUZZLES)


def test_the_cascade_loses_where_it_is_filled_to_be_slower():
    slow = at_speed(at_speed(STORY, "speculative", 2.0), "cascade", 1.84)
    assert said(lose([slow])) == ("True: the cascade has 0.9× the speed of speculative decoding on your text.")
    for even in (1.95, 2.0, 2.9):
        won = lose([at_speed(at_speed(STORY, "speculative", 2.0), "cascade", even)])
        assert won is not None and not won.solved
    assert said(lose([at_speed(STORY, "cascade", 0.5)])).startswith("True")
    assert said(lose([slow, STORY])).startswith("False")  # the latest race counts
    assert said(lose([Race(STORY.traces[:2])])) == (
        "False: the cascade did not race. Tick “cascade” under Settings, then press Race."
    )
    unrivalled = lanes_of(at_speed(STORY, "cascade", 2.2), "autoregressive", "cascade")
    assert said(lose([unrivalled])) == (
        "False: the cascade has 2.2× the speed of autoregressive decoding on your text. "
        "Speculative decoding did not race. Tick “speculative” under Settings, then press Race."
    )
    assert "peculative decoding did not race" in said(lose([lanes_of(STORY, "cascade", "prompt lookup")]))
    slower = said(lose([at_speed(unrivalled, "cascade", 0.8)]))
    assert slower.startswith("True") and "did not race" not in slower
    warm = [replace(trace, header=replace(trace.header, temperature=1.5)) for trace in slow.traces]
    assert said(lose([Race(tuple(warm))])).startswith("False: at a temperature above 0 that is easy")


def test_a_draft_length_over_the_wanted_speed():
    assert said(length([at_speed(EDIT, "speculative", 2.61)])) == (
        "True: speculative decoding with k = 16 has 2.61× the speed of the big model alone on your text."
    )
    assert said(length([at_speed(EDIT, "speculative", 2.49)])).startswith(
        "False: speculative decoding with k = 16 has 2.49×"
    )
    assert "peculative decoding did not race." in said(length([Race((EDIT.traces[0],))]))
    assert "Tick “autoregressive” under Settings" in said(length([Race(EDIT.traces[1:])]))


def test_a_level_is_dropped_only_beside_a_race_with_all_levels():
    whole = with_K(PAPER, [[4, 6, 8], [0, 1, 2], [0, 0, 1]], 1.5)
    without = with_K(PAPER, [[16, 16, 20], [0, 0, 7], [0, 0, 0]], 1.6)
    assert said(drop([without])) == "False: without the tiny model: 1.60×. Now race a plan in which every level writes."
    assert said(drop([whole])) == "False: every level writes: 1.50×. Now leave one out, on the same prompt."
    assert said(drop([whole, STORY, without])) == (
        "True: without the tiny model the cascade has 1.60× the speed of the big model alone, with every level 1.50×."
    )
    assert said(drop([at_speed(whole, "cascade", 1.7), without])).startswith("False")
    other = with_lane(whole, "cascade", replace(whole.traces[-1], header=replace(whole.traces[-1].header, seed=7)))
    assert said(drop([other, without])).startswith("False")  # sampled otherwise
    alone = with_K(PAPER, [[0, 0, 8], [0, 0, 0], [0, 0, 0]], 1.6)
    assert "without the small model and the tiny model" in said(drop([whole, alone]))
    assert said(drop([STORY])).startswith("False: every level writes: 4.50×."), "of the race that the page begins with"
    assert "he cascade did not race." in said(drop([Race(STORY.traces[:3])]))


def test_copying_wins_where_it_is_the_fastest_lane():
    fast = at_speed(at_speed(STORY, "cascade", 4.5), "prompt lookup", 5.4)
    assert said(copying([fast])) == ("True: prompt lookup has 1.20× the speed of the cascade, the fastest other lane.")
    assert said(copying([at_speed(fast, "prompt lookup", 4.6)])).startswith("False")
    assert "prompt lookup did not race." in said(copying([Race(STORY.traces[:2])]))
    alone = Race(tuple(one for one in fast.traces if one.header.method in ("autoregressive", "prompt lookup")))
    assert "Tick “speculative” under Settings" in said(copying([alone]))


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_short_and_stopped_races_do_not_count(check):
    race = with_K(PAPER, [[16, 16, 20], [0, 0, 7], [0, 0, 0]], 0.2)
    lookup = replace(race.traces[1], header=replace(race.traces[1].header, method="prompt lookup"))
    race = Race((*race.traces, lookup))
    assert "fewer than 32 tokens" in said(check([short(race)]))
    assert "stopped" in said(check([stopped(race)]))


def test_a_text_that_repeats_itself_does_not_count_as_fast():
    def repeating(trace: Trace) -> Trace:
        return replace(trace, steps=trace.steps * 3)

    race = Race(tuple(map(repeating, EDIT.traces)))
    assert "repeats itself" in said(length([race]))


def test_the_prediction_asks_with_what_the_latest_race_measured():
    question = find_question([STORY, EDIT, Race(STORY.traces[:1])])
    assert question is not None
    a, c, k = question.alpha, question.c, question.k
    assert question.predicted == pytest.approx(sum(a**i for i in range(k + 1)) / (1 + c * k), rel=1e-6)
    assert f"k = {k} per step, with α = {a:.2f} and c = {c:.2f}" in question.asked
    near = puzzles.check_guess(question, round(question.predicted * 1.03, 2))
    assert near.solved and f"{question.measured:.2f}× was measured" in near.said
    for guess, word in ((question.predicted * 1.2, "high"), (question.predicted / 1.2, "low"), (None, "number")):
        finding = puzzles.check_guess(question, guess)
        assert not finding.solved and word in finding.said
    for nonsense in (float("nan"), True, "2.4", -1, 0):
        assert not puzzles.check_guess(question, nonsense).solved
    assert not puzzles.check_guess(None, 2.0).solved
    assert find_question([]) is None


def test_only_races_of_the_visit_count():
    page = context()
    nothing = {"race": "", "found": {}, "question": ""}
    assert puzzle_value(()) == nothing
    shown = earlier_races.show_race(page, "v", next(iter(page.recorded)), page.start)
    assert shown.results is not None and shown.results.puzzles == nothing
    *_, last = race_events.run_race(page, "v", page.start)
    assert last.results is not None and "lose" in last.results.puzzles["found"]
    assert last.results.puzzles["race"] == last.results.race_id
    again = earlier_races.show_race(page, "v", next(iter(page.recorded)), page.start)
    assert again.results is not None and again.results.puzzles["found"] == {}  # the race that is shown is another one
    assert check_guess(page, "v", {"guess": 1e9})["found"]["predict"]["said"].endswith("too high.")
    for value in (None, [], {}, {"guess": "x"}):
        assert check_guess(page, "v", value)["found"]["predict"]["solved"] is False
    assert check_guess(page, "another", {"guess": 2.0})["question"] == ""
