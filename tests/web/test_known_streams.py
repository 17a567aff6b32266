"""A stream that Gradio would begin and break off is closed, or refused with a sentence; the others stream as before."""

from __future__ import annotations

import gradio as gr
import httpx
from gradio.events import api

from csd.traffic.protocol import API
from csd.web.deployment import PUBLIC
from csd.web.gradio_queue import open_queue
from csd.web.known_streams import UNKNOWN
from csd.web.page import launch_settings
from csd.web.wiring import ON_DEVICE

CLOSED = 'data: {"msg":"close_stream","event_id":null}\n\n'


def race() -> str:
    return "done"


def test_a_stream_with_nothing_to_say_ends_and_nothing_is_raised_after_a_beginning(caplog):
    with gr.Blocks() as page:
        api(race, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    _, url, _ = open_queue(page, PUBLIC).launch(prevent_thread_lock=True, quiet=True, **launch_settings(PUBLIC))
    try:
        with httpx.Client(base_url=url.rstrip("/") + API, timeout=20) as http:
            streams = [f"/queue/data?session_hash{named}" for named in ("=nobody", "=", "", "=a&session_hash=")]
            for path in streams:
                ended = http.get(path)
                assert (ended.status_code, ended.text) == (200, CLOSED)
                assert ended.headers["content-type"].startswith("text/event-stream")
            for path in ("/call/race/unknown", "/call/v2/race/unknown"):
                refused = http.get(path)
                assert (refused.status_code, refused.json()["detail"]) == (404, UNKNOWN)
            assert http.get("/queue/data").status_code == 422
            event = http.post("/call/race", json={"data": []}).json()["event_id"]
            heard = http.get(f"/call/race/{event}")
            assert heard.status_code == 200 and "done" in heard.text
            again = http.get(f"/call/race/{event}")
            assert (again.status_code, again.json()["detail"]) == (404, UNKNOWN), "its answer was read"
            joined = {"fn_index": 0, "data": [], "session_hash": "a session"}
            assert http.post("/queue/join", json=joined).status_code == 200
            listen = {"session_hash": "a session"}
            assert "process_completed" in http.get("/queue/data", params=listen).text
            assert http.get("/queue/data", params=listen).text == CLOSED
            assert http.post("/queue/join", json=joined).status_code == 200
            assert "process_completed" in http.get("/queue/data", params=listen).text
    finally:
        page.close(verbose=False)
    assert "response already started" not in caplog.text
