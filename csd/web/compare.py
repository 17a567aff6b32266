"""Several races as one table: two cascades on one prompt, or the same lanes on every kind of prompt. No gradio."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from csd.decoding.errors import Refusal
from csd.record import metrics
from csd.record.trace import Trace
from csd.record.verdict import judge
from csd.run import Request

KINDS, PAIR = "the same lanes on every kind of prompt", "two cascades on the prompt of the Race tab"
REPEATS = 5
COLUMNS = (
    "prompt",
    "lane",
    "repeats",
    "tokens per second",
    "slowest",
    "fastest",
    "speed-up",
    "lowest",
    "highest",
    "tokens per run",
    "text",
)
WIDTHS = [190, 260, 80, 100, 85, 85, 85, 80, 80, 90, 115]  # px
TYPES = ("str", "str", *["number"] * 8, "str")


@dataclass(frozen=True)
class Heat:
    """One race of a comparison: what its prompt is called, and what to run."""

    label: str
    settings: Request


def checked_repeats(value: Any) -> int:
    """Raises Refusal for what is no whole number from 1 to 5."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in range(1, REPEATS + 1):
        raise Refusal(f"Repeats must be a whole number from 1 to {REPEATS}, not {value!r}.")
    return int(value)


def pair(one: Request, other: Request, label: str, repeats: Any) -> tuple[Heat, ...]:
    """Two cascades beside autoregressive decoding; each of the two settings has its own cascade. Raises Refusal."""
    lanes = [method for settings in (one, other) for method in settings.methods if "K" in method.uses]
    if lanes[0] == lanes[1]:
        raise Refusal("Both cascades have the same K. Change one of them.")
    reference = [method for method in one.methods if "K" not in method.uses]
    return (Heat(label, replace(one, methods=(*reference, *lanes))),) * checked_repeats(repeats)


def kinds(settings: Request, examples: Mapping[str, Sequence[Mapping[str, Any]]], repeats: Any) -> tuple[Heat, ...]:
    """The same lanes on the first example of every kind; each round of repeats goes through all kinds. Raises Refusal."""
    heats = [
        Heat(
            f"{kind}: {rows[0]['title']}",
            replace(settings, prompt=rows[0]["prompt"], temperature=rows[0]["temperature"], seed=rows[0]["seed"]),
        )
        for kind, rows in examples.items()
    ]
    return tuple(heats * checked_repeats(repeats))


def label_of(prompt: str) -> str:
    """How a prompt begins, on one line."""
    start = " ".join(prompt.split())
    return start[:40] + ("…" if len(start) > 40 else "")


def rows(races: Sequence[tuple[str, Sequence[Trace]]]) -> list[list[Any]]:
    """One row per prompt and lane, in the order of the first race of each: medians, and the extremes of the repeats.

    None where there is nothing to count. A lane that was stopped does not count among the repeats.
    """
    groups: dict[tuple[str, str], list[tuple[Trace, Trace | None]]] = {}
    for label, traces in races:
        reference = next((trace for trace in traces if trace.header.method == "autoregressive"), None)
        for trace in traces:
            group = groups.setdefault((label, trace.header.title), [])
            if trace.tokens and trace.decode_seconds and trace.end != "stopped":
                group.append((trace, reference if reference is not None and _whole(reference) else None))
    return [_row(label, title, group) for (label, title), group in groups.items()]


def _whole(trace: Trace) -> bool:
    return bool(trace.tokens and trace.decode_seconds) and trace.end != "stopped"


def _row(label: str, title: str, group: Sequence[tuple[Trace, Trace | None]]) -> list[Any]:
    speeds = [metrics.speed(trace) for trace, _ in group]
    ratios = [metrics.speed(trace) / metrics.speed(alone) for trace, alone in group if alone is not None]
    runs = [metrics.mat(trace) for trace, _ in group]
    middle = [*_spread(speeds, 1), *_spread(ratios, 2), *_spread(runs, 2)[:1]]
    return [label, title, len(group), *middle, same_text(group)]


def _spread(values: Sequence[float], digits: int) -> tuple[float | None, float | None, float | None]:
    """Median, least and greatest."""
    if not values or not all(map(math.isfinite, values)):
        return None, None, None
    return round(median(values), digits), round(min(values), digits), round(max(values), digits)


def same_text(group: Sequence[tuple[Trace, Trace | None]]) -> str:
    """Whether a lane wrote the autoregressive lane's text, in all of its repeats."""
    checked = [(trace, alone) for trace, alone in group if alone is not None]
    if not group:
        return "stopped"
    if not checked:
        return "not checked"
    if all(trace is alone for trace, alone in checked):
        return "reference"
    if any(trace.header.rule == "rejection" for trace, _ in checked):
        return "same distribution"
    same = sum(judge(trace, alone).kind == "identical" for trace, alone in checked)
    return "identical" if same == len(checked) else f"identical in {same} of {len(checked)}"


def csv_text(table: Iterable[Sequence[Any]]) -> str:
    """The table as CSV with a head. A cell that a spreadsheet would take for a formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in table:
        writer.writerow(["" if cell is None else _plain(cell) for cell in row])
    return out.getvalue()


def _plain(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
