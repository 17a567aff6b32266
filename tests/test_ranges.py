"""The ranges of numbers from outside: what is inside, and how a refusal quotes what is not."""

from __future__ import annotations

import pytest

from csd import ranges
from csd.ranges import LENIENCE, MAX_NEW, SEED, TEMPERATURE, TOP_K, TOP_P, Range, quote, shorten

ALL = [value for value in vars(ranges).values() if isinstance(value, Range)]
NO_NUMBERS = (None, "", "7", True, False, float("nan"), [1], {"a": 1}, "x" * 100_000, b"1", 1j)


def nested(depth: int = 10**5) -> list:
    found: list = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize("allowed", ALL, ids=lambda one: one.name)
def test_the_ends_are_inside_and_what_is_beyond_them_is_not(allowed):
    assert allowed.high in allowed and (allowed.low in allowed) != allowed.above
    step = 1 if allowed.whole else 1e-9
    for beyond in (allowed.high + step, allowed.low - step, 10**400, -(10**400), float("inf"), -float("inf")):
        assert beyond not in allowed, beyond
    assert allowed.fault(allowed.high) == ""


@pytest.mark.parametrize("allowed", ALL, ids=lambda one: one.name)
def test_a_refusal_names_field_range_and_value_in_one_short_line(allowed):
    for value in (*NO_NUMBERS, nested(), 10**5000, -(10**5000), "\ud83d", "a\nb", float("inf")):
        assert value not in allowed
        said = allowed.fault(value)
        assert said.startswith(allowed.name) and str(allowed) in said
        assert len(said) < 300 and "\n" not in said and said.encode()


def test_what_they_say():
    assert SEED.fault(10**400).endswith("from 0 to 9,007,199,254,740,991, not a number of about 401 digits")
    assert TEMPERATURE.fault(-1) == "Temperature must be 0 or a number from 0.001 to 10, not -1; 0 is greedy"
    assert TOP_P.fault(0).startswith("Top-p must be a number above 0 and at most 1, not 0")
    assert LENIENCE.fault(None).startswith("Lenience is empty. Enter a number from 1 to 1,000,000")
    assert TOP_K.fault(2**31).startswith("Top-k must be a whole number from 0 to 2,147,483,647")
    assert 0 in TEMPERATURE and 0.0005 not in TEMPERATURE
    assert 50 not in MAX_NEW.up_to(49)


def test_whole_numbers_may_come_as_floats():
    assert [SEED.read(value) for value in (3.0, 3, 3.5, "3", None)] == [3, 3, 3.5, "3", None]
    assert isinstance(SEED.read(3.0), int) and isinstance(TEMPERATURE.read(3.0), float)
    assert 3.0 not in SEED


def test_quotes_are_short_and_are_text():
    assert quote(2**63) == str(2**63) and quote(True) == "True"
    assert len(quote("x" * 10**6)) < 70 and len(shorten("x" * 10**6)) == 61
    assert shorten("\ud83d") == "?" and shorten("fox") == "fox"
