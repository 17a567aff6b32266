"""One benchmark, from its plan to its files: every call of `csd.bench` except for printing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.bench import limits
from csd.bench.report import markdown, page
from csd.bench.run import Job, Plan, Report, append, checked, config, left, measure, opened, run_of, summary, warmed
from csd.bench.summary import Run
from csd.cli.bench_options import MeasureOptions
from csd.cli.exits import say
from csd.cli.options import DeviceOptions
from csd.cli.terminal import show_progress
from csd.decoding.methods import Method, title
from csd.models.catalog import FamilySpec
from csd.models.device import describe_machine
from csd.request.prompts import Prompt

if TYPE_CHECKING:
    from csd.bench.baselines import Peer
    from csd.models.family import Family


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that can run: what is measured, where the results go, and the runs that the folder already holds."""

    family: Family
    plan: Plan
    baselines: tuple[Peer, ...]
    folder: Path
    config: dict[str, Any]
    runs: tuple[Run, ...]

    @property
    def todo(self) -> list[Job]:
        """The jobs that have no run yet."""
        return left(self.plan, self.runs)


def load_scaled(spec: FamilySpec, size: str, options: DeviceOptions) -> Family:
    """The family enlarged to the cost of a bigger one. Raises FamilyError."""
    from csd.bench.scale import scaled

    return scaled(spec, size, options.device, options.dtype, say)


def prepare(
    family: Family, prompts: Sequence[Prompt], methods: Sequence[Method], options: MeasureOptions, folder: Path
) -> Benchmark:
    """Check the plan, and create the folder or read the runs that it holds. Raises Refusal."""
    baselines = _choose_baselines(family, options)
    titles = tuple(baseline.title for baseline in baselines)
    plan = checked(family, Plan(tuple(prompts), tuple(methods), titles, options.repeats, options.raced))
    settings = config(family, plan)
    return Benchmark(family, plan, baselines, folder, settings, tuple(opened(folder, settings, plan)))


def run(benchmark: Benchmark, stopped: Callable[[], bool], note: Callable[[str], None]) -> list[Run]:
    """Do the remaining jobs, each written to the folder when it is done; returns all runs.

    `note` is told what could not run.
    """
    runs, todo, plan = list(benchmark.runs), benchmark.todo, benchmark.plan
    if not todo:
        return runs
    able, failures = warmed(benchmark.family, plan, benchmark.baselines, say, stopped)
    for failure in failures:
        note(failure)
    titles = {*map(title, plan.methods), *(baseline.title for baseline in able), ""}  # a race has no title
    todo = [job for job in todo if job.title in titles]
    with show_progress(len(todo)) as advance:
        for job, lines in measure(benchmark.family, plan, able, todo, stopped, note):
            append(benchmark.folder, lines)
            runs += map(run_of, lines)
            prompt = plan.prompts[job.prompt]
            advance(f"{prompt.kind}: {prompt.name}")
    return runs


def make_report(benchmark: Benchmark, runs: Sequence[Run], notes: Sequence[str], growth: bool) -> Report:
    """The figures of the runs, with the limits of the device, measured now; `growth` times forward passes too."""
    family, plan = benchmark.family, benchmark.plan
    say("measuring the device")
    found = limits.limits(family)
    longest = max(len(family.encode(prompt.prompt)) + prompt.max_new for prompt in plan.prompts)
    memory = limits.memory(family, longest)
    curves = tuple(limits.growth(family, say)) if growth else ()
    sampled = sum(prompt.temperature > 0 for prompt in plan.prompts)
    if benchmark.baselines and sampled:
        notes = [*notes, f"Sampled prompts, which transformers' greedy decoding was not run on: {sampled}."]
    return Report(
        title=family.spec.name,
        machine=describe_machine(family.device, family.dtype),
        config=benchmark.config,
        prompts=plan.prompts,
        summary=summary(family, plan, runs, benchmark.baselines, found),
        limits=found,
        memory=memory,
        curves=curves,
        notes=tuple(notes),
    )


def write_files(folder: Path, report: Report) -> None:
    """Write the figures, the tables and the page next to the traces. A file that cannot be written is reported."""
    texts = {
        "bench.json": json.dumps(report.document(), indent=1) + "\n",
        "bench.md": markdown(report) + "\n",
        "bench.html": page(report),
    }
    for name, text in texts.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            say(f"Cannot write {folder / name}: {error.strerror}.")


def _choose_baselines(family: Family, options: MeasureOptions) -> tuple[Peer, ...]:
    """transformers' ways of decoding that the options ask for; --quick skips those that are compiled."""
    from csd.bench.baselines import LOOP, peers

    if not options.baselines and not options.extra:
        return ()
    return tuple(
        peer
        for peer in peers(family, bool(options.extra))
        if peer.title == LOOP or (options.baselines and not (options.quick and peer.compiles))
    )
