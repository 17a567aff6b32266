"""What drafters hand to reviewers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from csd.decoding.tokens import TokenSequence
from csd.record.trace import Proposal, Review

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Proposed tokens, who first proposed each, and what happened inside.

    `q` is the law each token was really drawn from, [n, V], or None where every token is a point mass.
    """

    tokens: tuple[int, ...] = ()
    authors: tuple[str, ...] = ()
    q: Tensor | None = None
    reviews: tuple[Review | Proposal, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    def __add__(self, more: Draft) -> Draft:
        return Draft(
            self.tokens + more.tokens, self.authors + more.authors, _stack(self, more), self.reviews + more.reviews
        )

    def law(self, like: Tensor) -> Tensor:
        """`q` as rows of `like`'s width, point masses written out."""
        if self.q is not None:
            return self.q
        rows = like.new_zeros(len(self.tokens), like.shape[-1])
        rows[range(len(self.tokens)), self.tokens] = 1
        return rows


def _stack(first: Draft, second: Draft) -> Tensor | None:
    like = first.q if first.q is not None else second.q
    if like is None:
        return None
    rows = like.new_empty(len(first) + len(second), like.shape[-1])
    for part, at in ((first, 0), (second, len(first))):
        if part.tokens:
            rows[at : at + len(part)] = part.law(like)
    return rows


class Drafter(Protocol):
    """Anything that proposes a continuation of at most `room` tokens; room 0 proposes nothing.

    `divisible` says that it proposes any length at no extra cost, so a stage asks it for what it still wants and no more;
    a round of review is not divisible and may run past its stage's k.
    """

    divisible: bool

    def draft(self, sequence: TokenSequence, room: int) -> Draft: ...


@dataclass(frozen=True)
class Nothing:
    """The leaf that proposes nothing: reviewing it is autoregressive decoding."""

    divisible: bool = True

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        return Draft()
