"""`csd bench`: the methods, and transformers' own decoding, over many prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from csd.cli.bench_options import EXTRA_BASELINES, MeasureOptions, PromptOptions, ResultFolder, Scale
from csd.cli.exits import DIFFERS, INTERRUPTED, interruptible, refusals, say
from csd.cli.family import find_spec, load_compiled, print_notes
from csd.cli.flatten import flatten_options
from csd.cli.options import BenchMethods, DeviceOptions, FamilyOptions, MethodOptions, form_fields
from csd.cli.prompts import choose_prompts, runnable_prompts
from csd.cli.request import make_bench_request
from csd.cli.terminal import make_console
from csd.decoding.errors import Refusal
from csd.decoding.methods import Method
from csd.models.spec import FamilySpec
from csd.request.paper import PAPER, paper_methods
from csd.request.prompts import PLAIN


@flatten_options
def bench(
    *,
    prompts: PromptOptions,
    family: FamilyOptions,
    scale: Scale = "",
    method: BenchMethods = None,
    settings: MethodOptions,
    measure: MeasureOptions,
    device: DeviceOptions,
    out: ResultFolder = None,
) -> None:
    """Benchmark decoding methods over prompts, beside transformers' own decoding of the same weights.

    For each prompt and repeat, all entries take turns, after a warm-up. The folder receives traces.jsonl,
    bench.json, bench.md and bench.html; the last line of standard output is all figures as JSON.

    \b
    Examples:
      csd bench --quick
      csd bench --repeats 5 --out results
      csd bench --prompts spec_bench.jsonl --limit 4 --max-new 128 --family Qwen3
      csd bench --scale 7B --device cuda --baseline compiled
      csd bench --paper --family "FLAN-T5 XXL" --prompts gsm8k.jsonl --limit 100

    \b
    Exit codes:
      0    finished, and the texts agree
      1    a text differs from that of autoregressive decoding, and not at a near-tie, or repeats itself
      2    invalid input, or a family that cannot be loaded
      130  interrupted; finished runs are kept and printed, and the same --out continues
    """
    from csd.cli import benchmark
    from csd.cli.bench_tables import show_bench

    measure = measure.resolve()
    with refusals():
        _check_extra(measure.extra or ())
        limit = 1 if measure.quick else prompts.limit
        spec = find_spec(family)
        wording = PAPER if prompts.paper else PLAIN
        chosen = choose_prompts(spec, prompts.prompts, limit, prompts.only, measure.max_new, wording)
        models = print_notes(benchmark.load_scaled(spec, scale, device)) if scale else load_compiled(spec, device)
        kept, notes = runnable_prompts(models, chosen)
        given = form_fields(settings)
        if prompts.paper:
            methods = _paper_methods(spec, method, given)
        else:
            methods = make_bench_request(spec, models.device, method, given).methods
        folder = out or Path(f"bench-{datetime.now():%Y%m%d-%H%M%S}")
        ready = benchmark.prepare(models, kept, methods, measure, folder)
    say(f"{len(ready.todo)} runs to do, {len(ready.runs)} are already in {folder}")
    with interruptible() as stopped:
        runs = benchmark.run(ready, stopped, notes.append)
        interrupted = stopped()
        report = benchmark.make_report(ready, runs, notes, growth=bool(measure.growth) and not interrupted)
    benchmark.write_files(folder, report)
    show_bench(report, make_console())
    say(f"results: {folder}")
    typer.echo(json.dumps(report.document(), separators=(",", ":")))
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if report.summary.differing or report.summary.repeating:
        raise typer.Exit(DIFFERS)


def _paper_methods(spec: FamilySpec, method: Sequence[str] | None, given: dict[str, Any]) -> tuple[Method, ...]:
    """The methods of the paper's comparison. Raises Refusal where others or their settings were asked for too."""
    if method or given:
        raise Refusal(
            "--paper brings its own methods and settings. Leave out --method, --drafter, --k, --K and the like."
        )
    return paper_methods(spec)


def _check_extra(names: Sequence[str]) -> None:
    """Raises Refusal for the name of an additional baseline that does not exist."""
    for name in names:
        if name not in EXTRA_BASELINES:
            raise Refusal(
                f"There is no additional baseline called {name!r}. Choose one of: {', '.join(EXTRA_BASELINES)}."
            )
