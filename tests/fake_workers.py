"""What workers run in tests: families and races in no time, in processes of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from csd.decoding.errors import Refusal
from csd.models.compiling import CompileStep
from csd.models.spec import FamilySpec
from csd.record.trace import Header, Trace
from csd.request.request import Request
from csd.run import LaneFinished, RaceEvent, RaceStarted
from csd.workers.worker import RaceWorker

HEADER = Header("autoregressive", "", {}, "", (), (1,), "a", 1, (), "greedy", 0, 0, 1, 0, "cpu", "float32", {})


@dataclass(frozen=True)
class FakeFamily:
    spec: FamilySpec
    device: str = "cpu"
    dtype: str = "float32"
    notes: tuple[str, ...] = ()


def make_worker() -> RaceWorker:
    return RaceWorker(load, run, compile_steps)


def load(spec: FamilySpec, device: str, dtype: str, progress: Callable[[str], None]) -> FakeFamily:
    """`about` says what happens: a family that is refused, one that breaks, or one whose loading ends the process."""
    progress("reading weights")
    if spec.about == "refused":
        raise ValueError("It needs 17 GiB.")
    if spec.about == "breaks":
        raise KeyError("a key")
    if spec.about == "dies":
        os._exit(3)
    return FakeFamily(spec, "cpu" if device == "auto" else device, notes=(f"Loaded by {os.getpid()}.",))


def run(family: FakeFamily, request: Request, stopped: Callable[[], bool]) -> Iterator[RaceEvent]:
    """The prompt says what happens: `short`, `long` (until it is stopped), `refused`, `breaks`, or `dies`."""
    yield RaceStarted((HEADER,), {1: "a"}, machine=str(os.getpid()))
    if request.prompt == "refused":
        raise Refusal("The prompt is empty.")
    if request.prompt == "breaks":
        raise KeyError("a key")
    if request.prompt == "dies":
        os._exit(3)
    while request.prompt == "long" and not stopped():
        time.sleep(0.002)
    yield LaneFinished(0, Trace(HEADER, (), (), "stopped" if stopped() else "budget", {}))


def compile_steps(family: FakeFamily) -> Iterator[CompileStep]:
    """Two steps for a family whose `about` is a file, to which each of them adds a line."""
    if not family.spec.about.startswith("/"):
        return
    for number in range(2):
        sentence: Any = f"compiling {number} of 2"
        yield CompileStep(sentence, family)  # type: ignore[arg-type]
        with Path(family.spec.about).open("a") as file:
            file.write(f"{os.getpid()} {number}\n")
    yield CompileStep("", replace(family, notes=(*family.notes, "Compiled.")))  # type: ignore[arg-type]
