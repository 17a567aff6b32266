"""The decoding loop, and fair interleaving of lanes."""

from __future__ import annotations

import itertools

import pytest
from toy import DRAFTS, TableSession, family, records_of, steps_of, table

from csd.decoding.acceptance import Greedy
from csd.decoding.combinators import Vertical
from csd.decoding.draft import Nothing
from csd.decoding.generate import CHUNK, generate
from csd.decoding.interleave import interleave
from csd.decoding.methods import Cascade, Speculative
from csd.record.trace import Prefill, Review, Step


def alone(context: int = 10**6, lenience: float = 1.0) -> Vertical:
    return Vertical(TableSession("target", table(5, 1), context), Nothing(), Greedy(lenience))


def test_a_lenient_root_is_refused():
    with pytest.raises(ValueError, match="strict"):
        next(generate(alone(lenience=2.0), [], (1,), 3))


def test_a_text_that_does_not_fit_is_refused_before_anything_runs():
    root = alone(context=9)
    with pytest.raises(ValueError, match=r"7 \+ 3 tokens do not fit a context of 9"):
        next(generate(root, [], (1,) * 7, 3))
    assert root.session.calls == 0
    assert len(list(generate(root, [], (1,) * 7, 2))) == 2


def test_a_long_prompt_is_read_in_chunks_by_every_reader():
    class Reader:
        def __init__(self, name):
            self.name, self.seen = name, []

        def prefill(self, sequence):
            assert not sequence.tail
            self.seen.append(len(sequence))

    readers = [Reader("a"), Reader("b")]
    prompt = tuple(i % 5 for i in range(2 * CHUNK + 7))
    records = list(generate(alone(), readers, prompt, 1))
    parts = [record for record in records if isinstance(record, Prefill)]
    assert [(part.by, part.tokens) for part in parts] == [(n, t) for t in (CHUNK, CHUNK, 7) for n in "ab"]
    assert readers[0].seen == readers[1].seen == [CHUNK, 2 * CHUNK, 2 * CHUNK + 7]
    assert isinstance(records[-1], Step) and len(records) == 7


def test_one_clock_runs_through_prefill_and_steps():
    """Each record starts when the previous one ended, and inner records lie within their step."""
    toy = family(6, 2, (0.5, 1.0))
    steps = steps_of(toy, Cascade(DRAFTS[:2], ((3, 5, 8), (0, 2, 4), (0, 0, 3))), (1, 2, 3), 30)
    for step, after in itertools.pairwise(steps):
        assert after.start == pytest.approx(step.start + step.seconds, abs=1e-12)
    for step in steps:
        records = list(records_of(step.review))
        for record in records:
            assert (
                step.start - 1e-9 <= record.start and record.start + record.seconds <= step.start + step.seconds + 1e-9
            )
            for inner in getattr(record, "inner", ()):  # drafts come before their review
                assert inner.start + inner.seconds <= record.start + 1e-9
        assert sum(record.seconds for record in records) <= step.seconds + 1e-9


def test_each_review_runs_its_model_once_over_the_draft_and_no_more():
    toy = family(6, 2, (0.5,))
    steps = steps_of(toy, Speculative(DRAFTS[0], 4), (1, 2, 3), 30)
    target = next(session for session in toy.opened if session.name == "target")
    assert target.fed == [len(step.review.tokens) + 1 for step in steps]
    draft = next(session for session in toy.opened if session.name == DRAFTS[0])
    inner = [r for step in steps for r in records_of(step.review) if isinstance(r, Review) and r.by == DRAFTS[0]]
    assert draft.fed == [1] * len(inner)


def lane(*seconds: float):
    """A scripted lane with one record for each duration."""
    clock = 0.0
    for duration in seconds:
        yield Prefill("x", 1, clock, duration)
        clock += duration


def test_the_lane_with_the_least_time_moves_next():
    lanes = [lane(1, 1, 1), lane(0.4, 0.4, 5), lane(2.5)]
    order = [number for number, record in interleave(lanes) if record is not None]
    # clocks after each move:  0: 1    1: .4   2: 2.5  1: .8   1: 5.8  0: 2    0: 3
    assert order == [0, 1, 2, 1, 1, 0, 0]


def test_no_lane_runs_ahead_of_the_slowest_by_more_than_its_own_move():
    durations = [[0.3] * 40, [1.1] * 11, [0.05] * 200]
    clocks, live = [0.0] * 3, {0, 1, 2}
    for number, record in interleave([lane(*row) for row in durations]):
        if record is None:
            live.discard(number)
            continue
        assert record.start == min(clocks[i] for i in live)
        clocks[number] = record.start + record.seconds
    assert not live


def test_each_lane_ends_once_and_the_others_go_on():
    moves = list(interleave([lane(1), lane(), lane(0.1, 0.1)]))
    assert sorted(number for number, record in moves if record is None) == [0, 1, 2]
    assert len(moves) == 6 and list(interleave([])) == []


def test_stopping_takes_effect_before_the_next_move():
    asked = []

    def stopped() -> bool:
        asked.append(made)
        return made >= 3

    made = 0
    for made, _ in enumerate(interleave([lane(*[1] * 9), lane(*[1] * 9)], stopped), 1):
        pass
    assert made == 3 and asked == [0, 1, 2, 3]
    assert list(interleave([lane(1)], lambda: True)) == []
