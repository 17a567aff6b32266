"""The decision of the adaptive cascade: at each position, is one more token worth its time, and who should write it?

Every level decides for its own reviewer in the same way, so the vertical cascade becomes a matter of the text too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import log, prod
from typing import TYPE_CHECKING

from csd.decoding.adaptive.estimates import LONGEST_BLOCK, AcceptanceEstimate, CopyModel, DecayingRate
from csd.decoding.adaptive.prior import ANY, Prior, token_kinds
from csd.decoding.combinators import Session, Vertical
from csd.decoding.draft import Draft, Drafter
from csd.decoding.maxgram import MaxGram
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from csd.decoding.acceptance import AcceptanceRule

HOPELESS = 0.05  # probability of a copy below which longer copies are not considered
STRIDE = 8  # tokens over which the growing cost of a review is averaged


class DraftArm:
    """A draft model that may write next: a round of it over an adaptive drafter, and how often its reviewer agrees."""

    def __init__(self, session: Session, below: AdaptiveDrafter, rule: AcceptanceRule, prior: Sequence[float]):
        self._round = Vertical(session, below, rule)
        self._by_kind, self._overall = AcceptanceEstimate(prior), AcceptanceEstimate(prior[ANY:])
        # At the start a round is assumed to write 4 tokens in the time of 3 passes over two tokens.
        self.speed = DecayingRate(4.0, 3 * session.costs[1])

    @property
    def name(self) -> str:
        return self._round.session.name

    @property
    def p_accepted(self) -> float:
        """The probability that the reviewer accepts a token of this draft whose margin is not known yet."""
        return self._overall.rates[0]

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        """One round; empty where the model's context is full."""
        draft = self._round.draft(sequence, room)
        if draft.tokens:
            self.speed.add(len(draft), draft.cost)
        return draft

    def p_all_accepted(self, kinds: Sequence[int]) -> float:
        rates = self._by_kind.rates
        return prod(rates[kind] for kind in kinds)

    def update(self, kind: int, accepted: bool) -> None:
        self._by_kind.update(kind, accepted)
        self._overall.update(0, accepted)


@dataclass(frozen=True, slots=True)
class Copying:
    """The best number of tokens to copy next, its value in tokens, and the probability that everything is accepted."""

    value: float
    count: int
    p_alive: float


class AdaptiveDrafter(Drafter):
    """Drafts for one reviewer, whose forward pass over w tokens costs `costs[w - 1]` seconds."""

    def __init__(self, costs: Sequence[float], arms: Sequence[DraftArm], copies: CopyModel):
        self._costs, self._arms, self._copies = costs, tuple(arms), copies
        self._arm_by_name = {arm.name: arm for arm in arms}
        # At the start a round of the reviewer is assumed to emit 5 tokens in the time of 2.6 passes over four tokens.
        self._speed = DecayingRate(5.0, 2.6 * costs[3])

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        out, p_alive, longest = Draft(), 1.0, min(room, LONGEST_BLOCK)
        arms, copied = list(self._arms), False
        while len(out) < longest:
            grown, left = sequence + out.tokens, longest - len(out)
            if grown.ended:
                break
            # The last copy was as long as copying pays.
            copy = Copying(0.0, 0, 0.0) if copied else self._copying(grown, p_alive, len(out), left)
            arm = self._best_arm(arms, copy.value, p_alive, len(out), left)
            if arm is not None:
                more = arm.draft(grown, left)
                if more.tokens:
                    review = more.reviews[0]
                    assert isinstance(review, Review)
                    p_alive *= arm.p_all_accepted(token_kinds(review))
                else:
                    arms.remove(arm)
                copied = False
            elif copy.count:
                more = self._copies.draft(grown, copy.count)
                p_alive, copied = copy.p_alive, True
            else:
                break
            out += more
        return out

    def learn(self, draft: Draft, accepted: int) -> None:
        for position, judged in zip(range(accepted + 1), self._written_by(draft)):
            if judged is not None:
                arm, kind = judged
                arm.update(kind, position < accepted)
        self._speed.add(accepted + 1, draft.cost + self._costs[len(draft)])

    def _written_by(self, draft: Draft) -> Iterator[tuple[DraftArm, int] | None]:
        """For each token of a draft, the arm that handed it up and its kind; None for a copy."""
        for record in draft.reviews:
            if isinstance(record, Review):
                yield from ((self._arm_by_name[record.by], kind) for kind in token_kinds(record))
            else:
                yield from repeat(None, len(record.tokens))

    @property
    def _price(self) -> float:
        """What a second is worth in tokens: the reviewer's recent speed, or its speed without any draft."""
        return max(self._speed.rate, 1 / self._costs[0])

    def _copying(self, sequence: TokenSequence, p_alive: float, drafted: int, room: int) -> Copying:
        """The number of copied tokens with the highest value."""
        best, count, survives = 0.0, 0, p_alive
        gained, price, start, width = 0.0, self._price, self._costs[drafted], drafted
        for p_accepted in self._copies.acceptance(sequence)[:room]:
            p_alive *= p_accepted
            gained += p_alive
            width += 1
            value = gained - price * (self._costs[width] - start)
            if value > best:
                best, count, survives = value, width - drafted, p_alive
            if p_alive < HOPELESS:
                break
        return Copying(best, count, survives)

    def _best_arm(
        self, arms: Sequence[DraftArm], value: float, p_alive: float, drafted: int, room: int
    ) -> DraftArm | None:
        """The arm that is worth most, if it is worth more than `value` tokens."""
        best = None
        for arm in arms:
            worth = self._worth(arm, p_alive, drafted, room)
            if worth > value:
                value, best = worth, arm
        return best

    def _worth(self, arm: DraftArm, p_alive: float, drafted: int, room: int) -> float:
        """The value, in tokens, of drafting with an arm for as long as it pays.

        With s the probability that the block is still alive, acceptance a and price x of a token, n tokens are worth
        s (a + ... + a^n) - n x; the n-th still pays as long as s a^n > x.
        """
        start, p_accepted = self._costs[drafted], arm.p_accepted
        ahead = min(room, STRIDE)
        each = self._price * (1 / arm.speed.rate + (self._costs[drafted + ahead] - start) / ahead)
        if p_alive * p_accepted <= each:
            return 0.0
        count = min(room, int(log(each / p_alive) / log(p_accepted)))
        return p_alive * p_accepted * (1 - p_accepted**count) / (1 - p_accepted) - count * each


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
