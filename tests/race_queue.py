"""Gradio's own queue of a public page, as it is without a server: tests take races out of it themselves."""

from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
from gradio.data_classes import PredictBodyInternal
from gradio.events import api

from csd.web.deployment import PUBLIC
from csd.web.gradio_queue import open_queue
from csd.web.wiring import ON_DEVICE


def make_queue(at_once: int = 1):
    def race(prompt: str, methods: list[str], max_new: int, request: gr.Request | None = None) -> int:
        return 1

    with gr.Blocks() as page:
        api(race, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=at_once)
    return open_queue(page, PUBLIC)._queue


async def join(queue, session: str, host: str, tokens: float) -> None:
    body = PredictBodyInternal(fn_index=0, data=["", ["a", "b"], tokens], session_hash=session)
    pushed = await queue.push(body, SimpleNamespace(client=SimpleNamespace(host=host), headers={}), None)
    assert pushed[0]


def take(queue) -> str:
    """The next race, which is then at work."""
    events, _, _ = queue.get_events()
    queue.active_jobs.append(events)
    return events[0].session_hash
