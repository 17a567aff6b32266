"""The table below a race: speeds, tokens per target pass, and whether the texts agree."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from csd.cli.terminal import make_table, print_line
from csd.record.metrics import SHORT_RUN, mat, repeated, repeats_itself, speed, speed_with_prefill
from csd.record.race import Race
from csd.record.verdict import Verdict

COLUMNS = ("method", "tokens", "tok/s", "with prefill", "x AR", "tokens per target pass (MAT)", "text", "repeated")


def show_results(race: Race, console: Console) -> None:
    """Print the table of a race, and what qualifies its numbers."""
    table = make_table(console, COLUMNS, left=("text",))
    for trace, verdict in zip(race.traces, race.verdicts, strict=True):
        tokens, ratio = len(trace.tokens), race.speedup(trace)
        table.add_row(
            Text(trace.header.title),
            f"{tokens}{' (short run)' if tokens < SHORT_RUN else ''}",
            f"{speed(trace):.1f}",
            f"{speed_with_prefill(trace):.1f}",
            "" if ratio is None else f"{ratio:.2f}",
            f"{mat(trace):.2f}" if trace.lossless else "",
            verdict_words(verdict),
            f"{repeated(trace):.0%}",
        )
    console.print(table)
    if race.traces:
        header = race.traces[0].header
        where = f"{header.family} on {header.device}, {header.dtype}"
        print_line(console, f"{where}; the lanes share the device, and each is timed on its own clock.")
    if any(map(repeats_itself, race.traces)):
        print_line(console, "A text repeats itself, which favors copying.")


def verdict_words(verdict: Verdict) -> str:
    """What is known of a lane's text, in a few words."""
    if verdict.kind == "same distribution":
        return "same distribution, own sample"
    if verdict.kind == "not lossless" and verdict.position is not None:
        return f"not lossless, differs at {verdict.position}"
    if verdict.kind not in ("near-tie", "differs"):
        return verdict.kind
    margin = "margin unknown" if verdict.margin is None else f"margin {verdict.margin:.1e}"
    return f"differs at {verdict.position} ({margin}{', near-tie' if verdict.kind == 'near-tie' else ''})"
