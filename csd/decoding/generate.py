"""The loop that every method runs through: read the prompt, then let the root extend the text until it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from csd.decoding.combinators import Vertical
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Prefill, Proposal, Review, Step

CHUNK = 512  # prompt tokens read at once: large enough to be fast, small enough to stop within


class Reader(Protocol):
    """What has to know the prompt before decoding: a session, or Max-Gram's index."""

    name: str

    def prefill(self, sequence: TokenSequence) -> None: ...


def generate(
    root: Vertical, readers: Sequence[Reader], prompt: Sequence[int], max_new: int, eos: frozenset[int] = frozenset()
) -> Iterator[Prefill | Step]:
    """Yield what each model read of the prompt, then a Step for each round of the root; at most `max_new` tokens.

    Times are on the lane's own clock, which stands still between two yields. Raises ValueError for a lenient root and
    for a text that does not fit the target's context.
    """
    if root.accept.lenience != 1:
        raise ValueError("The target's review is always strict: its lenience must be 1.")
    if len(prompt) + max_new > root.session.context:
        raise ValueError(f"{len(prompt)} + {max_new} tokens do not fit a context of {root.session.context}.")
    sequence, clock = TokenSequence([], eos=eos), 0.0
    for begin in range(0, len(prompt), CHUNK):
        chunk = prompt[begin : begin + CHUNK]
        sequence.commit(chunk)
        for reader in readers:
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
        review = draft.reviews[0]
        yield Step(draft.tokens, draft.authors, _moved(review, clock - started), clock, seconds)
        clock += seconds
        left -= len(draft.tokens)
        if draft.tokens[-1] in eos:
            return


def _moved(record: Review | Proposal, by: float) -> Review | Proposal:
    """The record with its times moved from the machine's clock to the lane's."""
    if isinstance(record, Proposal):
        return replace(record, start=record.start + by)
    return replace(record, start=record.start + by, inner=tuple(_moved(inner, by) for inner in record.inner))
