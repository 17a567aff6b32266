"""Several races as one table: the same lanes on every kind of prompt, or two cascades on one prompt."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from csd.decoding.errors import Refusal
from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.record.verdict import judge
from csd.request.prompts import Prompt
from csd.request.request import Request

BY_KIND, TWO_CASCADES = "the same lanes on every kind of prompt", "two cascades on the prompt of the Race tab"
MAX_REPEATS = 5


@dataclass(frozen=True)
class Column:
    """A column of the table; `width` in pixels."""

    name: str
    kind: Literal["str", "number"]
    width: int


COLUMNS = (
    Column("prompt", "str", 190),
    Column("lane", "str", 260),
    Column("repeats", "number", 80),
    Column("tokens per second", "number", 100),
    Column("slowest", "number", 85),
    Column("fastest", "number", 85),
    Column("speed-up", "number", 85),
    Column("lowest", "number", 80),
    Column("highest", "number", 80),
    Column("tokens per target pass (MAT)", "number", 110),
    Column("text", "str", 115),
)


# ---- which races


@dataclass(frozen=True)
class PlannedRace:
    """One race of a comparison; `label` names its prompt."""

    label: str
    request: Request


def plan_pair(first: Request, second: Request, label: str, repeats: Any) -> tuple[PlannedRace, ...]:
    """Both requests' cascades in one race, beside the other lanes of the first. Raises Refusal."""
    cascades = [method for request in (first, second) for method in request.methods if "K" in method.uses]
    if cascades[0] == cascades[1]:
        raise Refusal("Both cascades have the same K. Change one of them.")
    others = [method for method in first.methods if "K" not in method.uses]
    return (PlannedRace(label, replace(first, methods=(*others, *cascades))),) * check_repeats(repeats)


def plan_kinds(request: Request, examples: Mapping[str, Sequence[Prompt]], repeats: Any) -> tuple[PlannedRace, ...]:
    """The same lanes on the first example of every kind; each repeat goes through all kinds. Raises Refusal."""
    firsts = [prompts[0] for prompts in examples.values()]
    once = [
        PlannedRace(
            f"{one.kind}: {one.title}",
            replace(request, prompt=one.prompt, temperature=one.temperature, seed=one.seed),
        )
        for one in firsts
    ]
    return tuple(once * check_repeats(repeats))


def check_repeats(value: Any) -> int:
    """Raises Refusal unless it is a whole number from 1 to MAX_REPEATS."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in range(1, MAX_REPEATS + 1):
        raise Refusal(f"Repeats must be a whole number from 1 to {MAX_REPEATS}, not {value!r}.")
    return int(value)


# ---- their table


@dataclass(frozen=True)
class _Run:
    """A lane that ran to its end, and the autoregressive lane beside it if that one did as well."""

    trace: Trace
    reference: Trace | None
    speedup: float | None


def table_rows(races: Iterable[tuple[str, Race]]) -> list[list[Any]]:
    """One row per label and lane, in the order of the first race of each: medians and extremes over the repeats.

    None where there is nothing to count. A lane that was stopped does not count as a repeat.
    """
    groups: dict[tuple[str, str], list[_Run]] = {}
    for label, race in races:
        reference = race.reference if race.reference and _is_complete(race.reference) else None
        for trace in race.traces:
            runs = groups.setdefault((label, trace.header.title), [])
            if _is_complete(trace):
                runs.append(_Run(trace, reference, race.speedup(trace) if reference else None))
    return [_row(label, title, runs) for (label, title), runs in groups.items()]


def _is_complete(trace: Trace) -> bool:
    return bool(trace.tokens and trace.decode_seconds) and trace.end != "stopped"


def _row(label: str, title: str, runs: Sequence[_Run]) -> list[Any]:
    speeds = _spread([metrics.speed(run.trace) for run in runs], 1)
    speedups = _spread([run.speedup for run in runs if run.speedup is not None], 2)
    per_pass, _, _ = _spread([metrics.mat(run.trace) for run in runs], 2)
    return [label, title, len(runs), *speeds, *speedups, per_pass, _verdict(runs)]


def _spread(values: Sequence[float], digits: int) -> tuple[float | None, float | None, float | None]:
    """Median, minimum and maximum."""
    if not values or not all(map(math.isfinite, values)):
        return None, None, None
    return round(median(values), digits), round(min(values), digits), round(max(values), digits)


def _verdict(runs: Sequence[_Run]) -> str:
    """Whether a lane generated the autoregressive lane's text, in all of its repeats."""
    if not runs:
        return "stopped"
    kinds = [judge(run.trace, run.reference).kind for run in runs if run.reference is not None]
    if not kinds:
        return "not checked"
    if set(kinds) == {"reference"}:
        return "reference"
    if "not lossless" in kinds:
        return "not lossless"
    if "same distribution" in kinds:
        return "same distribution"
    same = kinds.count("identical")
    return "identical" if same == len(kinds) else f"identical in {same} of {len(kinds)}"


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """The table as CSV with a header. An apostrophe precedes cells that a spreadsheet would read as formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in COLUMNS)
    for row in rows:
        writer.writerow(["" if cell is None else _escape(cell) for cell in row])
    return out.getvalue()


def _escape(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
