"""The figures of one entry on one prompt, by hand."""

from __future__ import annotations

import math

import pytest
from bench_samples import AR, make_summary, timed_run

from csd.bench.cells import spread


def test_spread_of_few_and_of_many():
    assert (spread([3, 1, 2]).low, spread([3, 1, 2]).median, spread([3, 1, 2]).high) == (1, 2, 3)
    many = spread(range(11))
    assert (many.low, many.median, many.high) == (1, 5, 9)
    assert spread([math.nan, 2]).low == 2 and math.isnan(spread([math.nan]).median)


@pytest.mark.parametrize(
    ("tokens", "margin", "verdict", "position"),
    [
        ((1, 2, 3, 4), 0.5, "identical", None),
        ((1, 9, 3, 4), 0.5, "differs", 1),
        ((1, 9, 3, 4), 9e-5, "near-tie", 1),
        ((1, 9, 3, 4), None, "differs", 1),
        ((1, 2, 3), 9e-5, "differs", 3),
    ],
)
def test_texts_are_compared_with_autoregressive_ones(tokens, margin, verdict, position):
    runs = (
        timed_run(0, AR, 1, margin=margin),
        timed_run(0, "spec", 2),
        timed_run(0, "spec", 2, "race", tokens=tokens),
        timed_run(0, "eager", 1, "baseline"),
    )
    summary = make_summary(runs)
    cell = summary.cells[1]
    assert (cell.entry, cell.verdict, cell.position) == ("spec", verdict, position)
    assert summary.differing == ((cell,) if verdict == "differs" else ())
    assert summary.cells[2].verdict == "identical"
    without = make_summary(runs[1:])
    assert {cell.verdict for cell in without.cells} == {"not compared"}
    assert not without.ratio("spec", "autoregressive")


def test_an_entry_that_ran_in_a_race_only_has_no_cell():
    assert make_summary((timed_run(0, "spec", 1, "race"),)).cells == ()
