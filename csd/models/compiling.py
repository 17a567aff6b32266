"""Compiling the kernels of a loaded family: minutes of work in steps, between which races can run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from csd.models.messages import Progress, first_line, ignore, without_frames

if TYPE_CHECKING:
    from csd.models.backends.cuda_graphs import StaticForward
    from csd.models.backends.graph_compile import Compiler
    from csd.models.backends.graph_pool import Failures, GraphPool
    from csd.models.family import Family

COMPILE_SECONDS = 120.0  # after which no further width of a model is compiled

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CompileStep:
    """What will be done next, in a sentence (empty after the last step), and the family that races are to use."""

    sentence: str
    family: Family


@dataclass
class _Compiled:
    """What is compiled of a model so far, and what failed, by width."""

    pool: GraphPool
    forwards: dict[int, StaticForward] = field(default_factory=dict)
    failures: Failures = field(default_factory=dict)


def compile_steps(family: Family, compiler: Compiler | None = None) -> Iterator[CompileStep]:
    """Compile the forwards of all models that run as CUDA graphs. Each item announces up to half a minute of work.

    Nothing else may use the models during a step; between steps races can run. The compiled passes of all models are
    taken into use together, with the last step: a race in which some models are compiled says nothing about methods.
    """
    if not family.device.startswith("cuda"):
        return
    from csd.models.backends.cuda_graphs import forward
    from csd.models.backends.graph_compile import ORDER, compile_width, inductor
    from csd.models.backends.graph_pool import GraphPool

    pools = {name: backend for name, backend in family.backends.items() if isinstance(backend, GraphPool)}
    if not pools:
        return
    static_forward = None
    models = {name: _Compiled(pool) for name, pool in reversed(pools.items())}  # the target first
    for name, model in models.items():
        scratch, seconds = None, 0.0
        for width in (width for width in ORDER if width in model.pool.widths):
            if seconds > COMPILE_SECONDS:
                break
            count = f"{len(model.forwards)} of {len(model.pool.widths)} widths"
            yield CompileStep(f"compiling kernels for {name}, {count}; later races will be faster", family)
            started = perf_counter()
            try:
                static_forward = static_forward or (compiler or inductor)(forward)
                scratch = scratch or model.pool.open_scratch()
                compile_width(scratch, width, static_forward)
                model.forwards[width] = static_forward
            except Exception as error:  # the compiler and the tools that it calls fail in many ways
                log.warning("%s: compiling width %d failed", name, width, exc_info=True)
                model.failures[width] = without_frames(error)
            seconds += perf_counter() - started
    yield CompileStep("taking the compiled kernels into use", family)
    yield CompileStep("", _take_into_use(family, models))


def compile_kernels(family: Family, progress: Progress = ignore) -> Family:
    """All steps at once: the family with compiled kernels. On a CPU it is the same family."""
    for step in compile_steps(family):
        if step.sentence:
            progress(step.sentence)
        family = step.family
    return family


def _take_into_use(family: Family, models: Mapping[str, _Compiled]) -> Family:
    from csd.models.backends.costs import measure_passes, slower_than_wider, to_costs
    from csd.models.backends.graph_pool import restart_notes

    notes = family.notes
    for name, model in models.items():
        model.failures |= model.pool.use_compiled(model.forwards)
        notes += _notes(name, model)
    times = measure_passes(family.backends, family.contexts)
    for name, model in models.items():
        slow = slower_than_wider(times[name])
        model.pool.leave_out(slow)
        times[name] = {width: seconds for width, seconds in times[name].items() if width not in slow}
        if name != "target" and (error := model.pool.record_chains()):
            note = (
                f"{name} writes its tokens with one launch for each, as no graph for several works: {first_line(error)}"
            )
            notes += (note, *restart_notes([error]))
    return replace(family, costs=to_costs(family.backends, times), notes=tuple(dict.fromkeys(notes)))


def _notes(name: str, model: _Compiled) -> tuple[str, ...]:
    """Sentences for the user if not every width is compiled."""
    from csd.models.backends.graph_pool import UNCOMPILED_COST, reason, restart_notes, widths_text

    missing = [width for width in model.pool.widths if width not in model.forwards or width in model.failures]
    if not missing:
        return ()
    why = reason(model.failures) if model.failures else f"{COMPILE_SECONDS:.0f} s of compiling were over"
    note = f"{name} has no compiled kernels for {widths_text(missing)}, so such a pass {UNCOMPILED_COST}: {why}"
    return (note, *restart_notes(model.failures.values()))
