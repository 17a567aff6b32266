"""Plans of stages, and hand-made traces as if another method had made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from csd.decoding.k_matrix import Matrix, to_budgets
from csd.decoding.methods import Method, settings_of
from csd.decoding.stages import Stage, cascade_stages
from csd.record.trace import Trace


def plan(K: Matrix, drafts: Sequence[str]) -> tuple[Stage, ...]:
    """The plan of a cumulative K."""
    return cascade_stages(drafts, to_budgets(K))


def made_by(method: Method, trace: Trace) -> Trace:
    """The trace with this method in its header."""
    return replace(trace, header=replace(trace.header, method=method.name, settings=settings_of(method)))
