"""The paper's standardised walltime improvement (SWI): a speed-up that is simulated, not measured.

Passes are counted, and each counts as much as its model's share of a target pass, however wide it is. Nothing else
takes time: neither Max-Gram nor the prompt nor the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from csd.bench.timed_run import TimedRun
from csd.record.levels import Level

Costs = Mapping[str, float]
"""What a pass of each model counts, in target passes."""

BY_SIZE, PREVIOUS_WORK = "by size", "previous work"
MEASURED = {"flan-t5-xxl": 1.0, "flan-t5-large": 0.11, "flan-t5-base": 0.04, "flan-t5-small": 0.02}
"""Time of a pass over that of T5-XXL as measured in previous work (Leviathan et al.), which the paper takes over."""


def cost_tables(levels: Sequence[Level]) -> dict[str, Costs]:
    """What is known about the costs of a family's models, by name: its share of the target's parameters, or a table."""
    models = [level for level in levels if level.level]
    target = max(models, key=lambda level: level.level, default=Level("", 0))
    tables: dict[str, Costs] = {}
    if target.parameters and all(level.parameters for level in models):
        tables[BY_SIZE] = {level.name: level.parameters / target.parameters for level in models}
    known = {level.name: MEASURED.get(level.model.rsplit("/", 1)[-1], 0.0) for level in models}
    if known.get(target.name) == 1 and all(known.values()):
        tables[PREVIOUS_WORK] = known
    return tables


def simulate(runs: Iterable[TimedRun], tables: Mapping[str, Costs]) -> dict[str, float]:
    """SWI under each table: the cost of autoregressive decoding, a target pass per token, over that of these runs.

    Empty where no passes were counted.
    """
    runs = [run for run in runs if run.model_passes]
    tokens = sum(run.timed_tokens for run in runs)
    spent = {
        name: sum(costs[model] * count for run in runs for model, count in run.model_passes.items())
        for name, costs in tables.items()
    }
    return {name: tokens / cost for name, cost in spent.items() if cost}
