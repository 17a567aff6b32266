"""GGUF files as models: the same model as its folder, and files that cannot be used are refused in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import Mock

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, dequantize, quantize
from tiny_family import refusal
from tiny_gguf import hub_tokenizer, tiny_llama, write_gguf

from csd.decoding.tokens import TokenSequence
from csd.models.family import Family
from csd.models.loading import load_family
from csd.models.spec import custom


@pytest.fixture(scope="module")
def tokenizer():
    return hub_tokenizer("smollm")


IDS = [7 * i % 290 for i in range(60)]


def rows(family: Family) -> torch.Tensor:
    session = family.session("target", len(IDS))
    found = session.logits(TokenSequence(IDS), 1).clone()
    session.close()
    return found


def from_folder(folder: Path, model, tokenizer) -> Family:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_family(custom(str(folder)), "cpu", "float64")


@pytest.mark.parametrize("tied", [True, False])
def test_a_file_is_the_model_of_its_folder(tmp_path, tokenizer, tied):
    model = tiny_llama(tie_word_embeddings=tied)
    one = load_family(custom(write_gguf(tmp_path / "it.gguf", model, tokenizer, "smollm")), "cpu", "float64")
    other = from_folder(tmp_path / "folder", model, tokenizer)
    torch.testing.assert_close(rows(one), rows(other), rtol=0, atol=1e-9)
    assert one.spec.target.parameters == other.spec.target.parameters == model.num_parameters()
    assert (one.eos, one.vocab, one.context, one.chat) == (other.eos, other.vocab, other.context, other.chat)
    assert one.encode("a 12\n\n3") == other.encode("a 12\n\n3")
    assert not any("quantised" in note for note in one.notes)


def test_a_quantised_file_says_so_and_has_the_dequantised_weights(tmp_path, tokenizer):
    model, kind = tiny_llama(), GGMLQuantizationType.Q8_0
    path = write_gguf(tmp_path / "small.Q8_0.gguf", model, tokenizer, "smollm", quantised=kind)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() == 2:
                weights.copy_(torch.from_numpy(dequantize(quantize(weights.numpy(), kind), kind)))
    family = load_family(custom(path), "cpu", "float64")
    expected = rows(from_folder(tmp_path / "folder", model, tokenizer))
    torch.testing.assert_close(rows(family), expected, rtol=0, atol=1e-9)
    assert "The big model’s weights come from a quantised file (small.Q8_0.gguf, Q8_0)." in family.notes


def test_the_header_is_read_once_and_the_names_of_tensors_are_made_once(tmp_path, tokenizer, monkeypatch):
    path = write_gguf(tmp_path / "it.gguf", tiny_llama(), tokenizer, "smollm")
    read = Mock(wraps=gguf.GGUFReader._build_fields)
    named = Mock(wraps=gguf.TensorNameMap.__init__)
    monkeypatch.setattr(gguf.GGUFReader, "_build_fields", lambda *args: read(*args))
    monkeypatch.setattr(gguf.TensorNameMap, "__init__", lambda *args: named(*args))
    for loads in (1, 2):  # nothing is kept for the next load: the file may be another by then
        load_family(custom(path), "cpu")
        assert read.call_count == loads
        assert named.call_count <= loads  # a transformers that needs no such table is as good
    assert gguf.GGUFReader is gguf.gguf_reader.GGUFReader
    assert gguf.get_tensor_name_map is gguf.tensor_mapping.get_tensor_name_map


def test_a_file_drafts_for_a_folder(tmp_path, tokenizer):
    tiny_llama().save_pretrained(tmp_path / "folder")
    tokenizer.save_pretrained(tmp_path / "folder")
    path = write_gguf(tmp_path / "draft.gguf", tiny_llama(num_hidden_layers=1), tokenizer, "smollm")
    family = load_family(custom(str(tmp_path / "folder"), [path]), "cpu")
    assert [level.name for level in family.levels] == ["draft", "target"]
    assert not any("splits text differently" in note for note in family.notes)


def test_all_ids_that_end_a_turn_count(tmp_path, tokenizer):
    path = write_gguf(tmp_path / "it.gguf", tiny_llama(), tokenizer, "smollm", eot_token_id=9)
    assert load_family(custom(path), "cpu").eos == {0, 9}


def test_llama_3s_scaled_positions(tmp_path, tokenizer):
    """transformers ignores the divisors that such a file stores; without them the model is another one."""
    rope = {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    wide = {"hidden_size": 64, "head_dim": 64, "num_attention_heads": 1, "num_key_value_heads": 1}
    model = tiny_llama(rope_parameters=rope, max_position_embeddings=16384, **wide)
    plain = 10000.0 ** -(np.arange(0, 64, 2) / 64)
    factors = (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
    assert abs(factors.min() - 1) < 1e-6 and factors.max() > 7.9
    extra = {"rope_freqs.weight": factors}
    path = write_gguf(tmp_path / "scaled.gguf", model, tokenizer, "smollm", tensors=extra)
    family = load_family(custom(path), "cpu", "float64")
    assert family.spec.target.parameters == model.num_parameters()
    torch.testing.assert_close(rows(family), rows(from_folder(tmp_path / "folder", model, tokenizer)))
    unscaled = load_family(custom(write_gguf(tmp_path / "plain.gguf", model, tokenizer, "smollm")), "cpu", "float64")
    assert (rows(family) - rows(unscaled)).abs().max() > 0.01
    odd = {"rope_freqs.weight": factors**2}
    path = write_gguf(tmp_path / "odd.gguf", model, tokenizer, "smollm", tensors=odd)
    assert "is not Llama 3's" in refusal(path)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [("rope_factors_long.weight", "stretches its positions"), ("blk.0.attn_q.bias", "finds a place for")],
)
def test_tensors_that_transformers_would_drop(tmp_path, tokenizer, tensor, said):
    extra = {tensor: np.ones(32, np.float32)}
    assert said in refusal(write_gguf(tmp_path / "it.gguf", tiny_llama(), tokenizer, "smollm", tensors=extra))


def test_files_that_are_no_models(tmp_path, tokenizer, monkeypatch):
    assert "There is no file nowhere.gguf" in refusal("nowhere.gguf")
    (tmp_path / "text.gguf").write_text("once upon a time")
    assert "is not a GGUF file" in refusal(str(tmp_path / "text.gguf"))
    path = Path(write_gguf(tmp_path / "whole.gguf", tiny_llama(), tokenizer, "smollm"))
    for share in (0.01, 0.3, 0.9):
        (tmp_path / "cut.gguf").write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        assert "is damaged or incomplete" in refusal(str(tmp_path / "cut.gguf"))
    foreign = path.read_bytes().replace(b"llama", b"lamma")
    (tmp_path / "foreign.gguf").write_bytes(foreign)
    assert "architecture lamma are not supported" in refusal(str(tmp_path / "foreign.gguf"))
    assert f"Name the GGUF file itself: {tmp_path / 'cut.gguf'}" in refusal(str(tmp_path))
    monkeypatch.setitem(sys.modules, "gguf", None)
    assert "pip install gguf" in refusal(str(path))


def test_a_part_of_several(tmp_path, tokenizer):
    path = write_gguf(tmp_path / "1-of-2.gguf", tiny_llama(), tokenizer, "smollm", **{"tokenizer.x": 1})
    data = Path(path).read_bytes().replace(b"tokenizer.x", b"split.count")
    at = data.index(b"split.count") + len(b"split.count") + 4
    Path(path).write_bytes(data[:at] + b"\x02" + data[at + 1 :])
    assert "is one part of several" in refusal(path)
