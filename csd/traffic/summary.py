"""A run in numbers: latencies, queue times against their estimates, throughput, and what the server needed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from csd.plots.table import Table
from csd.traffic.samples import FAULTS, RACES, LoadRun, Sample

WARM_UP = 60.0  # seconds after which memory should be flat
PERCENTILES = (50, 95, 99)


def percentile(values: Sequence[float], percent: int) -> float | None:
    """By rank, so that it is a measured value; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else None


def throughput(run: LoadRun) -> float:
    """Races per second that ended well, before the visitors stopped to come."""
    ends = [sample.start + sample.seconds for sample in run.of_kind(*RACES) if sample.outcome == "ok"]
    return sum(end <= run.seconds for end in ends) / run.seconds if run.seconds else 0.0


def memory_slope(run: LoadRun) -> float | None:
    """Growth of the server's memory after the first minute, MB per minute; None for a run shorter than two minutes."""
    late = [sample for sample in run.server if sample.time >= WARM_UP]
    if len(late) < 2 or late[-1].time < 2 * WARM_UP:
        return None
    fit = statistics.linear_regression([one.time / 60 for one in late], [one.memory / 2**20 for one in late])
    return fit.slope


def estimate_error(samples: Sequence[Sample]) -> float | None:
    """Median distance of the promised from the true time until the end, as a share of the true one."""
    known = [(one.estimate, one.seconds) for one in samples if one.estimate is not None and one.outcome == "ok"]
    return statistics.median(abs(promised - true) / true for promised, true in known) if known else None


def summarize(run: LoadRun) -> dict[str, Any]:
    """The figures of a run as JSON data, all of them by kind of action where they have one."""
    kinds = sorted({sample.kind for sample in run.samples}, key=lambda kind: (kind not in RACES, kind))
    faults = {outcome: sum(sample.outcome == outcome for sample in run.samples) for outcome in FAULTS}
    return {
        "races_per_second": throughput(run),
        "faults": faults,
        "memory_mb_per_minute": memory_slope(run),
        "kinds": {kind: _summarize_kind(run.of_kind(kind)) for kind in kinds},
    }


def _summarize_kind(samples: Sequence[Sample]) -> dict[str, Any]:
    done = [sample for sample in samples if sample.outcome == "ok"]
    queued = [sample.queued for sample in done if sample.queued is not None]
    off = [sample.off for sample in done if sample.off is not None]
    return {
        "count": len(samples),
        **{name: sum(sample.outcome == name for sample in samples) for name in ("ok", "refused", *FAULTS)},
        **{f"p{percent}": percentile([sample.seconds for sample in done], percent) for percent in PERCENTILES},
        **{f"queued_p{percent}": percentile(queued, percent) for percent in PERCENTILES[:2]},
        "estimate_error": estimate_error(done),
        **{f"off_p{percent}": percentile(off, percent) for percent in PERCENTILES[:2]},
    }


def make_tables(run: LoadRun) -> tuple[Table, ...]:
    """What visitors did and got, and what the server needed."""
    found = summarize(run)
    rows = tuple(_row(kind, one) for kind, one in found["kinds"].items())
    times = ("p50", "p95", "p99", "queued p50", "queued p95", "estimate off", "told off p50", "told off p95")
    heads = ("action", "times", "ok", "refused", *FAULTS, *times)
    note = f"Times in seconds. {run.visitors} visitors; {found['races_per_second']:.2f} races a second."
    tables = [Table("What visitors did", heads, rows, note)]
    if run.server:
        tables.append(_server_table(run))
    elif run.watched:
        tables[0] = replace(tables[0], note=f"{note} {run.watched}")
    return tuple(tables)


def _row(kind: str, one: dict[str, Any]) -> tuple[str, ...]:
    counts = (str(one[name]) for name in ("count", "ok", "refused", *FAULTS))
    times = (_seconds(one[name]) for name in ("p50", "p95", "p99", "queued_p50", "queued_p95"))
    error = one["estimate_error"]
    told = (_seconds(one[name]) for name in ("off_p50", "off_p95"))
    return (kind, *counts, *times, "" if error is None else f"{error:.0%}", *told)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _server_table(run: LoadRun) -> Table:
    slope = memory_slope(run)
    series = {
        "memory, MB": [one.memory / 2**20 for one in run.server],
        "threads": [one.threads for one in run.server],
        "open files": [one.files for one in run.server],
        "CPU, cores": [one.cpu for one in run.server],
    }
    rows = tuple(
        (name, *(f"{value:.1f}" for value in (values[0], statistics.median(values), max(values), values[-1])))
        for name, values in series.items()
    )
    growth = "not measured in less than two minutes" if slope is None else f"{slope:+.2f} MB a minute"
    note = f"{run.watched} Growth of memory after the first minute: {growth}.".strip()
    return Table("What the server needed", ("", "first", "median", "most", "last"), rows, note)
