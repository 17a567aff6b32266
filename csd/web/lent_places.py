"""Places on the device that comparisons lend between two of their races, in Gradio's queue, which knows of no such
thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

LOOK = 0.1  # seconds between two looks at whether the visitor has stopped or left


class LentPlace:
    """A place that is to come back. `take_back` ends the wait for it in any case, so that the queue's count is right
    when the event ends."""

    def __init__(self, lent: LentPlaces, event: Any):
        self._lent = lent
        self._event = event
        self.is_back = asyncio.Event()

    async def wait(self, stopped: Callable[[], bool]) -> bool:
        """Until the place is back or the visitor has stopped; False where the visitor has left."""
        while not self.is_back.is_set() and not stopped() and self._lent.waits(self._event):
            with suppress(TimeoutError):
                await asyncio.wait_for(self.is_back.wait(), LOOK)
        self.take_back()
        return self._event.alive

    def take_back(self) -> None:
        self._lent.take_back(self._event)


class LentPlaces:
    """An event that has lent its place is among those that wait, and no longer among those that run, so all that holds
    for any of them holds for it: its turn, its share of the queue, and what ends it. Its task goes on meanwhile."""

    def __init__(self, queue: Any, name: str):
        """`name` is the concurrency id of races."""
        self._queue = queue
        self._name = name
        self._lent: dict[Any, LentPlace] = {}

    def __contains__(self, event: Any) -> bool:
        return event in self._lent

    def lend(self, event: Any) -> LentPlace:
        """Raises ValueError, and lends nothing, for an event that does not run."""
        self._queue.active_jobs[self._queue.active_jobs.index([event])] = None
        self._places.current_concurrency -= 1
        self._places.queue.append(event)
        self._lent[event] = LentPlace(self, event)
        return self._lent[event]

    def give_back(self, events: Sequence[Any], _batch: bool = False, begun: float = 0.0, fn: Any = None) -> bool:
        """Whether this was the turn of an event that has lent its place: it goes on instead of beginning anew."""
        place = self._lent.pop(events[0], None)
        if place is None:
            return False
        self._places.start_times_per_fn.get(fn, set()).discard(begun)
        place.is_back.set()
        return True

    def waits(self, event: Any) -> bool:
        """Whether it still waits, or its turn has come."""
        return event in self._places.queue or self._is_at_work(event)

    def take_back(self, event: Any) -> None:
        """Of an event that goes on before its turn, only to end: Gradio then counts one place less."""
        if event not in self._lent or self._is_at_work(event):
            return
        del self._lent[event]
        self._places.current_concurrency += 1
        if event in self._places.queue:
            self._places.queue.remove(event)
        else:  # Gradio has taken it out of the queue, as for a visitor who is gone
            event.alive = False

    @property
    def _places(self) -> Any:
        return self._queue.event_queue_per_concurrency_id[self._name]

    def _is_at_work(self, event: Any) -> bool:
        return any(job and event in job for job in self._queue.active_jobs)
