"""In which order races get the device, and when each of them ends, if races go on as they have lately.

The order is weighted fair queueing (Demers, Keshav and Shenker 1989), with a clock that goes by what has run. A race's
mark is its size on top of the mark of the last one of its address that waits, or else of the clock, and the smallest
mark is next. So a short race goes before long ones, the addresses take turns, and none waits without an end: whatever
comes later begins from a later clock.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

RECENT = 20  # turns on the device from which the next ones are estimated
BEGINNING = 100  # what a race takes besides its tokens, as the prompt and the first picture, in tokens
BRIEF = 0.1  # seconds of a turn; one that was refused takes fewer, and says nothing about others


def next_mark(size: float, own: str, waiting: Sequence[tuple[str, float]], clock: float) -> float:
    """The mark of a race of an address, given (address, mark) of all that wait."""
    return max([clock, *(mark for address, mark in waiting if address == own)]) + size


def clock_after(clock: float, size: float, own: str, waiting: Sequence[tuple[str, float]]) -> float:
    """The clock once a race of an address begins: all addresses that want the device have an equal part of its size."""
    return clock + size / len({own, *(address for address, _ in waiting)})


def race_size(asked: Mapping[str, Any], most: int) -> float:
    """New tokens over all lanes, and the beginning. The most that the page allows where that is unclear, as in a
    comparison, which runs several races."""
    lanes = asked.get("lanes", asked.get("methods"))
    tokens = asked.get("max-new", asked.get("max_new"))
    is_clear = isinstance(lanes, list) and isinstance(tokens, (int, float)) and 0 < tokens <= most
    if "compare-what" in asked or not is_clear:
        return most + BEGINNING
    return min(most, max(1, len(lanes)) * tokens) + BEGINNING


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


def expected_ends(left: Sequence[float], waiting: Sequence[float], at_once: int) -> list[float]:
    """Seconds until the end of each race that waits, in order, given what each takes and what those that run have
    left."""
    free = sorted([*[0.0] * at_once, *(max(0.0, seconds) for seconds in left)])[-at_once:]
    ends = []
    for seconds in waiting:
        ends.append(heapq.heapreplace(free, free[0] + seconds) + seconds)
    return ends
