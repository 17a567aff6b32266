"""What a worker does: it holds the families of one device and runs races on them.

The worker knows nothing of processes. Whoever calls it passes `send`, which takes what there is to tell, and `stopped`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from csd.decoding.errors import Refusal
from csd.models.compiling import CompileStep, compile_steps
from csd.models.loading import load_family
from csd.models.spec import FamilySpec
from csd.request.request import Request
from csd.run import RaceEvent, run_race

Send = Callable[[Any], None]
LoadFamily = Callable[[FamilySpec, str, str, Callable[[str], None]], Any]
RunRace = Callable[[Any, Request, Callable[[], bool]], Iterator[RaceEvent]]
CompileSteps = Callable[[Any], Iterator[CompileStep]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadedFamily:
    """A family that a worker holds, in words: what can leave its process.

    `next_step` says what is left to compile, and is empty if nothing is.
    """

    spec: FamilySpec
    device: str
    dtype: str
    notes: tuple[str, ...]
    next_step: str = ""


class RaceWorker:
    """Families by number, and races on them. Loading and racing may go on at the same time, in different threads."""

    def __init__(
        self, load: LoadFamily = load_family, run: RunRace = run_race, compile_steps: CompileSteps = compile_steps
    ):
        self._load, self._run, self._compile_steps = load, run, compile_steps
        self._families: dict[int, Any] = {}
        self._steps: dict[int, Iterator[CompileStep]] = {}

    def load(
        self, send: Send, stopped: Callable[[], bool], number: int, spec: FamilySpec, device: str, dtype: str
    ) -> None:
        """Sends sentences about what is happening, then a LoadedFamily. Raises Refusal if it cannot be loaded."""
        try:
            self._families[number] = self._load(spec, device, dtype, send)
        except ValueError as error:
            raise Refusal(str(error)) from error
        self._steps[number] = self._compile_steps(self._families[number])
        self.step(send, stopped, number)

    def step(self, send: Send, stopped: Callable[[], bool], number: int) -> None:
        """Make the next step of compiling a family, up to half a minute of work; sends it as it is then."""
        try:
            step = next(self._steps[number], None) or CompileStep("", self._families[number])
        except Exception:  # no step is left, and the family runs as it did before
            log.exception("compiling %s", self._families[number].spec.name)
            step = CompileStep("", self._families[number])
        family = self._families[number] = step.family
        send(LoadedFamily(family.spec, str(family.device), str(family.dtype), tuple(family.notes), step.sentence))

    def race(self, send: Send, stopped: Callable[[], bool], number: int, request: Request) -> None:
        """Sends the events of a race. Raises Refusal for a request that the family cannot run."""
        for event in self._run(self._families[number], request, stopped):
            send(event)

    def drop(self, send: Send, stopped: Callable[[], bool], number: int) -> None:
        """Forget a family. A race that still runs on it keeps it in memory until it ends."""
        self._families.pop(number, None)
        self._steps.pop(number, None)
