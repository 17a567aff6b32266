"""What the adaptive cascade learns while decoding: acceptance rates by kind of token, and tokens per second."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from csd.decoding.draft import Draft
from csd.decoding.maxgram import BIGRAM_RUN, MaxGram
from csd.decoding.tokens import TokenSequence

LONGEST_BLOCK = 64  # tokens given to one review at most
# How fast estimates learn; simulated on recorded texts, with a flat optimum around these values.
PRIOR_WEIGHT = 12.0  # tokens that the prior counts for
FADE = 0.99  # what remains of a count after the next token of its kind
SHIFT_RATE = 0.2  # step size of the shift that all kinds share
SPEED_MEMORY = 0.95  # what remains of a round in a speed after the next one


class AcceptanceEstimate:
    """How often tokens of each kind are accepted: fading counts over a prior worth PRIOR_WEIGHT tokens.

    All kinds of the prior shift together, on the scale of log odds, as the text turns out easier or harder than the
    prior: what is observed of one kind informs the others.
    """

    def __init__(self, prior: Sequence[float]):
        self._logits = [log(rate / (1 - rate)) for rate in prior]
        self._seen, self._accepted = [0.0] * len(prior), [0.0] * len(prior)
        self._shift = 0.0
        self._rates: list[float] | None = None

    @property
    def rates(self) -> list[float]:
        """The acceptance probability of each kind."""
        if self._rates is None:
            prior = [1 / (1 + exp(-logit - self._shift)) for logit in self._logits]
            counts = zip(prior, self._accepted, self._seen)
            self._rates = [(kept + PRIOR_WEIGHT * rate) / (seen + PRIOR_WEIGHT) for rate, kept, seen in counts]
        return self._rates

    def update(self, kind: int, accepted: bool) -> None:
        self._shift += SHIFT_RATE * (accepted - 1 / (1 + exp(-self._logits[kind] - self._shift)))
        self._seen[kind] = FADE * self._seen[kind] + 1
        self._accepted[kind] = FADE * self._accepted[kind] + accepted
        self._rates = None


class Speed:
    """Tokens per second over the last rounds; older rounds fade. The constructor's values seed the estimate."""

    def __init__(self, tokens: float, seconds: float):
        self._tokens, self._seconds = tokens, seconds

    @property
    def tokens_per_second(self) -> float:
        return self._tokens / self._seconds

    def add(self, tokens: float, seconds: float) -> None:
        self._tokens = SPEED_MEMORY * self._tokens + tokens
        self._seconds = SPEED_MEMORY * self._seconds + seconds


class CopyModel:
    """How likely Max-Gram's next tokens are accepted, by the length of its match.

    One per lane, shared by all of its levels, since they imitate the same text. It learns from every generated token,
    also where nothing was copied, and nothing from the prompt.
    """

    def __init__(self, max_gram: MaxGram, prior: Sequence[float]):
        self._max_gram = max_gram
        self._estimate = AcceptanceEstimate(prior)
        self._longest = min(max_gram.index.longest, len(prior) - 1)
        self._learned: int | None = None  # tokens of the text that it has learned from
        self._asked: tuple[int, tuple[int, ...]] | None = None
        self._answer: Sequence[float] = ()

    def rates(self, sequence: TokenSequence) -> Sequence[float]:
        """For each token that Max-Gram would write, the probability that it is accepted, given those before it are."""
        asked = (len(sequence.committed), sequence.tail)
        if asked != self._asked:  # a level often asks what the one above it has just asked
            self._max_gram.index.sync(sequence)
            self._learn(sequence.committed)
            length, _ = self._max_gram.index.match()
            self._asked, self._answer = asked, self._by_length(length, self._estimate.rates)
        return self._answer

    def draft(self, sequence: TokenSequence, count: int) -> Draft:
        return self._max_gram.draft(sequence, count)

    def prepare(self, text: TokenSequence) -> None:
        self._max_gram.prepare(text)

    def _by_length(self, length: int, rates: list[float]) -> Sequence[float]:
        """A copied token makes the match one token longer; after a bigram comes at most one more."""
        if length:
            return rates[length : self._longest] + [rates[self._longest]] * LONGEST_BLOCK
        return [rates[0]] * (BIGRAM_RUN if self._max_gram.bigram is not None else 0)

    def _learn(self, committed: Sequence[int]) -> None:
        bigram, end = self._max_gram.bigram, len(committed)
        for position in range(end if self._learned is None else self._learned, end):
            length, right = self._max_gram.index.matched[position]
            if length:
                self._estimate.update(min(length, self._longest), right)
            elif bigram is not None and committed[position - 1] < len(bigram):
                self._estimate.update(0, bigram[committed[position - 1]] == committed[position])
        self._learned = end
