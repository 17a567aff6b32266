"""Nothing jumps while the page is read."""

from __future__ import annotations

import pytest

from look import shifts


@pytest.mark.slow
@pytest.mark.parametrize("size", shifts.SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_parts_keep_their_places_in_the_opening_and_when_its_result_comes(chromium, house, size):
    seen = shifts.measure_opening(chromium, house, size)
    assert seen.cls < shifts.LIMIT, seen.largest


@pytest.mark.slow
def test_parts_keep_their_places_from_load_to_the_end_of_a_race(chromium, house):
    """On a phone, where a line more or less moves the most."""
    seen = shifts.measure(chromium, house, (390, 844))
    assert seen.cls < shifts.LIMIT, seen.largest


def test_the_largest_window_counts():
    """A second without a shift, or five seconds of them, end a window; clicks and Gradio's loading picture are left out."""
    shifts_at = [(0, 0.1), (900, 0.1), (2000, 0.15), (2100, 0.5), (2200, 0.7)]
    seen = [{"at": at, "value": value, "after_input": value == 0.5, "loading": value == 0.7} for at, value in shifts_at]
    assert shifts.summed(seen).cls == pytest.approx(0.2)
    assert shifts.summed(seen).total == pytest.approx(0.85)
    steady = [{"at": at, "value": 0.01, "after_input": False, "loading": False} for at in range(0, 10_000, 500)]
    assert shifts.summed(steady).cls == pytest.approx(0.1)
