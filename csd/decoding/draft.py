"""What drafters hand to reviewers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from csd.decoding.tokens import TokenSequence
from csd.record.trace import Proposal, Review

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Proposed tokens, who first proposed each, and the reviews that produced them.

    `q` is the distribution each token was really drawn from, [n, V], or None where every token is a point mass.
    `cost` is what drafting takes in seconds by the measured costs of the models' forward passes, not by a clock.
    """

    tokens: tuple[int, ...] = ()
    authors: tuple[str, ...] = ()
    q: Tensor | None = None
    reviews: tuple[Review | Proposal, ...] = ()
    cost: float = 0.0

    def __len__(self) -> int:
        return len(self.tokens)

    def __add__(self, more: Draft) -> Draft:
        return Draft(
            self.tokens + more.tokens,
            self.authors + more.authors,
            _stack(self, more),
            self.reviews + more.reviews,
            self.cost + more.cost,
        )

    def columns(self, like: Tensor) -> Tensor:
        """The tokens as indices into rows on `like`'s device, [n, 1]."""
        import torch  # loaded where there are rows

        from csd.decoding.transfer import to_device

        return to_device(torch.tensor(self.tokens, dtype=torch.long), like.device)[:, None]

    def probs(self, like: Tensor) -> Tensor:
        """`q` as rows of `like`'s width, with point masses written out."""
        if self.q is not None:
            return self.q
        rows = like.new_zeros(len(self.tokens), like.shape[-1])
        return rows.scatter_(-1, self.columns(like), 1)


def _stack(first: Draft, second: Draft) -> Tensor | None:
    like = first.q if first.q is not None else second.q
    if like is None:
        return None
    rows = like.new_empty(len(first) + len(second), like.shape[-1])
    for part, start in ((first, 0), (second, len(first))):
        if part.tokens:
            rows[start : start + len(part)] = part.probs(like)
    return rows


def statistical_draft(name: str, sequence: TokenSequence, tokens: list[int], started: float, author: str = "") -> Draft:
    """The draft of a leaf that is not a neural model: point masses up to the first EOS, with a record of them.

    `started` is `perf_counter()` before the leaf began to look for tokens; `author` defaults to `name`.
    """
    drafted = tuple(sequence.until_eos(tokens))
    authors = (author or name,) * len(drafted)
    proposal = Proposal(name, len(sequence), drafted, authors, started, perf_counter() - started)
    return Draft(drafted, authors, reviews=(proposal,))


class Drafter(ABC):
    """Anything that proposes a continuation of the text and may learn from what became of it.

    `exact_length` says that it proposes any length at no extra cost, so a stage asks it for exactly what is missing; a
    round of review cannot do that and may run past its stage's k.
    """

    exact_length: ClassVar[bool] = False

    @abstractmethod
    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        """Propose at most `room` tokens; with room 0, nothing."""

    def prepare(self, text: TokenSequence) -> None:  # noqa: B027  most drafters prepare nothing
        """Called while a device reviews a draft, which ends `text`: the time to index it. Does nothing by default.

        Any prefix of the draft may be accepted, so what is prepared must hold for each, or be cheap to undo.
        """

    def learn(self, draft: Draft, accepted: int) -> None:  # noqa: B027  most drafters learn nothing
        """Called by the reviewer with the number of tokens of this draft that it accepted. Does nothing by default."""


@dataclass(frozen=True)
class Nothing(Drafter):
    """The leaf that proposes nothing: reviewing it is autoregressive decoding."""

    exact_length: ClassVar[bool] = True

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        return Draft()
