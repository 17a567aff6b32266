"""The record of tuning in its file: written, found again, and passed over where it does not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from csd.decoding.adaptive.prior import ANY, Prior
from csd.decoding.methods import METHODS, AdaptiveCascade, Cascade, Speculative
from csd.models import catalog, checksums
from csd.models.spec import ModelSpec
from csd.paths import ROOT
from csd.request import tuned
from csd.request.defaults import defaults_for
from csd.request.tuned import Tuned


def record(**changes) -> Tuned:
    own = Tuned(
        "embedded", "cpu", "float32", "a machine", "2026-11-20", 3, "small", 7, 8,
        ((1, 2, 3), (0, 1, 2), (0, 0, 1)), 1.0, Prior(drafts={"small": (0.5,) * (ANY + 1)}),
        {"small": (0.9, 0.8)}, {"cascade": 2.0},
    )  # fmt: skip
    return replace(own, **changes)


def test_the_record_of_this_machine_comes_before_the_shipped_one(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("embedded")
    assert tuned.find_tuned(spec).k != 7  # the shipped one
    tuned.save_tuned(record(), tuned.tuned_path(spec, "cpu"))
    assert tuned.find_tuned(spec, "cpu") == tuned.find_tuned(spec) == record()
    assert tuned.find_tuned(spec, "cuda:1").k != 7  # that was another device
    tuned.save_tuned(record(), tuned.tuned_path(spec, "cuda"))
    assert tuned.find_tuned(spec, "split") == record()  # over GPUs
    assert tuned.find_tuned(catalog.find("Qwen3")) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"prior": 3}', json.dumps({**json.loads(record().to_json()), "K": [[1, 2], [3, 4]]}),
     json.dumps({**json.loads(record().to_json()), "prior": {"copies": [0.1], "drafts": {"d": [0.5]}, "unknown": [0.5]}})],
)  # fmt: skip
def test_a_damaged_record_is_passed_over(monkeypatch, tmp_path, text):
    with pytest.raises(ValueError, match="not a tuning record"):
        Tuned.from_json(text)
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("Qwen3")
    place = tuned.tuned_path(spec, "cpu")
    place.parent.mkdir(parents=True)
    place.write_text(text)
    said: list[str] = []
    assert tuned.find_tuned(spec, "cpu", said.append) is None
    assert said == [f"The tuning record {place.name} is damaged and not used. {tuned.MENDED}"]
    assert defaults_for(spec, "cpu").faults == (said[0],) and defaults_for(spec, "cuda").faults == ()


def test_a_shipped_record_with_other_content_is_said(monkeypatch, tmp_path):
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  tuned.json\n")
    monkeypatch.setattr(checksums, "SUMS", sums)
    (tmp_path / "tuned.json").write_text(record().to_json())
    spec = replace(catalog.find("Qwen3"), tuned=str(tmp_path / "tuned.json"))
    said: list[str] = []
    assert tuned.find_tuned(spec, "cpu", said.append) is None and "tuned.json is damaged" in said[0]


def test_a_record_for_other_drafts_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("embedded")
    tuned.save_tuned(record(draft="somebody"), tuned.tuned_path(spec, "cpu"))
    assert tuned.find_tuned(spec, "cpu").draft == "small" and tuned.find_tuned(spec, "cpu").k != 7


@pytest.mark.parametrize("name", ["embedded", "smollm2"])
def test_the_shipped_record_suits_its_family(name):
    spec = catalog.find(name)
    shipped = Tuned.from_json((ROOT / spec.tuned).read_text(encoding="utf-8"))
    drafts = tuple(draft.name for draft in spec.drafts)
    Speculative(shipped.draft, shipped.k).check(drafts)
    Cascade(drafts, shipped.K, shipped.lenience).check(drafts)
    AdaptiveCascade(drafts, prior=shipped.prior).check(drafts)
    assert set(shipped.prior.drafts) == set(drafts) and shipped.machine and shipped.speedups[Cascade.name] > 1
    assert set(shipped.speedups) <= set(METHODS)


def test_a_place_is_told_by_the_models(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    one, other = (SimpleNamespace(models=(ModelSpec("target", id),)) for id in ("a", "b"))
    assert len({tuned.tuned_path(one, "cpu"), tuned.tuned_path(other, "cpu"), tuned.tuned_path(one, "cuda")}) == 3
