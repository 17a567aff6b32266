"""The bigram table: what it holds, and that a file is only believed where it fits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from csd.models import bigram
from csd.models.catalog import READY, FamilySpec, ModelSpec
from csd.models.family import open_family

TABLE = Path(__file__).resolve().parents[2] / "assets" / "family" / "bigram.json"


@pytest.fixture(scope="module")
def tiny():
    torch.manual_seed(1)
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=60, max_position_embeddings=8, **shape)).double().eval()


def test_each_entry_is_the_best_follower(tiny):
    table = bigram.build(tiny, 50, batch=7)
    with torch.inference_mode():
        expected = [int(tiny(torch.tensor([[id]])).logits[0, 0, :50].argmax()) for id in range(50)]
    assert list(table) == expected


def test_opening_ids_stand_in_front(tiny):
    table = bigram.build(tiny, 60, before=(3, 4))
    with torch.inference_mode():
        expected = [int(tiny(torch.tensor([[3, 4, id]])).logits[0, 2].argmax()) for id in range(60)]
    assert list(table) == expected
    assert table != bigram.build(tiny, 60)


@pytest.mark.slow
def test_the_committed_table_is_the_targets():
    family = open_family(READY[0], "cpu")
    assert len(family.bigram) == family.vocab
    ids = range(0, family.vocab, 23)
    found = bigram.followers(family.models["target"], ids, family.vocab)
    # A rounding may turn a near tie on another machine; everything else must be equal.
    unequal = [id for id, follower in zip(ids, found) if family.bigram[id] != follower]
    with torch.inference_mode():
        for id in unequal:
            row = family.models["target"](torch.tensor([[id]])).logits[0, 0]
            assert row.max() - row[family.bigram[id]] < 1e-4
    assert list(family.bigram) == json.loads(TABLE.read_text())


def test_writing_and_reading(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = FamilySpec("big", ModelSpec("target", "org/big"))
    family = SimpleNamespace(models={"target": tiny}, spec=spec, commit="c0ffee", vocab=60, opening=())
    place = bigram.write(family)
    assert place == bigram.cached(spec.target, "c0ffee", 60)
    assert place.is_relative_to(tmp_path)
    assert bigram.read(place, 60) == bigram.build(tiny, 60)
    assert [path.name for path in place.parent.iterdir()] == [place.name]  # nothing half-written stays
    assert bigram.write(family, tmp_path / "table.json") == tmp_path / "table.json"
    family.spec = replace(spec, bigram=str(tmp_path / "ready.json"))  # a family with a ready table renews that one
    assert bigram.write(family) == tmp_path / "ready.json"


def test_places_differ_by_id_commit_and_vocabulary(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    one, other = ModelSpec("target", "org/big"), ModelSpec("target", "org/other")
    places = {bigram.cached(*key) for key in ((one, "a", 9), (other, "a", 9), (one, "b", 9), (one, "a", 8))}
    assert len(places) == 4


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, 2]", "[1, 2, 3]", '[1, 2, "0"]', "[0, 1, -1]"])
def test_a_file_that_does_not_fit_is_not_believed(tmp_path, text):
    (tmp_path / "table.json").write_text(text)
    assert bigram.read(tmp_path / "table.json", 3) is None
    assert bigram.read(tmp_path / "none.json", 3) is None
