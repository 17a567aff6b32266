"""Simulated speed-ups: passes are counted, and weighed by what a pass of each model counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
import toy
from bench_samples import make_report, make_summary, timed_run

from csd.bench.plan import Job
from csd.bench.simulated import BY_SIZE, PREVIOUS_WORK, cost_tables, simulate
from csd.bench.tables import overview_tables, simulated_table
from csd.bench.timed_run import method_line, parse_line
from csd.decoding.methods import Autoregressive, Cascade
from csd.record.levels import Level
from csd.record.metrics import forward_passes
from csd.request.request import Request
from csd.run import finished_traces, run_race

T5 = (
    Level("MaxGram", 0),
    Level("small", 1, "google/flan-t5-small", 77),
    Level("base", 2, "google/flan-t5-base", 248),
    Level("target", 3, "google/flan-t5-xxl", 11_000),
)


def test_costs_are_shares_of_the_target_or_those_of_a_table():
    tables = cost_tables(T5)
    assert tables[BY_SIZE] == {"small": 0.007, "base": 248 / 11_000, "target": 1}
    assert tables[PREVIOUS_WORK] == {"small": 0.02, "base": 0.04, "target": 1}
    assert list(cost_tables(T5[:-1])) == [BY_SIZE]  # the table has no time of a pass over that of base
    assert cost_tables([*T5[:-1], Level("target", 3, "google/flan-t5-xxl")]).keys() == {PREVIOUS_WORK}
    assert cost_tables(()) == {} == cost_tables(T5[:1])


def test_autoregressive_decoding_is_one_and_a_pass_counts_whatever_its_width():
    run = timed_run(0, "cascade", 8, tokens=tuple(range(40)))
    tables = {"any": {"draft": 0.1, "target": 1.0}}
    assert simulate([replace(run, model_passes={"target": 40})], tables) == {"any": 1}
    assert simulate([replace(run, model_passes={"target": 6, "draft": 20})], tables) == {"any": 5}
    both = [replace(run, model_passes={"target": 6, "draft": 20}), replace(run, model_passes={"target": 32})]
    assert simulate(both, tables) == {"any": 2}  # of sums, as the paper's mean cost
    assert simulate([run], tables) == {}  # transformers' own decoding, whose passes are not known


def test_passes_are_counted_in_the_trace():
    family = toy.family()
    drafts = family.draft_names
    methods = Autoregressive(), Cascade(drafts[:1], ((4, 8), (0, 3)))
    plain, cascade = finished_traces(run_race(family, Request("abc", methods, max_new=30)))
    assert forward_passes(plain) == {"target": 30}
    counts = forward_passes(cascade)
    calls = {session.name: session.calls for session in family.opened[1:]}
    assert counts == {name: calls[name] for name in counts} and len(counts) == 2
    run = parse_line(method_line(Job(0, 0, "alone", "x"), "x", cascade))
    assert run.model_passes == counts


def test_the_table_stands_beside_what_was_measured():
    report = make_report()
    assert not simulated_table(report).rows  # these runs have no passes
    runs = [replace(run, model_passes={"target": 2}) for run in report.summary.runs if run.mode == "alone"]
    report = make_report(summary=make_summary(runs, costs={BY_SIZE: {"target": 1.0}}))
    table = simulated_table(report)
    assert table in overview_tables(report) and "simulated" in table.title.lower() and "(simulated)" in table.heads[-1]
    first, second, *_ = table.rows
    assert first[-1] == second[-1] == "2.00"
    assert second[2] == "2.83"  # the geometric mean of 20 / 10 and 40 / 10, as in the table of ratios
    assert report.document()["entries"][0]["simulated"] == {BY_SIZE: pytest.approx(2.0)}
