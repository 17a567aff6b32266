"""Who drafted in a lane and what it took, in words."""

from __future__ import annotations

import pytest

from csd.stage.drafting import percentages, tell_guessing


def test_shares_in_words_are_those_of_the_legend():
    """As in tests/js/format.test.mjs."""
    assert percentages([14, 35, 10, 5]) == [22, 55, 15, 8]
    assert percentages([1, 1, 1]) == [34, 33, 33]
    assert percentages([0, 19, 0]) == [0, 100, 0]
    assert percentages([0, 0]) == [0, 0]
    assert all(sum(percentages([n, 7, 3, n % 5, 1])) == 100 for n in range(1, 200))


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (0.001, "far less time than in"),
        (0.34, "a third as long as in"),
        (0.38, "two fifths as long as in"),
        (0.46, "about half as long as in"),
        (0.97, "about nine tenths as long as in"),
        (1.4, "1.4 times as long as in"),
    ],
)
def test_the_time_of_guessing_is_told_as_a_part(own, told):
    assert tell_guessing(0.02 * own, 0.02, "speculative decoding") == f"guessing took {told} speculative decoding"
