"""The figures of one entry on one prompt, from its timed runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from csd.bench.plan import SPEED_MODES
from csd.bench.timed_run import TimedRun
from csd.record.verdict import Kind, Verdict, compare_tokens

MANY = 10  # values from which a spread is p10 to p90; with fewer it is lowest to highest
SEVERITY: tuple[Kind, ...] = ("reference", "not compared", "identical", "near-tie", "not lossless", "differs")
"""Verdicts, the worst one last; the worst one of a cell's runs counts."""

SpeedLimit = Callable[[float], float]
"""Tokens per second that a device allows to autoregressive decoding, by tokens of context."""


@dataclass(frozen=True)
class Spread:
    """The median, and p10 to p90 of ten values or more, otherwise the lowest and the highest."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """One entry on one prompt, over all repeats; `race_speed` is its speed in the race. Speeds are tokens per second.

    `overhead` is the share of decoding time outside the models, `share_of_limit` that of the device's limit for
    autoregressive decoding. `verdict` compares the text with the reference's, `position` is the first different token.
    """

    prompt: int
    entry: str
    tokens: int
    speed: Spread
    speed_with_prefill: float
    prefill: float
    race_speed: float | None
    tokens_per_pass: float
    overhead: float | None
    share_of_limit: float | None
    repeated: float
    verdict: Kind
    position: int | None = None


def make_cell(
    runs: Sequence[TimedRun], reference: TimedRun | None, dtype: str, length: int, limit: SpeedLimit | None = None
) -> Cell | None:
    """The figures of these runs of one entry on one prompt of `length` tokens; None where no speed was timed."""
    timed = [run for run in runs if run.mode in SPEED_MODES]
    if not timed:
        return None
    raced = [run.speed for run in runs if run.mode == "race"]
    verdicts = [_compare(run, reference, dtype) for run in runs]
    worst = max(verdicts, key=lambda verdict: SEVERITY.index(verdict.kind))
    speed = spread([run.speed for run in timed])
    context = length + len(timed[0].tokens) / 2
    return Cell(
        prompt=timed[0].prompt,
        entry=timed[0].entry,
        tokens=len(timed[0].tokens),
        speed=speed,
        speed_with_prefill=median(run.speed_with_prefill for run in timed),
        prefill=median(run.prefill for run in timed),
        race_speed=median(raced) if raced else None,
        tokens_per_pass=tokens_per_pass(timed),
        overhead=overhead(runs),
        share_of_limit=speed.median / limit(context) if limit else None,
        repeated=max(run.repeated for run in runs),
        verdict=worst.kind,
        position=worst.position,
    )


def tokens_per_pass(runs: Iterable[TimedRun]) -> float:
    """Mean tokens per target pass (MAT)."""
    runs = tuple(runs)
    return sum(run.timed_tokens for run in runs) / max(1, sum(run.passes for run in runs))


def overhead(runs: Iterable[TimedRun]) -> float | None:
    """Share of decoding time outside the models, of the runs that recorded it; None where none did."""
    watched = [(run.seconds, run.forward_seconds) for run in runs if run.forward_seconds is not None]
    decoding = sum(seconds for seconds, _ in watched)
    return 1 - sum(inside for _, inside in watched) / decoding if decoding else None


def spread(values: Iterable[float]) -> Spread:
    """The spread of the values that are numbers; NaN where there are none."""
    found = sorted(value for value in values if not math.isnan(value))
    if not found:
        return Spread(math.nan, math.nan, math.nan)
    if len(found) < MANY:
        return Spread(median(found), found[0], found[-1])
    tenths = quantiles(found, n=10, method="inclusive")
    return Spread(median(found), tenths[0], tenths[-1])


def _compare(run: TimedRun, reference: TimedRun | None, dtype: str) -> Verdict:
    if reference is None:
        return Verdict("not compared")
    verdict = compare_tokens(run.tokens, reference.tokens, reference.margins or (), dtype)
    if not run.lossless:
        return replace(verdict, kind="not lossless")
    return Verdict("reference") if verdict.kind == "identical" and run.entry == reference.entry else verdict
