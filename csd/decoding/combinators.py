"""The paper in two combinators: the vertical and the horizontal cascade. Both are drafters, so they nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from csd.decoding.draft import Draft, Drafter
from csd.decoding.session import Session
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from csd.decoding.acceptance import Acceptance, AcceptanceRule


@dataclass(frozen=True)
class Vertical(Drafter):
    """One round of review: `drafter` proposes, the model accepts a prefix by `rule` and adds one token of its own."""

    session: Session
    drafter: Drafter
    rule: AcceptanceRule

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        start = len(sequence)
        free = self.session.context - start
        if room < 1:
            return Draft()
        if free < 0:
            return Draft(reviews=(skipped_review(self.session, start),))
        room = min(room - 1, free)
        draft = self.drafter.draft(sequence, room)
        if len(draft) > room:
            raise ValueError(
                f"{type(self.drafter).__name__} drafted {len(draft)} tokens where there is room for {room}."
            )
        started = perf_counter()
        drafted = sequence + draft.tokens
        logits = self.session.logits(drafted, since=start)
        decision = self.rule.launch(draft, logits, start, self.session.choice)
        if decision.waits:
            self.drafter.prepare(drafted)
        result = decision.fetch()
        seconds = perf_counter() - started
        self.drafter.learn(draft, result.accepted)
        ended = (sequence + draft.tokens[: result.accepted]).ended
        return self._emitted(draft, result, ended, start, started, seconds)

    def prepare(self, text: TokenSequence) -> None:
        self.drafter.prepare(text)

    def _emitted(
        self, draft: Draft, result: Acceptance, ended: bool, start: int, started: float, seconds: float
    ) -> Draft:
        """The accepted prefix and the reviewer's own token, which is left out where the prefix ends the text."""
        own = () if ended else (result.token,)
        name, accepted = self.session.name, result.accepted
        tokens = draft.tokens[:accepted] + own
        review = Review(
            by=name,
            at=start,
            tokens=draft.tokens,
            authors=draft.authors,
            accepted=accepted,
            token=None if ended else result.token,
            start=started,
            seconds=seconds,
            inner=draft.reviews,
            p=result.p_drafted,
            q=result.q_drafted,
            margin=result.margin,
        )
        return Draft(
            tokens=tokens,
            authors=draft.authors[:accepted] + (name,) * len(own),
            q=None if result.q is None else result.q[: len(tokens)],
            reviews=(review,),
            cost=draft.cost + _cost(self.session.costs, len(draft) + 1),
        )


@dataclass(frozen=True)
class Horizontal(Drafter):
    """Stages by position, so that strong drafters write first: stage i extends the draft to position k_1 + ... + k_i.

    What a stage leaves open, the next one may write.
    An empty proposal ends a stage. What a round of review writes beyond its stage's k is kept, as in the paper.
    What a reviewer accepts is not passed on: the stages of a fixed cascade learn nothing.
    """

    stages: tuple[tuple[Drafter, int], ...]

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        out, goal = Draft(), 0
        for drafter, k in self.stages:
            goal += k
            while len(out) < min(goal, room):
                grown = sequence + out.tokens
                if grown.ended:
                    return out
                left = room - len(out)
                more = drafter.draft(grown, min(left, goal - len(out)) if drafter.exact_length else left)
                out += more
                if not more.tokens:
                    break
        return out

    def prepare(self, text: TokenSequence) -> None:
        for drafter, _ in self.stages:
            drafter.prepare(text)


def skipped_review(session: Session, start: int) -> Review:
    """The record of a round that did not take place because the model cannot read a text of `start` tokens."""
    reason = f"the context of {session.name} ({session.context} tokens) is full"
    return Review(session.name, start, (), (), 0, None, perf_counter(), 0.0, skipped=reason)


def _cost(costs: Sequence[float], width: int) -> float:
    return costs[min(width, len(costs)) - 1] if costs else 0.0
