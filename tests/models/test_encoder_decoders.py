"""A family of encoder-decoders: every tree writes autoregressive decoding's text, which is what transformers writes."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
import torch
from tiny_family import byte_level, refusal, save
from tiny_t5 import ROWS, make_t5, save_t5, t5_tokenizer
from toy import records_of
from transformers import AutoModelForSeq2SeqLM
from variants import variants

from csd.decoding.methods import (
    METHODS,
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    DraftAlone,
    HorizontalCascade,
    PromptLookup,
    Speculative,
    VerticalCascade,
)
from csd.models import bigram
from csd.models.loading import load_family
from csd.models.spec import custom
from csd.record.trace import Proposal
from csd.request.request import Request
from csd.run import check_request, finished_traces, run_race

NEW = 24
PROMPTS = ("the fox", "Question: what is it that the owl said? (A) moon (B) fox", "moon " * 40, "Translate: 12.5, said")
BOTH = ("base", "small")
TREES = (
    Autoregressive(),
    Speculative("base", 4),
    Speculative("small", 6),
    PromptLookup(5),
    VerticalCascade(BOTH, (6, 3, 4), lenience=3.0),
    HorizontalCascade(BOTH, (3, 6, 9)),
    Cascade(BOTH, ((5, 9, 13), (0, 1, 6), (0, 0, 5)), lenience=2.0),
    Cascade(("small",), ((5, 9), (0, 6))),
    AdaptiveCascade(BOTH),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("t5")
    shapes = {"target": 0.0, "base": 0.02, "small": 0.06}
    return {name: save_t5(folder / name, blur=blur) for name, blur in shapes.items()}


@pytest.fixture(scope="module")
def family(folders):
    return load_family(custom(folders["target"], [folders["base"], folders["small"]]), "cpu", "float64")


def race(family, prompt: str, methods=TREES, **settings):
    return finished_traces(run_race(family, Request(prompt, methods, max_new=NEW, stop_at_eos=False, **settings)))


@torch.inference_mode()
def generated(family, prompt: tuple[int, ...]) -> tuple[int, ...]:
    ids = torch.tensor([prompt[:-1]])
    padding = list(range(family.vocab, ROWS))
    out = family.reference("target").generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW, suppress_tokens=padding,
        eos_token_id=ROWS + 1,
    )  # fmt: skip
    return tuple(out[0, 1:].tolist())


def test_no_method_is_missing():
    assert {type(tree) for tree in TREES} | {DraftAlone} == set(METHODS.values())


@variants("prompt", PROMPTS, fast=2)
def test_greedy_every_tree_writes_what_transformers_writes(family, prompt):
    reference, *others = race(family, prompt)
    assert reference.tokens == generated(family, reference.header.prompt)
    for trace in others:
        assert trace.tokens == reference.tokens, trace.header.title
    assert sum(len(trace.steps) for trace in others) < 0.9 * len(others) * NEW  # something was accepted


@variants("seed", range(4), fast=2)
def test_coupled_every_tree_writes_the_text_of_autoregressive_decoding(family, seed):
    reference, *others = race(family, PROMPTS[seed], temperature=0.8, seed=seed, top_k=20 * (seed % 2))
    for trace in others:
        assert trace.tokens == reference.tokens, trace.header.title


@pytest.mark.slow
def test_under_the_rejection_rule_texts_have_the_targets_distribution(family):
    """The first two tokens, with top-k 3, against the probabilities of one full pass per first token."""
    runs, warm = 200, 1.5
    ids = torch.tensor([family.encode("the fox")])
    target = family.reference("target")

    def law(text: list[int]) -> dict[int, float]:
        with torch.inference_mode():
            row = target(input_ids=ids[:, :-1], decoder_input_ids=torch.tensor([[0, *text]])).logits[0, -1]
        best = (row[: family.vocab] / warm).topk(3)
        return dict(zip(best.indices.tolist(), best.values.softmax(-1).tolist()))

    want = {(a, b): p * q for a, p in law([]).items() for b, q in law([a]).items()}
    found: Counter = Counter()
    for seed in range(runs):
        settings = Request("the fox", (TREES[6],), 2, warm, top_k=3, seed=seed, rule="rejection", stop_at_eos=False)
        (trace,) = finished_traces(run_race(family, settings))
        found[trace.tokens] += 1
    assert found.keys() <= want.keys()
    for pair, p in want.items():
        assert abs(found[pair] / runs - p) < 4.5 * math.sqrt(p * (1 - p) / runs), pair


def test_the_padding_of_the_vocabulary_is_never_proposed(family):
    """Though each model would choose it, were it not cut off."""
    ids = torch.tensor([family.encode(PROMPTS[0])])
    assert family.vocab == len(t5_tokenizer()) < ROWS
    for level in family.levels:
        model = family.reference(level.name)
        with torch.inference_mode():
            assert model(input_ids=ids[:, :-1], decoder_input_ids=ids[:, -1:]).logits.argmax() >= family.vocab
    for settings in ({}, {"temperature": 1.0}, {"temperature": 1.0, "rule": "rejection"}):
        for trace in race(family, PROMPTS[0], TREES[4:], **settings):
            for step in trace.steps:
                written = [token for record in records_of(step.review) for token in record.tokens]
                assert all(token < family.vocab for token in (*step.tokens, *written))


def test_the_text_is_prompt_start_answer(family):
    assert family.encode("the fox") == (4, 5, 1, 0) and family.start == 0
    assert family.encode("the <pad> fox") == (4, 5, 1, 0)  # padding says nothing, and the decoder's text starts with it
    assert family.opening == (1, 0) and family.eos == {1} and not family.chat
    assert set(family.contexts.values()) == {2048}


def test_max_gram_copies_from_the_prompt(family):
    """The prompt's own words are before the start token; where the answer repeats one, what followed it is proposed."""
    copies = [
        record
        for trace in race(family, "W T W T W T", (PromptLookup(5),))
        for step in trace.steps
        for record in records_of(step.review)
        if isinstance(record, Proposal) and record.tokens
    ]
    assert copies


