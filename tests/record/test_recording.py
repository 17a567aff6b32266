"""Recordings: those that come with the project, and what is refused of a file."""

from __future__ import annotations

import gzip
import json

import pytest
from handmade import alone, nested

from csd.record import metrics
from csd.record import recording as record
from csd.record.recording import Recording, bundled, document, packed, parsed

RECORDING = Recording((alone(), nested()), "A fox", "story", "A note.", "One CPU", "2026-01-02")
KINDS = {"story", "word problem", "code", "edit", "list"}


def test_a_recording_comes_back_from_its_file():
    assert parsed(packed(RECORDING)) == RECORDING
    assert packed(RECORDING) == packed(RECORDING)
    assert parsed(json.dumps(document(RECORDING)).encode()) == RECORDING
    assert parsed(nested().to_json().encode()) == Recording((nested(),))


def test_what_comes_with_the_project():
    found = list(bundled().values())
    assert {one.kind for one in found} == KINDS and len(found) >= 6
    assert sum(file.stat().st_size for file in record.FOLDER.iterdir()) < 400_000
    slower = 0
    for one in found:
        lanes = {trace.header.method: trace for trace in one.traces}
        assert [*lanes][:2] == ["autoregressive", "speculative"] and len(lanes) == 3
        assert len({trace.tokens for trace in one.traces}) == 1, "greedy and coupled lanes write the same text"
        assert one.machine and one.date and one.title
        slower += metrics.speed(one.traces[2]) < metrics.speed(lanes["speculative"])
    assert slower, "one race that the cascade loses"


# ---- what is refused


def altered(change) -> bytes:
    data = document(RECORDING)
    change(data["traces"][1])
    return json.dumps(data).encode()


def deep(trace) -> None:
    review = trace["steps"][0]["review"]
    for _ in range(40):
        review = {**review, "inner": [review]}
    trace["steps"][0]["review"] = review


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not even JSON"),
        (b"hello", "not even JSON"),
        (b"\xff\xfe\x00", "not even text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not even text"),
        (b"[" * 100_000, "not even JSON"),
        (b"[1]", "no saved race"),
        (b'{"a": 1}', "no saved race"),
        (b'{"traces": []}', "holds 0 traces"),
        (json.dumps({"traces": [alone().to_dict()] * 5}).encode(), "holds 5 traces"),
        (b'{"traces": [1]}', "no trace of version 1"),
        (b'{"traces": [{"version": 2}]}', "no trace of version 1"),
        (b" " * (record.LARGEST + 1), "too large"),
        (gzip.compress(b" " * (record.LARGEST + 1)), "too large"),
        (packed(RECORDING)[:50], "not even JSON"),
        (b"\x1f\x8bnothing", "cannot be unpacked"),
    ],
)
def test_what_is_no_race_gets_a_sentence(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        parsed(data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.pop("steps"), "damaged"),
        (lambda t: t["header"].update(max_new="64"), "max_new is not"),
        (lambda t: t["header"].update(text=["a"]), "text is not"),
        (lambda t: t["header"].update(prompt="ab"), "prompt is not"),
        (lambda t: t["header"].update(levels=[]), "levels"),
        (lambda t: t["header"].update(method="<b>x</b>"), "has a name that is none"),
        (lambda t: t["header"].update(text="other"), "different prompts"),
        (lambda t: t.update(end="<i>"), "how it ended"),
        (lambda t: t["pieces"].update({"1": [256]}), "bytes that are none"),
        (lambda t: t["pieces"].update({"1": {"a": 1}}), "damaged|pieces"),
        (lambda t: t["pieces"].pop("9"), "no text"),
        (lambda t: t["steps"][0].update(seconds=float("nan")), "seconds is not"),
        (lambda t: t["steps"][0].update(start=1e9), "follow one another"),
        (lambda t: t["steps"][0].update(tokens=[9, 9]), "what its review made"),
        (lambda t: t["steps"][0].update(authors=["mid"] * 3 + ["nobody"]), "written by nobody"),
        (lambda t: t["steps"][0]["review"].update(at=7), "follow one another"),
        (lambda t: t["steps"][1]["review"].update(accepted=9), "made of the draft|than it was shown"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(accepted=-1), "than it was shown"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(at=10**6), "no place or time"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(by="nobody"), "written by nobody"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(extra=1), "damaged"),
        (lambda t: t["prefill"][0].update(seconds=-1), "reading of the prompt"),
        (deep, "too deeply"),
    ],
)
def test_a_damaged_trace_gets_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        parsed(altered(change))


def test_half_a_surrogate_pair_is_mended():
    def hurt(trace):
        trace["pieces"]["9"] = "\ud83d"

    found = parsed(altered(hurt))
    assert found.traces[1].pieces[9] == "?"
    packed(found)
