"""The loop that every method runs through: prefill the prompt, then let the root extend the text until it ends."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from math import isfinite
from time import perf_counter
from typing import Protocol

from csd.decoding.combinators import Vertical
from csd.decoding.errors import NotFinite
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Prefill, Proposal, Review, Step, walk

CHUNK = 512  # prompt tokens per prefill call: large enough to be fast, small enough to stop within


class Prefillable(Protocol):
    """What has to know the prompt before decoding: a session, or Max-Gram's index."""

    name: str

    def prefill(self, sequence: TokenSequence) -> None: ...


def generate(
    root: Vertical,
    prefilled: Sequence[Prefillable],
    prompt: Sequence[int],
    max_new: int,
    eos: frozenset[int] = frozenset(),
) -> Generator[Prefill | Step, None, None]:
    """Yield a Prefill for each chunk that each model reads, then a Step for each round of the root.

    At most `max_new` tokens are generated. Times are on the lane's own clock, which does not advance between two
    yields. Raises ValueError for a lenient root and for a text that does not fit the target's context, and
    NotFinite where a model computes NaN.
    """
    if root.rule.lenience != 1:
        raise ValueError("The target's review is always strict: its lenience must be 1.")
    if len(prompt) + max_new > root.session.context:
        raise ValueError(f"{len(prompt)} + {max_new} tokens do not fit a context of {root.session.context}.")
    sequence, clock = TokenSequence([], eos=eos), 0.0
    for start in range(0, len(prompt), CHUNK):
        chunk = prompt[start : start + CHUNK]
        sequence.commit(chunk)
        for reader in prefilled:
            started = perf_counter()
            reader.prefill(sequence)
            seconds = perf_counter() - started
            yield Prefill(reader.name, len(chunk), clock, seconds)
            clock += seconds
    left = max_new
    while left:
        started = perf_counter()
        draft = root.draft(sequence, left)
        sequence.commit(draft.tokens)
        seconds = perf_counter() - started
        check_finite(draft.reviews[0])
        review = shift_start(draft.reviews[0], clock - started)
        assert isinstance(review, Review)  # the root is a Vertical
        yield Step(draft.tokens, draft.authors, review, clock, seconds)
        clock += seconds
        left -= len(draft.tokens)
        if draft.tokens[-1] in eos:
            return


def check_finite(record: Review | Proposal) -> None:
    """Raise NotFinite for a reviewer whose choice rests on numbers that are not finite."""
    for one in walk(record):
        if isinstance(one, Review) and not all(map(isfinite, (one.margin or 0.0, *one.p, *one.q))):
            raise NotFinite(
                f"The model “{one.by}” computed numbers that are not finite (NaN), so its lane ends here. Its weights "
                "may be damaged, or the number format too small for it: try float32."
            )


def shift_start(record: Review | Proposal, by: float) -> Review | Proposal:
    """The record with its times moved from the machine's clock to the lane's."""
    if isinstance(record, Proposal):
        return replace(record, start=record.start + by)
    return replace(record, start=record.start + by, inner=tuple(shift_start(inner, by) for inner in record.inner))
