"""Warm everything up, then time the jobs of a plan one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from csd.bench.plan import Job, Plan
from csd.bench.stopwatch import Stopwatch, make_stopwatch, watch_backends
from csd.bench.timed_run import Line, baseline_line, method_line
from csd.decoding.methods import Method
from csd.models.messages import Progress, first_line, ignore
from csd.record.trace import Prefill, Trace
from csd.request.prompts import Prompt
from csd.run import LaneAdvanced, LaneFinished, finished_traces, run_race

if TYPE_CHECKING:
    from csd.bench.baselines import Baseline
    from csd.models.family import Family

WARMUP_TOKENS = 32  # new tokens per method

# How a baseline fails where there is no compiler, not enough memory, or models that transformers cannot combine.
FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, OSError, ImportError)


def warm_up(
    family: Family,
    plan: Plan,
    baselines: Sequence[Baseline],
    progress: Progress = ignore,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[tuple[Baseline, ...], tuple[str, ...]]:
    """Run everything once, untimed: the methods on the first prompt, the baselines on a greedy one.

    What compiles does so here. Returns the baselines that can run, and a sentence for each that cannot.
    """
    short = replace(plan.prompts[0], max_new=min(WARMUP_TOKENS, plan.prompts[0].max_new))
    for _ in run_race(family, short.to_request(plan.methods)):
        pass
    greedy = [prompt for prompt in plan.prompts if prompt.temperature == 0]
    able, notes = [], []
    for baseline in baselines if greedy else ():
        if stopped():
            break
        progress(f"warming up {baseline.title}{', which compiles' if baseline.compiles else ''}")
        try:
            for prompt in _one_per_cache_size(family, greedy) if baseline.compiles else greedy[:1]:
                baseline.decode(family.encode(prompt.prompt), prompt.max_new, family.eos)
        except FAILURES as error:
            notes.append(f"{baseline.title} cannot run here: {first_line(error)}")
        else:
            able.append(baseline)
    return tuple(able), tuple(notes)


def measure(
    family: Family,
    plan: Plan,
    baselines: Sequence[Baseline],
    jobs: Sequence[Job],
    stopped: Callable[[], bool] = lambda: False,
    failed: Callable[[str], None] = lambda sentence: None,
) -> Iterator[tuple[Job, list[Line]]]:
    """Do the jobs in order and yield the lines of each. A job that was stopped midway is not yielded.

    `failed` is told which baseline failed on which prompt; such a job has no lines.
    """
    stopwatch = make_stopwatch(str(family.device))
    watched = replace(family, backends=watch_backends(family.backends, stopwatch))
    methods = {entry.id: entry.method for entry in plan.method_entries if entry.method}
    by_id = {baseline.entry.id: baseline for baseline in baselines}
    for job in jobs:
        prompt = plan.prompts[job.prompt]
        if stopped():
            return
        if job.mode == "baseline":
            yield job, _time_baseline(family, prompt, by_id[job.entry], job, failed)
            continue
        if job.mode == "race":
            traces = finished_traces(run_race(family, prompt.to_request(plan.methods), stopped))
            lines = [method_line(job, id, trace) for id, trace in zip(methods, traces, strict=True)]
        elif job.mode == "alone":
            traces = finished_traces(run_race(family, prompt.to_request([methods[job.entry]]), stopped))
            lines = [method_line(job, job.entry, trace) for trace in traces]
        else:
            trace, forward_seconds = _watch(watched, prompt, methods[job.entry], stopped, stopwatch)
            traces, lines = (trace,), [method_line(job, job.entry, trace, forward_seconds)]
        if any(trace.end == "stopped" for trace in traces):
            return
        yield job, lines


def _watch(
    family: Family, prompt: Prompt, method: Method, stopped: Callable[[], bool], stopwatch: Stopwatch
) -> tuple[Trace, float]:
    """A method's trace, and its seconds inside models while decoding; `family` has watched lanes."""
    for event in run_race(family, prompt.to_request([method]), stopped):
        if isinstance(event, LaneAdvanced) and isinstance(event.record, Prefill):
            stopwatch.reset()
        if isinstance(event, LaneFinished):
            return event.trace, stopwatch.seconds
    raise RuntimeError("A race ended without its lane.")


def _time_baseline(
    family: Family, prompt: Prompt, baseline: Baseline, job: Job, failed: Callable[[str], None]
) -> list[Line]:
    """A baseline's line, or none where it fails."""
    try:
        decoded = baseline.decode(family.encode(prompt.prompt), prompt.max_new, family.eos)
    except FAILURES as error:
        failed(f"{baseline.title} failed on {prompt.kind}: {prompt.name}: {first_line(error)}")
        return []
    return [baseline_line(job, decoded)]


def _one_per_cache_size(family: Family, prompts: Sequence[Prompt]) -> list[Prompt]:
    """A prompt for each size of static cache that the prompts need."""
    from csd.bench.baselines import cache_sizes

    lengths = [len(family.encode(prompt.prompt)) + prompt.max_new for prompt in prompts]
    return [prompts[position] for position in cache_sizes(lengths).values()]
