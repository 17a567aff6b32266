"""How much time of the server each neighbourhood has had: whoever keeps it busy waits for as long as others use it.

A neighbourhood has a debt, which grows by what its requests take, and shrinks by its share of the time that goes by.
This is a leaky bucket, whose leak depends on how much time others have taken lately.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

PART = 0.25  # of the time that a neighbourhood has at least while others use the server
FREE = 0.5  # of the time, which stays free for others however little of it they use
GROWTH = 2.0  # how many times what they take now others may take: they may take little because little is left
RECENT = 5.0  # seconds for which somebody uses it after the last request, or the last message of a stream
SPARE = 0.7  # seconds that it may take at once: three times what opening the page and the first race take
LONGEST = 20.0  # seconds that anybody waits: what was billed late for many requests at once is forgotten beyond that
MOST = 1000  # debts that are known; of more than these, the oldest are forgotten


class Meter:
    """In seconds of the server, by owner."""

    def __init__(
        self,
        part: float = PART,
        spare: float = SPARE,
        clock: Callable[[], float] = time.monotonic,
        free: float = FREE,
    ):
        self._part, self._spare, self._clock, self._free = part, spare, clock, free
        self._seen: OrderedDict[str, float] = OrderedDict()  # when the last two owners were, the latest last
        self._debts: dict[str, tuple[float, float, float]] = {}  # by owner: debt, time taken lately, and when both held
        self._taken = (0.0, 0.0)  # lately by all owners, and when that held

    def see(self, owner: str) -> None:
        """Note that the owner uses the server now."""
        self._seen[owner] = self._clock()
        self._seen.move_to_end(owner)
        if len(self._seen) > 2:
            self._seen.popitem(last=False)

    def charge(self, owner: str, seconds: float) -> None:
        """For work that was done; negative where less was done than was charged for."""
        self.see(owner)
        debt, taken = self._debt(owner)
        now, most = self._clock(), self._spare + LONGEST * self._part
        self._debts.pop(owner, None)
        self._debts[owner] = min(debt + seconds, most), taken + seconds, now
        self._taken = self._all() + seconds, now
        if len(self._debts) > MOST:
            del self._debts[next(iter(self._debts))]

    def wait(self, owner: str) -> float:
        """Seconds until the owner may ask for more."""
        if not self._has_others(owner):
            return 0.0
        return max(0.0, (self._debt(owner)[0] - self._spare) / self._share(owner))

    def _share(self, owner: str) -> float:
        """The part of the time that this owner may have now."""
        if not self._has_others(owner):
            return 1.0
        _, taken, at = self._debts.get(owner, (0.0, 0.0, 0.0))
        others = max(0.0, self._all() - self._late(taken, at)) / RECENT
        return max(self._part, 1 - max(self._free, GROWTH * others))

    def _debt(self, owner: str) -> tuple[float, float]:
        """What is left of the debt, and the time taken lately."""
        debt, taken, at = self._debts.get(owner, (0.0, 0.0, self._clock()))
        return max(0.0, debt - (self._clock() - at) * self._share(owner)), self._late(taken, at)

    def _all(self) -> float:
        return self._late(*self._taken)

    def _late(self, taken: float, at: float) -> float:
        """How much of it still counts: it fades with time."""
        return taken * math.exp((at - self._clock()) / RECENT)

    def _has_others(self, owner: str) -> bool:
        since = self._clock() - RECENT
        return any(other != owner and at >= since for other, at in self._seen.items())
