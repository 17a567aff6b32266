"""How much time of the server each neighbourhood has had: whoever keeps it busy waits for as long as others are there.

A neighbourhood has a debt, which grows by what its requests take, and shrinks by PART of a second each second. Alone it
shrinks as fast as time goes by. This is a leaky bucket, kept as the moment at which it is empty.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PART = 0.25  # of the time that a neighbourhood has while others are there
SPARE = 3.0  # seconds that it may take at once: those of a class that opens the page
MOST = 1000  # debts that are known; of more than these, the oldest are forgotten


class Meter:
    """In seconds of the server, by owner."""

    def __init__(self, part: float = PART, spare: float = SPARE, clock: Callable[[], float] = time.monotonic):
        self._part, self._spare, self._clock = part, spare, clock
        self._here: Counter[str] = Counter()  # requests and streams of each
        self._ends: dict[str, float] = {}  # of debts

    @contextmanager
    def present(self, owner: str) -> Iterator[None]:
        """While the owner asks, or listens to a stream."""
        self._here[owner] += 1
        try:
            yield
        finally:
            self._here[owner] -= 1
            if not self._here[owner]:
                del self._here[owner]

    def charge(self, owner: str, seconds: float) -> None:
        """For work that was done; negative where less was done than was charged for."""
        end = max(self._clock(), self._ends.pop(owner, 0.0))
        self._ends[owner] = end + seconds / (self._part if self._has_others(owner) else 1.0)
        if len(self._ends) > MOST:
            del self._ends[next(iter(self._ends))]

    def wait(self, owner: str) -> float:
        """Seconds until the owner may ask for more."""
        if not self._has_others(owner):
            return 0.0
        return max(0.0, self._ends.get(owner, 0.0) - self._clock() - self._spare / self._part)

    def _has_others(self, owner: str) -> bool:
        return len(self._here) > (owner in self._here)
