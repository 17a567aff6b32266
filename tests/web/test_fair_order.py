"""The order of races and their expected ends, as numbers."""

from __future__ import annotations

import pytest

from csd.web.fair_order import BRIEF, RECENT, USUAL, Pace, expected_ends, next_mark, part_of_each


def arrange(*races: tuple[str, float], clock: float = 0.0) -> list[tuple[str, float]]:
    waiting: list[tuple[str, float]] = []
    marked = []
    for own, size in races:
        mark = next_mark(size, own, waiting, clock)
        waiting.append((own, mark))
        marked.append((mark, own, size))
    return [(own, size) for _, own, size in sorted(marked, key=lambda one: one[0])]


def test_short_races_go_before_long_ones():
    greedy = [(f"greedy {one}", 1300.0) for one in range(8)]
    short = [(f"short {one}", 300.0) for one in range(3)]
    assert arrange(*greedy, *short)[:3] == short


def test_addresses_take_turns():
    order = arrange(*[("a", 10.0)] * 4, *[("b", 10.0)] * 2)
    assert [own for own, _ in order] == ["a", "b", "a", "b", "a", "a"]


@pytest.mark.parametrize("own", ["busy", "busy {}"])
def test_a_long_race_is_overtaken_by_a_few_of_its_own_size(own):
    """However many short ones come while it waits, of one address or of a new one each."""
    long, clock, passed = next_mark(1300.0, "patient", [], 0.0), 0.0, 0.0
    waiting = [("patient", long)]
    for number in range(1000):
        if next_mark(200.0, own.format(number), waiting, clock) > long:
            break
        clock, passed = clock + part_of_each(200.0, own.format(number), waiting), passed + 200.0
    assert passed <= 2 * 1300.0


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


def test_the_expected_end_on_several_devices():
    assert expected_ends([3.0, 5.0], [10.0, 1.0, 1.0], 2) == [13.0, 6.0, 7.0]
    assert expected_ends([], [2.0, 3.0, 4.0], 2) == [2.0, 3.0, 6.0]
    assert expected_ends([-4.0], [2.0], 1) == [2.0]
    assert expected_ends([-4.0, 6.0], [2.0], 1) == [8.0], "one of them is about to be forgotten"
