"""The figures of a benchmark, by hand: means over prompts, ratios, the best baseline."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from bench_samples import AR, ENTRIES, make_summary, one_block_run, timed_run

from csd.bench.ratios import ALL, AUTOREGRESSIVE, BEST, NON_REPEATING, SPECULATIVE


def test_ratios_are_geometric_means_over_prompts_of_medians():
    found = make_summary()
    assert found.best == "static"
    spec = found.ratio("spec", AUTOREGRESSIVE)
    assert (spec.count, spec.mean, spec.lowest) == (2, pytest.approx(math.sqrt(8)), pytest.approx(2))
    casc = found.ratio("casc", SPECULATIVE)
    assert (casc.mean, casc.lowest) == (pytest.approx(1), pytest.approx(0.5))
    assert found.ratio("casc", BEST).mean == pytest.approx(math.sqrt(2))
    assert found.ratio(AR, BEST).mean == pytest.approx(0.5)
    assert found.ratio("spec", AUTOREGRESSIVE, "code").mean == pytest.approx(4)
    assert found.ratio(AR, AUTOREGRESSIVE) is None and found.ratio("spec", SPECULATIVE) is None


def test_ratios_also_without_texts_that_repeat_themselves():
    found = make_summary()
    assert found.repeating == {1}
    without = found.ratio("spec", AUTOREGRESSIVE, NON_REPEATING)
    assert (without.count, without.mean) == (1, pytest.approx(2))
    assert found.ratio("spec", AUTOREGRESSIVE, ALL).count == 2
    at_the_limit = make_summary((timed_run(0, AR, 1, repeated=0.15), timed_run(1, AR, 1)))
    assert not at_the_limit.repeating and at_the_limit.ratio("spec", AUTOREGRESSIVE, NON_REPEATING) is None


def test_rows_and_cells():
    found = make_summary(limit=lambda context: 40.0 if context == 8 else math.nan)
    first, *_ = found.cells
    assert (first.speed.median, first.speed.low, first.speed.high) == (10, 8, 20)
    assert first.verdict == "reference" and first.race_speed is None and first.tokens == 4
    rows = {row.entry: row for row in found.rows}
    assert rows[AR].speed.median == pytest.approx(10) and rows[AR].speed.low == pytest.approx(math.sqrt(80))
    assert rows["casc"].race_share == pytest.approx(0.5)
    assert rows["casc"].tokens_per_pass == pytest.approx(2) and rows["casc"].overhead == pytest.approx(0.25)
    assert rows["casc"].share_of_limit == pytest.approx(math.sqrt(1 * 0.5))
    assert rows["casc"].speed_with_prefill == pytest.approx(math.sqrt((4 / 1.1) * (4 / 1.2)))
    assert rows["eager"].race_share is None and rows["eager"].overhead is None
    assert rows["eager"].title == found.title("eager") == "transformers, eager" and not rows["eager"].own


def test_entries_with_equal_titles_are_kept_apart():
    entries = tuple(replace(entry, title="the same") for entry in ENTRIES)
    one, other = make_summary(entries=entries), make_summary()
    assert [row.speed for row in one.rows] == [row.speed for row in other.rows]
    assert one.ratios == other.ratios


def test_the_best_baseline_is_chosen_where_all_of_them_ran():
    """A baseline that ran on the fast prompt only does not win by that."""
    runs = (timed_run(0, AR, 100), timed_run(1, AR, 10), timed_run(0, "eager", 90, "baseline"))
    assert make_summary(runs).best == AR
    assert make_summary(()).best == ""


def test_a_difference_of_a_baseline_is_counted_and_is_not_a_fault_of_ours():
    found = make_summary((timed_run(0, AR, 1), timed_run(0, "eager", 1, "baseline", tokens=(1, 2, 3, 5))))
    assert [row.differs for row in found.rows] == [0, 1] and found.differing == ()


def test_a_baseline_whose_text_is_one_block_has_no_speed():
    found = make_summary((timed_run(0, AR, 1), one_block_run()))
    assert math.isnan(found.cells[1].speed.median) and found.ratio("eager", AUTOREGRESSIVE) is None
    assert found.best == AR
