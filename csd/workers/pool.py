"""Worker processes as one: families that all of them hold, and races that take whichever is free.

A pool is to the page what one device is: something that loads families, runs races, compiles in the gaps, and gives
turns. Its methods of turns are those of `csd.web.device.Device`.
"""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from csd.decoding.errors import Refusal
from csd.models.compiling import CompileStep
from csd.models.messages import ignore
from csd.models.spec import FamilySpec
from csd.request.request import Request
from csd.run import RaceEvent
from csd.workers.keeper import LOOK, keep
from csd.workers.places import Place
from csd.workers.process import WorkerDied
from csd.workers.state import PoolState, Seat, Wanted
from csd.workers.worker import RaceWorker

QUIET = 10.0  # seconds without a race on a worker before it compiles, since a visitor who has just raced may race again
NEWS = 1.0  # seconds between two looks at what workers have compiled
STARTING = "The worker that is to run this race is being started. The race begins when it is ready."
CLOSING = "The page is being shut down."
IN_A_STEP = "Kernels are being compiled. The race starts when a device is free, within a minute."
IN_A_RACE = "All devices are racing. This race starts when one of them is free."


class FamilyKey:
    """A family of a pool. The workers hold the family as long as somebody holds this key."""

    def __init__(self, number: int):
        self.number = number


@dataclass(frozen=True)
class PooledFamily:
    """A family that every worker of a pool holds, in words; `device` names all of their devices."""

    spec: FamilySpec
    device: str
    dtype: str
    notes: tuple[str, ...]
    key: FamilyKey
    placed: str = ""  # a worker sees one GPU


class WorkerPool:
    """Workers, one for each place; `close` ends them. One that dies is started again and loads its families again.

    quiet: seconds without a race after which a worker compiles.
    """

    def __init__(
        self, places: Sequence[Place], make_worker: Callable[[], RaceWorker] = RaceWorker, quiet: float = QUIET
    ):
        self._state = PoolState(tuple(Seat(place) for place in places))
        self._numbers = itertools.count()
        self._mine = threading.local()  # the seat whose turn this thread has
        for seat in self._state.seats:
            arguments = (self._state, seat, make_worker, quiet)
            threading.Thread(target=keep, args=arguments, name=f"keeper of {seat.place.name}", daemon=True).start()
        atexit.register(self.close)

    @property
    def size(self) -> int:
        """How many races run at a time."""
        return len(self._state.seats)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the workers that are ready."""
        return tuple(seat.process.pid for seat in self._state.seats if seat.process and seat.ready)

    def close(self) -> None:
        """End all workers, whatever they do."""
        atexit.unregister(self.close)
        self._state.closed.set()
        with self._state.changed:
            self._state.changed.notify_all()
            processes = [seat.process for seat in self._state.seats if seat.process]
            for seat in self._state.seats:
                seat.ready = False
        for process in processes:
            process.close()

    # ---- families

    def load_family(self, spec: FamilySpec, device: str, dtype: str, progress: Callable[[str], None]) -> PooledFamily:
        """Load a family in all workers, one after another. Raises Refusal if one of them cannot."""
        state = self._state
        if device != "auto" and {device} != {seat.place.device for seat in state.seats}:
            names = ", ".join(seat.place.name for seat in state.seats)
            raise Refusal(f"Races run on {names} here. Choose auto as the device.")
        key, wanted = FamilyKey(next(self._numbers)), Wanted(spec, dtype, progress)
        weakref.finalize(key, state.forgotten.append, key.number)
        with state.changed:
            state.wanted[key.number] = wanted
            state.changed.notify_all()
            while not wanted.failed and not all(key.number in seat.families for seat in state.seats):
                if state.closed.is_set():
                    raise Refusal(CLOSING)
                state.changed.wait(LOOK)
            wanted.announced, wanted.progress = not wanted.failed, ignore  # what it told may hold the key
        if wanted.failed:
            state.forgotten.append(key.number)
            raise wanted.failed
        return self._describe(PooledFamily(spec, device, dtype, (), key))

    def compile_steps(self, family: PooledFamily) -> Iterator[CompileStep]:
        """What the workers have left to compile, looked at again and again: they make the steps by themselves."""
        while sentence := self._next_step(family):
            yield CompileStep(sentence, cast("Any", self._describe(family)))
            with self._state.changed:
                self._state.changed.wait(NEWS)
        yield CompileStep("", cast("Any", self._describe(family)))

    def _describe(self, family: PooledFamily) -> PooledFamily:
        """The family as the workers hold it now."""
        with self._state.changed:
            held = [
                seat.families[family.key.number] for seat in self._state.seats if family.key.number in seat.families
            ]
        if not held:  # all of them are being started again
            return family
        device = held[0].device if self.size == 1 else f"{self.size} × {held[0].device}"
        notes = dict.fromkeys(note for loaded in held for note in loaded.notes)
        return PooledFamily(held[0].spec, device, held[0].dtype, tuple(notes), family.key)

    def _next_step(self, family: PooledFamily) -> str:
        with self._state.changed:
            held = [seat.families.get(family.key.number) for seat in self._state.seats]
        return next((loaded.next_step for loaded in held if loaded and loaded.next_step), "")

    # ---- races

    def run(self, family: PooledFamily, request: Request, stopped: Callable[[], bool]) -> Iterator[RaceEvent]:
        """Run a race on the worker whose turn this thread has. Raises Refusal, also if the worker dies."""
        seat: Seat = self._mine.seat
        assert seat.process is not None
        try:
            yield from seat.process.call("race", family.key.number, request, stopped=stopped)
        except WorkerDied as death:
            if self._state.closed.is_set():
                raise Refusal(CLOSING) from death
            raise Refusal(
                f"{death} The race is lost, your prompt is not. A new worker is being started: race again."
            ) from death

    # ---- turns

    @property
    def has_races(self) -> bool:
        """Whether a race runs or waits."""
        with self._state.changed:
            return self._state.waiting > 0 or any(seat.user == "race" for seat in self._state.seats)

    @property
    def can_race(self) -> bool:
        """Whether a worker is ready; all of them may have died and be loading again."""
        with self._state.changed:
            return any(seat.ready and seat.process and seat.process.is_alive for seat in self._state.seats)

    @property
    def waits_for(self) -> str:
        """A sentence on what a race waits for that has no turn yet."""
        with self._state.changed:
            users = [seat.user for seat in self._state.seats if seat.ready]
        if not users:
            return STARTING
        return IN_A_STEP if "step" in users else IN_A_RACE

    @contextmanager
    def race(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[bool]:
        """A turn on the first worker that is free; False, without a turn, if the race is stopped before."""
        state = self._state
        with state.changed:
            state.waiting += 1
            while (seat := self._free_seat()) is None and not stopped() and not state.closed.is_set():
                state.changed.wait(LOOK)
            state.waiting -= 1
            if seat is not None:
                seat.user = "race"
        self._mine.seat = seat
        try:
            yield seat is not None
        finally:
            self._mine.seat = None
            if seat is not None:
                with state.changed:
                    seat.user, seat.last_race = None, time.monotonic()
                    state.changed.notify_all()

    @contextmanager
    def step(self, patience: float) -> Iterator[bool]:
        """Always a turn: workers make their steps by themselves, between their own races."""
        yield True

    def _free_seat(self) -> Seat | None:
        """Of the free workers, the one that has rested longest."""
        free = [seat for seat in self._state.seats if seat.is_free]
        return min(free, key=lambda seat: seat.last_race, default=None)
