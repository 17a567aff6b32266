"""The fair order in Gradio's queue, which knows only who came first."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

from gradio.server_messages import EstimationMessage

from csd.web.addresses import address, neighbourhood, region
from csd.web.deployment import Deployment
from csd.web.fair_order import Asked, expected_ends, marks, overtaken_end
from csd.web.lent_places import LentPlace, LentPlaces
from csd.web.pace import Pace
from csd.web.race_size import largest_size, race_size
from csd.web.turns import Turns

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """A race that has the device."""

    begun: float
    counted: float  # the time until which the clocks of the queue know of it
    paid: float  # seconds


class FairRaces:
    """Puts the races of Gradio's queue in a fair order, and tells their visitors when each of them will end.

    Gradio takes the first race of its list, and tells all that wait whenever one comes or goes; that is where the list
    is put in order. A fault in here costs the order, and not the queue: an exception would end it for everybody.

    An event that runs several races, a comparison, asks for the device for one of them at a time (`lend`).
    """

    def __init__(self, queue: Any, name: str, deployment: Deployment):
        """`name` is the concurrency id of races."""
        self._queue = queue
        self._name = name
        self._deployment = deployment
        self._pace = Pace()
        self._turns = Turns()
        self._sizes: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._asked: WeakKeyDictionary[Any, Asked] = WeakKeyDictionary()
        self._marks: dict[Any, float] = {}  # of those that wait
        self._running: dict[Any, Run] = {}
        self._reached = 0.0  # the mark of the race that began last
        self._lent = LentPlaces(queue, name)

    def take_over(self) -> None:
        queue = self._queue
        queue.fair_races = self
        tell_others, take, process = queue.broadcast_estimations, queue.get_events, queue.process_events

        def tell(concurrency_id: str, after: int | None = None) -> None:
            if concurrency_id == self._name:
                with _any_fault_logged():
                    self._arrange()
                    return self._tell()
            return tell_others(concurrency_id, after)

        def take_next() -> Any:
            with _any_fault_logged():
                self._settle_ended()
            taken = take()
            for event in taken[0] if taken and taken[2] == self._name else ():
                with _any_fault_logged():
                    self._begin(event)
            return taken

        async def process_and_time(events: list[Any], *others: Any) -> None:
            if self._lent.give_back(events, *others):
                return
            try:
                await process(events, *others)
            finally:
                with _any_fault_logged():
                    self._settle(events)

        queue.broadcast_estimations, queue.get_events, queue.process_events = tell, take_next, process_and_time

    def lend(self, event_id: str | None, size: float) -> LentPlace | None:
        """Between two races of an event, of which the next is so large: the first has to be paid for, and others may
        come before the next. None where it goes on at once."""
        with _any_fault_logged():
            event = self._queue.event_ids_to_events.get(event_id)
            if event is None or event not in self._running:
                return None
            self._settle([event])
            self._ask_for(event, size)
            if not self._is_first(event):
                place = self._lent.lend(event)
                self._queue.broadcast_estimations(self._name)
                return place
            self._begin(event)
        return None

    def _is_first(self, event: Any) -> bool:
        """Whether an event that comes last comes before all that wait."""
        waiting = self._places.queue
        *others, own = self._marks_of([*waiting, event])
        self._marks[event] = own
        return own < min(others, default=math.inf)

    @property
    def _places(self) -> Any:
        return self._queue.event_queue_per_concurrency_id[self._name]

    def _wanting(self) -> list[Asked]:
        """The races that wait or run."""
        return [race for event in (*self._places.queue, *self._running) if (race := self._asked.get(event))]

    def _ask(self, event: Any) -> Asked:
        if event not in self._asked:
            self._ask_for(event, self._size_of(event))
        return self._asked[event]

    def _ask_for(self, event: Any, size: float) -> None:
        own = address(event.request, self._deployment)
        race = Asked(neighbourhood(own), own, self._expect(size), region(own))
        self._count()
        self._turns.come(race, self._wanting())
        self._sizes[event], self._asked[event] = size, race

    def _marks_of(self, events: Sequence[Any]) -> list[float]:
        """All by the present pace: whoever has waited since another one is compared with those that come now."""
        for event in events:
            race = self._ask(event)
            self._asked[event] = replace(race, seconds=self._expect(self._sizes[event]))
        return marks([self._asked[event] for event in events], self._turns.places)

    def _expect(self, size: float) -> float:
        return min(self._pace.expect(size), self._deployment.max_seconds)

    def _size_of(self, event: Any) -> float:
        """The largest there is, where what was sent makes the estimate fail."""
        most = self._deployment.max_tokens
        with _any_fault_logged():
            return race_size(dict(zip(_input_names(event.fn), event.data.data, strict=False)), most)
        return largest_size(most)

    def _begin(self, event: Any) -> None:
        race = self._ask(event)
        self._turns.pay(race, race.seconds)
        now = time.monotonic()
        self._running[event], self._reached = Run(now, now, race.seconds), self._marks.pop(event, self._reached)

    def _count(self) -> None:
        """Let the clocks go on by what has run until now, and whoever takes longer than expected pay for it."""
        now, wanting = time.monotonic(), self._wanting()
        for event, run in self._running.items():
            race, paid = self._asked[event], max(run.paid, now - run.begun)
            self._turns.pay(race, paid - run.paid)
            self._turns.go_on(race, now - run.counted, wanting)
            self._running[event] = replace(run, counted=now, paid=paid)

    def _settle_ended(self) -> None:
        """Gradio gives a place away some moments before it returns from the race that had it."""
        at_work = [event for job in self._queue.active_jobs if job for event in job]
        if ended := [event for event in self._running if event not in at_work]:
            self._settle(ended)
            self._arrange()

    def _settle(self, events: Sequence[Any]) -> None:
        """Let those pay less whose races took less than expected. Other events have no run to settle."""
        ended = [event for event in events if event in self._running]
        if ended:
            self._count()
        for event in ended:
            run = self._running.pop(event)
            seconds = run.counted - run.begun
            self._turns.pay(self._asked[event], seconds - run.paid)
            self._turns.forget(self._wanting())
            self._pace.add(self._sizes[event], seconds)

    def _arrange(self) -> None:
        """Of equal marks the first to come is first."""
        events = self._places.queue
        for event in {*self._marks} - {*events}:
            del self._marks[event]
            self._turns.leave(self._asked[event], self._wanting())
        self._marks.update(zip(events, self._marks_of(events), strict=True))
        events.sort(key=lambda event: self._marks[event])

    def _tell(self) -> None:
        """Of the end by the present order, and of that which later races put off, each is told the later."""
        places = self._places
        ends: list[float | None] = [None] * len(places.queue)
        if (pace := self._pace.seconds) is not None:
            now = time.monotonic()
            left = [pace * self._sizes[event] - (now - run.begun) for event, run in self._running.items()]
            takes = [pace * self._sizes[event] for event in places.queue]
            regions = len({race.region for race in self._wanting()})
            first = max(0.0, min(left, default=0.0))
            ends = [
                max(end, first + overtaken_end(self._marks[event] - self._reached, regions, places.concurrency_limit))
                for event, end in zip(places.queue, expected_ends(left, takes, places.concurrency_limit), strict=True)
            ]
        for rank, (event, end) in enumerate(zip(list(places.queue), ends, strict=True)):
            message = EstimationMessage(rank=rank, rank_eta=end, queue_size=len(ends))
            if event not in self._lent:  # its page shows it as running
                self._queue.send_message(event, message)


@contextmanager
def _any_fault_logged() -> Iterator[None]:
    try:
        yield
    except Exception:
        log.exception("the order of races")


def _input_names(fn: Any) -> list[str]:
    """Of the page's parts their ids, of the endpoint's its parameters."""
    ids = [part.elem_id for part in fn.inputs]
    return ids if any(ids) else list(signature(fn.fn).parameters)
