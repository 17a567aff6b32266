"""Recordings: those that come with the project, the command that makes them, and what is refused of a file."""

from __future__ import annotations

import gzip
import json
from types import SimpleNamespace

import pytest
from test_replay import alone, nested
from typer.testing import CliRunner

import csd.models.family
from csd.cli import recorder
from csd.cli.commands import app
from csd.record import metrics
from csd.record import recording as record
from csd.record.recording import Recording, bundled, document, packed, parsed
from csd.run import LaneFinished, Request

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
        assert one.machine and one.date and one.title and one.note == recorder.note_of(one.traces)
        slower += metrics.speed(one.traces[2]) < metrics.speed(lanes["speculative"])
    assert slower, "one race that the cascade loses"


def test_the_note_is_what_was_measured():
    def lane(method, seconds):
        trace = alone(seconds=seconds)
        return type(trace)(
            type(trace.header)(
                **{**{name: getattr(trace.header, name) for name in trace.header.__slots__}, "method": method}
            ),
            trace.prefill,
            trace.steps,
            trace.end,
            trace.pieces,
        )

    assert "slower than speculative decoding: 0.50 times" in recorder.note_of(
        (lane("speculative", 0.1), lane("cascade", 0.2))
    )
    assert "2.00 times as fast" in recorder.note_of((lane("speculative", 0.2), lane("cascade", 0.1)))
    assert "about as fast" in recorder.note_of((lane("speculative", 0.1), lane("cascade", 0.1)))
    assert recorder.note_of((lane("autoregressive", 0.1),)) == ""


# ---- the command


@pytest.fixture
def raced(monkeypatch):
    """Settings of every race that `record` runs; nothing is loaded and nothing computes."""
    seen: list[Request] = []

    def race(family, settings, stopped):
        seen.append(settings)
        yield LaneFinished(1, nested())
        yield LaneFinished(0, alone())

    monkeypatch.setattr(recorder, "run_race", race)
    model = SimpleNamespace(spec=csd.models.family.find("embedded"), device="cpu", dtype="float32", notes=())
    monkeypatch.setattr(csd.models.family, "open_family", lambda *_, **__: model)
    return seen


def test_the_command_runs_every_take_once_warm_and_replaces_the_old_ones(raced, tmp_path):
    (tmp_path / f"9-old{record.SUFFIX}").write_bytes(b"")
    done = CliRunner().invoke(app, ["record", "--max-new", "48", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = bundled(tmp_path)
    assert [one.kind for one in found.values()] == [take.kind for take in recorder.TAKES]
    assert all(one.traces == (alone(), nested()) for one in found.values())
    assert [one.max_new for one in raced] == [recorder.WARM, 48] * len(recorder.TAKES)
    paper = raced[-1].methods
    assert (paper[1].k, paper[2].K) == (5, ((5, 19, 29), (0, 1, 11), (0, 0, 10)))
    assert "paper's K" in list(found.values())[-1].title
    kinds = [[method.name for method in one.methods] for one in raced]
    assert (
        kinds
        == [["autoregressive", "speculative", "adaptive cascade"]] * (len(raced) - 2)
        + [["autoregressive", "speculative", "cascade"]] * 2
    )


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
        (b'{"traces": [1]}', "not a trace of version"),
        (b'{"traces": [{"version": 3}]}', "not a trace of version"),
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
        (lambda t: t["header"].update(max_new="64"), "max_new: Input should be a valid integer"),
        (lambda t: t["header"].update(text=["a"]), "text: Input should be a valid string"),
        (lambda t: t["header"].update(prompt="ab"), "prompt: Input should be a valid"),
        (lambda t: t["header"].update(levels=[]), "levels"),
        (lambda t: t["header"].update(method="<b>x</b>"), "has a name that is none"),
        (lambda t: t["header"].update(text="other"), "different prompts"),
        (lambda t: t.update(end="<i>"), "how it ended"),
        (lambda t: t["pieces"].update({"1": [256]}), "bytes that are none"),
        (lambda t: t["pieces"].update({"1": {"a": 1}}), "damaged|pieces"),
        (lambda t: t["pieces"].pop("9"), "no text"),
        (lambda t: t["steps"][0].update(seconds=float("nan")), "seconds: Input should be a finite number"),
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
