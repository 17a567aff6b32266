"""Recording the example races that the page replays before any model is loaded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from csd.record.metrics import speed
from csd.record.trace import Trace
from csd.run import Request, finished_traces, run_race

if TYPE_CHECKING:
    from csd.models.family import Family

SAME = 0.02  # a difference of speeds that one run cannot tell
WARM = 32  # new tokens of the race before the recorded one


@dataclass(frozen=True)
class Take:
    """An example prompt to record. `k` and `K` (cumulative) differ from the first preset where they are given."""

    kind: str
    title: str
    k: int | None = None
    K: str = ""


# The last one shows a cascade that loses: the paper's K was tuned for other models.
TAKES = (
    Take("edit", "Rename the fox"),
    Take("story", "A fox sets out"),
    Take("word problem", "Stickers"),
    Take("code", "Rename a parameter"),
    Take("list", "People to JSON"),
    Take("story", "A mouse on an island, sampled"),
    Take("story", "A robot and the thunder", 5, "[[5,19,29],[0,1,11],[0,0,10]]"),
)


def record(family: Family, settings: Request, stopped: Callable[[], bool] = lambda: False) -> tuple[Trace, ...]:
    """One race as it is, after a short one that warms the models up. Raises Refusal."""
    for _ in run_race(family, replace(settings, max_new=min(WARM, settings.max_new)), stopped):
        pass
    return finished_traces(run_race(family, settings, stopped))


def note_of(traces: Sequence[Trace]) -> str:
    """How the cascade did against speculative decoding, from the measured speeds; empty where one of them is missing."""
    lanes = {trace.header.method: speed(trace) for trace in traces if trace.tokens}
    ours, other = lanes.get("adaptive cascade") or lanes.get("cascade"), lanes.get("speculative")
    if not ours or not other or not math.isfinite(ours + other):
        return ""
    if abs(ours / other - 1) < SAME:
        return "Here the cascade is about as fast as speculative decoding."
    if ours < other:
        return f"Here the cascade is slower than speculative decoding: {ours / other:.2f} times its speed."
    return f"Here the cascade is {ours / other:.2f} times as fast as speculative decoding."
