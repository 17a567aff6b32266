"""A loaded family: its levels, sessions, notes and limits."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest
import torch
from tiny_family import byte_level, refusal, save
from transformers import AutoModelForCausalLM

from csd.decoding.tokens import TokenSequence
from csd.models import device, hub
from csd.models.bigram import NONE
from csd.models.catalog import READY
from csd.models.device import memory_free
from csd.models.loading import load_family
from csd.models.memory import MAX_CONTEXT
from csd.models.spec import custom

ROOT = Path(__file__).resolve().parents[2]


def test_embedded_is_first_and_sizes_are_true(embedded):
    assert READY[0].name == "embedded"
    for spec, seen in zip(READY[0].models, embedded.spec.models, strict=True):
        model = embedded.reference(spec.name)
        assert (spec.parameters, spec.cache, spec.context) == (model.num_parameters(), seen.cache, seen.context)


def test_embedded_loads(embedded):
    assert [(level.name, level.level) for level in embedded.levels] == [
        ("tiny", 1),
        ("small", 2),
        ("target", 3),
    ]
    assert list(embedded.backends) == [level.name for level in embedded.levels]
    assert (embedded.context, embedded.vocab, embedded.eos, embedded.dtype) == (1024, 8192, {0}, "float32")
    assert embedded.notes == ()
    assert not any(weight.requires_grad for weight in embedded.reference("target").parameters())
    # no absolute path of a machine in a trace
    assert all(Path(level.model).parts[0] == "assets" for level in embedded.levels)


def test_drafts_by_name_are_strongest_first(embedded, pair):
    assert embedded.draft_names == embedded.spec.draft_names == ("small", "tiny")
    assert load_family(custom(pair[0]), "cpu").draft_names == ()


@pytest.mark.parametrize("name", ["target", "small", "tiny"])
def test_each_embedded_folder_loads_by_itself(name):
    model = AutoModelForCausalLM.from_pretrained(ROOT / "assets" / "family" / name)
    assert model.config.vocab_size == 8192


def test_folders_load_through_the_same_code(pair):
    said = []
    family = load_family(custom(pair[0], pair[1:]), "cpu", "float64", said.append)
    assert [level.name for level in family.levels] == ["small", "target"]
    assert family.vocab == 304  # the smaller of the two paddings, over a tokenizer of 280
    assert family.eos == {0, 7}
    assert family.contexts == {"small": 32, "target": 64}
    assert family.notes[-1] == "small reads 32 tokens and the target 64; in longer texts it is skipped."
    assert family.bigram is None
    assert NONE in family.notes
    assert "loading target (1 of 2)" in said
    assert "loading small (2 of 2)" in said
    assert {family.reference(name).dtype for name in family.backends} == {torch.float64}
    assert family.reference("target").config._attn_implementation == "sdpa"
    assert family.spec.target.parameters == family.reference("target").num_parameters()


def test_sessions_are_separate_and_as_wide_as_the_vocabulary(pair):
    family = load_family(custom(pair[0], pair[1:]), "cpu", "float64")
    ids = list(family.encode("the fox and the owl"))
    rows = family.session("target", 64).logits(TokenSequence(ids), len(ids)).clone()
    other = family.session("target", 64).logits(TokenSequence(ids[:3]), 3)
    assert rows.shape == other.shape == (1, family.vocab)
    with torch.inference_mode():
        expected = family.reference("target")(torch.tensor([ids])).logits[0, -1, : family.vocab]
    torch.testing.assert_close(rows[0], expected)


def test_closing_a_session_releases_its_lane(embedded):
    session = embedded.session("tiny", 20)
    session.prefill(TokenSequence([1, 2, 3]))
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.prefill(TokenSequence([1, 2, 3]))


def test_weights_that_the_lean_forward_has_packed_are_given_back(pair, monkeypatch):
    loaded, load = [], hub.load_weights

    def noted(*args):
        model = load(*args)
        loaded.append(weakref.ref(model))
        return model

    monkeypatch.setattr(hub, "load_weights", noted)
    family = load_family(custom(pair[0], pair[1:]), "cpu")
    assert [model() for model in loaded] == [None, None]
    one = family.reference("target")
    assert family.reference("target") is one  # loaded again, and shared while somebody keeps it
    assert len(loaded) == 3


def test_a_model_that_its_backend_runs_stays(pair):
    config = Path(pair[0], "config.json")
    config.write_text(config.read_text().replace('"silu"', '"gelu"'))  # not what the lean forward computes
    family = load_family(custom(pair[0]), "cpu")
    assert family.reference("target") is family.backends["target"].model


def test_a_target_needs_no_draft(pair):
    family = load_family(custom(pair[0]), "cpu")
    assert [level.name for level in family.levels] == ["target"]


def test_a_longer_context_is_cut(tmp_path):
    target = save(tmp_path / "long", byte_level(), max_position_embeddings=2 * MAX_CONTEXT)
    assert load_family(custom(target), "cpu").context == MAX_CONTEXT


def test_memory_is_checked_before_weights_are_loaded(pair, monkeypatch):
    monkeypatch.setattr(device, "memory_free", lambda device: 10 * 2**20)
    monkeypatch.setattr(hub, "load_weights", None)
    assert "needs about 51" in refusal(*pair)
    assert "cpu has 10 MiB free" in refusal(*pair)


def test_an_unknown_size_loads_with_a_note(pair, monkeypatch):
    monkeypatch.setattr(hub, "count_parameters", lambda model, files: 0)
    assert "size of this family is unknown" in load_family(custom(pair[0]), "cpu").notes[0]


@pytest.mark.gpu
def test_on_a_gpu(pair, tmp_path, monkeypatch):
    monkeypatch.setenv("CSD_HOME", str(tmp_path / "home"))
    family = load_family(custom(pair[0], pair[1:]))
    assert (family.device, family.dtype) == ("cuda", "bfloat16")
    assert family.reference("target").device.type == "cuda"
    assert 0 < memory_free("cuda") < 2**42
    assert len(family.bigram) == family.vocab
    assert len(list((tmp_path / "home" / "bigram").iterdir())) == 1
