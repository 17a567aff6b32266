"""What a simulated visitor sees: answers that are right, and every way in which one can be wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

import handmade
import httpx
import pytest

from csd.stage.log import log_of
from csd.traffic.protocol import Endpoint, read_endpoints
from csd.traffic.samples import Failed, Sample
from csd.traffic.visit import Site, Visit, address_of
from csd.traffic.wishes import Wish, check_answer, check_log
from csd.web.addresses import network

TRACES = (handmade.autoregressive(), handmade.cascade())
WISH = Wish("w0 w1", ("autoregressive", "cascade"), 4, 0.0, 0)
NAMES = ("prompt", "lanes", "max-new", "temperature", "seed")
RUN = Endpoint(3, NAMES, ("", [], 64, 0, 0), ("status", "stage"))
RACE = Endpoint(4, ("prompt", "methods", "max_new", "temperature", "seed"), ("", [], 64, 0, 0), ("",))
ENDPOINTS = {"run": RUN, "race": RACE, "stop": Endpoint(5, (), (), ("status", "press"))}
SHOWN = ['<p data-state="ended">Done.</p>', {"log": log_of(TRACES)}]
ANSWER = {"summary": [], "traces": [trace.to_dict() for trace in TRACES]}
OTHER = replace(TRACES[1].steps[0], tokens=(2, 3, 5), authors=("MaxGram", "Bigram", "target"))


def completed(data: Any) -> dict[str, Any]:
    return {"msg": "process_completed", "success": True, "output": {"data": data}, "event_id": "e"}


def failed(error: str | None) -> dict[str, Any]:
    return {"msg": "process_completed", "success": False, "output": {"error": error}}


QUEUED = [{"msg": "estimation", "rank": 2, "rank_eta": 4.5}, {"msg": "process_starts"}]


def visit(*messages: dict[str, Any], join: int = 200, patience: float = 60) -> tuple[Visit, list[Sample]]:
    """A visitor of a server that answers a join with this status, and then with these messages."""

    def serve(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/queue/join"):
            return httpx.Response(join, json={"event_id": "e", "detail": "Queue is full."})
        return httpx.Response(200, text="".join(f"data: {json.dumps(message)}\n\n" for message in messages))

    samples: list[Sample] = []
    http = httpx.Client(base_url="http://page", transport=httpx.MockTransport(serve))
    ticks = count()
    return Visit(
        Site(lambda: http, ENDPOINTS, lambda: next(ticks), samples.append, patience), "2001:db8::1", "s"
    ), samples


@pytest.mark.parametrize(
    ("messages", "join", "outcome"),
    [
        ([*QUEUED, completed(SHOWN)], 200, "ok"),
        ([*QUEUED, completed(['<p data-state="refused">The prompt &amp; all.</p>', {}])], 200, "refused"),
        ([*QUEUED, failed("Too long.")], 200, "refused"),
        ([*QUEUED, failed(None)], 200, "lost"),
        (QUEUED, 200, "lost"),
        ([*QUEUED, {"msg": "unexpected_error"}], 200, "lost"),
        ([*QUEUED, completed(["", {"log": ""}])], 200, "lost"),
        ([*QUEUED, completed(["", {"log": log_of(TRACES[:1])}])], 200, "mixed"),
        ([], 503, "refused"),
        ([], 400, "refused"),
        ([], 500, "lost"),
    ],
)
def test_what_became_of_a_race(messages, join, outcome):
    visitor, samples = visit(*messages, join=join)
    visitor.race(WISH)
    (sample,) = samples
    assert (sample.kind, sample.outcome) == ("page race", outcome)
    assert bool(sample.sentence) == (outcome != "ok")


def test_a_sample_has_the_queue_and_its_estimate():
    visitor, samples = visit(*QUEUED, completed([ANSWER]))
    visitor.race_by_api(WISH)
    (sample,) = samples
    assert (sample.kind, sample.outcome, sample.estimate) == ("API race", "ok", 4.5)
    assert sample.queued is not None and 0 < sample.queued < sample.seconds


def test_what_the_page_tells_of_the_rest_is_held_against_the_end():
    promises = [{"msg": "estimation", "rank": 1, "rank_eta": eta} for eta in (100.0, 8.0, 3.0, None)]
    visitor, samples = visit(*promises, QUEUED[1], completed([ANSWER]))
    visitor.race_by_api(WISH)
    (sample,) = samples
    assert sample.estimate == 100.0 and sample.off is not None and sample.off < 10, "the median of three"


def test_an_answer_that_takes_too_long_is_hung():
    visitor, samples = visit(*[QUEUED[1]] * 20, completed(SHOWN), patience=9)
    visitor.race(WISH)
    assert samples[0].outcome == "hung"


@pytest.mark.parametrize("change", [{"prompt": "w0"}, {"max_new": 5}, {"lanes": ("autoregressive", "speculative")}])
def test_a_race_of_somebody_else_is_noticed(change):
    check_log(WISH, log_of(TRACES))
    with pytest.raises(Failed) as caught:
        check_log(replace(WISH, **change), log_of(TRACES))
    assert caught.value.outcome == "mixed"
    for more in (change, {"seed": 1}, {"temperature": 0.5}):
        with pytest.raises(Failed) as caught:
            check_answer(replace(WISH, **more), ANSWER)
        assert caught.value.outcome == "mixed"


def test_lanes_that_differ_are_noticed_unless_one_was_stopped_before():
    different = replace(TRACES[1], steps=(OTHER,), end="stopped", pieces={**TRACES[1].pieces, 5: "w5"})
    with pytest.raises(Failed) as caught:
        check_log(WISH, log_of((TRACES[0], different)))
    assert caught.value.outcome == "differs"
    check_log(WISH, log_of((TRACES[0], replace(TRACES[1], steps=TRACES[1].steps[:1], end="stopped"))))
    with pytest.raises(Failed):
        check_log(WISH, log_of((TRACES[0], replace(TRACES[1], steps=TRACES[1].steps[:1]))))


def test_the_pages_description():
    parts = [
        {"id": 1, "props": {"elem_id": "prompt", "value": "a"}},
        {"id": 2, "props": {"value": 7}},
        {"id": 3, "props": {"elem_id": "stage"}},
    ]
    events = [
        {"id": 0, "api_name": "js_fn", "backend_fn": False, "inputs": [], "outputs": []},
        {"id": 1, "api_name": "run", "backend_fn": True, "inputs": [1, 2], "outputs": [3]},
        {"id": 2, "api_name": "race", "backend_fn": True, "inputs": [1, 2], "outputs": [3]},
    ]
    info = {"named_endpoints": {"/race": {"parameters": [{"parameter_name": "text"}, {"parameter_name": "k"}]}}}
    found = read_endpoints({"components": parts, "dependencies": events}, info)
    assert found.keys() == {"run", "race"}
    assert found["run"].body("s", {"prompt": "b"}) == {
        "data": ["b", 7],
        "fn_index": 1,
        "session_hash": "s",
        "event_data": None,
    }
    assert found["race"].arguments({"k": 8}) == ["a", 8]
    assert found["run"].output(["drawn"], "stage") == "drawn"
    with pytest.raises(KeyError):
        found["run"].arguments({"prompts": "b"})
    with pytest.raises(ValueError, match="not as a Gradio page"):
        read_endpoints({"components": []}, {})


def test_stop_takes_a_queued_race_out_of_the_queue():
    heartbeat = {"msg": "heartbeat", "event_id": None}
    gone = {"msg": "process_completed", "success": True, "output": {}, "event_id": "e"}
    posted = []

    def serve(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            posted.append((request.url.path.rpartition("/")[2], json.loads(request.content)))
            return httpx.Response(200, json={"event_id": "e", "data": ["Stopped.", "leave-queue"]})
        messages = [{**QUEUED[0], "event_id": "e"}, heartbeat, heartbeat, gone]
        return httpx.Response(200, text="".join(f"data: {json.dumps(message)}\n\n" for message in messages))

    samples: list[Sample] = []
    http = httpx.Client(base_url="http://page", transport=httpx.MockTransport(serve))
    ticks = count()
    Visit(Site(lambda: http, ENDPOINTS, lambda: next(ticks), samples.append, 60), "2001:db8::1", "s").stop(WISH, 2)
    assert samples[0].outcome == "ok"
    assert [path for path, _ in posted] == ["join", "predict", "cancel"]
    assert posted[2][1] == {"session_hash": "s", "fn_index": RUN.index, "event_id": "e"}


def test_visitors_have_cookies_of_their_own_over_the_same_connections():
    """By a cookie a proxy keeps a visitor on one replica."""
    sent, names = [], count(1)

    def serve(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("cookie"))
        return httpx.Response(200, headers={} if sent[-1] else {"set-cookie": f"replica={next(names)}"})

    transport = httpx.MockTransport(serve)
    site = Site(lambda: httpx.Client(base_url="http://page", transport=transport), ENDPOINTS, lambda: 0, print, 60)
    visits = [Visit(site, f"2001:db8::{number}") for number in (1, 2)]
    for one in (*visits, *visits):
        one.look()
    assert sent == [None, None, "replica=1", "replica=2"]


def test_visitors_count_apart_on_a_page_with_a_limit_for_each_address():
    assert len({network(address_of(number)) for number in range(1, 500)}) == 499
