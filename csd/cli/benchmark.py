"""One benchmark, from its plan to its files: every call of `csd.bench` except for printing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.bench.forward_times import measure_forward_times
from csd.bench.limits import measure_limits
from csd.bench.markdown import to_markdown
from csd.bench.memory import measure_memory
from csd.bench.plan import Job, Plan, check_plan
from csd.bench.report import Report
from csd.bench.run import measure, warm_up
from csd.bench.store import append_lines, make_config, open_folder, remaining_jobs
from csd.bench.summary import summarize
from csd.bench.timed_run import TimedRun, parse_line
from csd.cli.bench_options import MeasureOptions
from csd.cli.exits import say
from csd.cli.options import DeviceOptions
from csd.cli.terminal import show_progress
from csd.decoding.methods import Method
from csd.models.device import describe_machine
from csd.models.spec import FamilySpec
from csd.request.prompts import Prompt

if TYPE_CHECKING:
    from csd.bench.baselines import Baseline
    from csd.models.family import Family


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that can run: what is measured, where the results go, and the runs that the folder already holds."""

    family: Family
    plan: Plan
    baselines: tuple[Baseline, ...]
    folder: Path
    config: dict[str, Any]
    runs: tuple[TimedRun, ...]

    @property
    def todo(self) -> list[Job]:
        """The jobs that have no run yet."""
        return remaining_jobs(self.plan, self.runs)


def load_scaled(spec: FamilySpec, size: str, options: DeviceOptions) -> Family:
    """The family enlarged to the cost of a bigger one, with compiled kernels. Raises FamilyError."""
    from csd.bench import scale
    from csd.models.compiling import compile_kernels

    return compile_kernels(scale.load_scaled(spec, size, options.device, options.dtype, say), say)


def prepare(
    family: Family, prompts: Sequence[Prompt], methods: Sequence[Method], options: MeasureOptions, folder: Path
) -> Benchmark:
    """Check the plan, and create the folder or read the runs that it holds. Raises Refusal."""
    baselines = _choose_baselines(family, options)
    entries = tuple(baseline.entry for baseline in baselines)
    plan = Plan(tuple(prompts), tuple(methods), entries, options.repeats, options.raced)
    check_plan(family, plan)
    config = make_config(family, plan)
    return Benchmark(family, plan, baselines, folder, config, tuple(open_folder(folder, config, plan)))


def run(benchmark: Benchmark, stopped: Callable[[], bool], note: Callable[[str], None]) -> list[TimedRun]:
    """Do the remaining jobs, each written to the folder when it is done; returns all runs.

    `note` is told what could not run.
    """
    runs, todo, plan = list(benchmark.runs), benchmark.todo, benchmark.plan
    if not todo:
        return runs
    able, failures = warm_up(benchmark.family, plan, benchmark.baselines, say, stopped)
    for failure in failures:
        note(failure)
    unable = {baseline.entry.id for baseline in benchmark.baselines if baseline not in able}
    todo = [job for job in todo if job.entry not in unable]
    with show_progress(len(todo)) as advance:
        for job, lines in measure(benchmark.family, plan, able, todo, stopped, note):
            append_lines(benchmark.folder, lines)
            runs += map(parse_line, lines)
            prompt = plan.prompts[job.prompt]
            advance(f"{prompt.kind}: {prompt.name}")
    return runs


def make_report(benchmark: Benchmark, runs: Sequence[TimedRun], notes: Sequence[str], growth: bool) -> Report:
    """The figures of the runs, with the limits of the device, measured now; `growth` times forward passes too."""
    family, plan = benchmark.family, benchmark.plan
    say("measuring the device")
    limits = measure_limits(family)
    longest = max(len(family.encode(prompt.prompt)) + prompt.max_new for prompt in plan.prompts)
    memory = measure_memory(family, longest)
    times = measure_forward_times(family, say) if growth else ()
    sampled = sum(prompt.temperature > 0 for prompt in plan.prompts)
    if benchmark.baselines and sampled:
        notes = [*notes, f"Sampled prompts, which transformers' greedy decoding was not run on: {sampled}."]
    return Report(
        title=family.spec.name,
        machine=describe_machine(family.device, family.dtype, family.placed),
        config=benchmark.config,
        prompts=plan.prompts,
        summary=summarize(family, plan, runs, limits),
        limits=limits,
        memory=memory,
        forward_times=times,
        notes=tuple(notes),
    )


def write_files(folder: Path, report: Report) -> None:
    """Write the figures, the tables and the page next to the traces. A file that cannot be written is reported."""
    _write(folder / "bench.json", json.dumps(report.document(), indent=1) + "\n")
    _write(folder / "bench.md", to_markdown(report) + "\n")
    try:
        from csd.bench.page import to_page
    except ModuleNotFoundError as error:  # machines that are only measured may have no plotly
        say(f"bench.html is left out, since {error.name} is not installed; bench.json and bench.md have every figure.")
    else:
        _write(folder / "bench.html", to_page(report))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        say(f"Cannot write {path}: {error.strerror}.")


def _choose_baselines(family: Family, options: MeasureOptions) -> tuple[Baseline, ...]:
    """transformers' ways of decoding that the options ask for; --quick skips those that are compiled."""
    from csd.bench.baselines import COMPILED_LOOP, make_baselines

    if not options.baselines and not options.extra:
        return ()
    return tuple(
        baseline
        for baseline in make_baselines(family, bool(options.extra))
        if baseline.entry.id == COMPILED_LOOP or (options.baselines and not (options.quick and baseline.compiles))
    )
