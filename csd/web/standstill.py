"""Whether this process stood still, as in a paused container: all of its clocks go on then, but nothing is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TICK = 0.1  # seconds


class Ticks:
    """Ticks inside a `with` block. Where two ticks lie far apart, nothing ran between them.

    `longest` is the most seconds between two ticks, and is right once the block has ended.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.longest = 0.0
        self._clock, self._last, self._over = clock, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._tick, name="ticks", daemon=True)

    def __enter__(self) -> Ticks:
        self._last = self._clock()  # here, and not in the thread, which a stop may delay
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _tick(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._over.wait(TICK)
            now = self._clock()
            self.longest, self._last = max(self.longest, now - self._last), now
