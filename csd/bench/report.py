"""All figures of a benchmark, as one value and as a JSON document."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from csd.bench.forward_times import ForwardTimes
from csd.bench.limits import Limits
from csd.bench.memory import Memory
from csd.bench.store import VERSION, Config
from csd.bench.summary import Summary
from csd.request.prompts import Prompt


@dataclass(frozen=True)
class Report:
    """`machine` names the device, `notes` are sentences on what was left out."""

    title: str
    machine: str
    config: Config
    prompts: tuple[Prompt, ...]
    summary: Summary
    limits: Limits | None = None
    memory: Memory | None = None
    forward_times: tuple[ForwardTimes, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Everything as JSON; what is not a number is null."""
        summary = self.summary
        return _finite(
            {
                "version": VERSION,
                "title": self.title,
                "machine": self.machine,
                "config": self.config,
                "notes": self.notes,
                "prompts": [
                    {"kind": one.kind, "title": one.name, "tokens": length, "temperature": one.temperature}
                    for one, length in zip(self.prompts, summary.lengths)
                ],
                "best_autoregressive": summary.best,
                "entries": [asdict(row) for row in summary.rows],
                "ratios": [asdict(ratio) for ratio in summary.ratios],
                "cells": [asdict(cell) for cell in summary.cells],
                "repeating": sorted(summary.repeating),
                "limits": asdict(self.limits) if self.limits else None,
                "memory": asdict(self.memory) if self.memory else None,
                "forward_times": [asdict(one) for one in self.forward_times],
            }
        )

    @property
    def speed_limit(self) -> float | None:
        """Tokens per second that the device allows to autoregressive decoding at the prompts' mean length."""
        lengths = self.summary.lengths
        return self.limits.autoregressive_speed(sum(lengths) / max(1, len(lengths))) if self.limits else None


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
