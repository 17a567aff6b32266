"""In which order races get the device, and when each of them ends, if races go on as they have lately.

The order is weighted fair queueing (Demers, Keshav and Shenker 1989), with a clock that goes by what has run. A race's
mark is the time that it is expected to take, on top of the mark of the last one of its address that waits, or else of
the clock, and the smallest mark is next. So a short race goes before long ones, the addresses take turns, and none
waits without an end: whatever comes later begins from a later clock. Once a race is over, its own time takes the place
of what was expected, so that an address pays for what it used, whatever it asked for.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

RECENT = 20  # turns on the device from which the next ones are estimated
USUAL = 0.02  # seconds for a unit of size, until a race has been timed
BRIEF = 0.1  # seconds of a turn; one that was refused takes fewer, and says nothing about others


def next_mark(seconds: float, own: str, waiting: Sequence[tuple[str, float]], start: float) -> float:
    """The mark of a race of an address, given (address, mark) of all that wait. `start` is the clock, or the later
    place from which an address with a debt begins."""
    return max([start, *(mark for address, mark in waiting if address == own)]) + seconds


def part_of_each(seconds: float, own: str, waiting: Sequence[tuple[str, float]]) -> float:
    """How far a race of an address has moved the clock: all addresses that want the device have an equal part of it."""
    return seconds / len({own, *(address for address, _ in waiting)})


class Pace:
    """Seconds of the device for a unit of size, over the latest turns."""

    def __init__(self) -> None:
        self._turns: deque[tuple[float, float]] = deque(maxlen=RECENT)

    def add(self, size: float, seconds: float) -> None:
        if seconds > BRIEF:
            self._turns.append((size, seconds))

    @property
    def seconds(self) -> float | None:
        """None before the first turn."""
        return (
            sum(seconds for _, seconds in self._turns) / sum(size for size, _ in self._turns) if self._turns else None
        )

    def expect(self, size: float) -> float:
        """Seconds for a race of this size."""
        return size * (self.seconds or USUAL)


def expected_ends(left: Sequence[float], waiting: Sequence[float], at_once: int) -> list[float]:
    """Seconds until the end of each race that waits, in order, given what each takes and what those that run have
    left."""
    free = sorted([*[0.0] * at_once, *(max(0.0, seconds) for seconds in left)])[-at_once:]
    ends = []
    for seconds in waiting:
        ends.append(heapq.heapreplace(free, free[0] + seconds) + seconds)
    return ends
