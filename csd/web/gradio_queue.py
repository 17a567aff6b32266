"""What Gradio's queue knows of races that wait. It has no public interface for this, so all of its names are here, in
fair_races.py and in lent_places.py."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import gradio as gr
from gradio.server_messages import ProcessCompletedMessage

from csd.web.addresses import address, neighbourhood, region
from csd.web.agent_calls import call_of, has_ended
from csd.web.deployment import Deployment
from csd.web.fair_races import FairRaces
from csd.web.giving_way import gives_way_to
from csd.web.gradio_sessions import LONG_NAME, LONGEST_NAME, Messages, keep_lean_sessions
from csd.web.own_events import end_event
from csd.web.pace import RECENT
from csd.web.paced import Payer, paid_by, present_payer
from csd.web.studio import Studio
from csd.web.wiring import ON_DEVICE

LONGEST = 64  # races in the queue
OTHERS = 256  # events that wait and are no races
IDLE = 0.01  # seconds between two looks for an event; Gradio's 1 ms take a twentieth of a core from races on a CPU
LOOKS, LOOK = 10, 1.0  # so many looks, so many seconds apart, at messages that nobody reads end a race that waits
LOOKS_RUNNING = 5  # and so many one that has the device
PATIENCE = 3  # looks at which nobody has read anything: then an event gives way where the queue is full
OTHERS_EACH = 16  # events from one address that wait and are no races: all share the places of the queue
NEARBY = 3  # times as many wait of all addresses of a neighbourhood, which may be one customer of a provider
UNHEARD = "Nobody listened to this for {} seconds, so it was stopped. Open its stream as soon as it is queued."
ONE_EACH = "A race of yours already waits in the queue. Wait for it, or stop it first."
NO_CALL = "The call that this race is for has ended."
NO_EVENT = "This page has no such event: it may have been updated. Reload it."
NO_SESSION = "The session's name is empty: give it one, or leave session_hash out."
FULL = f"{LONGEST} races wait already, the most that this page allows. Try again in a minute."
GAVE_WAY = (
    "The queue was full, and most of its races were from your network, so this one gave way. Try again in a minute."
)
GAVE_WAY_UNHEARD = (
    "The queue was full, and nobody listened to this, so it gave way. Open its stream as soon as it is queued."
)
BUSY = "The page is busy with requests from your address. Try again in a moment."
BUSY_FOR_ALL = "The page is busy with requests of many visitors. Try again in a moment."
MANY_HERE = "{} races from your address wait in the queue, the most that this page allows. Try again in a minute."
MANY_NEARBY = "{} races from your network wait in the queue, the most that this page allows. Try again in a minute."


class RecentTimes:
    """The mean of the latest turns, under the names that Gradio reads to tell a race that begins how long it takes.

    Gradio's own is a mean since the start, which a lecture of short races followed by long ones makes useless.
    """

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=RECENT)

    def add(self, time: float) -> None:
        self._times.append(time)

    @property
    def avg_time(self) -> float:
        return sum(self._times) / len(self._times) if self._times else 0.0


def open_queue(page: gr.Blocks, deployment: Deployment) -> gr.Blocks:
    """The page with its queue, which nothing skips, in a fair order. A race beyond a visitor's share is refused with a
    sentence."""
    keep_lean_sessions()
    page.api_open = False
    queue: Any = page._queue  # `page.queue` would build another one and, with it, all of the server's routes anew
    queue.max_size = None  # it would count races and other events together
    queue.agent_calls = set()
    queue.sleep_when_free = IDLE
    queue.pending_messages_per_session = Messages(queue)
    queue.process_time_per_fn = defaultdict(RecentTimes)
    # Gradio's statistics, which pandas sums up after every event for a page that is not served.
    queue.ANALYTICS_MAX_EVENTS, queue.ANAYLTICS_CACHE_FREQUENCY = 1, math.inf
    FairRaces(queue, ON_DEVICE, deployment).take_over()
    push, send, process = queue.push, queue.send_message, queue.process_events
    payers: WeakKeyDictionary[Any, Payer] = WeakKeyDictionary()  # of events that are no races
    homes: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # addresses, for which each event that comes asks
    unread: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # looks, by event
    watches: set[asyncio.Task[None]] = set()  # asyncio itself does not keep them

    def home(event: Any) -> str:
        if event not in homes:
            homes[event] = address(event.request, deployment)
        return homes[event]

    def is_unheard(event: Any) -> bool:
        return unread.get(event, 0) >= PATIENCE

    async def refuse(kind: str, sentence: str, body: Any, request: Any, username: str | None) -> tuple[bool, Any, str]:
        """An agent is told by the event's answer: of any other refusal Gradio's client passes on the status alone."""
        if not call_of(request):
            return False, sentence, kind
        pushed = await push(body=body, request=request, username=username)
        if pushed[0]:
            await _give_way(queue, queue.event_ids_to_events[pushed[1]], sentence)
        return pushed

    async def push_fairly(body: Any, request: Any, username: str | None) -> tuple[bool, Any, str]:
        event = page.fns.get(body.fn_index)
        if event is None:
            return False, NO_EVENT, "error"
        if body.session_hash == "":  # Gradio would look for the event's messages under another name
            return False, NO_SESSION, "error"
        if len(body.session_hash or "") > LONGEST_NAME:
            return False, LONG_NAME, "error"
        if has_ended(queue, call_of(request)):
            return False, NO_CALL, "error"
        if event.concurrency_id == ON_DEVICE:
            waiting = queue.event_queue_per_concurrency_id.get(ON_DEVICE)
            places = [(call_of(one.request) or one.session_hash, home(one)) for one in waiting.queue] if waiting else []
            visitor = call_of(request) or body.session_hash
            if sentence := refuse_place(places, visitor, address(request, deployment), deployment):
                return await refuse("error", sentence, body, request, username)
            races = waiting.queue if waiting else []
            if len(races) >= LONGEST and not await _make_room(queue, races, request, deployment, is_unheard):
                return await refuse("queue_full", FULL, body, request, username)
        elif _is_busy(queue, event.concurrency_id, address(request, deployment), home):
            return False, BUSY, "error"
        elif not await _make_room_for_other(queue, is_unheard):
            return False, BUSY_FOR_ALL, "queue_full"
        pushed = await push(body=body, request=request, username=username)
        waiting_event = queue.event_ids_to_events.get(pushed[1]) if pushed[0] else None
        if waiting_event is not None:
            if waiting_event.concurrency_id != ON_DEVICE and (payer := present_payer()):
                payers[waiting_event] = payer
            seen = partial(unread.__setitem__, waiting_event)
            watches.add(watch := asyncio.create_task(end_unheard(queue, waiting_event, seen)))
            watch.add_done_callback(watches.discard)
        return pushed

    def send_to_listener(event: Any, message: Any) -> None:
        """A session without messages has none to be told. Gradio's KeyError would end the queue for everybody."""
        if event.session_hash in queue.pending_messages_per_session:
            send(event, message)

    async def process_and_pay(events: list[Any], *others: Any) -> None:
        payer = payers.pop(events[0], None)
        await (process(events, *others) if payer is None else paid_by(payer, process(events, *others)))

    queue.push, queue.send_message, queue.process_events = push_fairly, send_to_listener, process_and_pay
    return page


