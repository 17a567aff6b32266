"""Visitors whose files are being opened: one at a time, first small files and those of whoever has had least lately."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from csd.decoding.errors import Refusal
from csd.web.addresses import region

MOST = 12  # files that are opened or wait for their turn, in memory; the longest valid race takes seconds
MOST_HERE = 3  # of these for one neighbourhood of a public page, where a visitor may make up any number of sessions
PER_BYTE = 0.18e-6  # seconds that opening is expected to take
OWN = 0.5  # the part of its own time that a file waits for, as a race does
RECENT = 60.0  # seconds for which it counts what was opened for whom; it fades with time
KNOWN = 1000  # regions for which that is known
YOURS = "Your last file is still being opened. Wait for it, then open the next one."
MANY_HERE = "Several files from your network are being opened at the moment. Try again in a minute."
MANY = "Many files are being opened at the moment. Try again in a minute."


@dataclass
class _Place:
    neighbourhood: str
    seconds: float  # that opening is expected to take
    begins: asyncio.Future[None]


class Openings:
    """One file per visitor, few per neighbourhood, and few in all; where there are too many, one of the region that has
    most of them gives way. After each file there is a rest of the same length, in which others have the server. For
    calls from the server's loop."""

    def __init__(
        self, most: int = MOST, most_here: int = MOST, clock: Callable[[], float] = time.monotonic, rest: float = 1.0
    ):
        self._most, self._most_here, self._clock, self._rest = most, most_here, clock, rest
        self._places: dict[str, _Place] = {}  # by visitor, in the order in which they came
        self._had: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by region: seconds, and when they held
        self._is_busy = False

    @asynccontextmanager
    async def turn(self, visitor: str, neighbourhood: str, size: int = 0) -> AsyncIterator[None]:
        """While this visitor's file of so many bytes is opened, once it is its turn. Raises Refusal with a sentence."""
        self._admit(visitor, neighbourhood)
        begins = asyncio.get_running_loop().create_future()
        place = self._places[visitor] = _Place(neighbourhood, PER_BYTE * size, begins)
        began = None
        try:
            self._call_next()
            await place.begins
            began = self._clock()
            yield
        finally:
            del self._places[visitor]
            if began is not None:
                spent = self._clock() - began
                self._charge(region(neighbourhood), spent)
                asyncio.get_running_loop().call_later(self._rest * spent, self._free)
            elif place.begins.done() and not place.begins.cancelled() and place.begins.exception() is None:
                self._free()  # it was called, and had gone

    def _admit(self, visitor: str, neighbourhood: str) -> None:
        if visitor in self._places:
            raise Refusal(YOURS)
        if [place.neighbourhood for place in self._places.values()].count(neighbourhood) >= self._most_here:
            raise Refusal(MANY_HERE)
        if len(self._places) < self._most:
            return
        own = region(neighbourhood)
        held = Counter(region(place.neighbourhood) for place in self._places.values())
        weights = {name: count + self._lately(name) for name, count in held.items()}
        waiting = [place for place in self._places.values() if not place.begins.done()]
        heaviest = max(waiting, key=lambda place: weights[region(place.neighbourhood)], default=None)
        if heaviest is None or weights[region(heaviest.neighbourhood)] <= held[own] + 1 + self._lately(own):
            raise Refusal(MANY)
        crowd = [one for one in waiting if region(one.neighbourhood) == region(heaviest.neighbourhood)]
        crowd[-1].begins.set_exception(Refusal(MANY))

    def _call_next(self) -> None:
        waiting = [place for place in self._places.values() if not place.begins.done()]
        if self._is_busy or not waiting:
            return
        self._is_busy = True
        first = min(waiting, key=lambda place: self._lately(region(place.neighbourhood)) + OWN * place.seconds)
        first.begins.set_result(None)

    def _free(self) -> None:
        self._is_busy = False
        self._call_next()

    def _charge(self, owner: str, seconds: float) -> None:
        self._had[owner] = self._lately(owner) + seconds, self._clock()
        self._had.move_to_end(owner)
        if len(self._had) > KNOWN:
            self._had.popitem(last=False)

    def _lately(self, owner: str) -> float:
        """Seconds of opening that a region has had, as far as they still count."""
        seconds, at = self._had.get(owner, (0.0, 0.0))
        return seconds * math.exp((at - self._clock()) / RECENT)
