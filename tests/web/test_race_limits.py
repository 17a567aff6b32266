"""A race is cut where its time, its record, or a comparison's time ends."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import islice

from fake_page import HOME, RECORDED, context, fields, load_family, run_recorded, run_stopped

from csd.record.trace import Review
from csd.request.request import Request
from csd.run import LaneAdvanced, LaneFinished, RaceStarted
from csd.web import compare_events
from csd.web.compare import BY_KIND
from csd.web.compare_events import ComparisonForm
from csd.web.context import make_context
from csd.web.deployment import PUBLIC, Deployment, within
from csd.web.named_plans import PlanChoice
from csd.web.news import Finished
from csd.web.record_size import record_size, step_size
from csd.web.studio import Studio


def a_page(deployment: Deployment, run=run_recorded, load=lambda *_: None):
    return make_context(Studio(HOME, load, run, deployment=deployment))


def test_a_race_is_cut_by_the_limit_and_keeps_its_lanes():
    clock = iter(range(100))
    seen = []

    def steps(family, request, stopped):
        while not stopped():
            seen.append(1)
            yield "step"

    assert [*within(steps, lambda: 5, lambda: next(clock))(None, Request("a", ()), lambda: False)] == ["step"] * 4
    page = context(run_stopped)
    race = [*page.studio.race("v", HOME, Request("a", ()))][-1]
    assert isinstance(race, Finished) and race.race.stopped and race.race.traces
    assert race.race.notes[-1].startswith("The race was stopped after 3600 seconds, the most that this page gives")


def test_a_race_has_less_time_from_the_moment_when_others_wait_on_a_public_page():
    clock, waiting = iter(range(100)), []

    def steps(family, request, stopped):
        while not stopped():
            yield "step"

    race = within(steps, lambda: PUBLIC.most_seconds(bool(waiting)), lambda: next(clock))
    running = race(None, Request("a", ()), lambda: False)
    assert len(list(islice(running, 40))) == 40, "alone it goes on"
    waiting.append("another")
    assert not list(running)
    assert Deployment().most_seconds(True) == Deployment().max_seconds


def test_a_race_that_was_cut_because_others_wait_says_so():
    page = a_page(PUBLIC, run_stopped, load_family)
    page.studio.give_way(lambda: True)
    race = [*page.studio.race("v", HOME, Request("a", ()))][-1].race
    assert "30 seconds, the most that this page gives to one while others wait" in race.notes[-1]


def test_a_race_is_cut_where_its_record_is_large():
    trace = next(trace for trace in RECORDED if len(trace.steps) > 5)
    sizes = [step_size(step) for step in trace.steps]

    def run(family, request, stopped):
        yield RaceStarted((trace.header,), dict(trace.pieces))
        done = []
        for step in trace.steps:
            if stopped():
                break
            done.append(step)
            yield LaneAdvanced(0, step, {})
        yield LaneFinished(0, replace(trace, steps=tuple(done), end="stopped"))

    page = a_page(replace(Deployment(), max_record=sum(sizes[:3]) / 1e6), run, load_family)
    race = [*page.studio.race("v", HOME, Request("a", ()))][-1].race
    assert race.traces[0].steps == trace.steps[:3]
    assert race.notes[-1].startswith("The race was stopped once its record had ")


def test_the_record_of_long_drafts_is_about_as_large_as_it_is_said_to_be():
    for trace in RECORDED:
        steps = len(json.dumps(trace.to_dict()["steps"]))
        assert steps / 3 < record_size([trace]) < 3 * steps
    tokens = tuple(range(64))
    inner = Review("draft", 0, tokens, ("draft",) * 64, 0, 1, 0.0, 0.1, p=(0.125,) * 64, q=(0.125,) * 64)
    long = replace(RECORDED[0].steps[0], review=replace(inner, inner=(inner,) * 64))
    trace = replace(RECORDED[0], steps=(long,))
    steps = len(json.dumps(trace.to_dict()["steps"]))
    assert steps / 3 < record_size([trace]) < 3 * steps


def test_a_comparison_has_the_time_of_one_race():
    times = iter([0.0, 10.0, *[10.0, 15.0], 66.0])  # 5 of these seconds it waits for others
    page = a_page(replace(Deployment(), max_seconds=60), load=load_family)
    asked = ComparisonForm(BY_KIND, 1, (PlanChoice("tuned to the models", ""), PlanChoice("short drafts", "")))
    updates = [*compare_events.run_comparison(page, "v", asked, fields(page.start), clock=lambda: next(times))]
    assert updates[-1].status.text.startswith("Stopped after 2 of ")
    assert "60 seconds" in updates[-1].status.text and updates[-2].rows


def test_the_time_that_a_comparison_waits_for_others_does_not_count():
    times = iter([0.0, 10.0, *[10.0, 500.0], 510.0, *[510.0, 900.0], 910.0, *[910.0, 990.0], 999.0, *[999.0] * 9])
    page = a_page(replace(Deployment(), max_seconds=60), load=load_family)
    asked = ComparisonForm(BY_KIND, 1, (PlanChoice("tuned to the models", ""), PlanChoice("short drafts", "")))
    updates = [*compare_events.run_comparison(page, "v", asked, fields(page.start), clock=lambda: next(times))]
    assert updates[-1].status.text == "Done: 5 races."
    pauses = [update.status.text for update in updates if update.between]
    assert len(pauses) == 4 and pauses[0].startswith("Race 2 of 5, word problem: ") and "Others are" in pauses[0]


def test_a_race_is_cut_where_the_time_of_its_comparison_ends_and_its_lanes_are_kept():
    """A comparison whose second race would go on for as long as it may."""
    runs = []

    def run(family, request, stopped):
        runs.append(request)
        if len(runs) < 2:
            yield from run_recorded(family, request, stopped)
            return
        *ended, last = RECORDED
        yield RaceStarted(tuple(trace.header for trace in RECORDED), {**RECORDED[0].pieces})
        for lane, trace in enumerate(ended):
            yield LaneFinished(lane, trace)
        while not stopped():
            time.sleep(0.001)
        yield LaneFinished(len(ended), replace(last, steps=last.steps[:1], end="stopped"))

    times = iter([0.0, 59.9, *[60.0, 90.0]])  # of others
    page = a_page(replace(Deployment(), max_seconds=60), run, load_family)
    asked = ComparisonForm(BY_KIND, 1, (PlanChoice("tuned to the models", ""), PlanChoice("short drafts", "")))
    updates = [*compare_events.run_comparison(page, "v", asked, fields(page.start), clock=lambda: next(times))]
    status = updates[-1].status
    assert status.text.startswith("Stopped during race 2 of ") and status.state == "ended"
    assert "because the 60 seconds that this page gives to one comparison are over" in status.text
    rows = [update.rows for update in updates if update.rows][-1]
    assert [row[2] for row in rows] == [1] * (2 * len(RECORDED) - 1) + [0]


def test_a_lane_that_failed_was_cut_by_no_limit():
    def run(family, request, stopped):
        yield RaceStarted(tuple(trace.header for trace in RECORDED), {**RECORDED[0].pieces})
        for lane, trace in enumerate(RECORDED):
            yield LaneFinished(lane, replace(trace, end="stopped"), "It found no memory.")

    race = [*context(run).studio.race("v", HOME, Request("a", ()))][-1].race
    assert race.notes == ("It found no memory.",)


def test_a_comparison_has_less_time_while_others_wait():
    times = iter([0.0, 10.0, *[10.0, 15.0], 36.0])
    page = a_page(replace(PUBLIC, max_seconds=60), load=load_family)
    page.studio.give_way(lambda: True)
    asked = ComparisonForm(BY_KIND, 1, (PlanChoice("tuned to the models", ""), PlanChoice("short drafts", "")))
    updates = [*compare_events.run_comparison(page, "v", asked, fields(page.start), clock=lambda: next(times))]
    assert updates[-1].status.text.startswith("Stopped after 2 of ")
    assert "30 seconds that this page gives to one comparison while others wait" in updates[-1].status.text
