"""The numbers of a trace. Every figure on the page, in the terminal and in the benchmark comes from here."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import TypeVar

from csd.record.trace import Proposal, Review, Trace, walk

T = TypeVar("T")

REPEATED_LIMIT = 0.15  # share of repeated 8-grams above which a text counts as repeating itself
LONGEST_LOOP = 7  # words; a longer loop is seen in its 8-grams
IN_A_ROW = 3  # times that words stand one after another before they are a loop
OVERHEAD = "<overhead>"  # among levels, whose names have no angle brackets
SHORT_RUN = 32  # tokens below which a speed says little


@dataclass(frozen=True)
class AcceptanceCount:
    """How many tokens were proposed, and how many of them were accepted."""

    proposed: int = 0
    accepted: int = 0

    @property
    def rate(self) -> float:
        return self.accepted / self.proposed if self.proposed else math.nan


def speed(trace: Trace) -> float:
    """Tokens per second of decoding, prefill apart."""
    return _ratio(len(trace.tokens), trace.decode_seconds)


def speed_with_prefill(trace: Trace) -> float:
    """Tokens per second of the whole lane, prefill of all its models included."""
    return _ratio(len(trace.tokens), trace.decode_seconds + trace.prefill_seconds)


def mat(trace: Trace) -> float:
    """Mean tokens per target pass (MAT), its own token included; NaN for a draft alone."""
    return _ratio(len(trace.tokens), len(trace.steps)) if trace.lossless else math.nan


def repeated(trace: Trace, n: int = 8) -> float:
    """Share of generated n-grams that occurred earlier in the generated text and do not occur in the prompt."""
    tokens, prompt = trace.tokens, trace.header.prompt
    known = set(_grams(prompt, n))
    seen: set[tuple[int, ...]] = set()
    again = 0
    for gram in _grams(tokens, n):
        again += gram in seen and gram not in known
        seen.add(gram)
    return _ratio(again, max(0, len(tokens) - n + 1), 0.0)


def looped(trace: Trace) -> float:
    """Share of the words of the text that only go on with a loop, such as the second and third "A:" of "A: A: A:".

    A loop is a few words that stand three times in a row, and do not in the prompt. A text of few tokens may end in one
    before any of its 8-grams occurs again.
    """
    words, prompt = _words(trace.answer), _words(trace.header.text)
    again: set[int] = set()
    for period in range(1, LONGEST_LOOP + 1):
        span = IN_A_ROW * period
        known = set(_grams(prompt, span))
        same = 0  # words up to here that are those of one period before
        for at in range(period, len(words)):
            same = same + 1 if words[at] == words[at - period] else 0
            if same >= span - period and words[at - span + 1 : at + 1] not in known:
                again.update(range(at - span + period + 1, at + 1))
    return _ratio(len(again), len(words), 0.0)


def repeats_itself(trace: Trace) -> bool:
    """Whether the text is so repetitive that drafting it is easy."""
    return max(repeated(trace), looped(trace)) > REPEATED_LIMIT


def acceptance(trace: Trace) -> dict[str, AcceptanceCount]:
    """For each author, how many of its tokens the target was shown, and how many it accepted.

    Tokens after the first rejected one were not judged individually; they count as proposed.
    """
    proposed: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for step in trace.steps:
        proposed.update(step.review.authors)
        accepted.update(step.review.authors[: step.review.accepted])
    return {name: AcceptanceCount(proposed[name], accepted[name]) for name in _names(trace) if proposed[name]}


def by_position(trace: Trace) -> tuple[AcceptanceCount, ...]:
    """For each position of the target's block (from 0), how often it was drafted and how often accepted."""
    proposed = _reached(Counter(len(step.review.tokens) for step in trace.steps))
    accepted = _reached(Counter(step.review.accepted for step in trace.steps))
    return tuple(AcceptanceCount(*counts) for counts in zip_longest(proposed, accepted, fillvalue=0))


def seconds_by_level(trace: Trace) -> dict[str, float]:
    """Decoding time of each level's own work, and the rest as `OVERHEAD`; they add up to the lane's decoding time."""
    spent: defaultdict[str, float] = defaultdict(float)
    for record in records(trace):
        spent[record.by] += record.seconds
    levels = {name: spent[name] for name in _names(trace) if name in spent}
    return {**levels, OVERHEAD: trace.decode_seconds - sum(levels.values())}


def shares(trace: Trace) -> dict[str, int]:
    """How many tokens of the text each level was the first to propose."""
    counts = Counter(author for step in trace.steps for author in step.authors)
    return {name: counts[name] for name in _names(trace) if counts[name]}


def copied(trace: Trace) -> float:
    """Share of the text that a statistical level proposed first: Max-Gram, or prompt lookup."""
    statistical = {level.name for level in trace.header.levels if level.level == 0}
    return _ratio(sum(count for name, count in shares(trace).items() if name in statistical), len(trace.tokens), 0.0)


def forward_passes(trace: Trace) -> dict[str, int]:
    """How often each model was run while decoding; statistical levels run none."""
    counts = Counter(one.by for one in records(trace) if isinstance(one, Review) and not one.skipped)
    return {name: counts[name] for name in _names(trace) if counts[name]}


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean that fits ratios; NaN where there are none."""
    found = list(ratios)
    return statistics.geometric_mean(found) if found else math.nan


def records(trace: Trace) -> Iterator[Review | Proposal]:
    """Every review and every statistical draft of a trace, inner ones first."""
    for step in trace.steps:
        yield from walk(step.review)


def _reached(lengths: Counter[int]) -> list[int]:
    """For each position, how many of the lengths go beyond it."""
    longest = max(lengths, default=0)
    return list(accumulate(lengths[length] for length in range(longest, 0, -1)))[::-1]


def _names(trace: Trace) -> list[str]:
    return [level.name for level in trace.header.levels]


def _words(text: str) -> tuple[str, ...]:
    """Words and punctuation of a text in lower case, however its tokens cut it."""
    return tuple(re.findall(r"\w+|[^\w\s]+", text.lower()))


def _grams(tokens: tuple[T, ...], n: int) -> Iterator[tuple[T, ...]]:
    return (tokens[i : i + n] for i in range(len(tokens) - n + 1))


def _ratio(value: float, by: float, empty: float = math.nan) -> float:
    return value / by if by else empty
