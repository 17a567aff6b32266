"""The tables of a report as plain text, for the terminal, Markdown and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from csd.bench.cells import Spread
from csd.bench.forward_times import ForwardTimes, Points
from csd.bench.ratios import ALL, AUTOREGRESSIVE, BEST, NON_REPEATING, SPECULATIVE, Ratio
from csd.bench.report import Report
from csd.models.memory import size
from csd.plots.table import Table


def overview_tables(report: Report) -> list[Table]:
    """Every table that has rows, except for the one of single prompts."""
    times = report.forward_times
    tables = [
        entry_table(report),
        ratio_table(report, ALL, "Ratios", RATIO_NOTE),
        ratio_table(
            report, NON_REPEATING, f"Ratios, {NON_REPEATING}", "Without the prompts on which a text repeats itself."
        ),
        kind_table(report),
        simulated_table(report),
        device_table(report),
        cache_table(report),
        time_table(
            "Forward pass by context",
            "Milliseconds per pass over one token, by tokens of context.",
            [(one.model, one.by_context) for one in times],
        ),
        time_table(
            "Forward pass by width",
            "Milliseconds per pass, by number of tokens.",
            [(one.model, one.by_width) for one in times],
        ),
        kernel_table(times),
    ]
    return [table for table in tables if table.rows]


def kernel_table(times: Sequence[ForwardTimes]) -> Table:
    """The kernel of each linear map, chosen by measuring when the models were loaded; no rows on a GPU."""
    maps = list(dict.fromkeys(name for one in times for name, _ in one.kernels))
    rows = [(one.model, *(dict(one.kernels).get(name, "") for name in maps)) for one in times if one.kernels]
    note = "The fastest kernel of each linear map; where it depends on the number of tokens in a pass, from which on."
    return Table("Kernels", ("model", *maps), tuple(rows), note)


ENTRY_NOTE = (
    "tok/s: tokens per second of decoding, each method alone; geometric mean over the prompts of the median of the "
    "repeats, with that of the lowest and the highest (p10 and p90 from ten repeats). For transformers' methods the "
    "clock runs from their first block of tokens to the last. MAT: tokens per target pass. Of limit: share of the "
    "speed that reading the target's weights allows to autoregressive decoding. Overhead: share of decoding time "
    "outside forward passes, in one more run of each method. Different texts: prompts whose text is not that of "
    "autoregressive decoding, except for near-ties."
)
RATIO_NOTE = (
    "Geometric mean and lowest over the prompts, each method alone. AR: the project's autoregressive method. Best AR: "
    "the fastest one that decodes token by token; if it is one of transformers', it has no speed on sampled prompts."
)
KIND_NOTE = "Geometric mean over each kind's prompts, each method alone, over the project's autoregressive method."
SIMULATED_NOTE = (
    "SWI is simulated, as in the paper: tokens over the cost of all forward passes. A pass counts as a share of a "
    "target pass that depends on its model alone, whatever its width. By size: share of the parameters. Previous "
    "work: times reported by Leviathan et al. Measured: the speed-up on this machine, geometric mean over the prompts."
)
CACHE_NOTE = "2 x layers x key-value heads x head size x bytes per number x tokens. GPU lanes round tokens up."
PROMPT_NOTE = "tok/s: median of the repeats with the lowest and the highest (p10 and p90 from ten repeats)."


def entry_table(report: Report) -> Table:
    heads = (
        "method", "prompts", "tok/s", "low to high", "with prefill", "MAT", "race / alone", "of limit", "overhead",
        "different texts", "near-ties",
    )  # fmt: skip
    rows = [
        (
            f"{row.title} (best AR)" if row.entry == report.summary.best else row.title,
            str(row.prompts),
            number(row.speed.median, 1),
            span(row.speed),
            number(row.speed_with_prefill, 1),
            number(row.tokens_per_pass),
            number(row.race_share),
            percent(row.share_of_limit),
            percent(row.overhead),
            str(row.differs),
            str(row.near_ties),
        )
        for row in report.summary.rows
    ]
    return Table("Methods", heads, tuple(rows), ENTRY_NOTE)


def ratio_table(report: Report, group: str, title: str, note: str) -> Table:
    """Each entry against each reference over a group of prompts."""
    against = {AUTOREGRESSIVE: "x AR", BEST: "x best AR", SPECULATIVE: "x speculative"}
    heads = [head for name in against.values() for head in (name, "lowest")]
    rows = []
    for entry in report.summary.entries:
        ratios = [report.summary.ratio(entry.id, name, group) for name in against]
        counts = [ratio.count for ratio in ratios if ratio]
        if counts:
            cells = [cell for ratio in ratios for cell in _mean_and_lowest(ratio)]
            rows.append((entry.title, str(max(counts)), *cells))
    return Table(title, ("method", "prompts", *heads), tuple(rows), note)


def kind_table(report: Report) -> Table:
    kinds = tuple(dict.fromkeys(report.summary.kinds))
    rows = []
    for entry in report.summary.entries:
        ratios = [report.summary.ratio(entry.id, AUTOREGRESSIVE, kind) for kind in kinds]
        if any(ratios):
            rows.append((entry.title, *(number(ratio.mean) if ratio else "" for ratio in ratios)))
    return Table("Speed-up over autoregressive decoding by kind of prompt", ("method", *kinds), tuple(rows), KIND_NOTE)


def simulated_table(report: Report) -> Table:
    """The project's methods, simulated beside measured; no rows where the costs of a family's models are not known."""
    tables = tuple(dict.fromkeys(name for row in report.summary.rows for name in row.simulated))
    rows = []
    for row in report.summary.rows:
        if row.simulated:
            measured = report.summary.ratio(row.entry, AUTOREGRESSIVE)
            cells = [number(measured.mean if measured else None), *(number(row.simulated.get(name)) for name in tables)]
            rows.append((row.title, number(row.tokens_per_pass), *cells))
    heads = ("method", "MAT", "measured", *(f"SWI, {name} (simulated)" for name in tables))
    return Table("Simulated speed-up over autoregressive decoding (SWI)", heads, tuple(rows), SIMULATED_NOTE)


def device_table(report: Report) -> Table:
    limits, memory = report.limits, report.memory
    rows = [("device", report.machine)]
    if limits:
        rows.append(("large copy, read and write", f"{limits.copy_rate / 1e9:,.1f} GB/s"))
        if limits.read_rate:
            rows.append(("reading as many bytes as the target's weights", f"{limits.read_rate / 1e9:,.1f} GB/s"))
        rows.append(("matrix product", f"{limits.flops / 1e12:,.2f} TFLOP/s"))
        rows.append(("weights that a target pass reads", size(limits.weight_bytes)))
        rows.append(("KV cache of one token, target", f"{limits.cache_bytes:,} bytes"))
        rows.append(("limit of autoregressive decoding at the mean prompt", f"{report.speed_limit:,.1f} tok/s"))
    if memory:
        rows.append(("process, resident", size(memory.resident)))
        if memory.allocated is not None:
            rows.append(("device memory, peak", size(memory.allocated)))
    return Table("Device", ("what", "measured"), tuple(rows))


def cache_table(report: Report) -> Table:
    caches = report.memory.caches if report.memory else ()
    rows = tuple((cache.model, str(cache.tokens), f"{cache.bytes:,}") for cache in caches)
    return Table("KV caches of one lane", ("model", "tokens", "bytes"), rows, CACHE_NOTE)


def time_table(title: str, note: str, times: Iterable[tuple[str, Points]]) -> Table:
    """Milliseconds of each model, a column for each number of tokens."""
    by_model = {model: dict(points) for model, points in times}
    columns = sorted({tokens for points in by_model.values() for tokens in points})
    rows = tuple(
        (model, *(number(1000 * points[tokens]) if tokens in points else "" for tokens in columns))
        for model, points in by_model.items()
    )
    return Table(title, ("model", *map(str, columns)), rows, note)


def prompt_table(report: Report) -> Table:
    """Every entry on every prompt."""
    heads = (
        "prompt", "method", "tokens", "tok/s", "low to high", "in the race", "prefill, ms", "MAT", "repeated", "text",
    )  # fmt: skip
    rows = []
    for cell in report.summary.cells:
        prompt = report.prompts[cell.prompt]
        where = f" at {cell.position}" if cell.position is not None else ""
        rows.append(
            (
                f"{prompt.kind}: {prompt.name}",
                report.summary.title(cell.entry),
                str(cell.tokens),
                number(cell.speed.median, 1),
                span(cell.speed),
                number(cell.race_speed, 1),
                number(1000 * cell.prefill, 1),
                number(cell.tokens_per_pass),
                percent(cell.repeated),
                cell.verdict + where,
            )
        )
    return Table("Prompts", heads, tuple(rows), PROMPT_NOTE)


def number(value: float | None, digits: int = 2) -> str:
    return "" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.0%}"


def span(spread: Spread) -> str:
    return "" if math.isnan(spread.median) else f"{spread.low:,.1f} to {spread.high:,.1f}"


def _mean_and_lowest(ratio: Ratio | None) -> tuple[str, str]:
    return (number(ratio.mean), number(ratio.lowest)) if ratio else ("", "")
