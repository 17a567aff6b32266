"""Whether this process stood still, as in a paused container: all of its clocks go on then, but nothing is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TICK = 0.1  # seconds


class Ticks(threading.Thread):
    """Ticks until `over` is set. Where two ticks lie far apart, nothing ran between them."""

    def __init__(self, over: threading.Event, clock: Callable[[], float] = time.monotonic):
        super().__init__(name="ticks", daemon=True)
        self._over, self._clock = over, clock
        self._longest = 0.0
        self.start()

    def run(self) -> None:
        last, is_over = self._clock(), False
        while not is_over:
            is_over = self._over.wait(TICK)
            now = self._clock()
            self._longest, last = max(self._longest, now - last), now

    def longest(self) -> float:
        """Once `over` is set: the most seconds between two ticks."""
        self.join()
        return self._longest
