"""Whose turn it is to use the device: a race's, or, while no race runs or waits, that of a step of compiling."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Protocol

QUIET = 10.0  # seconds without a race before a step begins, since a visitor who has just raced may race again
LOOK = 0.1  # seconds between two looks at whether a waiting race was stopped
IN_A_STEP = "Kernels are being compiled. The race starts when the one at work is done, within a minute."
IN_A_RACE = "Another race is running. This one starts after it."


class Turns(Protocol):
    """What gives turns: a `Device`, or a pool of worker processes (`csd.workers.pool`)."""

    @property
    def size(self) -> int:
        """How many races run at a time."""
        ...

    @property
    def has_races(self) -> bool:
        """Whether a race runs or waits."""
        ...

    @property
    def waits_for(self) -> str:
        """A sentence on what a race waits for that has no turn yet."""
        ...

    @property
    def can_race(self) -> bool:
        """Whether at least one device can run races, even if it is busy now."""
        ...

    def race(self, stopped: Callable[[], bool] = ...) -> AbstractContextManager[bool]:
        """The turn of a race, for the thread that runs it; False, without a turn, if it is stopped before."""
        ...

    def step(self, patience: float) -> AbstractContextManager[bool]:
        """The turn of a step; False if there is none within `patience` seconds."""
        ...


class Device:
    """One turn at a time. Races go first; a step that has begun is not interrupted."""

    def __init__(self, quiet: float = QUIET):
        self._quiet = quiet
        self._changed = threading.Condition()
        self._user: Literal["race", "step"] | None = None
        self._waiting = 0  # races
        self._last_race = -math.inf  # when it ended

    size = 1
    can_race = True

    @property
    def step_runs(self) -> bool:
        return self._user == "step"

    @property
    def has_races(self) -> bool:
        """Whether a race runs or waits."""
        return self._user == "race" or self._waiting > 0

    @property
    def waits_for(self) -> str:
        return IN_A_STEP if self.step_runs else IN_A_RACE

    @contextmanager
    def race(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[bool]:
        """The turn of a race, once the device is free; False, without a turn, if the race is stopped before."""
        with self._changed:
            self._waiting += 1
            while self._user and not stopped():
                self._changed.wait(LOOK)
            self._waiting -= 1
            granted = self._take("race", not self._user)
        try:
            yield granted
        finally:
            if granted:
                self._last_race = time.monotonic()
                self._release()

    @contextmanager
    def step(self, patience: float) -> Iterator[bool]:
        """The turn of a step; False, without a turn, if the device is not idle within `patience` seconds."""
        with self._changed:
            granted = self._take("step", self._changed.wait_for(self._is_idle, patience))
        try:
            yield granted
        finally:
            if granted:
                self._release()

    def _is_idle(self) -> bool:
        return not self._user and not self._waiting and time.monotonic() - self._last_race >= self._quiet

    def _take(self, user: Literal["race", "step"], free: bool) -> bool:
        if free:
            self._user = user
        return free

    def _release(self) -> None:
        with self._changed:
            self._user = None
            self._changed.notify_all()
