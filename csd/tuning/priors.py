"""How often copied and drafted tokens are right, counted along transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from csd.decoding.adaptive.prior import AGREED, ANY, GENERAL, Prior, kind_of_margin
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.tuning.transcripts import Transcript

MIN_RATE = 0.005  # no rate is taken to be closer to 0 or 1 than this
PRIOR_WEIGHT = 4.0  # tokens that the general prior counts for
DEEPEST = 16  # positions of a block for which acceptance is reported


def count_prior(transcripts: Sequence[Transcript], drafts: Sequence[str], bigram: Sequence[int] | None) -> Prior:
    """Acceptance rates by kind of token, smoothed with the general prior and never falling as the evidence grows."""
    copies = RateCounter(GENERAL.copies)
    by_draft = {draft: RateCounter(GENERAL.unknown) for draft in drafts}
    for transcript in transcripts:
        index, text = SuffixIndex(len(GENERAL.copies) - 1), TokenSequence(list(transcript.prompt))
        for position, token in enumerate(transcript.tokens):
            copy = _count_copy(copies, index, text, token, bigram)
            for draft, counter in by_draft.items():
                _count_drafted(counter, transcript, draft, position, copy)
            text.commit([token])
    drafted = {draft: _rates_by_kind(counter) for draft, counter in by_draft.items()}
    return Prior(tuple(copies.rates(0, len(GENERAL.copies))), drafted, GENERAL.unknown)


def acceptance_by_position(transcripts: Iterable[Transcript], draft: str) -> tuple[float, ...]:
    """Probability that the target accepts a draft's token at position 1, 2, ... of a block, given those before it."""
    reached, accepted = [0] * DEEPEST, [0] * DEEPEST
    for transcript in transcripts:
        predictions = transcript.predictions.get(draft, ())
        right = [top.best == token for top, token in zip(predictions, transcript.tokens)]
        for start in range(len(right)):
            for depth, agreed in enumerate(right[start : start + DEEPEST]):
                reached[depth] += 1
                accepted[depth] += agreed
                if not agreed:
                    break
    return tuple(round(a / n, 4) for a, n in zip(accepted, reached) if n)


class RateCounter:
    """Tokens proposed and accepted of each kind, on top of a prior."""

    def __init__(self, prior: Sequence[float]) -> None:
        self._accepted, self._proposed = [PRIOR_WEIGHT * rate for rate in prior], [PRIOR_WEIGHT] * len(prior)

    def add(self, kind: int, accepted: bool) -> None:
        self._accepted[kind] += accepted
        self._proposed[kind] += 1

    def rates(self, first: int, end: int) -> list[float]:
        """The rates of the kinds first .. end - 1, made non-decreasing by pooling neighbours that would decrease."""
        pools: list[tuple[float, float, int]] = []  # accepted, proposed, number of kinds
        for accepted, proposed in zip(self._accepted[first:end], self._proposed[first:end]):
            pools.append((accepted, proposed, 1))
            while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
                (a, n, kinds), (b, m, more) = pools[-2:]
                pools[-2:] = [(a + b, n + m, kinds + more)]
        return [
            round(min(max(accepted / proposed, MIN_RATE), 1 - MIN_RATE), 4)
            for accepted, proposed, kinds in pools
            for _ in range(kinds)
        ]


def _count_copy(
    copies: RateCounter, index: SuffixIndex, text: TokenSequence, token: int, bigram: Sequence[int] | None
) -> int | None:
    """Count what Max-Gram would propose after `text`, where `token` follows. Returns the copied token, if any."""
    index.sync(text)
    length, follows = index.match()
    last = text.committed[-1]
    if length:
        copy = index.copy(follows, 1)[0]
        copies.add(length, copy == token)
        return copy
    if bigram is not None and last < len(bigram):
        copies.add(0, bigram[last] == token)
    return None


def _count_drafted(counter: RateCounter, transcript: Transcript, draft: str, position: int, copy: int | None) -> None:
    """Count what a draft would write at a position, and the copied token there if the draft accepts it."""
    predictions, token = transcript.predictions.get(draft, ()), transcript.tokens[position]
    if position >= len(predictions):
        return
    top = predictions[position]
    counter.add(ANY, top.best == token)
    counter.add(kind_of_margin(top.margin), top.best == token)
    if top.best == copy:
        counter.add(AGREED, copy == token)


def _rates_by_kind(counter: RateCounter) -> tuple[float, ...]:
    """A draft's rates: non-decreasing over the bins of the margin; AGREED and ANY each on its own."""
    return (*counter.rates(0, AGREED), *counter.rates(AGREED, ANY), *counter.rates(ANY, ANY + 1))
