"""The races under way, so that the process can stop them all and wait for their threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from weakref import WeakSet

from csd.decoding.errors import Refusal
from csd.workers.pool import CLOSING

LOOK = 0.05  # seconds between two looks at whether all races are over


class RacesUnderWay:
    """Stop flags of races and the threads that run them. After `close` none is admitted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._stops: set[threading.Event] = set()
        self._threads: WeakSet[threading.Thread] = WeakSet()

    def admit(self, stop: threading.Event) -> None:
        """A race begins. Raises Refusal once races are closed."""
        with self._lock:
            if self._closed:
                raise Refusal(CLOSING)
            self._stops.add(stop)

    def leave(self, stop: threading.Event) -> None:
        """Nobody reads the news of this race any more."""
        with self._lock:
            self._stops.discard(stop)

    def start_thread(self, work: Callable[[], None]) -> None:
        """Run a race in a thread, in the caller's context: ZeroGPU reads from it whose quota a race counts against."""
        thread = threading.Thread(target=copy_context().run, args=(work,), name="race", daemon=True)
        with self._lock:
            if self._closed:
                raise Refusal(CLOSING)
            self._threads.add(thread)
            thread.start()

    def close(self) -> None:
        """Stop all races, and admit no more."""
        with self._lock:
            self._closed = True
            for stop in self._stops:
                stop.set()

    def wait(self, patience: float) -> bool:
        """After `close`: until all threads have ended and all news were read; False if a thread goes on after
        `patience` seconds."""
        end = time.monotonic() + patience
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        while self._stops and time.monotonic() < end:
            time.sleep(LOOK)
        return not any(thread.is_alive() for thread in threads)
