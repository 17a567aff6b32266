"""An event is cancelled by its own session, and by nobody who only knows its id."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import gradio as gr
import httpx
import pytest
from gradio.events import api
from in_a_loop import in_a_loop
from starlette.requests import Request

from csd.traffic.protocol import API
from csd.web import own_events
from csd.web.deployment import PUBLIC
from csd.web.gradio_queue import open_queue
from csd.web.own_events import NOT_YOURS, UNCLEAR, end_event
from csd.web.page import launch_settings
from csd.web.wiring import ON_DEVICE


@pytest.fixture
def served() -> Iterator[tuple[httpx.Client, gr.Blocks, threading.Event, threading.Event]]:
    """A page of one endless race, whether the race runs, and whether it has ended."""
    runs, ended = threading.Event(), threading.Event()

    def race(word: str) -> Iterator[str]:
        try:
            for _ in range(2000):
                runs.set()
                time.sleep(0.01)
                yield word
        finally:
            ended.set()

    with gr.Blocks() as page:
        api(race, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    _, url, _ = open_queue(page, PUBLIC).launch(prevent_thread_lock=True, quiet=True, **launch_settings(PUBLIC))
    try:
        with httpx.Client(base_url=url.rstrip("/") + API, timeout=20) as http:
            yield http, page, runs, ended
    finally:
        page.close(verbose=False)


def join(http: httpx.Client, session: str) -> str:
    body = {"fn_index": 0, "data": ["own"], "session_hash": session}
    return http.post("/queue/join", json=body).raise_for_status().json()["event_id"]


def cancel(http: httpx.Client, session: object, event: object) -> httpx.Response:
    return http.post("/cancel", json={"session_hash": session, "fn_index": 0, "event_id": event})


def test_only_its_own_session_cancels_a_race_that_runs_or_waits(served):
    http, _, runs, ended = served
    running = join(http, "first")
    assert runs.wait(20)
    waiting = join(http, "second")
    with http.stream("GET", "/queue/data", params={"session_hash": "first"}) as stream:
        for event in (running, waiting):
            refused = cancel(http, "another", event)
            assert refused.status_code == 403 and NOT_YOURS in refused.text
        assert not ended.wait(0.5)
        assert cancel(http, "second", waiting).json() == {"success": True}
        assert cancel(http, "first", running).json() == {"success": True}
        assert ended.wait(20)
        assert any("process_completed" in line for line in stream.iter_lines())


def test_a_race_that_waits_keeps_its_own_inputs(served):
    http, _, runs, _ = served
    join(http, "first")
    assert runs.wait(20)
    waiting = join(http, "second")
    for path in (f"/stream/{waiting}", f"/stream/{waiting}/close"):
        assert http.post(path, json={"data": ["foreign"], "fn_index": 0}).status_code == 404


def test_what_is_no_event_is_answered_as_before(served):
    http, *_ = served
    assert cancel(http, "one", "unknown").json() == {"success": True}
    unclear = (cancel(http, "one", ["a list"]), http.post("/cancel", content=b"[" * 9999))
    assert [(answer.status_code, answer.json()["detail"]) for answer in unclear] == [(422, UNCLEAR)] * 2


def test_a_race_cancelled_before_its_first_line_gives_its_place_back(served, monkeypatch):
    """Between its task's creation and its first step, where Gradio's own /cancel loses the place for good."""
    http, page, runs, _ = served
    queue, lost = page._queue, []

    def cancel_at_once(*_: object) -> None:  # called as soon as there is a task, and before
        begun = next((job for job in queue.active_jobs if job), None)
        if begun and not lost:
            lost.append(begun[0])
            with pytest.raises(StopIteration):  # it has nothing to wait for
                end_event(queue, lost[0]).send(None)

    monkeypatch.setattr(queue, "broadcast_estimations", cancel_at_once)
    join(http, "hasty")
    while not lost:
        time.sleep(0.01)
    assert not runs.is_set()
    join(http, "patient")
    assert runs.wait(20)
    assert len(lost) == 1 and not lost[0].alive


def test_who_hangs_up_while_asking_raises_nothing():
    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    request = Request({"type": "http", "method": "POST", "headers": []}, gone)
    assert in_a_loop(own_events.cancel(request)).status_code == 422
