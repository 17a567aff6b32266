"""Health, metrics and logs of races, read as a monitor reads them."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_page import HOME, RECORDED, load_family, run_recorded, run_stopped
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from csd.decoding.errors import Refusal
from csd.record import metrics
from csd.request.request import Request
from csd.web.device import Device
from csd.web.gradio_queue import queue_length, queue_wait
from csd.web.health import health_routes
from csd.web.metrics import Metrics
from csd.web.news import Batch, Finished
from csd.web.race_log import JSONLines, log_race
from csd.web.studio import Studio

REQUEST = Request("a prompt that nobody shall read in a log", ())
DASHBOARD = Path(__file__).resolve().parents[2] / "docs" / "grafana.json"


def run_refused(family, request, stopped):
    raise Refusal("The prompt is empty.")
    yield


def run_broken(family, request, stopped):
    raise RuntimeError("boom")
    yield


def counted(run=run_recorded) -> tuple[Studio, Metrics]:
    studio = Studio(HOME, load_family, run)
    found = Metrics(lambda: 3, lambda visitor: 1.5)
    studio.watch(found.watch)
    return studio, found


def read(found: Metrics) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels."""
    text = TestClient(Starlette(routes=found.routes())).get("/metrics").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_ready_once_the_home_family_races_and_neither_ready_nor_alive_without_a_queue(monkeypatch):
    studio, queues = Studio(HOME, load_family, run_recorded), [False]
    client = TestClient(Starlette(routes=health_routes(studio.families, studio.home, lambda: queues[-1])))
    assert client.get("/health/live").status_code == 200
    before = client.get("/health/ready")
    assert (before.status_code, before.json()) == (503, {"status": "waiting"})
    list(studio.race("v", HOME, REQUEST))
    assert client.get("/health/ready").status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(Device, "can_race", False)
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "restarting"})
        assert client.get("/health/live").status_code == 200
    queues.append(True)
    for path in ("/health/live", "/health/ready"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()) == (503, {"status": "stopped"})


def test_a_race_in_metrics():
    studio, found = counted()
    assert isinstance(list(studio.race("v", HOME, REQUEST))[-1], Finished)
    values = read(found)
    assert values["csd_races_total", "finished"] == 1
    assert values["csd_queue_length",] == 3 and values["csd_races_running",] == 0
    assert values["csd_queue_seconds_sum",] == 1.5
    trace = next(trace for trace in RECORDED if trace.header.method == "speculative")
    assert values["csd_tokens_total", "speculative"] == len(trace.tokens)
    assert values["csd_tokens_per_second_sum", "speculative"] == pytest.approx(metrics.speed(trace))
    accepted = sum(count.accepted for one in RECORDED for count in metrics.acceptance(one).values())
    assert sum(value for name, value in values.items() if name[0] == "csd_accepted_tokens_total") == accepted > 0
    assert values["csd_memory_bytes",] > 10 * 2**20 and values["csd_threads",] >= 1


def test_the_names_that_visitors_invent_are_no_labels():
    own = tuple(replace(one, header=replace(one.header, family=f"mine {i}")) for i, one in enumerate(RECORDED))
    _, found = counted()
    found._count_lanes(own)
    labels = {name[1:] for name in read(found) if name[0] == "csd_proposed_tokens_total"}
    assert labels == {("custom", "custom")}


@pytest.mark.parametrize(("run", "outcome"), [(run_stopped, "stopped"), (run_refused, "refused")])
def test_how_races_end(run, outcome):
    studio, found = counted(run)
    list(studio.race("v", HOME, REQUEST))
    assert read(found)["csd_races_total", outcome] == 1


def test_a_visitor_who_leaves_and_an_error():
    studio, found = counted()
    stream = studio.race("v", HOME, REQUEST)
    next(news for news in stream if isinstance(news, Batch))
    assert read(found)["csd_races_running",] == 1
    stream.close()
    assert read(found)["csd_races_total", "left"] == 1
    logger = logging.getLogger("csd.test_observing")
    logger.addHandler(found.error_counter())
    logger.error("boom")
    logger.warning("no error")
    assert read(found)["csd_errors_total", "csd.test_observing"] == 1


@pytest.fixture
def lines(caplog):
    """What was logged since, as JSON."""
    caplog.set_level(logging.INFO, "csd")
    return lambda: [json.loads(JSONLines().format(record)) for record in caplog.records]


def test_a_race_in_the_log_has_its_id_and_no_prompt(lines):
    studio = Studio(HOME, load_family, run_recorded)
    studio.watch(log_race)
    finished = list(studio.race("v", HOME, REQUEST))[-1]
    started, ended = lines()
    assert {started["race"], ended["race"]} == {finished.race.id}
    assert [started["message"], ended["message"]] == ["race started", "race ended"]
    assert [lane["method"] for lane in ended["lanes"]] == [trace.header.method for trace in RECORDED]
    assert "nobody shall read" not in json.dumps(lines()) and RECORDED[0].header.text not in json.dumps(lines())


def test_a_race_that_breaks_leaves_its_traceback_on_one_line(lines):
    studio = Studio(HOME, load_family, run_broken)
    studio.watch(log_race)
    list(studio.race("v", HOME, REQUEST))
    broken, refused = lines()
    assert broken["level"] == "ERROR" and "RuntimeError: boom" in broken["traceback"]
    assert refused["message"] == "race refused" and "boom" in refused["sentence"]


def test_every_metric_of_the_dashboard_exists():
    studio, found = counted()
    list(studio.race("v", HOME, REQUEST))
    found.error_counter().handle(logging.makeLogRecord({"name": "csd", "levelno": logging.ERROR}))
    known = {name[0] for name in read(found)}
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    asked = {name for panel in panels for one in panel["targets"] for name in re.findall(r"csd_\w+", one["expr"])}
    assert asked and asked <= known


def test_the_queue_of_gradio_is_still_as_we_read_it():
    """Its names are not public, so a new version of Gradio may change them."""
    import gradio as gr
    from gradio.queueing import Event

    with gr.Blocks() as page:
        gr.Button().click(lambda: None, concurrency_id="device", concurrency_limit=1)
    queue = page.queue()._queue
    assert queue_length(page) == 0 and queue_wait(page, "v") is None
    function = next(iter(page.fns.values()))
    queue.create_event_queue_for_fn(function)
    event = Event("v", function, SimpleNamespace(), None)
    queue.event_queue_per_concurrency_id["device"].queue.append(event)
    queue.active_jobs = [None, [event]]
    assert queue_length(page) == 1
    assert 0 <= queue_wait(page, "v") < 5 and queue_wait(page, "w") is None
    event.run_time = 1.0
    assert queue_wait(page, "v") is None
