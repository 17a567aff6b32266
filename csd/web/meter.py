"""How much time of the server each neighbourhood has had: whoever keeps it busy waits for as long as others use it.

A neighbourhood has a debt, which grows by what its requests take, and shrinks by PART of a second each second. Alone it
shrinks as fast as time goes by. This is a leaky bucket, kept as the moment at which it is empty.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

PART = 0.25  # of the time that a neighbourhood has while others use the server
RECENT = 5.0  # seconds for which somebody uses it after the last request, or the last message of a stream
SPARE = 3.0  # seconds that it may take at once: those of a class that opens the page
LONGEST = 20.0  # seconds that anybody waits: what was billed late for many requests at once is forgotten beyond that
MOST = 1000  # debts that are known; of more than these, the oldest are forgotten


class Meter:
    """In seconds of the server, by owner."""

    def __init__(self, part: float = PART, spare: float = SPARE, clock: Callable[[], float] = time.monotonic):
        self._part, self._spare, self._clock = part, spare, clock
        self._seen: OrderedDict[str, float] = OrderedDict()  # when the last two owners were, the latest last
        self._ends: dict[str, float] = {}  # of debts

    def see(self, owner: str) -> None:
        """Note that the owner uses the server now."""
        self._seen[owner] = self._clock()
        self._seen.move_to_end(owner)
        if len(self._seen) > 2:
            self._seen.popitem(last=False)

    def charge(self, owner: str, seconds: float) -> None:
        """For work that was done; negative where less was done than was charged for."""
        self.see(owner)
        now = self._clock()
        end = max(now, self._ends.pop(owner, 0.0)) + seconds / (self._part if self._has_others(owner) else 1.0)
        self._ends[owner] = min(end, now + self._spare / self._part + LONGEST)
        if len(self._ends) > MOST:
            del self._ends[next(iter(self._ends))]

    def wait(self, owner: str) -> float:
        """Seconds until the owner may ask for more."""
        if not self._has_others(owner):
            return 0.0
        return max(0.0, self._ends.get(owner, 0.0) - self._clock() - self._spare / self._part)

    def _has_others(self, owner: str) -> bool:
        since = self._clock() - RECENT
        return any(other != owner and at >= since for other, at in self._seen.items())
