"""Who drafted in a lane and what it took, in words."""

from __future__ import annotations

from handmade import alone, nested

from csd.stage.drafting import copied_and_kept, percentages, tell_guessing


def test_shares_in_words_are_those_of_the_legend():
    """As in tests/js/format.test.mjs."""
    assert percentages([14, 35, 10, 5]) == [22, 55, 15, 8]
    assert percentages([1, 1, 1]) == [34, 33, 33]
    assert percentages([0, 19, 0]) == [0, 100, 0]
    assert percentages([0, 0]) == [0, 0]
    assert all(sum(percentages([n, 7, 3, n % 5, 1])) == 100 for n in range(1, 200))


def test_the_time_of_guessing_stands_beside_that_of_another_lane():
    assert tell_guessing(0.0123, 0.05, "speculative decoding") == "guessing took 12 ms (50 ms in speculative decoding)"
    assert tell_guessing(0.4, 1.5, "speculative decoding") == "guessing took 0.40 s (1.50 s in speculative decoding)"


def test_copies_count_as_kept_where_whoever_asked_for_them_kept_them():
    """One of two by `mid`; none of two behind a token that the target rejected; both of the second block."""
    assert copied_and_kept(nested()) == (6, 3)
    assert copied_and_kept(alone()) == (0, 0)
