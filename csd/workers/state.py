"""What a pool knows of its workers and of the families that they are to hold."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from csd.models.spec import FamilySpec
from csd.workers.places import Place
from csd.workers.process import WorkerProcess
from csd.workers.worker import LoadedFamily


@dataclass
class Wanted:
    """A family that all workers are to hold. `announced` once they do; `failed` says why one of them cannot load it."""

    spec: FamilySpec
    dtype: str
    progress: Callable[[str], None]
    announced: bool = False
    failed: Exception | None = None


@dataclass
class Seat:
    """One worker, as often as it is started. `ready` once it holds all families that are in use.

    Whoever sets `user` clears it, even if the worker dies meanwhile.
    """

    place: Place
    process: WorkerProcess | None = None
    ready: bool = False
    user: Literal["race", "step"] | None = None
    last_race: float = float("-inf")  # when it ended
    families: dict[int, LoadedFamily] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        return self.ready and self.user is None and self.process is not None and self.process.is_alive


@dataclass
class PoolState:
    """Shared by a pool and the threads of its workers; `changed` guards it and tells of every change.

    `forgotten` takes the numbers of families that nobody uses any more; the garbage collector fills it, which must not
    wait for a lock. `loading` is held while a worker loads, and `waiting` counts the races without a turn.
    """

    seats: tuple[Seat, ...]
    changed: threading.Condition = field(default_factory=threading.Condition)
    wanted: dict[int, Wanted] = field(default_factory=dict)
    forgotten: deque[int] = field(default_factory=deque)
    loading: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
