"""`csd bench` at the cost of large models, bounded: what every method reaches, texts compared."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gpu.figures import Figure, Figures

BOUNDS = ("--limit", "1", "--repeats", "1", "--no-race", "--no-growth", "--no-baselines")
REHEARSAL = ("--device", "cpu", "--only", "story", "--max-new", "8")


def main(device: str, path: Path) -> None:
    folder = path.with_suffix("")
    work = _at_scale() if device == "cuda" else REHEARSAL
    run_bench(("bench", *work, *BOUNDS, "--out", str(folder)))
    figures = Figures(path)
    for figure in bench_figures(json.loads((folder / "bench.json").read_text(encoding="utf-8"))):
        figures.add(figure)


def _at_scale() -> tuple[str, ...]:
    from gpu.size import size_here

    return "--scale", size_here(), "--device", "cuda", "--max-new", "64"


def run_bench(arguments: tuple[str, ...]) -> None:
    """Run the command line here. Its code 1 reports texts, which the figures do too."""
    from csd.cli.app import app

    code = app(list(arguments), standalone_mode=False)
    if code not in (None, 0, 1, 130):  # 130: interrupted at the limit, with the runs up to then
        sys.exit(f"csd {' '.join(arguments)} ended with code {code}.")


def bench_figures(document: dict[str, Any]) -> list[Figure]:
    """A figure for each method of a `bench.json`, and one for each of its notes."""
    times = {one["entry"]: one["mean"] for one in document["ratios"] if _over_autoregressive(one)}
    entries = [
        Figure(
            row["title"],
            row["speed"]["median"],
            "tok/s",
            ", ".join(_words(row, times.get(row["entry"]))),
            share=row["share_of_limit"],
        )
        for row in document["entries"]
    ]
    notes = [Figure(f"note {number}", text=note) for number, note in enumerate(document["notes"], 1)]
    return entries + notes


def _over_autoregressive(ratio: dict[str, Any]) -> bool:
    from csd.bench.ratios import ALL, AUTOREGRESSIVE

    return (ratio["against"], ratio["group"]) == (AUTOREGRESSIVE, ALL)


def _words(row: dict[str, Any], times: float | None) -> list[str]:
    words = [f"{times:.2f} x autoregressive"] if times else []
    words.append(f"{row['tokens_per_pass']:.2f} tokens per pass")
    if row["overhead"] is not None:
        words.append(f"overhead {row['overhead']:.0%}")
    words.append(f"{row['differs']} of {row['prompts']} texts differ, {row['near_ties']} at a near-tie")
    return words


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
