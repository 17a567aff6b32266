"""Running a plan: every job gives its lines, what fails is named, what is stopped is dropped."""

from __future__ import annotations

import json

import pytest
import toy
from bench_samples import AR, BASELINE, METHODS, PROMPTS, broken_baseline, counting_baseline, lane_family

from csd.bench.plan import Job, Plan, check_plan, list_jobs
from csd.bench.run import measure, warm_up
from csd.bench.stopwatch import HostStopwatch
from csd.bench.store import make_config
from csd.bench.summary import summarize
from csd.bench.timed_run import Line, parse_line
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Speculative
from csd.request.prompts import Prompt


def done(plan: Plan, baselines=()) -> list[tuple[Job, list[Line]]]:
    return list(measure(lane_family(), plan, baselines, list(list_jobs(plan))))


def test_every_job_gives_its_lines():
    baseline, calls = counting_baseline()
    plan = Plan(PROMPTS, METHODS, (BASELINE,), 1)
    found = done(plan, [baseline])
    assert [job for job, _ in found] == list(list_jobs(plan))
    assert [len(lines) for _, lines in found] == [1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1]
    assert calls == [8]  # not on the sampled prompt
    runs = [parse_line(json.loads(json.dumps(line))) for _, lines in found for line in lines]
    assert {run.entry for run in runs} == {entry.id for entry in plan.entries}
    assert len({run.tokens for run in runs if run.prompt == 0}) == 1
    assert len({run.tokens for run in runs if run.prompt == 1}) == 1
    own = next(run for run in runs if run.mode == "alone")
    assert own.timed_tokens == own.passes == 8 and len(own.margins) == 8 and own.seconds > 0
    assert {run.mode for run in runs if run.forward_seconds is not None} == {"watched"}
    theirs = next(run for run in runs if run.mode == "baseline")
    assert (theirs.timed_tokens, theirs.passes, theirs.seconds, theirs.prefill) == (6, 3, 1.5, 0.25)
    assert theirs.speed == 4 and theirs.speed_with_prefill == pytest.approx(8 / 1.75)


def test_a_baseline_that_fails_is_named():
    said: list[str] = []
    baseline = broken_baseline()
    plan = Plan(PROMPTS[:1], METHODS[:1], (baseline.entry,), 1)
    found = list(measure(lane_family(), plan, [baseline], list(list_jobs(plan)), failed=said.append))
    assert [len(lines) for _, lines in found] == [1, 0, 1]
    assert said == ["broken one failed on story: abcab: out of memory"]
    able, notes = warm_up(lane_family(), plan, [baseline])
    assert able == () and notes == ("broken one cannot run here: out of memory",)


def test_baselines_are_warmed_up_on_a_greedy_prompt():
    baseline, calls = counting_baseline()
    plan = Plan(PROMPTS, METHODS, (BASELINE,), 1)
    said: list[str] = []
    assert warm_up(lane_family(), plan, [baseline], said.append) == ((baseline,), ())
    assert calls == [8] and said == ["warming up some baseline"]
    assert warm_up(lane_family(), plan, [baseline], stopped=lambda: True) == ((), ())
    assert warm_up(lane_family(), Plan(PROMPTS[1:], METHODS), [baseline]) == ((), ())


def test_the_adaptive_cascade_takes_part():
    plan = Plan(PROMPTS[:1], (Autoregressive(), AdaptiveCascade(toy.DRAFTS)), (), 1)
    check_plan(lane_family(), plan)
    assert make_config(lane_family(), plan)["methods"][1]["method"] == AdaptiveCascade.name
    runs = [parse_line(line) for _, lines in done(plan) for line in lines]
    assert len(runs) == 6 and len({run.tokens for run in runs}) == 1


def test_only_watched_runs_have_a_stopwatch_and_their_speed_does_not_count(embedded):
    """Otherwise the stopwatch would cost the methods with many passes more than autoregressive decoding."""
    methods = Autoregressive(), Speculative("tiny", 4)
    plan = Plan((Prompt("story", "Once upon a time", max_new=12),), methods, (), 1, race=False)
    asked: list[str] = []

    class Noting(HostStopwatch):
        def run(self, forward, *arguments):
            asked.append(now.mode)
            return super().run(forward, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("csd.bench.run.make_stopwatch", lambda device: Noting())
        runs = []
        for now in list_jobs(plan):
            runs += [parse_line(line) for _, lines in measure(embedded, plan, [], [now]) for line in lines]
    assert set(asked) == {"watched"} and len({run.tokens for run in runs}) == 1
    assert [run.mode for run in runs] == ["alone", "alone", "watched", "watched"]
    assert all(0 < run.forward_seconds < run.seconds for run in runs[2:])
    summary = summarize(embedded, plan, runs)
    assert [cell.speed.median for cell in summary.cells] == [run.speed for run in runs[:2]]
    assert [row.overhead for row in summary.rows] == [
        pytest.approx(1 - run.forward_seconds / run.seconds) for run in runs[2:]
    ]


def test_a_job_that_is_stopped_midway_is_not_kept():
    plan = Plan(PROMPTS, METHODS, (), 1)
    asked = iter(range(10**6))
    found = list(measure(lane_family(), plan, [], list(list_jobs(plan)), stopped=lambda: next(asked) > 14))
    assert [job.entry for job, _ in found] == [AR]
    assert all(line["trace"]["end"] == "budget" for _, lines in found for line in lines)
