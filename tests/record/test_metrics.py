"""What a trace says in numbers, on a small one whose numbers one can work out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from csd.record.metrics import (
    Comparison,
    Count,
    acceptance,
    by_position,
    compare,
    geometric_mean,
    mat,
    records,
    repeated,
    reviews,
    runs,
    seconds_by_level,
    shares,
    speed,
    speed_with_prefill,
)
from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace

LEVELS = (Level("MaxGram", 0), Level("Bigram", 0), Level("small", 1), Level("target", 2))


def header(prompt: tuple[int, ...] = (1, 2, 3)) -> Header:
    return Header(
        "cascade", "cascade", "toy", LEVELS, prompt, "abc", 64, (0,), "greedy", 0.0, 0, 1.0, 0, 1.0, (), 0, "", "cpu",
        "float64", {},
    )  # fmt: skip


def plain(tokens: tuple[int, ...], end: str = "budget", prompt: tuple[int, ...] = (1, 2, 3)) -> Trace:
    """An autoregressive lane: one token a step, 0.1 s each, margins 0.5, 1.5, 2.5 ..."""
    steps = tuple(
        Step(
            (t,), ("target",), Review("target", len(prompt) + i, (), (), 0, t, i / 10, 0.1, margin=i + 0.5), i / 10, 0.1
        )
        for i, t in enumerate(tokens)
    )
    return Trace(header(prompt), (), steps, end, {})


def cascade() -> Trace:
    """Two steps. In the first Max-Gram drafts 4 5 6 for the small model, which accepts 4 5 and says 7; then Max-Gram adds
    8 9; the target accepts 4 5 7 8 of 4 5 7 8 9 and says 10. In the second the small model's context is full, a bigram
    drafts 11, and the target accepts it and says 12."""
    copied = Proposal("MaxGram", 3, (4, 5, 6), ("MaxGram",) * 3, 0.0, 0.01)
    small = Review("small", 3, (4, 5, 6), ("MaxGram",) * 3, 2, 7, 0.02, 0.10, (copied,))
    more = Proposal("MaxGram", 6, (8, 9), ("MaxGram",) * 2, 0.12, 0.02)
    authors = ("MaxGram", "MaxGram", "small", "MaxGram", "MaxGram")
    first = Review("target", 3, (4, 5, 7, 8, 9), authors, 4, 10, 0.2, 0.30, (small, more), margin=0.25)
    full = Review("small", 8, (), (), 0, None, 0.5, 0.0, skipped="full")
    guess = Proposal("MaxGram", 8, (11,), ("Bigram",), 0.5, 0.03)
    second = Review("target", 8, (11,), ("Bigram",), 1, 12, 0.6, 0.20, (full, guess), margin=0.75)
    steps = (
        Step((4, 5, 7, 8, 10), (*authors[:4], "target"), first, 0.0, 0.5),
        Step((11, 12), ("Bigram", "target"), second, 0.5, 0.3),
    )
    return Trace(header(), (Prefill("small", 3, 0, 0.1), Prefill("target", 3, 0.1, 0.1)), steps, "budget", {})


def test_speed_and_mean_accepted_tokens():
    trace = cascade()
    assert speed(trace) == pytest.approx(7 / 0.8)
    assert speed_with_prefill(trace) == pytest.approx(7 / 1.0)
    assert mat(trace) == pytest.approx(3.5)
    assert mat(plain((4, 5, 6))) == 1


def test_acceptance_by_author_as_the_target_judged():
    assert acceptance(cascade()) == {"MaxGram": Count(4, 3), "Bigram": Count(1, 1), "small": Count(1, 1)}
    assert acceptance(plain((4, 5))) == {}
    assert Count(4, 3).rate == 0.75 and math.isnan(Count().rate)


def test_acceptance_by_position_of_the_block():
    assert by_position(cascade()) == (Count(2, 2), Count(1, 1), Count(1, 1), Count(1, 1), Count(1, 0))
    assert by_position(plain((4,))) == ()


def test_what_each_reviewer_was_shown():
    assert reviews(cascade()) == {"small": Count(3, 2), "target": Count(6, 5)}


def test_time_by_level_adds_up_to_decoding():
    found = seconds_by_level(cascade())
    assert found == pytest.approx({"MaxGram": 0.06, "small": 0.10, "target": 0.50, "overhead": 0.14})
    assert sum(found.values()) == pytest.approx(cascade().decode_seconds)
    assert list(found) == ["MaxGram", "small", "target", "overhead"]


def test_who_wrote_and_who_ran():
    assert shares(cascade()) == {"MaxGram": 3, "Bigram": 1, "small": 1, "target": 2}
    assert sum(shares(cascade()).values()) == len(cascade().tokens)
    assert runs(cascade()) == {"MaxGram": 3, "small": 1, "target": 2}  # what was skipped did not run
    order = [(record.by, record.at) for record in records(cascade())]
    assert order == [
        ("MaxGram", 3),
        ("small", 3),
        ("MaxGram", 6),
        ("target", 3),
        ("small", 8),
        ("MaxGram", 8),
        ("target", 8),
    ]


def test_repeated_grams():
    """8 9 8 9 8 9: of five 2-grams the last three stood before; a gram of the prompt does not count."""
    text = (8, 9, 8, 9, 8, 9)
    assert repeated(plain(text), 2) == pytest.approx(3 / 5)
    assert repeated(plain(text, prompt=(8, 9)), 2) == pytest.approx(1 / 5)
    assert repeated(plain(text, prompt=(9, 8)), 2) == pytest.approx(2 / 5)
    assert repeated(plain(tuple(range(4, 30)))) == 0
    assert repeated(plain((7,) * 20)) == pytest.approx(12 / 13)
    assert repeated(plain((7,) * 8)) == 0 and repeated(plain((7,) * 7)) == 0 and repeated(plain(())) == 0


def test_compare():
    reference = plain((4, 5, 7, 8, 10, 11, 12))
    assert compare(cascade(), reference) == Comparison(True, 7)
    other = plain((4, 5, 7, 9, 10, 11, 12))
    assert compare(cascade(), other) == Comparison(False, 7, 3, 3.5)
    # The margin is the reference's, known only where the target wrote the token itself.
    assert compare(other, cascade()) == Comparison(False, 7, 3, None)
    assert compare(plain((4, 5, 7, 8, 11)), replace(cascade(), end="stopped")) == Comparison(False, 5, 4, 0.25, False)


def test_compare_texts_of_different_length():
    long, short = plain((4, 5, 6)), plain((4, 5))
    assert compare(short, long) == Comparison(False, 2, 2)
    assert compare(long, short) == Comparison(False, 2, 2)
    for one, other in ((plain((4, 5), "stopped"), long), (long, plain((4, 5), "stopped"))):
        assert compare(one, other) == Comparison(True, 2, whole=False)
    assert compare(plain((4, 9), "stopped"), long) == Comparison(False, 2, 1, 1.5, False)
    assert compare(plain((), "stopped"), long) == Comparison(True, 0, whole=False)


def test_an_empty_lane_has_no_speed():
    empty = plain((), "stopped")
    assert math.isnan(speed(empty)) and math.isnan(mat(empty)) and math.isnan(speed_with_prefill(empty))
    assert seconds_by_level(empty) == {"overhead": 0} and shares(empty) == {}


def test_geometric_mean():
    assert geometric_mean([2, 8]) == pytest.approx(4) and geometric_mean(iter([3.0])) == pytest.approx(3)
    assert math.isnan(geometric_mean([]))
