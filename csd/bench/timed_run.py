"""One timed run, and the line that it takes in `traces.jsonl`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from csd.bench.plan import Job, Mode
from csd.record.metrics import forward_passes, repeated
from csd.record.race import REFERENCE
from csd.record.trace import Trace
from csd.record.verdict import margins

Line = dict[str, Any]
"""A timed run as JSON: the fields of its job, and a method's trace or a baseline's tokens and blocks."""


@dataclass(frozen=True)
class TimedRun:
    """One entry, timed once on prompt number `prompt`.

    `seconds` is the decoding time of `timed_tokens` in `passes` passes of the target; these are all tokens of a method,
    and those after the first block of a baseline. `prefill` is the time before. `forward_seconds` is the time inside
    models while decoding, of watched runs; `margins` are the reference's top-2 margins by token. Both are None where
    not recorded.
    `lossless` is False for a lane that the target does not review. `model_passes` counts the passes of each model, for
    methods only.
    """

    prompt: int
    repeat: int
    mode: Mode
    entry: str
    tokens: tuple[int, ...]
    timed_tokens: int
    seconds: float
    prefill: float
    passes: int
    repeated: float = 0.0
    forward_seconds: float | None = None
    margins: tuple[float | None, ...] | None = None
    lossless: bool = True
    model_passes: Mapping[str, int] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        """Tokens per second of decoding; NaN where nothing was timed."""
        return self.timed_tokens / self.seconds if self.timed_tokens and self.seconds else math.nan

    @property
    def speed_with_prefill(self) -> float:
        """Tokens per second of everything; a baseline's first block comes with its prefill."""
        return len(self.tokens) / (self.seconds + self.prefill)


@dataclass(frozen=True)
class Decoded:
    """What a baseline wrote: its tokens, and the size of each block that came and when, in seconds since the call.

    The first block ends prefill; in assisted generation it has already been reviewed.
    """

    tokens: tuple[int, ...]
    blocks: tuple[tuple[int, float], ...]

    @property
    def prefill(self) -> float:
        return self.blocks[0][1]

    @property
    def timed_tokens(self) -> int:
        """The tokens after the first block."""
        return len(self.tokens) - self.blocks[0][0]

    @property
    def seconds(self) -> float:
        """Seconds from the first block to the last."""
        return self.blocks[-1][1] - self.blocks[0][1]


def method_line(job: Job, entry: str, trace: Trace, forward_seconds: float | None = None) -> Line:
    """The line of a method's run, alone or in a race."""
    return {**asdict(job), "entry": entry, "forward_seconds": forward_seconds, "trace": trace.to_dict()}


def baseline_line(job: Job, decoded: Decoded) -> Line:
    return {**asdict(job), "tokens": list(decoded.tokens), "blocks": [list(block) for block in decoded.blocks]}


def parse_line(line: Line) -> TimedRun:
    """The run that a line describes. Raises ValueError where it does not describe one."""
    try:
        job = Job(line["prompt"], line["repeat"], line["mode"], line["entry"])
        if job.mode == "baseline":
            return _of_baseline(job, Decoded(tuple(line["tokens"]), tuple(map(tuple, line["blocks"]))))
        return _of_method(job, Trace.from_dict(line["trace"]), line["forward_seconds"])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"This line does not describe a timed run: {error!r}.") from error


def _of_method(job: Job, trace: Trace, forward_seconds: float | None) -> TimedRun:
    return TimedRun(
        **asdict(job),
        tokens=trace.tokens,
        timed_tokens=len(trace.tokens),
        seconds=trace.decode_seconds,
        prefill=trace.prefill_seconds,
        passes=len(trace.steps),
        repeated=repeated(trace),
        forward_seconds=forward_seconds,
        model_passes=forward_passes(trace),
        margins=margins(trace) if trace.header.method == REFERENCE else None,
        lossless=trace.lossless,
    )


def _of_baseline(job: Job, decoded: Decoded) -> TimedRun:
    """Its share of repeated text is not counted: its text is the autoregressive one, or it is reported as different."""
    return TimedRun(
        **asdict(job),
        tokens=decoded.tokens,
        timed_tokens=decoded.timed_tokens,
        seconds=decoded.seconds,
        prefill=decoded.prefill,
        passes=len(decoded.blocks) - 1,
    )
