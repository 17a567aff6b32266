"""The fair order in Gradio's queue, which knows only who came first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

from gradio.server_messages import EstimationMessage

from csd.web.addresses import address
from csd.web.debts import Debts
from csd.web.deployment import Deployment
from csd.web.fair_order import Pace, expected_ends, next_mark, part_of_each
from csd.web.race_size import race_size


@dataclass(frozen=True)
class Mark:
    """The place of a race in the order, its size, and the seconds that it is expected to take."""

    owner: str
    value: float
    size: float
    seconds: float


class FairRaces:
    """Puts the races of Gradio's queue in a fair order, and tells their visitors when each of them will end.

    Gradio takes the first race of its list, and tells all that wait whenever one comes or goes; that is where the list
    is put in order.
    """

    def __init__(self, queue: Any, name: str, deployment: Deployment):
        """`name` is the concurrency id of races."""
        self._queue = queue
        self._name = name
        self._deployment = deployment
        self._pace = Pace()
        self._marks: WeakKeyDictionary[Any, Mark] = WeakKeyDictionary()
        self._begun: dict[Any, float] = {}  # when those that run began
        self._debts = Debts()
        self._clock = 0.0  # seconds of the device that each address could have had

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
            self._settle_ended()
            taken = take()
            for event in taken[0] if taken and taken[2] == self._name else ():
                self._begun[event] = time.monotonic()
            return taken

        async def process_and_time(events: list[Any], *others: Any) -> None:
            try:
                await process(events, *others)
            finally:
                self._settle(events)

        queue.broadcast_estimations, queue.get_events, queue.process_events = tell, take_next, process_and_time

    @property
    def _places(self) -> Any:
        return self._queue.event_queue_per_concurrency_id[self._name]

    def _waiting(self) -> list[tuple[str, float]]:
        return [(known.owner, known.value) for race in self._places.queue if (known := self._marks.get(race))]

    def _mark(self, event: Any) -> Mark:
        """A race gets its mark when it comes, on top of those that wait; only the end of another one changes it."""
        if event not in self._marks:
            own = address(event.request, self._deployment)
            size = race_size(
                dict(zip(_input_names(event.fn), event.data.data, strict=False)), self._deployment.max_tokens
            )
            seconds = self._pace.expect(size)
            start = self._debts.start(own, self._clock)
            self._marks[event] = Mark(own, next_mark(seconds, own, self._waiting(), start), size, seconds)
        return self._marks[event]

    def _settle_ended(self) -> None:
        """Gradio gives a place away some moments before it returns from the race that had it."""
        at_work = [event for job in self._queue.active_jobs if job for event in job]
        if ended := [event for event in self._begun if event not in at_work]:
            self._settle(ended)
            self._arrange()

    def _settle(self, events: Sequence[Any]) -> None:
        """Let the clock go on by what a race has used, and its address pay the difference to what was expected: with
        the races that wait and with the next one."""
        for event in events:
            if (begun := self._begun.pop(event, None)) is not None:
                mark, seconds = self._mark(event), time.monotonic() - begun
                more = seconds - mark.seconds
                start = self._debts.start(mark.owner, self._clock) + more
                self._clock += part_of_each(seconds, mark.owner, self._waiting())
                self._debts.put(mark.owner, start, self._clock)
                for race in self._places.queue:
                    if (known := self._marks.get(race)) and known.owner == mark.owner:
                        self._marks[race] = replace(known, value=known.value + more)
                self._pace.add(mark.size, seconds)

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
