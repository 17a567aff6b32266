"""What Gradio's queue knows of races that wait. It has no public interface for this, so all of its names are here."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from typing import Any

import gradio as gr

from csd.web.deployment import Deployment
from csd.web.wiring import ON_DEVICE

LONGEST = 64  # events in the queue
RECENT = 20  # turns on the device from which the next ones are estimated
ONE_EACH = "A race of yours already waits in the queue. Wait for it, or stop it first."
MANY_HERE = "{} races from your address wait in the queue, the most that this page allows. Try again in a minute."


class RecentTimes:
    """The mean of the latest turns, under the names that Gradio's estimate of the waiting time reads.

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
    """The page with its queue, which nothing skips. A race beyond a visitor's share is refused with a sentence."""
    page.queue(max_size=LONGEST, api_open=False)
    queue: Any = page._queue
    queue.process_time_per_fn = defaultdict(RecentTimes)
    push = queue.push

    async def push_fairly(body: Any, request: Any, username: str | None) -> tuple[bool, Any, str]:
        event = page.fns.get(body.fn_index)
        if event is not None and event.concurrency_id == ON_DEVICE:
            waiting = queue.event_queue_per_concurrency_id.get(ON_DEVICE)
            places = [(one.session_hash, address(one.request, deployment)) for one in waiting.queue] if waiting else []
            if sentence := refuse_place(places, body.session_hash, address(request, deployment), deployment):
                return False, sentence, "error"
        return await push(body=body, request=request, username=username)

    queue.push = push_fairly
    return page


def refuse_place(places: list[tuple[str, str]], session: str, own: str, deployment: Deployment) -> str:
    """Why a session at an address may not wait as well, given (session, address) of all that do; empty if it may."""
    if not deployment.max_waiting:
        return ""
    if session in (one for one, _ in places):
        return ONE_EACH
    here = sum(1 for _, other in places if other == own)
    return MANY_HERE.format(here) if here >= deployment.max_waiting else ""


def address(request: Any, deployment: Deployment) -> str:
    """Where a request comes from; on a Space, what the Hub's proxy says."""
    client = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "") if deployment.is_space else ""
    return forwarded.split(",")[0].strip() or client


def queue_length(page: gr.Blocks) -> int:
    """Races that wait for the device."""
    queues = page._queue.event_queue_per_concurrency_id
    return len(queues[ON_DEVICE].queue) if ON_DEVICE in queues else 0


def queue_wait(page: gr.Blocks, visitor: str) -> float | None:
    """The seconds that a visitor's event was queued; None unless it has just begun."""
    running = [event for job in page._queue.active_jobs if job for event in job if event.session_hash == visitor]
    begun = [event for event in running if not event.run_time]  # a comparison runs several races in one event
    return time.monotonic() - begun[-1].enqueue_time if begun else None
