"""Enlarged models: the same logits, texts and vocabulary, and the size that the shape says."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from tiny import CONTEXT, SMALL, VOCAB
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config

from csd.bench.enlarge import SHAPES, Shape, check_shape, enlarge_model
from csd.bench.scale import enlarge_family, load_scaled
from csd.decoding.methods import Autoregressive, Speculative
from csd.decoding.tokens import TokenSequence
from csd.models import catalog, device
from csd.models.backends import llama_cpu as llama
from csd.models.backends.eager import EagerLane
from csd.models.session import Session
from csd.models.spec import FamilyError
from csd.request.request import Request
from csd.run import LaneFinished, run_race

CONFIGS = {
    "own keys": {"num_key_value_heads": 4, "tie_word_embeddings": True},
    "shared keys": {"num_key_value_heads": 2, "tie_word_embeddings": False},
    "one pair of keys": {"num_key_value_heads": 1, "tie_word_embeddings": True, "head_dim": 6},
}
WIDE = {
    "all wider": Shape("tiny", 40, 56, 5, 12, 6),
    "no wider": Shape("same", 16, 24, 2, 4, 4),
    "keys of their own": Shape("own", 64, 32, 3, 8, 8),
    "keys of a third": Shape("third", 33, 25, 2, 15, 5),
}
TEXT = [(3 * i * i + 5 * i) % VOCAB for i in range(CONTEXT)]
cases = pytest.mark.parametrize(("kind", "shape"), [(kind, shape) for kind in CONFIGS for shape in WIDE])


@cache
def model(kind: str):
    torch.manual_seed(5)
    config = LlamaConfig(**SMALL, **CONFIGS[kind], rms_norm_eps=1e-2)  # large, so that it counts
    config._attn_implementation = "sdpa"
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval().requires_grad_(False)
    for weights in made.parameters():  # far from zero, so that every row differs
        torch.nn.init.normal_(weights, 0.2 if weights.dim() == 1 else 0.0, 0.4)
    return made


@cache
def big(kind: str, shape: str):
    return enlarge_model(model(kind), WIDE[shape])


def rows(made, text: list[int]) -> torch.Tensor:
    """Through the lean forward, which keeps float64 throughout; transformers' own rounds norms to float32."""
    return llama.fuse(made).open_lane(len(text)).run(text, 0, len(text))


@cases
def test_logits_are_equal_at_every_position(kind, shape):
    torch.testing.assert_close(rows(big(kind, shape), TEXT), rows(model(kind), TEXT), rtol=1e-9, atol=1e-9)


@cases
def test_logits_are_equal_after_cached_steps(kind, shape):
    ours = Session("it", llama.fuse(big(kind, shape)).open_lane(CONTEXT).run, VOCAB, CONTEXT)
    want, committed = rows(model(kind), TEXT), []
    for begin, tail in ((9, 3), (10, 5), (14, 1), (21, 7), (40, 8)):
        committed += TEXT[len(committed) : begin]
        wrong = tuple((token + 1) % VOCAB for token in TEXT[begin : begin + tail])
        ours.logits(TokenSequence(committed, wrong), begin)  # a guess that is taken back
        found = ours.logits(TokenSequence(committed, tuple(TEXT[begin : begin + tail])), begin)
        torch.testing.assert_close(found, want[begin - 1 : begin + tail], rtol=1e-9, atol=1e-9)


@cases
def test_transformers_says_the_same_but_for_norms_in_float32(kind, shape):
    found, want = (EagerLane(made, CONTEXT).run(TEXT, 0, CONTEXT) for made in (big(kind, shape), model(kind)))
    torch.testing.assert_close(found, want, rtol=0, atol=1e-5)


@cases
def test_size_and_kind(kind, shape):
    made, small, wanted = big(kind, shape), model(kind), WIDE[shape]
    config = small.config
    count = wanted.parameters(config.head_dim, VOCAB, config.tie_word_embeddings)
    assert made.num_parameters() == count == sum(weights.numel() for weights in made.parameters())
    assert (made.config.vocab_size, made.config.head_dim) == (VOCAB, config.head_dim)
    assert made.dtype == torch.float64 and not any(weights.requires_grad for weights in made.parameters())
    assert made.config is not config and config.hidden_size == 16  # the small one stays as it was


def test_the_new_weights_are_at_work():
    """Else the cost would be that of multiplying by nothing: most weights are random, in every matrix that may be."""
    made = big("own keys", "all wider")
    for layer in made.model.layers:
        attention, mlp = layer.self_attn, layer.mlp
        for linear in (attention.q_proj, attention.k_proj, attention.v_proj, mlp.gate_proj, mlp.up_proj):
            assert (linear.weight != 0).all()
    assert (made.model.layers[4].self_attn.o_proj.weight == 0).all()
    assert (made.model.layers[4].mlp.down_proj.weight == 0).all()


def test_number_format():
    made = enlarge_model(model("own keys"), WIDE["all wider"], "cpu", torch.bfloat16)
    assert {weights.dtype for weights in made.parameters()} == {torch.bfloat16}
    assert made.model.rotary_emb.inv_freq.dtype == torch.float32
    with torch.inference_mode():
        found, want = (one(torch.tensor([TEXT])).logits[0].double() for one in (made, model("own keys")))
    assert (found - want).norm() < 0.05 * want.norm()


