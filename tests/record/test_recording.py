"""Recordings: those that come with the project, and what is refused of a file."""

from __future__ import annotations

import gzip
import json

import pytest
from handmade import alone, nested

from csd.record import metrics
from csd.record import recording as record
from csd.record.race import Race
from csd.record.recording import Recording, bundled_recordings

RECORDING = Recording((alone(), nested()), "A fox", "story", "A note.", "One CPU", "2026-01-02")
KINDS = {"story", "word problem", "code", "edit", "list", "explain", "rewrite"}


def test_a_recording_comes_back_from_its_file():
    assert Recording.from_bytes(RECORDING.to_gzip()) == RECORDING
    assert RECORDING.to_gzip() == RECORDING.to_gzip()
    assert Recording.from_bytes(json.dumps(RECORDING.to_dict()).encode()) == RECORDING
    assert Recording.from_bytes(nested().to_json().encode()) == Recording((nested(),))


def test_what_comes_with_the_project():
    found = list(bundled_recordings().values())
    assert {one.kind for one in found} == KINDS and len(found) >= 6
    first = Race(found[0].traces)
    speedups = [first.speedup(trace) for trace in first.traces]
    assert max(speedups) == speedups[-1] > 2, "the page begins with a cascade that wins"
    assert first.traces[2].header.method == "prompt lookup" and speedups[2] < 1.3, "and copying alone does not"
    assert sum(file.stat().st_size for file in record.FOLDER.iterdir()) < 400_000
    slower = 0
    for one in found:
        lanes = {trace.header.method: trace for trace in one.traces}
        assert [*lanes][:2] == ["autoregressive", "speculative"] and len(lanes) in (3, 4)
        assert len({trace.tokens for trace in one.traces}) == 1, "greedy and coupled lanes write the same text"
        assert one.machine and one.date and one.title
        slower += metrics.speed(one.traces[-1]) < metrics.speed(lanes["speculative"])
    assert slower, "one race that the cascade loses"


def test_a_damaged_recording_is_left_out_and_named(tmp_path, caplog):
    (tmp_path / "1-good.json.gz").write_bytes(RECORDING.to_gzip())
    (tmp_path / "2-cut.json.gz").write_bytes(RECORDING.to_gzip()[:50])
    (tmp_path / "3-odd.json.gz").write_bytes(b'{"traces": [1]}')
    (tmp_path / "4-folder.json.gz").mkdir()
    (tmp_path / "5-good.json.gz").write_bytes(RECORDING.to_gzip())
    assert list(bundled_recordings(tmp_path)) == ["1-good", "5-good"]
    for name in ("2-cut.json.gz", "3-odd.json.gz", "4-folder.json.gz"):
        assert f"The recorded race {name} is left out." in caplog.text


# ---- what is refused


def altered(change) -> bytes:
    data = RECORDING.to_dict()
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
        (b"", "it is empty"),
        (b"hello", "not JSON"),
        (b"\xff\xfe\x00", "not text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not text"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1]", "not a saved race"),
        (b'{"a": 1}', "not a saved race"),
        (b'{"traces": []}', "contains 0 traces"),
        (json.dumps({"traces": [alone().to_dict()] * 5}).encode(), "contains 5 traces"),
        (b'{"traces": [1]}', "not a trace of version"),
        (b'{"traces": [{"version": 3}]}', "not a trace of version"),
        (b" " * (record.LARGEST + 1), "too large"),
        (gzip.compress(b" " * (record.LARGEST + 1)), "too large"),
        (RECORDING.to_gzip()[:50], "it is incomplete"),
        (b"\x1f\x8bnothing", "cannot be unpacked"),
    ],
)
def test_what_is_no_race_gets_a_sentence(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        Recording.from_bytes(data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.pop("steps"), "damaged"),
        (lambda t: t["header"].update(max_new="64"), "max_new should be a valid integer"),
        (lambda t: t["header"].update(text=["a"]), "text should be a valid string"),
        (lambda t: t["header"].update(prompt="ab"), "prompt should be a valid"),
        (lambda t: t["header"].update(levels=[]), "it has 0 levels"),
        (lambda t: t["header"].update(method="<b>x</b>"), "name of its method"),
        (lambda t: t["header"].update(text="other"), "different prompts"),
        (lambda t: t.update(end="<i>"), "end should be 'eos', 'budget' or 'stopped'"),
        (lambda t: t["pieces"].update({"1": [256]}), "out of range"),
        (lambda t: t["pieces"].update({"1": {"a": 1}}), "damaged|pieces"),
        (lambda t: t["pieces"].pop("9"), "no text"),
        (lambda t: t["steps"][0].update(seconds=float("nan")), "contains NaN"),
        (lambda t: t["steps"][0].update(start=1e6), "follow one another"),
        (lambda t: t["steps"][0].update(seconds=1e6), "follow one another"),
        (lambda t: t["steps"][-1].update(seconds=0), "take longer than the step"),
        (lambda t: t["steps"][0].update(start=1e9), "start should be less than or equal to 10000000"),
        (lambda t: t["steps"][0].update(tokens=[9, 9, 9, 9]), "not what its review accepted"),
        (lambda t: t["steps"][0].update(authors=["mid"] * 3 + ["nobody"]), "no author or an unknown one"),
        (lambda t: t["steps"][0]["review"].update(at=7), "follow one another"),
        (lambda t: t["steps"][1]["review"].update(accepted=9), "not what its review accepted|than it was shown"),
        (
            lambda t: t["steps"][0]["review"]["inner"][0].update(accepted=-1),
            "accepted should be greater than or equal to 0",
        ),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(at=10**6), "impossible position"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(by="nobody"), "no author or an unknown one"),
        (lambda t: t["steps"][0]["review"]["inner"][0].update(extra=1), "damaged"),
        (lambda t: t["prefill"][0].update(seconds=-1), "seconds should be greater than or equal to 0"),
        (lambda t: t["prefill"][0].update(by="nobody"), "prefill has an unknown level"),
        (lambda t: t["steps"][0].update(seconds=1e308), "seconds should be less than or equal to 10000000"),
        (lambda t: t["steps"][0]["review"].update(margin=1e300), "margin"),
        (lambda t: t["steps"][0]["review"].update(token=2**62), "token should be less"),
        (lambda t: t["pieces"].update({"1": "x" * 5000}), "at most 1000 characters"),
        (deep, "too deeply"),
    ],
)
def test_a_damaged_trace_gets_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Recording.from_bytes(altered(change))


