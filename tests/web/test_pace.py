"""The seconds of races, from those before."""

from __future__ import annotations

from csd.web.fair_order import expected_ends
from csd.web.pace import BRIEF, RECENT, USUAL, Pace


def test_the_turn_that_warms_the_models_does_not_count_beside_others():
    pace = Pace()
    pace.add(100.0, 10.0)
    assert pace.seconds == 0.1, "there is nothing better"
    for _ in range(2):
        pace.add(100.0, 1.0)
    assert pace.seconds == 0.01


def test_the_expected_end_follows_what_races_take_now():
    """Thirty short races, then long ones twice as slow: told and true ends differ by at most a fifth."""
    pace = Pace()
    assert pace.seconds is None and pace.expect(10.0) == 10.0 * USUAL
    for size, seconds in [(200.0, 2.0)] * 30 + [(400.0, 8.0), (600.0, 12.0)] * (RECENT // 2):
        pace.add(size, seconds)
    pace.add(10_000.0, BRIEF / 2)  # refused
    assert pace.seconds is not None
    told = expected_ends([pace.seconds * 400.0 - 3.0], [pace.seconds * size for size in (200.0, 600.0)], 1)
    for said, true in zip(told, (5.0 + 4.0, 5.0 + 4.0 + 12.0), strict=True):
        assert abs(said - true) <= 0.2 * true
