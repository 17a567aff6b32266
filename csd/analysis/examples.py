"""Measures the example prompts: each method alone and in the race, interleaved, medians of several repeats."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from csd.analysis.metrics import REPEATED_LIMIT, compare, geometric_mean, mat, repeated
from csd.decoding.methods import Method
from csd.run import Ended, Settings, race
from csd.trace import Trace

if TYPE_CHECKING:
    from csd.models.family import Family


@dataclass(frozen=True)
class Example:
    """An example prompt, its kind (story, code, ...), and how it is decoded: greedy, or coupled sampling with this seed."""

    kind: str
    prompt: str
    title: str = ""
    temperature: float = 0.0
    seed: int = 0
    max_new: int = 128


@dataclass(frozen=True)
class Timing:
    """Tokens per second of decoding, and of the whole lane with prefill; medians."""

    speed: float
    with_prefill: float


@dataclass(frozen=True)
class Lane:
    """One method on one prompt. `identical`: its text is autoregressive decoding's, token for token."""

    method: str
    title: str
    tokens: int
    alone: Timing
    race: Timing
    mat: float
    repeated: float
    identical: bool


@dataclass(frozen=True)
class Outcome:
    """What one example prompt gave. The first lane is the autoregressive one."""

    example: Example
    lanes: tuple[Lane, ...]

    @property
    def repeats_itself(self) -> bool:
        return any(lane.repeated > REPEATED_LIMIT for lane in self.lanes)


@dataclass(frozen=True)
class Mean:
    """Geometric mean of the ratio of two methods' speeds over some prompts, with the lowest ratio among them.

    `values`: alone, in the race, alone with prefill, in the race with prefill. `lowest` is of decoding alone.
    """

    title: str
    count: int
    values: tuple[float, float, float, float]
    lowest: float


def read(path: Path) -> list[Example]:
    """The example prompts of a file: a JSON list of objects with the fields of `Example`."""
    return [Example(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def measure(
    family: Family, examples: Sequence[Example], methods: Sequence[Method], repeats: int = 3
) -> Iterator[Outcome]:
    """Yield one outcome for each prompt; the first method must be the autoregressive one, the others are held against it.

    One race on the first prompt warms up and is not counted. In each repeat every method runs alone, then all race.
    """
    if not methods or methods[0].name != "autoregressive":
        raise ValueError("The first method must be autoregressive: the others are compared with it.")
    if repeats < 1:
        raise ValueError(f"At least one repeat is needed, not {repeats}.")
    for example in examples[:1]:
        run(family, example, methods)
    for example in examples:
        alone: list[list[Trace]] = [[] for _ in methods]
        raced: list[list[Trace]] = [[] for _ in methods]
        for _ in range(repeats):
            for own, method in zip(alone, methods):
                own += run(family, example, [method])
            for own, trace in zip(raced, run(family, example, methods)):
                own.append(trace)
        yield Outcome(example, tuple(_lane(a, b, alone[0][0]) for a, b in zip(alone, raced)))


def run(family: Family, example: Example, methods: Sequence[Method]) -> list[Trace]:
    """The traces of one race, in the order of the methods."""
    settings = Settings(
        example.prompt, tuple(methods), example.max_new, temperature=example.temperature, seed=example.seed
    )
    ended = [event for event in race(family, settings) if isinstance(event, Ended)]
    return [event.trace for event in sorted(ended, key=lambda event: event.lane)]


def means(outcomes: Sequence[Outcome]) -> list[Mean]:
    """Speeds of each method over autoregressive, and of the last method over the others; with and without repeating texts."""
    groups = [("", outcomes)]
    calm = [outcome for outcome in outcomes if not outcome.repeats_itself]
    if len(calm) < len(outcomes):
        groups.append((f", at most {REPEATED_LIMIT:.0%} repeated", calm))
    count = len(outcomes[0].lanes) if outcomes else 0
    pairs = [(i, 0) for i in range(1, count)] + [(count - 1, i) for i in range(1, count - 1)]
    return [_mean(group, over, under, note) for note, group in groups for over, under in pairs]


def _mean(outcomes: Sequence[Outcome], over: int, under: int, note: str) -> Mean:
    pairs = [(outcome.lanes[over], outcome.lanes[under]) for outcome in outcomes]
    ratios = [
        (
            one.alone.speed / other.alone.speed,
            one.race.speed / other.race.speed,
            one.alone.with_prefill / other.alone.with_prefill,
            one.race.with_prefill / other.race.with_prefill,
        )
        for one, other in pairs
    ]
    title = f"{pairs[0][0].method} / {pairs[0][1].method}{note}" if pairs else note.strip(", ")
    columns = list(zip(*ratios)) or [()] * 4
    values = tuple(geometric_mean(column) for column in columns)
    return Mean(title, len(pairs), values, min(columns[0], default=math.nan))


def _lane(alone: Sequence[Trace], raced: Sequence[Trace], reference: Trace) -> Lane:
    every = (*alone, *raced)
    return Lane(
        alone[0].header.method,
        alone[0].header.title,
        len(alone[0].tokens),
        _timing(alone),
        _timing(raced),
        mat(alone[0]),
        max(repeated(trace) for trace in every),
        all(compare(trace, reference).identical for trace in every),
    )


def _timing(traces: Sequence[Trace]) -> Timing:
    return Timing(
        median(len(trace.tokens) / trace.decode_seconds for trace in traces),
        median(len(trace.tokens) / (trace.decode_seconds + trace.prefill_seconds) for trace in traces),
    )
