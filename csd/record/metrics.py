"""What a trace says in numbers. Every figure on the page, in the terminal and in the benchmark comes from here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from csd.record.trace import Proposal, Review, Trace

REPEATED_LIMIT = 0.15  # share of repeated 8-grams above which a text counts as repeating itself
# Distance of the two best scores within which computing in another width may round to the other token, by number format:
# two units in the last place of a score of about 30.
NEAR_TIE = {"float64": 1e-9, "float32": 1e-4, "float16": 0.05, "bfloat16": 0.5}
SHORT_RUN = 32  # tokens below which a speed says little


@dataclass(frozen=True)
class Count:
    """Tokens that were judged, and how many of them were accepted."""

    proposed: int = 0
    accepted: int = 0

    @property
    def rate(self) -> float:
        return self.accepted / self.proposed if self.proposed else math.nan


@dataclass(frozen=True)
class Comparison:
    """A lane's text against autoregressive decoding's.

    `position` of the first token that differs and the reference's top-2 `margin` there; None where all of the `compared`
    tokens are the same. `whole` is false where one of the two was stopped, so that only a part could be compared.
    """

    identical: bool
    compared: int
    position: int | None = None
    margin: float | None = None
    whole: bool = True


def speed(trace: Trace) -> float:
    """Tokens per second of decoding, prefill apart."""
    return _ratio(len(trace.tokens), trace.decode_seconds)


def speed_with_prefill(trace: Trace) -> float:
    """Tokens per second of the whole lane, prefill of all its models included."""
    return _ratio(len(trace.tokens), trace.decode_seconds + trace.prefill_seconds)


def mat(trace: Trace) -> float:
    """Mean tokens per target run, its own included (autoregressive decoding: 1)."""
    return _ratio(len(trace.tokens), len(trace.steps))


def repeated(trace: Trace, n: int = 8) -> float:
    """Share of generated n-grams that stood earlier in the generated text and do not stand in the prompt."""
    tokens, prompt = trace.tokens, trace.header.prompt
    known = set(_grams(prompt, n))
    seen: set[tuple[int, ...]] = set()
    again = 0
    for gram in _grams(tokens, n):
        again += gram in seen and gram not in known
        seen.add(gram)
    return _ratio(again, max(0, len(tokens) - n + 1), 0.0)


def acceptance(trace: Trace) -> dict[str, Count]:
    """For each author, how many of its tokens stood in drafts that the target judged, and how many it accepted.

    Tokens behind the first rejected one were not judged on their own account; they count as proposed.
    """
    proposed: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for step in trace.steps:
        proposed.update(step.review.authors)
        accepted.update(step.review.authors[: step.review.accepted])
    return {name: Count(proposed[name], accepted[name]) for name in _names(trace) if proposed[name]}


def by_position(trace: Trace) -> tuple[Count, ...]:
    """For each position of the target's block (from 0), how often it was drafted and how often accepted."""
    width = max((len(step.review.tokens) for step in trace.steps), default=0)
    return tuple(
        Count(
            sum(len(step.review.tokens) > place for step in trace.steps),
            sum(step.review.accepted > place for step in trace.steps),
        )
        for place in range(width)
    )


def reviews(trace: Trace) -> dict[str, Count]:
    """For each reviewer, how many tokens it was shown by the levels below it, and how many it accepted."""
    shown: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for record in records(trace):
        if isinstance(record, Review):
            shown[record.by] += len(record.tokens)
            kept[record.by] += record.accepted
    return {name: Count(shown[name], kept[name]) for name in _names(trace) if shown[name]}


def seconds_by_level(trace: Trace) -> dict[str, float]:
    """Decoding time of each level's own work, and the rest as "overhead"; they add up to the lane's decoding time."""
    spent: Counter[str] = Counter()
    for record in records(trace):
        spent[record.by] += record.seconds
    levels = {name: spent[name] for name in _names(trace) if name in spent}
    return {**levels, "overhead": trace.decode_seconds - sum(levels.values())}


def runs(trace: Trace) -> dict[str, int]:
    """How often each level ran."""
    counts = Counter(record.by for record in records(trace) if not getattr(record, "skipped", ""))
    return {name: counts[name] for name in _names(trace) if counts[name]}


def shares(trace: Trace) -> dict[str, int]:
    """How many tokens of the text each level was the first to propose."""
    counts = Counter(author for step in trace.steps for author in step.authors)
    return {name: counts[name] for name in _names(trace) if counts[name]}


def compare(trace: Trace, reference: Trace) -> Comparison:
    """Token for token. Where one lane was stopped, as far as both went."""
    ours, theirs = trace.tokens, reference.tokens
    compared = min(len(ours), len(theirs))
    whole = "stopped" not in (trace.end, reference.end)
    for position in range(compared):
        if ours[position] != theirs[position]:
            return Comparison(False, compared, position, _margin(reference, position), whole)
    if whole and len(ours) != len(theirs):
        return Comparison(False, compared, compared, None, whole)
    return Comparison(True, compared, whole=whole)


def geometric_mean(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def records(trace: Trace) -> Iterator[Review | Proposal]:
    """Every review and every statistical draft of a trace, inner ones first."""
    for step in trace.steps:
        yield from _inside(step.review)


def _inside(record: Review | Proposal) -> Iterator[Review | Proposal]:
    for inner in getattr(record, "inner", ()):
        yield from _inside(inner)
    yield record


def _margin(trace: Trace, position: int) -> float | None:
    """The top-2 margin at a generated position, known where the target wrote the token itself."""
    place = len(trace.header.prompt) + position
    for step in trace.steps:
        if step.review.at + step.review.accepted == place:
            return step.review.margin
    return None


def _names(trace: Trace) -> list[str]:
    return [level.name for level in trace.header.levels]


def _grams(tokens: tuple[int, ...], n: int) -> Iterator[tuple[int, ...]]:
    return (tokens[i : i + n] for i in range(len(tokens) - n + 1))


def _ratio(value: float, by: float, empty: float = math.nan) -> float:
    return value / by if by else empty
