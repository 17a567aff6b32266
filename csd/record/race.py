"""The lanes of one race, and what they are compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from csd.record.metrics import speed, speed_with_prefill
from csd.record.trace import Trace
from csd.record.verdict import Verdict, judge

REFERENCE = "autoregressive"  # the method that every lane is compared with


@dataclass(frozen=True)
class Race:
    """The traces of one race, in the order of its lanes."""

    traces: tuple[Trace, ...]

    @cached_property
    def reference(self) -> Trace | None:
        """The autoregressive lane, if there is one."""
        return next((trace for trace in self.traces if trace.header.method == REFERENCE), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each lane; a method that runs in several lanes is numbered by lane."""
        methods = [trace.header.method for trace in self.traces]
        return tuple(
            f"{number}: {method}" if methods.count(method) > 1 else method for number, method in enumerate(methods, 1)
        )

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What can be said of each lane's text."""
        return tuple(judge(trace, self.reference) for trace in self.traces)

    @property
    def summary(self) -> str:
        """A line for each lane: its name, speed-up, target passes, and what can be said of its text."""
        titles = [trace.header.title for trace in self.traces]
        width = max(map(len, titles), default=0)
        lines = []
        for name, trace, verdict in zip(titles, self.traces, self.verdicts):
            ratio = self.speedup(trace)
            gain = f"{ratio:.2f}x" if ratio else "-"
            passes = len(trace.steps) if trace.lossless else 0
            lines.append(f"{name:{width}}  {gain:>6}  {passes:4} target passes  {verdict.kind}")
        return "\n".join(lines)

    def speedup(self, trace: Trace) -> float | None:
        """Decoding speed over the reference's; None where there is nothing to compare."""
        return _ratio(speed(trace), speed(self.reference)) if self.reference else None

    def speedup_with_prefill(self, trace: Trace) -> float | None:
        return _ratio(speed_with_prefill(trace), speed_with_prefill(self.reference)) if self.reference else None


def _ratio(one: float, other: float) -> float | None:
    return one / other if math.isfinite(one) and math.isfinite(other) and one and other else None


def same_settings(race: Race, other: Race) -> bool:
    """Whether two races had the same prompt and settings, and ran to their ends."""
    complete = all(trace.end != "stopped" for trace in (*race.traces, *other.traces))
    return complete and [trace.header for trace in race.traces] == [trace.header for trace in other.traces]
