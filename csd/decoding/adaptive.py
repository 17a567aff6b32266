"""The adaptive cascade: at each position, is one more token worth its time, and who should write it?

A reviewer that emits lambda tokens a second should be handed one more token exactly as long as

    P(it and all tokens before it are accepted)  >  lambda x (seconds to draft it + seconds that the review gets longer)

(renewal reward, with the measured cost of every width; the paper fixes K by hand instead). The chances are counted while
decoding, over what was known before: Max-Gram's by the length of its match, a draft's by the margin of its own choices.
Every level decides for its own reviewer in the same way, so K becomes a matter of the text.

Whether a position stays in a draft depends on the tokens and laws before it only, so the text is the target's under every
rule. Costs are tables, not clocks: the same prompt gives the same blocks again.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, prod
from typing import TYPE_CHECKING

from csd.decoding.combinators import Session, Vertical
from csd.decoding.draft import Draft
from csd.decoding.maxgram import BIGRAM_RUN, Index, MaxGram
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from csd.decoding.acceptance import Accept

LONGEST_BLOCK = 64  # tokens handed to one review at most
HOPELESS = 0.05  # chance of a copy below which longer ones are not looked at
STRIDE = 8  # tokens over which the growing cost of a review is averaged
WEIGHT, FADE, PULL = 12.0, 0.99, 0.2  # how fast the odds learn; simulated on recorded texts, flat around these figures
MEMORY = 0.95  # what is left of a round in the pace after the next one
MARGINS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # edges between the kinds of a draft's own tokens
AGREED = len(MARGINS) + 1  # the kind of a copy that a draft accepted
ANY = AGREED + 1  # a token of a draft of which no more is known

Cost = Sequence[float]
"""Seconds of one run over w tokens, at place w - 1, for w up to LONGEST_BLOCK + 1 at least."""


@dataclass(frozen=True)
class Prior:
    """What is expected before a text begins; `csd.tuning.search` counts it, these figures are the embedded family's.

    `copies`: the chance of Max-Gram's next token by the length of its match, a bigram's at 0. `drafts`: by name, the chance
    of a draft's token by its kind (margin, AGREED, ANY); drafts without an entry have `unknown`.
    """

    copies: tuple[float, ...] = (
        0.13, 0.35, 0.45, 0.45, 0.7, 0.7, 0.83, 0.88, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93,
    )  # fmt: skip
    drafts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    unknown: tuple[float, ...] = (0.4, 0.42, 0.45, 0.5, 0.6, 0.67, 0.75, 0.82, 0.91, 0.97, 0.99, 0.98, 0.95)

    def of(self, draft: str) -> tuple[float, ...]:
        return self.drafts.get(draft, self.unknown)


GENERAL = Prior()


class Odds:
    """How often tokens of each kind are accepted: counts that fade, over a prior worth `WEIGHT` tokens.

    All kinds of the prior move together, on the scale of log odds, as the text turns out easier or harder than it: what is
    seen of one kind tells of the others.
    """

    def __init__(self, prior: Sequence[float]):
        self._logits = [log(rate / (1 - rate)) for rate in prior]
        self._seen, self._kept = [0.0] * len(prior), [0.0] * len(prior)
        self._shift = 0.0
        self._rates: list[float] | None = None

    @property
    def rates(self) -> list[float]:
        """The chance of each kind."""
        if self._rates is None:
            prior = [1 / (1 + exp(-logit - self._shift)) for logit in self._logits]
            counts = zip(prior, self._kept, self._seen)
            self._rates = [(kept + WEIGHT * rate) / (seen + WEIGHT) for rate, kept, seen in counts]
        return self._rates

    def saw(self, kind: int, accepted: bool) -> None:
        self._shift += PULL * (accepted - 1 / (1 + exp(-self._logits[kind] - self._shift)))
        self._seen[kind] = FADE * self._seen[kind] + 1
        self._kept[kind] = FADE * self._kept[kind] + accepted
        self._rates = None


class Copies:
    """How likely Max-Gram's next token is right, by the length of its match; learned from every token of the text.

    One for all levels of a lane: they imitate the same text. It learns nothing from the prompt.
    """

    def __init__(self, index: Index, bigram: Sequence[int] | None, prior: Sequence[float]):
        self.index, self.bigram = index, bigram
        self._odds = Odds(prior)
        self._longest = min(index.longest, len(prior) - 1)
        self._heard: int | None = None
        self._asked: tuple[int, tuple[int, ...]] | None = None
        self._answer: Sequence[float] = ()

    def chances(self, sequence: TokenSequence) -> Sequence[float]:
        """The chance of each of the next tokens, given that those before it are right; as many as Max-Gram would write."""
        asked = (len(sequence.committed), sequence.tail)
        if asked != self._asked:  # a level asks what the one above it has just asked
            self.index.sync(sequence)
            self._learn(sequence.committed)
            self._asked, self._answer = asked, self._chances(self.index.match()[0], self._odds.rates)
        return self._answer

    def _chances(self, length: int, rates: list[float]) -> Sequence[float]:
        if length:
            return rates[length : self._longest] + [rates[self._longest]] * LONGEST_BLOCK
        return [rates[0]] * (BIGRAM_RUN if self.bigram is not None else 0)

    def draft(self, sequence: TokenSequence, count: int) -> Draft:
        return MaxGram(self.index, count, self.bigram).draft(sequence, count)

    def _learn(self, committed: Sequence[int]) -> None:
        end = len(committed)
        if end == self._heard:
            return
        for place in range(end if self._heard is None else self._heard, end):
            length, right = self.index.matched[place]
            if length:
                self._odds.saw(min(length, self._longest), right)
            elif self.bigram is not None and committed[place - 1] < len(self.bigram):
                self._odds.saw(0, self.bigram[committed[place - 1]] == committed[place])
        self._heard = end


class Pace:
    """Tokens a second of the last rounds of something; what is older fades."""

    def __init__(self, tokens: float, seconds: float):
        self._tokens, self._seconds = tokens, seconds

    @property
    def rate(self) -> float:
        return self._tokens / self._seconds

    def add(self, tokens: float, seconds: float) -> None:
        self._tokens = MEMORY * self._tokens + tokens
        self._seconds = MEMORY * self._seconds + seconds


class Writer:
    """A draft that may write next: a round of it over its own adaptive drafter, and how often its reviewer agrees."""

    def __init__(self, session: Session, inner: Adaptive, accept: Accept, prior: Sequence[float]):
        self._inner = inner
        self._round = Vertical(session, inner, accept, inner.judged)
        self._odds, self._mean = Odds(prior), Odds(prior[ANY:])
        self.pace = Pace(4.0, 3 * inner.cost[1])

    @property
    def chance(self) -> float:
        """That the reviewer accepts a token of this draft whose margin is not known yet."""
        return self._mean.rates[0]

    def draft(self, sequence: TokenSequence, room: int) -> tuple[Draft, list[int], float]:
        """A round: what it wrote, the kind of each token, and the seconds that it costs."""
        more = self._round.draft(sequence, room)
        if not more.tokens:
            return more, [], 0.0
        kinds = _kinds(more.reviews[0])
        seconds = self._inner.seconds + self._inner.cost[len(more.reviews[0].tokens)]
        self.pace.add(len(kinds), seconds)
        return more, kinds, seconds

    def survival(self, kinds: Sequence[int]) -> float:
        """The chance that the reviewer accepts tokens of these kinds, all of them."""
        rates = self._odds.rates
        return prod(rates[kind] for kind in kinds)

    def judged(self, kind: int, accepted: bool) -> None:
        self._odds.saw(kind, accepted)
        self._mean.saw(0, accepted)


class Adaptive:
    """Drafts for one reviewer, of which a run over w tokens costs `cost[w - 1]` seconds.

    `judged` has to be told how much of each draft was accepted. `seconds` is what the last draft cost.
    """

    divisible = False

    def __init__(self, cost: Cost, writers: Sequence[Writer], copies: Copies):
        self.cost, self.seconds = cost, 0.0
        self._writers, self._copies = tuple(writers), copies
        self._pace = Pace(5.0, 2.6 * cost[3])
        self._kinds: list[tuple[Writer, int] | None] = []

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        out, survival, most = Draft(), 1.0, min(room, LONGEST_BLOCK)
        self._kinds, self.seconds = [], 0.0
        writers, copied = list(self._writers), False
        while len(out) < most:
            grown, left = sequence + out.tokens, most - len(out)
            if grown.ended:
                break
            value, count, survives, best = 0.0, 0, 0.0, None
            if not copied:  # else no more of it pays, by its own reckoning
                value, count, survives = self._copying(survival, self._copies.chances(grown)[:left], len(out))
            for writer in writers:
                worth = self._writing(writer, survival, left, len(out))
                if worth > value:
                    value, best = worth, writer
            if best is not None:
                more, kinds, seconds = best.draft(grown, left)
                self.seconds += seconds
                self._kinds += [(best, kind) for kind in kinds]
                survival, copied = survival * best.survival(kinds), False
                if not kinds:  # its context is full
                    writers.remove(best)
            elif count:
                more = self._copies.draft(grown, count)
                self._kinds += [None] * len(more)
                survival, copied = survives, True
            else:
                break
            out += more
        return out

    def judged(self, draft: Draft, accepted: int) -> None:
        """Learn from the reviewer how many tokens of the last draft it accepted."""
        for place, entry in enumerate(self._kinds[: accepted + 1]):
            if entry is not None:
                writer, kind = entry
                writer.judged(kind, place < accepted)
        self._pace.add(accepted + 1, self.seconds + self.cost[len(draft)])

    @property
    def _price(self) -> float:
        """What a second is worth in tokens: what the reviewer made of it lately, or would without any draft."""
        return max(self._pace.rate, 1 / self.cost[0])

    def _copying(self, survival: float, chances: Sequence[float], drafted: int) -> tuple[float, int, float]:
        """The best number of tokens to copy: its value in tokens, the number, and the chance that all are accepted."""
        most, best, survives = 0.0, 0, survival
        gained, price, start, place = 0.0, self._price, self.cost[drafted], drafted
        for chance in chances:
            survival *= chance
            gained += survival
            place += 1
            value = gained - price * (self.cost[place] - start)
            if value > most:
                most, best, survives = value, place - drafted, survival
            if survival < HOPELESS:
                break
        return most, best, survives

    def _writing(self, writer: Writer, survival: float, most: int, drafted: int) -> float:
        """The value, in tokens, of as many tokens of a draft as pay.

        With s alive, chance a and price x of a token, n tokens are worth s (a + ... + a^n) - n x; the n-th still pays as long
        as s a^n > x.
        """
        start, chance = self.cost[drafted], writer.chance
        ahead = min(most, STRIDE)
        each = self._price * (1 / writer.pace.rate + (self.cost[drafted + ahead] - start) / ahead)
        if survival * chance <= each:
            return 0.0
        count = min(most, int(log(each / survival) / log(chance)))
        return survival * chance * (1 - chance**count) / (1 - chance) - count * each


def adaptive(
    sessions: Sequence[Session],
    costs: Mapping[str, Cost],
    index: Index,
    bigram: Sequence[int] | None,
    prior: Prior,
    strict: Accept,
    inner: Accept,
) -> Vertical:
    """The adaptive tree over one lane's sessions, the target first, then the drafts from the strongest on."""
    copies = Copies(index, bigram, prior.copies)

    def drafter(reviewer: Session, below: Sequence[Session]) -> Adaptive:
        writers = [
            Writer(session, drafter(session, below[place + 1 :]), inner, prior.of(session.name))
            for place, session in enumerate(below)
        ]
        return Adaptive(costs[reviewer.name], writers, copies)

    root = drafter(sessions[0], sessions[1:])
    return Vertical(sessions[0], root, strict, root.judged)


def _kinds(review: Review) -> list[int]:
    """The kind of each token that a review let through."""
    own = [] if review.token is None else [AGREED if review.margin is None else bisect(MARGINS, review.margin)]
    return [AGREED] * review.accepted + own
