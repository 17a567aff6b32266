"""The paper: the vertical and the horizontal cascade, and Algorithm 1 as a tree of the two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from csd.decoding.draft import Draft, Drafter
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from torch import Tensor

    from csd.decoding.acceptance import Accept


class Session(Protocol):
    """One lane's view of a model: tokens in, logits out. What is cached is its own secret."""

    name: str
    context: int

    def logits(self, sequence: TokenSequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence): row j predicts what follows the first since + j tokens.

        [len(sequence) - since + 1, V], valid until this session's next call.
        """

    def prefill(self, sequence: TokenSequence) -> None:
        """Read ahead (prefill), and return when that is done."""


@dataclass(frozen=True)
class Vertical:
    """One round: `drafter` proposes, the model reviews by the rule `accept` and adds one token of its own.

    `judged` is told each draft and how many of its tokens were accepted.
    """

    session: Session
    drafter: Drafter
    accept: Accept
    judged: Callable[[Draft, int], None] = lambda draft, accepted: None
    divisible: bool = False

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        at = len(sequence)
        free = self.session.context - at
        if room < 1:
            return Draft()
        if free < 0:
            return Draft(reviews=(self._skipped(at),))
        guess = self.drafter.draft(sequence, min(room - 1, free))
        started = perf_counter()
        verdict = self.accept(guess, self.session.logits(sequence + guess.tokens, since=at), at)
        seconds = perf_counter() - started
        n = verdict.accepted
        self.judged(guess, n)
        ended = (sequence + guess.tokens[:n]).ended
        own = () if ended else (verdict.token,)
        review = Review(
            self.session.name, at, guess.tokens, guess.authors, n, None if ended else verdict.token, started, seconds,
            guess.reviews, verdict.p, verdict.q, verdict.margin,
        )  # fmt: skip
        kept = guess.tokens[:n] + own
        law = None if verdict.law is None else verdict.law[: len(kept)]
        return Draft(kept, guess.authors[:n] + (self.session.name,) * len(own), law, (review,))

    def _skipped(self, at: int) -> Review:
        reason = f"the context of {self.session.name} ({self.session.context} tokens) is full"
        return Review(self.session.name, at, (), (), 0, None, perf_counter(), 0.0, skipped=reason)


@dataclass(frozen=True)
class Horizontal:
    """By position: extend with each stage until its k tokens are there, so that strong drafters write the early ones.

    An empty proposal ends a stage. What a round of review writes beyond its stage's k is kept, as in the paper.
    """

    stages: tuple[tuple[Drafter, int], ...]
    divisible: bool = False

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        out, goal = Draft(), 0
        for drafter, k in self.stages:
            goal += k
            while len(out) < min(goal, room):
                grown = sequence + out.tokens
                if grown.ended:
                    return out
                left = room - len(out)
                more = drafter.draft(grown, min(left, goal - len(out)) if drafter.divisible else left)
                out += more
                if not more.tokens:
                    break
        return out


def cascade(sessions: Sequence[Session], leaf: Drafter, K: Sequence[Sequence[int]], accept: Accept) -> Drafter:
    """Algorithm 1 as a tree: stage i of row 0 is model i reviewing the cascade of K[i+1:, i+1:], the last stage is the leaf.

    `sessions` from the strongest to the weakest, K in the paper's cumulative form (see `methods.checked_K`), `accept` the
    rule of the inner reviewers.
    """
    if not sessions:
        return Horizontal(((leaf, K[0][0]),)) if K[0][0] else Horizontal(())
    row = K[0]
    budgets = [row[0]] + [row[i] - row[i - 1] for i in range(1, len(row))]
    stages: list[tuple[Drafter, int]] = []
    for i, session in enumerate(sessions):
        inner = cascade(sessions[i + 1 :], leaf, [rest[i + 1 :] for rest in K[i + 1 :]], accept)
        stages.append((Vertical(session, inner, accept), budgets[i]))
    stages.append((leaf, budgets[-1]))
    return Horizontal(tuple((drafter, k) for drafter, k in stages if k > 0))
