"""Traces of version 1: the recorded races are such files, and every method's settings move to where they are today."""

from __future__ import annotations

import gzip
import json

import pytest

from csd.decoding.methods import METHODS, Speculative, restore_method, title
from csd.models.catalog import find
from csd.record.recording import FOLDER, SUFFIX, Recording
from csd.record.trace import Trace
from csd.record.upgrade import VERSION, upgrade

FILES = sorted(FOLDER.glob(f"*{SUFFIX}"))
LEVELS = [
    {"name": name, "level": level, "model": "", "parameters": 0, "dtype": ""}
    for name, level in (("MaxGram", 0), ("Bigram", 0), ("small", 1), ("mid", 2), ("target", 3))
]


def version_1(method: str, title: str, K=(), k=0, draft="", lenience=1.0) -> dict:
    header = {
        "method": method, "title": title, "family": "toy", "levels": LEVELS, "prompt": [1], "text": "a", "max_new": 9,
        "eos": [], "rule": "greedy", "temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0, "lenience": lenience,
        "K": K, "k": k, "draft": draft, "device": "cpu", "dtype": "float32", "versions": {},
    }  # fmt: skip
    return {"version": 1, "header": header, "prefill": [], "steps": [], "end": "stopped", "pieces": {"1": "a"}}


K = [[2, 6, 10], [0, 4, 8], [0, 0, 8]]
VERTICAL, HORIZONTAL = [[2, 2, 2], [0, 4, 4], [0, 0, 8]], [[2, 6, 10], [0, 0, 0], [0, 0, 0]]
DRAFTS = ["mid", "small"]


@pytest.mark.parametrize(
    ("trace", "method", "settings"),
    [
        (version_1("autoregressive", "autoregressive"), "autoregressive", {}),
        (version_1("speculative", "speculative, mid, k=4", k=4, draft="mid"), "speculative", {"draft": "mid", "k": 4}),
        (version_1("prompt lookup", "prompt lookup, k=8", k=8), "prompt lookup", {"k": 8}),
        (
            version_1("cascade", "cascade, K=[[2,6,10],[0,4,8],[0,0,8]], l=3", K, lenience=3.0),
            "cascade",
            {"drafts": DRAFTS, "K": K, "lenience": 3.0},
        ),
        (
            version_1("vertical", "vertical, k=2,4,8", VERTICAL),
            "vertical cascade",
            {"drafts": DRAFTS, "ks": [2, 4, 8], "lenience": 1.0},
        ),
        (
            version_1("horizontal", "horizontal, k=2,6,10", HORIZONTAL),
            "horizontal cascade",
            {"drafts": DRAFTS, "ks": [2, 6, 10]},
        ),
        (
            version_1("adaptive", "adaptive, mid over small over Max-Gram"),
            "adaptive cascade",
            {"drafts": DRAFTS, "lenience": 1.0},
        ),
    ],
)
def test_every_method_of_version_1(trace, method, settings):
    header = Trace.from_dict(trace).header
    assert (header.method, header.settings) == (method, settings)
    restored = restore_method(header.method, header.settings)
    restored.check(header.drafts)
    assert title(restored) == header.title


def test_todays_traces_stay_as_they_are():
    trace = Trace.from_dict(version_1("prompt lookup", "prompt lookup, k=8", k=8))
    data = trace.to_dict()
    assert data["version"] == VERSION
    assert upgrade(data) == {name: value for name, value in data.items() if name != "version"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(SUFFIX))
def test_the_recorded_races_can_be_read_and_their_methods_restored(file):
    packed = file.read_bytes()
    recording = Recording.from_bytes(packed)
    raw = json.loads(gzip.decompress(packed))["traces"]
    for trace, data in zip(recording.traces, raw, strict=True):
        method = restore_method(trace.header.method, trace.header.settings)
        method.check(trace.header.drafts)
        assert (
            trace.header.method in METHODS
            and trace.header.drafts == find(trace.header.family.partition(",")[0]).draft_names
        )
        assert list(trace.tokens) == [token for step in data["steps"] for token in step["tokens"]]
        assert trace.header.text == data["header"]["text"]
        if data["version"] == 1:
            assert trace.header.label == data["header"]["title"].partition(", ")[2]
        assert Trace.from_json(trace.to_json()) == trace
    assert isinstance(
        restore_method(recording.traces[1].header.method, recording.traces[1].header.settings), Speculative
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("title"),
        lambda header: header.pop("K"),
        lambda header: header.update(title=3),
        lambda header: header.update(method=["cascade"]),
        lambda header: header.update(levels=[{"name": "x", "level": 1, "colour": 3}]),
        lambda header: header.update(levels=[{"name": "x"}]),
        lambda header: header.update(levels=5),
        lambda header: header.update(method="vertical", K=[[1], []]),
        lambda header: header.update(method="horizontal", K=[]),
        lambda header: header.update(levels=[{"name": "a", "level": 1}, {"name": "b", "level": "2"}]),
    ],
)
def test_a_damaged_trace_of_version_1_gets_a_sentence(change):
    trace = version_1("cascade", "cascade, K", K)
    change(trace["header"])
    with pytest.raises(ValueError, match="This trace is damaged"):
        Trace.from_dict(trace)