def own_header(**changes):
    """Changes to the header of the only lane of a race, so that no other lane contradicts it."""

    def change(trace):
        trace["header"].update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.update(prefill=t["prefill"][:1] * 2049), "prefill should have at most 2048 items"),
        (lambda t: t.update(steps=t["steps"] * 5000), "it has 10,000 steps; at most 8,192 are read"),
        (
            lambda t: t["steps"][0]["review"].update(inner=t["steps"][0]["review"]["inner"][-1:] * 100_001),
            "at most 100,000",
        ),
        (own_header(levels=[{"name": f"l{i}", "level": 1} for i in range(101)]), "101 levels; a race has 1 to 100"),
        (own_header(levels=[{"name": "MaxGram", "level": 0}] * 2), "two of its levels have the same name"),
        (own_header(levels=[{"name": "target", "level": 100}]), "number of a level is out of range"),
        (own_header(levels=[{"name": "", "level": 0}]), "name of its method or of a level is empty"),
        (own_header(label="<b>k=4</b>"), "label is too long or has characters"),
        (own_header(label="k" * 4001), "label is too long"),
        (own_header(settings={"x": [[0] * 999] * 999}), "settings of its method are too long"),
        (own_header(settings={"x": ["x" * 10_000] * 999}), "settings of its method are too long"),
        (own_header(settings={"x": [[[[[[[[[1]]]]]]]]]}), "settings of its method are too long"),
        (own_header(settings={"k": 2**62}), "settings.k should be less than or equal to 64"),
        (own_header(settings={"k": -1}), "settings.k should be greater than or equal to 0"),
        (own_header(settings={"k": True}), "settings.k should be a valid integer"),
        (own_header(settings={"K": [[2**62]]}), "settings.K.0.0 should be less than or equal to 64"),
        (own_header(settings={"K": [[0] * 10**4]}), "settings.K.0 should have at most 7 items"),
        (own_header(settings={"K": [[0]] * 99}), "settings.K should have at most 7 items"),
        (own_header(settings={"ks": [65]}), "settings.ks.0 should be less than or equal to 64"),
        (own_header(settings={"lenience": 1e308}), "settings.lenience should be less"),
        (own_header(settings={"drafts": ["a"] * 7}), "settings.drafts should have at most 6 items"),
        (own_header(seed=2**53), "The seed must be a whole number from 0 to"),
        (own_header(top_k=2**31), "Top-k must be a whole number from 0 to"),
        (own_header(temperature=1e308), "Temperature must be 0 or a number from 0.001 to 10, not 1e\\+308"),
        (own_header(top_p=0.0), "Top-p must be a number above 0"),
        (own_header(text="x" * 500_001), "header.text should have at most 500000 characters"),
        (own_header(versions={str(i): "1" for i in range(101)}), "header.versions"),
        (own_header(max_new=0), "number of new tokens is out of range"),
        (own_header(max_new=2**31), "number of new tokens is out of range"),
        (own_header(max_new=6), "longer than its number of new tokens"),
        (lambda trace: trace["pieces"].pop("1"), "a token of the prompt has no text"),
        (lambda trace: trace["steps"][1]["review"].update(token=77), "not what its review|no text"),
        (lambda trace: trace["steps"][0]["review"]["inner"][0].update(token=77), "has no text"),
        (lambda trace: trace["steps"][0]["review"].update(p=[0.5] * 6), "more probabilities than tokens"),
        (lambda trace: trace["steps"][-1].update(tokens=[]), "not what its review accepted"),
    ],
)
def test_what_the_fields_must_satisfy(change, sentence):
    data = nested().to_dict()
    change(data)
    with pytest.raises(ValueError, match=f"This trace is damaged: .*{sentence}"):
        Recording.from_bytes(json.dumps(data).encode())


def test_a_title_is_one_line_of_text():
    data = {"traces": [alone().to_dict()], "title": "a\n b \ud83d" + "c" * 900, "note": ["x"], "machine": 7}
    found = Recording.from_bytes(json.dumps(data).encode())
    assert found.title.startswith("a b ?ccc") and len(found.title) == 500
    assert (found.note, found.machine) == ("", "")


def test_half_a_surrogate_pair_is_mended():
    def hurt(trace):
        trace["pieces"]["9"] = "\ud83d"

    found = Recording.from_bytes(altered(hurt))
    assert found.traces[1].pieces[9] == "?"
    found.to_gzip()
