"""A trace is enough to run it again: the request comes back from the headers, and gives the same tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toy import DRAFTS, family

from csd.decoding.adaptive.prior import GENERAL
from csd.decoding.methods import (
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    HorizontalCascade,
    PromptLookup,
    Refusal,
    Speculative,
    VerticalCascade,
)
from csd.record.recording import Recording, bundled_recordings
from csd.request.defaults import make_defaults
from csd.request.form import to_fields, to_request
from csd.request.request import Request
from csd.run import finished_traces, run_race

METHODS = (
    Autoregressive(),
    Speculative("draft-3", 4),
    PromptLookup(6),
    Cascade(DRAFTS[:2], ((2, 5, 8), (0, 2, 4), (0, 0, 6)), lenience=3.0),
    AdaptiveCascade(DRAFTS[:2]),
    VerticalCascade(DRAFTS[:2], (5, 3, 4)),
    HorizontalCascade(DRAFTS[:2], (2, 4, 6)),
)
GREEDY = Request("abcabd", METHODS, max_new=30)
REQUESTS = {
    "greedy": GREEDY,
    "coupled": replace(GREEDY, temperature=0.9, top_k=5, top_p=0.95, seed=11),
    "rejection": replace(GREEDY, temperature=1.0, seed=3, rule="rejection"),
    "past the end-of-text token": replace(GREEDY, stop_at_eos=False),
}


def run(request: Request):
    return finished_traces(run_race(family(7, seed=3, noises=(0.3, 0.6), eos=(6,), bigram=True), request))


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_race_runs_again_from_its_traces(request_):
    traces = run(request_)
    again = Request.from_traces(traces)
    assert again == request_
    assert [trace.tokens for trace in run(again)] == [trace.tokens for trace in traces]


def test_a_saved_race_runs_again():
    traces = run(REQUESTS["rejection"])[:4]
    saved = Recording.from_bytes(Recording(traces).to_gzip())
    again = run(Request.from_traces(saved.traces))
    assert [trace.tokens for trace in again] == [trace.tokens for trace in traces]


@pytest.mark.parametrize("recording", bundled_recordings().values(), ids=bundled_recordings())
def test_the_recorded_races_say_what_they_were_run_with(recording):
    request = Request.from_traces(recording.traces)
    assert [method.name for method in request.methods] == [trace.header.method for trace in recording.traces]
    assert request.prompt == recording.traces[0].header.text
    priors = (method.prior for method in request.methods if isinstance(method, AdaptiveCascade))
    defaults = replace(make_defaults(recording.traces[0].header.drafts), prior=next(priors, GENERAL))
    assert to_request(defaults.form(**to_fields(request)), defaults) == request
    for method in request.methods:
        method.check(defaults.drafts)


def test_lanes_that_did_not_run_together_are_refused():
    first, second = run(GREEDY)[0], run(replace(GREEDY, seed=5))[1]
    for traces in ((), (first, second)):
        with pytest.raises(Refusal, match=r"not one race.*\.$"):
            Request.from_traces(traces)


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("magic", {}, "There is no method “magic”"),
        ("speculative", {"draft": "draft-3"}, "settings of speculative cannot be read: k"),
        ("prompt lookup", {"k": "many"}, "settings of prompt lookup cannot be read: k"),
    ],
)
def test_methods_that_cannot_be_restored_are_refused(method, settings, words):
    trace = run(GREEDY)[0]
    trace = replace(trace, header=replace(trace.header, method=method, settings=settings))
    with pytest.raises(Refusal, match=words):
        Request.from_traces((trace,))