def test_a_prompt_of_several_chunks_is_encoded_once_and_timed_as_prefill(family):
    text = " ".join(["the fox and the owl said moon"] * 100)
    (trace,) = race(family, text, (Speculative("base", 4),))
    parts = [(part.by, part.tokens) for part in trace.prefill]
    assert parts == [(name, size) for size in (512, 190) for name in ("base", "target")]
    assert trace.tokens == generated(family, trace.header.prompt)


def test_two_prompts_in_turn(family):
    first, second, again = (
        race(family, prompt, TREES[6:7])[0].tokens for prompt in (PROMPTS[0], PROMPTS[1], PROMPTS[0])
    )
    assert first == again != second


def test_the_bigram_table_is_of_the_decoder_after_an_empty_prompt(family):
    target = family.reference("target")
    table = bigram.build(target, family.vocab, opening=family.opening)
    for token in (5, 40):
        decoder = torch.tensor([[0, token]])
        with torch.inference_mode():
            row = target(input_ids=torch.tensor([[1]]), decoder_input_ids=decoder).logits[0, -1, : family.vocab]
        assert table[token] == row.argmax()


def test_what_cannot_be_spelled(family):
    assert family.unspelled("the {fox}, \nsaid {") == "{}"
    assert family.unspelled("the fox\nsaid") == ""
    with pytest.raises(ValueError, match=r"“\{”, “\}”"):
        check_request(family, Request("Give JSON like {}", (Autoregressive(),)))
    assert any("no line breaks" in note for note in family.notes)


def test_a_quantised_copy_drafts_for_its_target(folders):
    family = load_family(custom(folders["target"], ["self-8bit", folders["small"]]), "cpu", "float64")
    if "self-8bit" not in family.backends:
        pytest.skip(f"this machine has no fast 8-bit kernel: {family.notes}")
    drafts = family.draft_names
    reference, *others = race(
        family,
        PROMPTS[1],
        (Autoregressive(), Speculative("self-8bit", 4), Cascade(drafts, ((4, 6, 9), (0, 3, 6), (0, 0, 4)))),
    )
    assert reference.tokens == generated(family, reference.header.prompt)
    for trace in others:
        assert trace.tokens == reference.tokens and len(trace.steps) < 0.7 * NEW


def test_saving_and_loading_keeps_the_logits(tmp_path):
    """T5's config says by one switch whether head and embedding are tied and whether the decoder's output is scaled."""
    for tied in (True, False):
        made = make_t5(3, dtype=torch.float32, tie_word_embeddings=tied)
        made.save_pretrained(tmp_path / str(tied))
        loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / str(tied))
        ids = torch.tensor([[5, 6, 1]])
        with torch.inference_mode():
            rows = [one(input_ids=ids, decoder_input_ids=ids).logits for one in (made, loaded)]
        assert torch.equal(*rows), tied


def test_refusals(folders, tmp_path):
    llama = save(tmp_path / "llama", byte_level())
    assert "one is an encoder-decoder" in refusal(folders["target"], llama)
    assert "overflows in float16" in refusal(folders["target"], dtype="float16")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5", "architectures": ["T5EncoderModel"]}))
    assert "does not generate text" in refusal(str(tmp_path))