def open_queue_of(studio: Studio, page: gr.Blocks) -> gr.Blocks:
    """The same for a studio, whose races give way to those that wait."""
    studio.give_way(lambda: queue_length(page) > 0)
    return open_queue(page, studio.deployment)


async def _make_room(
    queue: Any, races: list[Any], request: Any, deployment: Deployment, is_unheard: Callable[[Any], bool]
) -> bool:
    """Whether a race has given its place to the one that is asked for: the oldest to which nobody listens, or one of
    whoever has most."""
    if unheard := list(filter(is_unheard, races)):
        await _give_way(queue, min(unheard, key=lambda race: race.enqueue_time), GAVE_WAY_UNHEARD)
        return True
    owners = {race: _owner(race.request, deployment) for race in races}
    race = gives_way_to(_owner(request, deployment), owners)
    if race is None:
        return False
    await _give_way(queue, race, GAVE_WAY)
    return True


async def _give_way(queue: Any, event: Any, sentence: str) -> None:
    await end_event(queue, event, ProcessCompletedMessage(output={"error": sentence}, success=False))


async def _make_room_for_other(queue: Any, is_unheard: Callable[[Any], bool]) -> bool:
    """Whether there is a place for an event that is no race, perhaps that of the oldest to which nobody listens."""
    places = queue.event_queue_per_concurrency_id
    others = [event for name, waiting in places.items() if name != ON_DEVICE for event in waiting.queue]
    if len(others) < OTHERS:
        return True
    unread = [event for event in others if _has_unread(queue, event)]
    if not unread:
        return False
    oldest = min(unread, key=lambda event: (not is_unheard(event), event.enqueue_time))
    await _give_way(queue, oldest, BUSY_FOR_ALL)
    return True


