"""The bigram table: what it contains, and that a file is used only if it matches the vocabulary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from csd.models import bigram, checksums
from csd.models.catalog import READY
from csd.models.spec import FamilySpec, ModelSpec

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


def test_opening_ids_come_first(tiny):
    table = bigram.build(tiny, 60, opening=(3, 4))
    with torch.inference_mode():
        expected = [int(tiny(torch.tensor([[3, 4, id]])).logits[0, 2].argmax()) for id in range(60)]
    assert list(table) == expected
    assert table != bigram.build(tiny, 60)


@pytest.mark.slow
def test_the_committed_table_is_the_targets(embedded):
    assert len(embedded.bigram) == embedded.vocab
    ids, target = range(0, embedded.vocab, 23), embedded.reference("target")
    found = bigram.followers(target, ids, embedded.vocab)
    # A rounding may turn a near tie on another machine; everything else must be equal.
    unequal = [id for id, follower in zip(ids, found) if embedded.bigram[id] != follower]
    with torch.inference_mode():
        for id in unequal:
            row = target(torch.tensor([[id]])).logits[0, 0]
            assert row.max() - row[embedded.bigram[id]] < 1e-4
    assert list(embedded.bigram) == json.loads(TABLE.read_text())


def test_writing_and_reading(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    path = bigram.table_path(family_of("org/big"), "c0ffee", 60)
    assert path.is_relative_to(tmp_path)
    bigram.write(tiny, 60, (), path)
    assert bigram.read(path, 60) == bigram.build(tiny, 60)
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # no temporary file is left


def family_of(id: str) -> FamilySpec:
    return FamilySpec("big", ModelSpec("target", id))


def test_a_family_with_a_prebuilt_table_renews_that_one(tmp_path):
    spec = replace(family_of("org/big"), bigram=str(tmp_path / "ready.json"))
    assert bigram.table_path(spec, "c0ffee", 60) == tmp_path / "ready.json"
    assert bigram.table_path(READY[0], "", 8192) == TABLE


def test_paths_differ_by_id_commit_and_vocabulary(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    one, other = family_of("org/big"), family_of("org/other")
    paths = {bigram.table_path(*key) for key in ((one, "a", 9), (other, "a", 9), (one, "b", 9), (one, "a", 8))}
    assert len(paths) == 4


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, 2]", "[1, 2, 3]", '[1, 2, "0"]', "[0, 1, -1]", "[" * 10**5])
def test_a_damaged_table_is_said_and_not_used(tmp_path, text, caplog):
    path = tmp_path / "table.json"
    path.write_text(text)
    found, (note,) = bigram.find_table(path, 3, lambda: pytest.fail("a file that is there is not replaced"))
    assert found is None and note.startswith("The bigram table table.json is damaged. Write a new one with `python -m")
    assert "table.json is damaged" in caplog.text


def test_a_table_that_is_not_there_is_built_where_that_is_quick(tmp_path):
    path = tmp_path / "table.json"
    assert bigram.find_table(path, 3) == (None, (bigram.NONE,))
    assert bigram.find_table(path, 3, lambda: (2, 0, 1)) == ((2, 0, 1), ())
    assert bigram.find_table(path, 3) == ((2, 0, 1), ())


def test_another_table_than_the_shipped_one_is_used_and_said(tmp_path, monkeypatch):
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  table.json\n")
    monkeypatch.setattr(checksums, "SUMS", sums)
    bigram.save((2, 0, 1), tmp_path / "table.json")
    found, (note,) = bigram.find_table(tmp_path / "table.json", 3)
    assert found == (2, 0, 1) and "is not the one that was shipped" in note
