"""The lanes of a race: their names, what they are compared with, and by how much they are faster."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_lanes import cascade, plain

from csd.record.race import Race
from csd.record.trace import Trace

TOKENS = (4, 5, 7, 8, 10, 11, 12)


def lane(trace: Trace, method: str) -> Trace:
    return replace(trace, header=replace(trace.header, method=method))


def reference(tokens: tuple[int, ...] = TOKENS, end: str = "budget") -> Trace:
    return lane(plain(tokens, end), "autoregressive")


def test_lanes_are_named_by_their_methods():
    assert Race((reference(), cascade())).names == ("autoregressive", "cascade")


def test_equal_methods_are_numbered_by_lane():
    race = Race((cascade(), reference(), lane(cascade(), "speculative"), cascade()))
    assert race.names == ("1: cascade", "autoregressive", "speculative", "4: cascade")


def test_the_first_autoregressive_lane_is_the_reference():
    first, second = reference(), reference()
    race = Race((cascade(), first, second))
    assert race.reference is first
    assert [verdict.kind for verdict in race.verdicts] == ["identical", "reference", "identical"]


def test_speed_ups_are_ratios_of_speeds():
    """The cascade: 7 tokens in 0.8 s and 0.2 s of prefill; the reference: 7 tokens in 0.7 s without prefill."""
    alone, ours = reference(), cascade()
    race = Race((alone, ours))
    assert race.speedup(alone) == race.speedup_with_prefill(alone) == 1
    assert race.speedup(ours) == pytest.approx(0.7 / 0.8)
    assert race.speedup_with_prefill(ours) == pytest.approx(0.7 / 1.0)


def test_nothing_to_compare_is_none():
    without = Race((cascade(), cascade()))
    assert without.reference is None
    assert without.speedup(cascade()) is without.speedup_with_prefill(cascade()) is None
    assert [verdict.kind for verdict in without.verdicts] == ["not compared"] * 2
    stopped = Race((reference((), "stopped"), cascade()))
    assert stopped.speedup(cascade()) is stopped.speedup_with_prefill(cascade()) is None
    empty = plain((), "stopped")
    assert Race((reference(), empty)).speedup(empty) is None


def test_an_empty_race():
    race = Race(())
    assert (race.reference, race.names, race.verdicts) == (None, (), ())


def test_a_summary_has_a_line_for_each_lane():
    first, second = Race((reference(), cascade())).summary.splitlines()
    assert first.split() == ["autoregressive", "1.00x", "7", "target", "passes", "reference"]
    assert second.split() == ["cascade", "0.88x", "2", "target", "passes", "identical"]
    assert Race((cascade(),)).summary.split() == ["cascade", "-", "2", "target", "passes", "not", "compared"]
