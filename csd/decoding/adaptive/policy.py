"""The decision of the adaptive cascade: at each position, is one more token worth its time, and who should write it?

Every level decides for its own reviewer in the same way, so how deep the cascade goes depends on the text too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from csd.decoding.adaptive.estimates import LONGEST_BLOCK, AcceptanceEstimate, CopyModel, Speed
from csd.decoding.adaptive.prior import ANY, Prior, token_kinds
from csd.decoding.adaptive.value import Copying, best_copy, value_of_draft
from csd.decoding.combinators import Vertical
from csd.decoding.draft import Draft, Drafter
from csd.decoding.maxgram import MaxGram
from csd.decoding.session import Session
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from csd.decoding.acceptance import AcceptanceRule


class Assumed(NamedTuple):
    """A speed that is assumed until rounds have been seen: tokens in the time of some passes of a width."""

    tokens: float
    passes: float
    width: int

    def speed(self, costs: Sequence[float]) -> Speed:
        return Speed(self.tokens, self.passes * costs[self.width - 1])


DRAFT_ROUND = Assumed(tokens=4, passes=3, width=2)
REVIEW_ROUND = Assumed(tokens=5, passes=2.6, width=4)


class DraftArm:
    """One choice of a reviewer (an arm, as of a bandit): let this draft model write next.

    It reviews drafts of its own, made in the same adaptive way. `speed` is how fast it writes. Two estimates tell how
    often its reviewer accepts what it wrote: one over all tokens, to decide whether to ask it, and one by kind of
    token, to judge what it has written.
    """

    def __init__(self, session: Session, below: AdaptiveDrafter, rule: AcceptanceRule, prior: Sequence[float]):
        self._round = Vertical(session, below, rule)
        self._overall, self._by_kind = AcceptanceEstimate([prior[ANY]]), AcceptanceEstimate(prior)
        self.speed = DRAFT_ROUND.speed(session.costs)

    @property
    def name(self) -> str:
        return self._round.session.name

    @property
    def acceptance(self) -> float:
        """The probability that the reviewer accepts a token that is not written yet."""
        return self._overall.rates[0]

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        """One round; empty where the model's context is full."""
        draft = self._round.draft(sequence, room)
        if draft.tokens:
            self.speed.add(len(draft), draft.cost)
        return draft

    def p_all_accepted(self, kinds: Sequence[int]) -> float:
        """The probability that the reviewer accepts tokens of these kinds, all of them."""
        rates = self._by_kind.rates
        return prod(rates[kind] for kind in kinds)

    def update(self, kind: int, accepted: bool) -> None:
        self._by_kind.update(kind, accepted)
        self._overall.update(0, accepted)


class AdaptiveDrafter(Drafter):
    """Drafts for one reviewer, whose forward pass over w tokens costs `costs[w - 1]` seconds."""

    def __init__(self, costs: Sequence[float], arms: Sequence[DraftArm], copies: CopyModel):
        self._costs, self._arms, self._copies = costs, tuple(arms), copies
        self._arm_by_name = {arm.name: arm for arm in arms}
        self._speed = REVIEW_ROUND.speed(costs)

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        """Extend the draft as long as something is worth its time: a copy, or a round of the best arm.

        A copy is as long as copying pays, so after one only an arm can go on.
        """
        out, p_alive, longest = Draft(), 1.0, min(room, LONGEST_BLOCK)
        arms, may_copy = list(self._arms), True
        while len(out) < longest and not (grown := sequence + out.tokens).ended:
            left = longest - len(out)
            copy = self._best_copy(grown, len(out), left, p_alive) if may_copy else Copying(0.0, 0, p_alive)
            arm = self._best_arm(arms, copy.value, len(out), left, p_alive)
            if arm is not None:
                more = arm.draft(grown, left)
                if more.tokens:
                    p_alive *= arm.p_all_accepted(_kinds(more))
                else:  # its context is full
                    arms.remove(arm)
            elif copy.count:
                more, p_alive = self._copies.draft(grown, copy.count), copy.p_alive
            else:
                break
            may_copy = arm is not None
            out += more
        return out

    def prepare(self, text: TokenSequence) -> None:
        self._copies.prepare(text)

    def learn(self, draft: Draft, accepted: int) -> None:
        for position, judged in zip(range(accepted + 1), self._handed_up(draft)):
            if judged is not None:
                arm, kind = judged
                arm.update(kind, position < accepted)
        self._speed.add(accepted + 1, draft.cost + self._costs[len(draft)])

    def _handed_up(self, draft: Draft) -> Iterator[tuple[DraftArm, int] | None]:
        """For each token of a draft, the arm that handed it up and its kind; None for a copy."""
        for record in draft.reviews:
            if isinstance(record, Review):
                yield from ((self._arm_by_name[record.by], kind) for kind in token_kinds(record))
            else:
                yield from repeat(None, len(record.tokens))

    @property
    def _tokens_per_second(self) -> float:
        """What the reviewer's time is worth: its recent speed, or its speed without any draft."""
        return max(self._speed.tokens_per_second, 1 / self._costs[0])

    def _best_copy(self, sequence: TokenSequence, drafted: int, room: int, p_alive: float) -> Copying:
        rates = self._copies.rates(sequence)[:room]
        return best_copy(rates, self._costs, drafted, p_alive, self._tokens_per_second)

    def _best_arm(
        self, arms: Sequence[DraftArm], value: float, drafted: int, room: int, p_alive: float
    ) -> DraftArm | None:
        """The arm that is worth most, if it is worth more than `value` tokens."""
        best = None
        for arm in arms:
            worth = value_of_draft(
                arm.acceptance,
                arm.speed.tokens_per_second,
                room,
                self._costs,
                drafted,
                p_alive,
                self._tokens_per_second,
            )
            if worth > value:
                value, best = worth, arm
        return best


def adaptive_drafter(
    reviewer: Session, drafts: Sequence[Session], max_gram: MaxGram, prior: Prior, rule: AcceptanceRule
) -> AdaptiveDrafter:
    """What drafts for the target of one lane: `drafts` from the strongest on, `rule` that of the inner reviewers."""
    copies = CopyModel(max_gram, prior.copies)

    def drafter_for(reviewer: Session, below: Sequence[Session]) -> AdaptiveDrafter:
        arms = [
            DraftArm(draft, drafter_for(draft, below[i + 1 :]), rule, prior.of_draft(draft.name))
            for i, draft in enumerate(below)
        ]
        return AdaptiveDrafter(reviewer.costs, arms, copies)

    return drafter_for(reviewer, drafts)


def _kinds(draft: Draft) -> list[int]:
    """The kinds of the tokens of one round, which is one review."""
    (review,) = draft.reviews
    assert isinstance(review, Review)
    return token_kinds(review)
