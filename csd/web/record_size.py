"""About how large the record of a race is as JSON. Whoever asks for a race gets all of it, and while the server writes
it, everybody waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from csd.record.trace import Step, Trace, walk
from csd.run import LaneAdvanced

REVIEW, TOKEN = 300, 30  # bytes of a review, and of each token in it with its author and its probabilities


def step_size(step: Step) -> int:
    """Bytes."""
    return sum(REVIEW + TOKEN * len(record.tokens) for record in walk(step.review))


def event_size(event: Any) -> int:
    """What an event of a race adds to its record, in bytes."""
    return step_size(event.record) if isinstance(event, LaneAdvanced) and isinstance(event.record, Step) else 0


def record_size(traces: Iterable[Trace]) -> int:
    """Bytes."""
    return sum(step_size(step) for trace in traces for step in trace.steps)
