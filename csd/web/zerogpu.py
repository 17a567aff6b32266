"""Races on ZeroGPU: a Space without a GPU of its own borrows one for each race.

Families are placed on the main thread before the page is launched. A race then runs in a process that has the GPU and
sends its events back; the package `spaces` makes that process from one generator. Elsewhere the same generator simply
runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import gradio as gr

from csd.decoding.errors import Refusal
from csd.models import catalog
from csd.models.messages import Progress
from csd.models.spec import FamilyError, FamilySpec
from csd.request.request import Request
from csd.run import LaneFinished, RaceEvent, RaceStarted, run_race
from csd.web.deployment import Deployment, RunRace
from csd.web.loads import FamilyChoice
from csd.web.studio import Studio

FAMILIES = ("embedded", "SmolLM2 1.7B")  # where CSD_FAMILY names no other
# Seconds of the GPU to ask for: at the start, where costs are measured, and per lane and token; visitors have a few
# minutes a day.
START, TOKEN, MOST = 20, 0.05, 120
SHARED = "shared (ZeroGPU)"

Decorate = Callable[..., Callable[..., Any]]
"""spaces.GPU, or a test's."""

Limits = Callable[[tuple[FamilyChoice, ...]], Deployment]
"""What the page allows, given the families that it starts with."""


def zerogpu_studio(named: str, limits: Limits) -> Studio:
    """The studio of a ZeroGPU Space, with the family that is named or FAMILIES. Call it before anything imports torch.

    Raises FamilyError with a sentence.
    """
    import spaces  # pyright: ignore[reportMissingImports]; before torch, which it teaches to pretend there is a GPU

    specs = [catalog.find(name).without_copies() for name in ([named] if named else FAMILIES)]
    return make_studio(specs, spaces.GPU, limits=limits)


def make_studio(
    specs: Sequence[FamilySpec],
    decorate: Decorate,
    run: RunRace = run_race,
    limits: Limits = lambda homes: Deployment(),
) -> Studio:
    """A studio over placed families, whose races run in what `decorate` makes of a generator."""
    import torch

    from csd.models.lent import place_family

    device = "cuda" if torch.cuda.is_available() else "cpu"
    placed = {spec.name: place_family(spec, device) for spec in specs}

    def load(spec: FamilySpec, device: str, dtype: str, progress: Progress) -> Any:
        if spec.name not in placed:
            raise FamilyError(f"This Space borrows a GPU and has only {' and '.join(placed)}. Choose one of them.")
        return placed[spec.name]

    homes = tuple(FamilyChoice(spec, device) for spec in specs)
    lent = race_on_lent_gpu(placed, decorate, run)
    return Studio(homes[0], load, lent, behind=homes[1:], deployment=limits(homes))


def race_on_lent_gpu(placed: Mapping[str, Any], decorate: Decorate, run: RunRace = run_race) -> RunRace:
    """`run` on a GPU that is lent for each race, for families that are known there by name.

    What crosses the border are a name, a request and events, never a family. Stopping sets a flag that both sides
    share, so that a stopped race still brings the lanes it has. One race at a time.
    """
    stop = get_context("fork").Event()
    ready: dict[str, Any] = {}  # of the process that has the GPU, which is kept for some time

    def on_gpu(name: str, request: Request) -> Iterator[RaceEvent | str]:
        from csd.models.lent import measured

        try:
            if name not in ready:
                ready[name] = measured(placed[name])
            yield from map(_labelled, run(ready[name], request, stop.is_set))
        except Refusal as refusal:  # its sentence would be lost at the border
            yield str(refusal)

    lent = decorate(duration=seconds_needed)(on_gpu)

    def race(family: Any, request: Request, stopped: Callable[[], bool]) -> Iterator[RaceEvent]:
        stop.clear()
        try:
            for event in lent(family.spec.name, request):
                if isinstance(event, str):
                    raise Refusal(event)
                yield event
                if stopped():
                    stop.set()
        except gr.Error as error:  # no GPU is free, the visitor's quota is spent, or the process has failed
            raise Refusal(f"The Hub's GPU did not run the race. {error.title}: {error.message}") from error
        finally:
            stop.set()

    return race


def seconds_needed(name: str, request: Request) -> int:
    """How long a race may take, for the Hub's schedule: what it asks for counts against the visitor's quota."""
    return round(min(MOST, START + TOKEN * len(request.methods) * request.max_new))


def _labelled(event: RaceEvent) -> RaceEvent:
    """The event with the device called what it is."""
    if isinstance(event, RaceStarted):
        headers = tuple(replace(one, device=f"{one.device}, {SHARED}") for one in event.headers)
        return replace(event, headers=headers, machine=f"{SHARED}: {event.machine}")
    if isinstance(event, LaneFinished):
        header = event.trace.header
        return replace(event, trace=replace(event.trace, header=replace(header, device=f"{header.device}, {SHARED}")))
    return event