def _has_unread(queue: Any, event: Any) -> bool:
    """Whether messages for it lie there."""
    messages = queue.pending_messages_per_session.get(event.session_hash)
    return messages is None or not messages.empty()


def _owner(request: Any, deployment: Deployment) -> tuple[str, str]:
    own = address(request, deployment)
    return region(own), neighbourhood(own)


def _is_busy(queue: Any, concurrency_id: str, own: str, home: Callable[[Any], str]) -> bool:
    """Whether as many events that are no races wait from an address, or from its neighbourhood, as may."""
    waiting = queue.event_queue_per_concurrency_id.get(concurrency_id)
    others = [home(one) for one in waiting.queue] if waiting else []
    return others.count(own) >= OTHERS_EACH or _count_nearby(others, own) >= NEARBY * OTHERS_EACH


def _count_nearby(others: list[str], own: str) -> int:
    around = neighbourhood(own)
    return sum(neighbourhood(other) == around for other in others)


async def end_unheard(queue: Any, event: Any, seen: Callable[[int], None] = lambda looks: None) -> None:
    """End an event, whether it waits or runs, whose session does not read its messages; `seen` is told at how many
    looks in a row it has not. Messages that lie there for a moment say nothing.

    Looks are counted instead of seconds, so that a server that was held up does not blame its visitors.
    """
    unread, first = 0, None
    while event.alive and event._id in queue.event_ids_to_events:
        await asyncio.sleep(LOOK)
        messages = queue.pending_messages_per_session.get(event.session_hash)
        before, first = first, messages._queue[0] if messages is not None and not messages.empty() else None
        unread = 0 if messages is not None and first is None else unread + 1 if first is before else 1
        seen(unread)
        waits = event in queue.event_queue_per_concurrency_id[event.concurrency_id].queue
        if unread >= (LOOKS if waits else LOOKS_RUNNING):
            said = {"error": UNHEARD.format(unread)}
            await end_event(queue, event, ProcessCompletedMessage(output=said, success=False))
            return


def refuse_place(places: list[tuple[str, str]], session: str, own: str, deployment: Deployment) -> str:
    """Why a session at an address may not wait as well, given (session, address) of all that do; empty if it may."""
    if not deployment.max_waiting:
        return ""
    if session in (one for one, _ in places):
        return ONE_EACH
    others = [other for _, other in places]
    if (here := others.count(own)) >= deployment.max_waiting:
        return MANY_HERE.format(here)
    nearby = _count_nearby(others, own)
    return MANY_NEARBY.format(nearby) if nearby >= NEARBY * deployment.max_waiting else ""


def is_stopped(page: gr.Blocks) -> bool:
    """Whether the queue has ended, so that no event of anybody will begin."""
    return page._queue.stopped


def queue_length(page: gr.Blocks) -> int:
    """Races that wait for the device."""
    queues = page._queue.event_queue_per_concurrency_id
    return len(queues[ON_DEVICE].queue) if ON_DEVICE in queues else 0


def queue_wait(page: gr.Blocks, visitor: str) -> float | None:
    """The seconds that a visitor's event was queued; None unless it has just begun."""
    running = [event for job in page._queue.active_jobs if job for event in job if event.session_hash == visitor]
    begun = [event for event in running if not event.run_time]  # a comparison runs several races in one event
    return time.monotonic() - begun[-1].enqueue_time if begun else None
