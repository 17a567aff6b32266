"""The fair order in Gradio's queue, which knows only who came first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

from gradio.server_messages import EstimationMessage

from csd.web.addresses import address
from csd.web.deployment import Deployment
from csd.web.fair_order import Pace, clock_after, expected_ends, next_mark, race_size


@dataclass(frozen=True)
class Mark:
    """The place of a race in the order, and how large it is."""

    owner: str
    value: float
    size: float


class FairRaces:
    """The races of Gradio's queue, put in a fair order, and told when they end.

    Gradio takes the first of its list, and tells all that wait whenever one comes or goes; that is where the list is
    put in order.
    """

    def __init__(self, queue: Any, name: str, deployment: Deployment):
        """`name` is the concurrency id of races."""
        self._queue = queue
        self._name = name
        self._deployment = deployment
        self._pace = Pace()
        self._marks: WeakKeyDictionary[Any, Mark] = WeakKeyDictionary()
        self._begun: dict[Any, float] = {}  # when those that run began
        self._clock = 0.0

    def take_over(self) -> None:
        queue = self._queue
        tell_others, take, process = queue.broadcast_estimations, queue.get_events, queue.process_events

        def tell(concurrency_id: str, after: int | None = None) -> None:
            if concurrency_id == self._name:
                self._arrange()
                self._tell()
            else:
                tell_others(concurrency_id, after)

        def take_next() -> Any:
            taken = take()
            for event in taken[0] if taken and taken[2] == self._name else ():
                self._begun[event] = time.monotonic()
                mark = self._mark(event)
                self._clock = clock_after(self._clock, mark.size, mark.owner, self._waiting())
            return taken

        async def process_and_time(events: list[Any], *others: Any) -> None:
            try:
                await process(events, *others)
            finally:
                for event in events:
                    if begun := self._begun.pop(event, None):
                        self._pace.add(self._mark(event).size, time.monotonic() - begun)

        queue.broadcast_estimations, queue.get_events, queue.process_events = tell, take_next, process_and_time

    @property
    def _places(self) -> Any:
        return self._queue.event_queue_per_concurrency_id[self._name]

    def _waiting(self) -> list[tuple[str, float]]:
        return [(known.owner, known.value) for race in self._places.queue if (known := self._marks.get(race))]

    def _mark(self, event: Any) -> Mark:
        """Its own once and for all, on top of those that have one."""
        if event not in self._marks:
            own = address(event.request, self._deployment)
            size = race_size(
                dict(zip(_input_names(event.fn), event.data.data, strict=False)), self._deployment.max_tokens
            )
            self._marks[event] = Mark(own, next_mark(size, own, self._waiting(), self._clock), size)
        return self._marks[event]

    def _arrange(self) -> None:
        """Of equal marks the first to come is first."""
        races = self._places.queue
        for race in races:
            self._mark(race)
        races.sort(key=lambda race: self._marks[race].value)

    def _tell(self) -> None:
        places = self._places
        ends: list[float | None] = [None] * len(places.queue)
        if (pace := self._pace.seconds) is not None:
            now = time.monotonic()
            left = [pace * self._mark(event).size - (now - begun) for event, begun in self._begun.items()]
            takes = [pace * self._mark(event).size for event in places.queue]
            ends = [*expected_ends(left, takes, places.concurrency_limit)]
        for rank, (event, end) in enumerate(zip(list(places.queue), ends, strict=True)):
            message = EstimationMessage(rank=rank, rank_eta=end, queue_size=len(ends))
            self._queue.send_message(event, message)


def _input_names(fn: Any) -> list[str]:
    """Of the page's parts their ids, of the endpoint's its parameters."""
    ids = [part.elem_id for part in fn.inputs]
    return ids if any(ids) else list(signature(fn.fn).parameters)
