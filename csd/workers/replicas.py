"""Replicas somewhere on a cluster as a pool: races that take whichever is free.

The cluster starts replicas, starts them again when they die, and carries calls to one that is free. The pool counts: it
never has more calls under way than replicas run, so a race that has its turn starts at once.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from csd.decoding.errors import Refusal
from csd.models.compiling import CompileStep
from csd.models.spec import FamilySpec
from csd.request.request import Request
from csd.run import RaceEvent
from csd.workers.process import WorkerDied
from csd.workers.replica import FamilyName
from csd.workers.worker import LoadedFamily

LOOK = 0.2  # seconds between two looks at how many replicas run
STARTING = "The replica that is to run this race is being started. The race begins when it is ready."
BUSY = "All replicas are racing. This race starts when one of them is free."
ALONE = "local"  # the address of a cluster of this machine alone, in Ray's words
UNREACHABLE = (
    "No Ray cluster answers at {}. Start one with `ray start --head`, correct RAY_ADDRESS, or unset it to have the "
    "replicas on this machine alone. Where the cluster wants a token, set RAY_AUTH_MODE=token."
)
LOST = "{} The race is lost, your prompt is not. The cluster starts a new replica: race again."


class Cluster(Protocol):
    """What carries calls to replicas."""

    def running(self) -> int:
        """How many replicas can take a call, busy ones included. Raises Refusal if they cannot be started at all."""
        ...

    def call(self, method: str, *arguments: Any, stopped: Callable[[], bool] = ...) -> Generator[Any, None, None]:
        """What a method of Replica sends, on a replica that is free; as `csd.workers.process.WorkerProcess.call`."""
        ...


@dataclass(frozen=True)
class ReplicatedFamily:
    """A family that replicas hold, or load for their first race of it, in words; `name` is what was asked for."""

    spec: FamilySpec
    device: str
    dtype: str
    notes: tuple[str, ...]
    name: FamilyName
    placed: str = ""


class ReplicaPool:
    """Gives turns on `size` replicas, as `csd.web.device.Turns` has it; loads and races are calls to a replica."""

    can_race = True  # the cluster knows, and takes its time to say so

    def __init__(self, size: int, cluster: Cluster):
        self.size = size
        self._cluster = cluster
        self._changed = threading.Condition()
        self._calls = 0  # under way, races and loads
        self._races = 0  # that run or wait

    # ---- families

    def load_family(
        self, spec: FamilySpec, device: str, dtype: str, progress: Callable[[str], None]
    ) -> ReplicatedFamily:
        """Load a family in one replica; the others load it for their first race of it. Raises Refusal."""
        progress("waiting for a replica")
        loaded: LoadedFamily | None = None
        try:
            with self._turn(lambda: False):
                for told in self._cluster.call("load", (spec, device, dtype)):
                    if isinstance(told, LoadedFamily):
                        loaded = told
                    else:
                        progress(told)
        except WorkerDied as death:
            raise Refusal(str(death)) from death
        assert loaded is not None
        where = loaded.device if self.size == 1 else f"{self.size} × {loaded.device}"
        return ReplicatedFamily(loaded.spec, where, loaded.dtype, loaded.notes, (spec, device, dtype))

    def compile_steps(self, family: ReplicatedFamily) -> Iterator[CompileStep]:
        """None: replicas compile a family while they load it."""
        return iter(())

    # ---- races

    def run(self, family: ReplicatedFamily, request: Request, stopped: Callable[[], bool]) -> Iterator[RaceEvent]:
        """Run a race, with the turn that this thread has. Raises Refusal, also if the replica dies."""
        try:
            with closing(self._cluster.call("race", family.name, request, stopped=stopped)) as events:
                yield from events
        except WorkerDied as death:
            raise Refusal(LOST.format(death)) from death

    # ---- turns

    @property
    def has_races(self) -> bool:
        """Whether a race runs or waits."""
        return self._races > 0

    @property
    def waits_for(self) -> str:
        """A sentence on what a race waits for that has no turn yet."""
        return BUSY if self._cluster.running() else STARTING

    @contextmanager
    def race(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[bool]:
        """A turn on a replica, once one is free; False, without a turn, if the race is stopped before."""
        with self._changed:
            self._races += 1
        try:
            with self._turn(stopped) as granted:
                yield granted
        finally:
            with self._changed:
                self._races -= 1

    @contextmanager
    def step(self, patience: float) -> Iterator[bool]:
        """Always a turn, since there are no steps."""
        yield True

    @contextmanager
    def _turn(self, stopped: Callable[[], bool]) -> Iterator[bool]:
        while not (granted := self._take(self._cluster.running())) and not stopped():
            with self._changed:
                self._changed.wait(LOOK)
        try:
            yield granted
        finally:
            if granted:
                with self._changed:
                    self._calls -= 1
                    self._changed.notify_all()

    def _take(self, running: int) -> bool:
        with self._changed:
            granted = self._calls < running
            self._calls += granted
        return granted


def check_address(address: str, patience: float = 5.0) -> None:
    """Raise ValueError with a sentence if nothing listens at HOST:PORT; Ray itself would try for two minutes.

    Addresses of another form, such as "local" or "auto", are Ray's to judge.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), patience).close()
    except (OSError, OverflowError) as error:
        raise ValueError(UNREACHABLE.format(address)) from error


def replica_resources(has: Mapping[str, float], count: int, cpus: int, on_gpus: bool | None) -> dict[str, int]:
    """What each of `count` replicas takes of a cluster that `has` so many CPUs and GPUs, in Ray's words.

    cpus: cores, which are the threads of its models. on_gpus: a GPU of its own; None for one where there are enough.
    Raises ValueError with a sentence.
    """
    gpus = int(has.get("GPU", 0) >= count if on_gpus is None else on_gpus)
    for resource, each in (("CPU", cpus), ("GPU", gpus)):
        if has.get(resource, 0) < each * count:
            raise ValueError(
                f"{count} replicas need {count * each} {resource}s, and the cluster has {has.get(resource, 0):g}. "
                "Ask for fewer, or add a node."
            )
    return {"num_cpus": cpus, "num_gpus": gpus}
