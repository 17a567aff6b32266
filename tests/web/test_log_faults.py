"""The log of requests that fail: long where this project is at fault, and one line otherwise."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import asdict

import gradio as gr
import httpx
import pytest
from gradio import queueing, routes

from csd.decoding.k_matrix import check_K
from csd.request.form import Form
from csd.traffic.protocol import API
from csd.web.deployment import Deployment
from csd.web.gradio_queue import open_queue
from csd.web.log_faults import log_fault, log_warnings, replace_tracebacks


@pytest.fixture
def page(monkeypatch):
    """A page with an event of the queue and one beside it, each of which fails inside this project."""
    for module in (queueing, routes):
        monkeypatch.setattr(module, "traceback", module.traceback)
    replace_tracebacks()
    with gr.Blocks() as page:
        for queue in (True, False):
            gr.Button().click(lambda K: check_K(K, 1), gr.Dropdown(["K"]), None, queue=queue)
    _, url, _ = open_queue(page, Deployment()).launch(prevent_thread_lock=True, quiet=True)
    yield httpx.Client(base_url=url.rstrip("/") + API, timeout=20)
    page.close(verbose=False)


def test_junk_is_one_line_and_a_fault_of_ours_has_its_traceback(page, caplog, capfd):
    def send(data: list) -> None:
        page.post("/run/predict", json={"data": data, "fn_index": 1, "session_hash": "a"})
        page.post("/queue/join", json={"data": data, "fn_index": 0, "session_hash": "a"})
        page.get("/queue/data?session_hash=a")

    send(["none of them\n" * 1000])
    send([])
    assert len(caplog.records) == 4 and not any(record.exc_info for record in caplog.records)
    assert all(len(line) < 200 for line in caplog.text.splitlines())
    assert len(caplog.text.splitlines()) == 4
    caplog.clear()
    send(["K"])
    assert len(caplog.records) == 2 and all(record.exc_info for record in caplog.records)
    assert "check_K" in caplog.text
    assert "Traceback" not in capfd.readouterr().err


def test_values_that_are_nested_too_deep_are_one_line(caplog):
    """Their tracebacks have thousands of lines, and each depth is noticed at another place."""
    nested: list = []
    for _ in range(2000):
        nested = [nested]
    for copy in (asdict, deepcopy):
        with pytest.raises(RecursionError) as caught:
            copy(Form(draft=nested))
        log_fault(caught.value)
    first, second = caplog.records
    assert first.msg == second.msg == "a request that the page does not send: RecursionError: %s"
    assert not first.exc_info and len(caplog.text.splitlines()) == 2


def test_no_line_has_the_name_of_a_race_behind_a_link(caplog):
    name = "0123456789abcdef" * 2
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log_warnings()
        gr.Dropdown(["a"]).postprocess(f"linked-{name}")
    log_fault(ValueError(f"Value: linked-{name} is not in the list"))
    warned, failed = (record.getMessage() for record in caplog.records)
    assert "UserWarning at dropdown.py:" in warned and "not in the list" in failed
    assert "linked-…" in failed and name not in caplog.text