@pytest.mark.parametrize(
    ("kind", "shape", "said"),
    [
        ("own keys", Shape("thin", 15, 24, 2, 4, 4), "has 15 hidden dimensions, but 16 are needed"),
        ("own keys", Shape("thin", 16, 23, 2, 4, 4), "has 23 intermediate dimensions, but 24 are needed"),
        ("own keys", Shape("flat", 16, 24, 1, 4, 4), "has 1 layers, but 2 are needed"),
        ("own keys", Shape("few", 16, 24, 2, 3, 3), "has 3 heads, but 4 are needed"),
        ("own keys", Shape("few", 16, 24, 2, 8, 2), "has 8 heads, but 13 are needed"),
        ("shared keys", Shape("few", 16, 24, 2, 3, 3), "has 3 heads, but 4 are needed"),
        ("own keys", Shape("odd", 16, 24, 2, 9, 4), "9 heads cannot evenly share 4 key-value heads"),
    ],
)
def test_what_does_not_fit(kind, shape, said):
    with pytest.raises(ValueError, match=said):
        enlarge_model(model(kind), shape)


def test_another_architecture_is_refused():
    with pytest.raises(ValueError, match="this is a qwen2 model"):
        enlarge_model(AutoModelForCausalLM.from_config(Qwen2Config(**SMALL, num_key_value_heads=2)), WIDE["all wider"])


# --- the table and the embedded family -----------------------------------------------------------------------------


def test_every_embedded_model_fits_its_shapes(embedded):
    for size, shapes in SHAPES.items():
        assert list(shapes) == [model.name for model in embedded.spec.models]
        for name, shape in shapes.items():
            check_shape(embedded.reference(name), shape)
        figures = [shape.parameters(64, 8192, True) for shape in shapes.values()]
        assert figures == sorted(figures, reverse=True)
        assert figures[0] == pytest.approx(float(size[:-1]) * 1e9, rel=0.08)
    target, mid, small = (shape.parameters(64, 8192, True) * 2 for shape in SHAPES["7B"].values())
    assert (target / 1e9, mid / 1e9, small / 1e6) == (
        pytest.approx(13.0, rel=0.01),
        pytest.approx(1.0, rel=0.05),
        pytest.approx(50, rel=0.05),
    )


@pytest.mark.slow
def test_a_family_enlarged_writes_the_same_texts(embedded):
    shapes = {
        "target": Shape("T", 384, 896, 15, 6, 6),
        "small": Shape("M", 256, 640, 5, 4, 4),
        "tiny": Shape("S", 160, 384, 2, 3, 3),
    }
    said = []
    large = enlarge_family(embedded, shapes, "T shape", "cpu", "float32", said.append)
    assert large.spec.name == "embedded, T shape"
    assert large.notes[0] == large.spec.about and "a measure of cost, not of quality" in large.spec.about
    assert [level.model for level in large.levels][-1] == "assets/family/target in a T shape"
    assert [level.parameters for level in large.levels] == [
        shapes[level.name].parameters(64, 8192, True) for level in large.levels
    ]
    assert [model.parameters for model in large.spec.models] == [
        large.reference(model.name).num_parameters() for model in large.spec.models
    ]
    assert large.tokenizer is embedded.tokenizer and large.bigram is embedded.bigram
    assert "enlarging target to T" in said
    methods = (Autoregressive(), Speculative("small", 4))
    settings = Request("Once upon a time there was a fox", methods, 24)
    texts = {
        (event.trace.header.method, opened.spec.name): event.trace.tokens
        for opened in (embedded, large)
        for event in run_race(opened, settings)
        if isinstance(event, LaneFinished)
    }
    assert len(texts) == 4 and len(set(texts.values())) == 1


def test_refusals(embedded, monkeypatch):
    with pytest.raises(FamilyError, match=r"Unknown size '70B'. Choose one of: 1B, 7B, 13B"):
        load_scaled(embedded.spec, "70B", "cpu")
    with pytest.raises(FamilyError, match="no 7B shape for SmolLM2-360M-Instruct of SmolLM2 1.7B"):
        load_scaled(catalog.find("SmolLM2 1.7B"), "7B", "cpu")
    with pytest.raises(FamilyError, match="is on one device. Choose cuda"):
        load_scaled(embedded.spec, "7B", "split")
    monkeypatch.setattr(device, "memory_free", lambda device: 8 * 2**30)
    with pytest.raises(
        FamilyError, match=r"embedded, 13B shape needs about \d+\.\d GiB in bfloat16, and cpu has 8.0 GiB"
    ):
        enlarge_family(embedded, SHAPES["13B"], "13B shape", "cpu", "bfloat16")
    with pytest.raises(FamilyError, match="embedded cannot be enlarged: The shape T has 8 hidden"):
        enlarge_family(embedded, dict.fromkeys(SHAPES["7B"], Shape("T", 8, 8, 8, 8, 8)), "T shape", "cpu", "float32")


@pytest.mark.gpu
def test_seven_billion_on_a_gpu():
    large = load_scaled(catalog.find("embedded"), "7B", "cuda")
    assert large.reference("target").device.type == "cuda" and large.dtype == "bfloat16"
    (ended,) = [
        e for e in run_race(large, Request("Once upon a time", (Autoregressive(),), 8)) if isinstance(e, LaneFinished)
    ]
    assert len(ended.trace.tokens) == 8
