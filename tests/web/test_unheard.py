"""A race that nobody listens to is given up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
from gradio.events import api
from in_a_loop import in_a_loop

from csd.traffic.protocol import API
from csd.web import gradio_queue
from csd.web.deployment import Deployment
from csd.web.gradio_queue import (
    LOOKS,
    LOOKS_RUNNING,
    UNHEARD,
    end_unheard,
    open_queue,
)
from csd.web.wiring import ON_DEVICE


@pytest.mark.parametrize(("waits", "looks"), [(True, LOOKS), (False, LOOKS_RUNNING)])
def test_a_race_that_has_the_device_is_given_up_sooner(waits, looks, monkeypatch):
    monkeypatch.setattr(gradio_queue, "LOOK", 0.0)
    told: list[str] = []

    async def end(queue, event, message):
        told.append(message.output["error"])

    async def listen(reads: bool):
        messages = asyncio.Queue()
        event = SimpleNamespace(alive=True, _id="id", session_hash="s", concurrency_id=ON_DEVICE)
        places = SimpleNamespace(queue=[event] if waits else [])
        queue = SimpleNamespace(
            pending_messages_per_session={"s": messages},
            event_ids_to_events={"id": event},
            event_queue_per_concurrency_id={ON_DEVICE: places},
        )
        watch = asyncio.create_task(end_unheard(queue, event))
        messages.put_nowait("told before")
        for number in range(30):
            messages.put_nowait(f"told {number}")  # so that there always is one
            if reads:
                messages.get_nowait()
            await asyncio.sleep(0)
            if watch.done():
                break
        event.alive = False
        await watch

    monkeypatch.setattr(gradio_queue, "end_event", end)
    in_a_loop(listen(True))
    assert not told, "messages that come as fast as they are read are read"
    in_a_loop(listen(False))
    assert told == [UNHEARD.format(looks)]


@pytest.mark.slow
def test_a_race_that_nobody_listens_to_ends_and_one_with_a_listener_goes_on(monkeypatch):
    ended, given_up = threading.Semaphore(0), threading.Semaphore(0)

    async def give_up(*given) -> None:
        await end_unheard(*given)
        given_up.release()

    monkeypatch.setattr(gradio_queue, "LOOK", 0.02)
    monkeypatch.setattr(gradio_queue, "end_unheard", give_up)

    def race(most: int) -> Iterator[int]:
        try:
            for number in range(most):
                time.sleep(0.02)
                yield number
        finally:
            ended.release()

    with gr.Blocks() as page:
        api(race, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    _, url, _ = open_queue(page, Deployment()).launch(prevent_thread_lock=True, quiet=True)
    try:
        with httpx.Client(base_url=url.rstrip("/") + f"{API}/call/race", timeout=20) as http:

            def join(most: int) -> str:
                return http.post("", json={"data": [most]}).json()["event_id"]

            runs, waits = join(10**6), join(10**6)
            assert all(one.acquire(timeout=20) for one in (ended, given_up, given_up))
            assert not page._queue.event_queue_per_concurrency_id[ON_DEVICE].queue
            assert UNHEARD.format(LOOKS_RUNNING) in http.get(f"/{runs}").text
            assert UNHEARD.partition("{}")[0] in http.get(f"/{waits}").text
            monkeypatch.setattr(gradio_queue, "LOOK", 0.2)  # a busy machine opens the stream late
            heard = http.get(f"/{join(120)}").text  # for longer than all looks
            assert "event: complete" in heard and "119" in heard
    finally:
        page.close(verbose=False)
