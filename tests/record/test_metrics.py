"""What a trace says in numbers, on a small one whose numbers one can work out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from small_lanes import cascade, plain

from csd.record.metrics import (
    OVERHEAD,
    AcceptanceCount,
    acceptance,
    by_position,
    geometric_mean,
    looped,
    mat,
    records,
    repeated,
    repeats_itself,
    seconds_by_level,
    shares,
    speed,
    speed_with_prefill,
)
from csd.record.trace import Trace


def test_speed_and_mean_accepted_tokens():
    trace = cascade()
    assert speed(trace) == pytest.approx(7 / 0.8)
    assert speed_with_prefill(trace) == pytest.approx(7 / 1.0)
    assert mat(trace) == pytest.approx(3.5)
    assert mat(plain((4, 5, 6))) == 1


def test_acceptance_by_author_as_the_target_judged():
    assert acceptance(cascade()) == {
        "MaxGram": AcceptanceCount(4, 3),
        "Bigram": AcceptanceCount(1, 1),
        "small": AcceptanceCount(1, 1),
    }
    assert acceptance(plain((4, 5))) == {}
    assert AcceptanceCount(4, 3).rate == 0.75 and math.isnan(AcceptanceCount().rate)


def test_acceptance_by_position_of_the_block():
    assert by_position(cascade()) == (
        AcceptanceCount(2, 2),
        AcceptanceCount(1, 1),
        AcceptanceCount(1, 1),
        AcceptanceCount(1, 1),
        AcceptanceCount(1, 0),
    )
    assert by_position(plain((4,))) == ()


def test_time_by_level_adds_up_to_decoding():
    found = seconds_by_level(cascade())
    assert found == pytest.approx({"MaxGram": 0.06, "small": 0.10, "target": 0.50, OVERHEAD: 0.14})
    assert sum(found.values()) == pytest.approx(cascade().decode_seconds)
    assert list(found) == ["MaxGram", "small", "target", OVERHEAD]


def test_who_wrote_and_who_ran():
    assert shares(cascade()) == {"MaxGram": 3, "Bigram": 1, "small": 1, "target": 2}
    assert sum(shares(cascade()).values()) == len(cascade().tokens)
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


JOKE = (
    "What",
    "'s",
    " a",
    " joke",
    " about",
    " a",
    " homeless",
    " shelter",
    "?",
    "\n",
    "A",
    ":",
    " A",
    ":",
    "\n\n",
    "A",
    ":",
)


def saying(pieces: tuple[str, ...], prompt: str = "Tell me a joke") -> Trace:
    """A lane that wrote these pieces of text, each of which is a token of its own."""
    trace = plain(tuple(range(len(pieces))))
    return replace(trace, header=replace(trace.header, text=prompt), pieces=dict(enumerate(pieces)))


def test_a_short_text_that_ends_in_a_loop_repeats_itself():
    """What SmolLM2 135M writes for "Tell me a joke": its loop is shorter than a second 8-gram."""
    joke = saying(JOKE)
    assert repeated(joke) == 0 and looped(joke) == pytest.approx(4 / 16)
    assert repeats_itself(joke)
    assert not repeats_itself(saying(JOKE[:-3])), "twice is no loop"
    assert not repeats_itself(saying(JOKE, prompt="Go on: A: A: A:")), "the prompt asks for it"


def test_a_few_words_in_a_row_are_no_loop_of_a_long_text():
    words = tuple(f" w{i}" for i in range(30))
    knock = (" knock", ",", " knock", ",", " knock", "!")
    assert looped(saying((*words, *knock))) == 0, "the third is followed by another sign"
    assert looped(saying((*words, *(" ha",) * 4))) == pytest.approx(3 / 34)
    assert not repeats_itself(saying((*words, *(" ha",) * 4)))
    assert looped(plain(())) == 0


def test_an_empty_lane_has_no_speed():
    empty = plain((), "stopped")
    assert math.isnan(speed(empty)) and math.isnan(mat(empty)) and math.isnan(speed_with_prefill(empty))
    assert seconds_by_level(empty) == {OVERHEAD: 0} and shares(empty) == {}


def test_geometric_mean():
    assert geometric_mean([2, 8]) == pytest.approx(4) and geometric_mean(iter([3.0])) == pytest.approx(3)
    assert math.isnan(geometric_mean([]))
