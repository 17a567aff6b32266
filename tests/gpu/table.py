"""What the steps found, as one Markdown table with the shares of the measured limit: ready for an issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu.figures import SECONDS, Figure, describe
from gpu.status import DONE, NOT_RUN, Status
from gpu.steps import Step

COPY = "copy bandwidth"
"""The figure, in GB/s, that shares of the limit are of."""

NOTE = (
    "Of the limit: for times, the time in which the copy bandwidth above would read the bytes that the step must read "
    "at least (weights, or keys and values), over the time taken; for tokens per second, the share that csd bench "
    "gives, of the speed at which the target's weights and KV cache could be read once a token."
)
REHEARSAL = "A rehearsal on a CPU: it shows that the steps run. Nothing in it is about a GPU."


def make_table(
    steps: Sequence[Step], figures: Mapping[str, Sequence[Figure]], statuses: Mapping[str, Status], on_gpu: bool
) -> str:
    """Markdown: the figures of the first step, which are the versions, and a table of the others with their ends."""
    versions, *others = steps
    rate = copy_rate(figures)
    rows = [
        row
        for step in others
        for row in _rows(step.name, figures.get(step.name, ()), statuses.get(step.name, Status(NOT_RUN)), rate)
    ]
    told = "; ".join(f"{one.what} {describe(one)}" for one in figures.get(versions.name, ()))
    heads = ("step", "what", "measured", "of the limit")
    table = [_pipes(row) for row in (heads, ("---",) * len(heads), *rows)]
    return "\n".join(["## GPU measurements", "", *(() if on_gpu else (REHEARSAL, "")), told, "", *table, "", NOTE, ""])


def copy_rate(figures: Mapping[str, Sequence[Figure]]) -> float | None:
    """Bytes per second of the measured copy; None where it was not measured."""
    found = (one.value for one in figures.get("limits", ()) if one.what == COPY)
    gigabytes = next(found, None)
    return gigabytes * 1e9 if gigabytes else None


def share_of_limit(figure: Figure, rate: float | None) -> float | None:
    """A figure's own share, or that of its bytes and time; None where it has neither."""
    if figure.share is not None:
        return figure.share
    if not rate or not figure.bytes or not figure.value or figure.unit not in SECONDS:
        return None
    return figure.bytes / rate / (figure.value * SECONDS[figure.unit])


def _rows(step: str, figures: Sequence[Figure], ended: Status, rate: float | None) -> list[tuple[str, str, str, str]]:
    rows = []
    for figure in figures:
        share = share_of_limit(figure, rate)
        rows.append((step, figure.what, describe(figure), "" if share is None else f"{share:.0%}"))
    if ended.kind != DONE:
        rows.append((step, f"({ended.kind})", ended.text, ""))
    return rows


def _pipes(row: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
