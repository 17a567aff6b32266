"""The named endpoint, called with gradio_client as a stranger would."""

from __future__ import annotations

import time
from dataclasses import replace

import httpx
import pytest
from fake_page import RECORDED, context
from gradio.utils import get_function_description
from gradio_client import Client
from gradio_client.exceptions import AppError

from csd.record.trace import Trace
from csd.run import LaneFinished
from csd.web.api import make_endpoint


@pytest.fixture(scope="module")
def client(served):
    served.gate.open()
    return Client(served.url, verbose=False)


def test_race_returns_traces_that_can_be_read(client):
    answer = client.predict("Once upon a time there was a", max_new=24, api_name="/race")
    traces = [Trace.from_dict(data) for data in answer["traces"]]
    assert [trace.header.method for trace in traces] == ["autoregressive", "speculative", "cascade"]
    assert len({trace.tokens for trace in traces}) == 1 and len(traces[0].tokens) == 24
    assert [row["text"] for row in answer["summary"]] == [trace.answer for trace in traces]
    assert all(row["tokens_per_second"] > 0 for row in answer["summary"])
    assert answer["notes"] == []


def test_race_takes_one_method_and_its_knobs(client):
    answer = client.predict(
        "Once upon a time",
        methods=["prompt lookup"],
        lookup=3,
        temperature=0.8,
        seed=7,
        max_new=9,
        always=True,
        api_name="/race",
    )
    header = Trace.from_dict(answer["traces"][0]).header
    assert (header.method, header.settings) == ("prompt lookup", {"k": 3})
    assert (header.temperature, header.seed, header.eos) == (0.8, 7, ())
    assert answer["summary"][0]["tokens"] == 9


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"prompt": " "}, "The prompt is empty."),
        ({"prompt": 5}, "The prompt must be text, not 5"),
        ({"max_new": 0}, "New tokens must be a whole number from 1"),
        ({"K": "[[1]]"}, "K must have 3 rows of 3 numbers"),
        ({"methods": ["magic"]}, "There is no method “magic”"),
        ({"methods": []}, "Choose 1 to 4"),
        ({"copies": ["self-8bit"], "K": "[[1]]"}, "K must have 4 rows of 4 numbers"),
        ({"family": "nobody"}, "There is no family called 'nobody'"),
        ({"rule": "none"}, "The acceptance rule must be one of"),
        ({"seed": 2**53}, "The seed must be a whole number from 0"),
        ({"top_k": 10**30}, "Top-k must be a whole number from 0"),
        ({"temperature": "warm"}, "Temperature must be 0 or a number"),
        ({"lenience": -1, "methods": ["autoregressive"]}, "Lenience must be a number from 1"),
        ({"methods": 5}, "The methods must be a list of names"),
        ({"copies": 5}, "The copies must be a list"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(client, bad, sentence):
    with pytest.raises(AppError, match=sentence) as refusal:
        client.predict(**{"prompt": "Once upon a time", "max_new": 4, **bad}, api_name="/race")
    assert len(str(refusal.value)) < 400


def test_a_lane_that_failed_says_why():
    def fails(family, request, stopped):
        yield LaneFinished(0, RECORDED[0])
        yield LaneFinished(1, replace(RECORDED[1], end="stopped"), "There is no memory left.")

    endpoint = make_endpoint(context(fails))
    *_, answer = endpoint("Once", [lane.header.method for lane in RECORDED[:2]], max_new=9)
    assert [row["fault"] for row in answer["summary"]] == [None, "There is no memory left."]
    assert answer["summary"][1]["end"] == "stopped"


def test_a_race_that_a_limit_cut_says_why():
    def goes_on(family, request, stopped):
        yield LaneFinished(0, replace(RECORDED[0], end="stopped"))
        yield LaneFinished(1, RECORDED[1])

    endpoint = make_endpoint(context(goes_on))
    *_, answer = endpoint("Once", [lane.header.method for lane in RECORDED[:2]], max_new=9)
    assert [row["fault"] for row in answer["summary"]] == [None, None]
    (note,) = answer["notes"]
    assert note.startswith("The race was stopped after") and note.endswith(".")


def test_the_race_is_the_only_public_endpoint(client):
    assert list(client.view_api(return_format="dict")["named_endpoints"]) == ["/race"]


def test_the_description_is_enough_for_a_program(client, served):
    """What Gradio serves of the endpoint, to its documentation, to agents and over MCP: a description of everything."""
    endpoints = httpx.get(f"{served.url}gradio_api/info", timeout=30).json()["named_endpoints"]
    assert [*endpoints] == ["/race"]
    told = endpoints["/race"]
    assert told["description"].startswith("Race 1 to 4 decoding methods") and "disconnects" in told["description"]
    named = {one["parameter_name"]: one for one in told["parameters"]}
    assert not named["prompt"]["parameter_has_default"]
    assert all(one["parameter_has_default"] for name, one in named.items() if name != "prompt")
    race = next(fn.fn for fn in served.page.fns.values() if fn.api_name == "race")
    _, parameters, returns = get_function_description(race)
    assert named.keys() <= parameters.keys()
    assert all(parameters[name] for name in named), parameters
    assert any("summary" in line for line in returns)
    assert any("notes" in line for line in returns)


def test_a_client_that_disconnects_stops_its_race(house):
    """The raw protocol: join, listen, and hang up."""
    number = next(event["id"] for event in client_config(house.url) if event["api_name"] == "race")
    load = house.studio.families.ensure_loading(house.studio.home)
    while not load.status.is_final:
        time.sleep(0.1)
    house.gate.hold("Step")
    stopped = house.gate.stopped
    data = ["Once", ["autoregressive"], "embedded", "", 4, 4, "", 1, 0, 0, 1, 0, "coupled", 32, True, None]
    body = {"fn_index": number, "session_hash": "gone", "data": data}
    httpx.post(f"{house.url}gradio_api/queue/join", json=body).raise_for_status()
    with httpx.stream(
        "GET", f"{house.url}gradio_api/queue/data", params={"session_hash": "gone"}, timeout=60
    ) as answer:
        next(answer.iter_text())
        house.gate.wait()
    deadline = time.monotonic() + 20
    while house.gate.stopped == stopped:
        assert time.monotonic() < deadline, "the race goes on"
        time.sleep(0.05)


def client_config(url):
    return httpx.get(f"{url}config", timeout=60).json()["dependencies"]
