"""Tiny models of several architectures for the tests of captured graphs, and their plain forward as the oracle."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPTNeoXConfig, LlamaConfig, Qwen2Config, Qwen3Config

from csd.models.backends.capture import CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward

VOCAB, CONTEXT, SLOTS = 37, 200, 512
SMALL = {
    "vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": CONTEXT,
}  # fmt: skip
CONFIGS = {
    "llama": lambda: LlamaConfig(**SMALL, num_key_value_heads=2),
    "llama, tied": lambda: LlamaConfig(**SMALL, num_key_value_heads=4, tie_word_embeddings=True),
    "qwen2, with biases": lambda: Qwen2Config(**SMALL, num_key_value_heads=2),
    "qwen3, with norms of q and k": lambda: Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8),
    "gpt-neox": lambda: GPTNeoXConfig(**SMALL),
    "gpt2, with learned positions": lambda: GPT2Config(**SMALL),
}
TEXTS = [[(3 * i * i + 5 * i) % VOCAB for i in range(CONTEXT)], [(11 * i + i // 7) % VOCAB for i in range(CONTEXT)]]
kinds = pytest.mark.parametrize("kind", CONFIGS)
gpu = pytest.mark.gpu


def model(kind: str, device: str = "cpu"):
    """The same one at each call. Its weights are ordinary tensors, also if the first call is made in inference mode."""
    with torch.inference_mode(False):
        return _make_model(kind, device)


@cache
def _make_model(kind: str, device: str):
    torch.manual_seed(5)
    config = CONFIGS[kind]()
    config._attn_implementation = "sdpa"
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval().requires_grad_(False)
    for weights in made.parameters():  # far from zero, so that every row differs
        torch.nn.init.normal_(weights, 0.2 if weights.dim() == 1 else 0.0, 0.4)
    return made.to(device)


def plain(kind: str, text: list[int], device: str = "cpu") -> torch.Tensor:
    """The oracle: transformers' forward over the whole text, at once and without a cache. [len(text), V]"""
    return _plain(kind, tuple(text), device)


@cache
def _plain(kind: str, text: tuple[int, ...], device: str) -> torch.Tensor:
    with torch.inference_mode():
        return model(kind, device)(input_ids=torch.tensor([text], device=device), use_cache=False).logits[0]


def record_all(lane, forwards):
    """The same lane, with these forwards recorded at their widths, the widest first."""
    for width in sorted(forwards, reverse=True):
        lane.record(width, forwards[width])
    return lane


def graph_lane(kind: str, device: str = "cpu", forwards=None) -> GraphLane:
    capture = CudaCapture(torch.device(device)) if device == "cuda" else Uncaptured()
    lane = GraphLane(model(kind, device), SLOTS, CONTEXT - 1, capture)
    return record_all(lane, dict.fromkeys(WIDTHS, forward) if forwards is None else forwards)


def check(lane, kind: str, text: list[int], keep: int, rows: int, device: str = "cpu") -> None:
    found = lane.run(text[keep:], keep, rows)
    assert found.shape == (rows, VOCAB)
    # Norms round to float32, and a GPU's kernels add up in another order at another width.
    within = 1e-9 if device == "cpu" else 1e-5
    torch.testing.assert_close(found, plain(kind, text, device)[-rows:], rtol=within, atol=within)


def every_width(lane, kind: str, device: str = "cpu") -> None:
    """All counts of ids around each width, over two texts, forwards and then after rewinds."""
    counts = sorted({max(1, width + off) for width in WIDTHS for off in (-1, 0, 1)})
    for text in TEXTS:
        lane.run(text[:100], 0, 1)
        for count in (*counts, *reversed(counts)):
            check(lane, kind, text[: 100 + count], 100, count, device)
        for keep, count in ((64, 8), (3, 4), (0, 2), (0, 130), (71, 1)):
            check(lane, kind, text[: keep + count], keep, 1, device)
            lane.run(text[: keep + count], 0, 1)
