"""Enlarge a small Llama without changing what it computes.

Its weights are placed in the first rows and columns of larger matrices. New weights that could alter the result are
zero, the others random. Tokens are the small model's, memory and time are the large shape's.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from math import ceil
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama. Head size and vocabulary remain those of the small model."""

    name: str
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int

    def parameters(self, head: int, vocab: int, tied: bool) -> int:
        """How many parameters a model of this shape has; tied ones count once."""
        attention = 2 * self.hidden * head * (self.heads + self.kv_heads)
        layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.layers * layer + (1 if tied else 2) * vocab * self.hidden + self.hidden


# Shapes of known models at head size 64, named after them; their larger vocabularies are not imitated.
_68M = Shape("68M", 768, 3072, 2, 12, 12)
_160M = Shape("160M", 768, 3072, 12, 12, 12)
_HALF = Shape("0.5B", 1024, 5120, 24, 16, 16)
_1B = Shape("1B", 2048, 8192, 16, 32, 8)
_7B = Shape("7B", 4096, 11008, 32, 64, 64)
_13B = Shape("13B", 5120, 13824, 40, 80, 80)

SHAPES: dict[str, dict[str, Shape]] = {
    "1B": {"target": _1B, "small": _160M, "tiny": _68M},
    "7B": {"target": _7B, "small": _HALF, "tiny": _68M},
    "13B": {"target": _13B, "small": _1B, "tiny": _68M},
}
"""For each size, the shape of each model of the embedded family."""


@torch.no_grad()
def enlarge_model(
    small: PreTrainedModel, shape: Shape, device: str | None = None, dtype: torch.dtype | None = None
) -> PreTrainedModel:
    """A model of this shape that gives the same logits, by default on the small one's device and in its number format.

    Raises ValueError where the small one does not fit into the shape.
    """
    check_shape(small, shape)
    # The norms' mean of squares runs over more numbers, the new ones 0: it shrinks by `share`, so epsilon must too.
    share = small.config.hidden_size / shape.hidden
    big = _random(small, shape, small.config.rms_norm_eps * share, device or small.device, dtype or small.dtype)
    wide = small.config.hidden_size

    def put(into: torch.Tensor, weights: torch.Tensor) -> None:
        into[: weights.shape[0], : weights.shape[1]] = weights.to(into)

    def put_norm(into: torch.Tensor, weights: torch.Tensor) -> None:
        into[:wide] = (weights.double() * share**0.5).to(into)

    big.model.embed_tokens.weight.zero_()  # the new dimensions of the hidden state start at 0
    put(big.model.embed_tokens.weight, small.model.embed_tokens.weight)
    if not small.config.tie_word_embeddings:
        put(big.lm_head.weight, small.lm_head.weight)
    put_norm(big.model.norm.weight, small.model.norm.weight)
    for layer in big.model.layers:  # and stay 0 through additional layers, heads and neurons
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    for layer, model in zip(big.model.layers, small.model.layers):
        put_norm(layer.input_layernorm.weight, model.input_layernorm.weight)
        put_norm(layer.post_attention_layernorm.weight, model.post_attention_layernorm.weight)
        put(layer.mlp.gate_proj.weight, model.mlp.gate_proj.weight)
        put(layer.mlp.up_proj.weight, model.mlp.up_proj.weight)
        put(layer.mlp.down_proj.weight, model.mlp.down_proj.weight)
        _copy_attention(layer.self_attn, model.self_attn, small, shape)
    return big


def _copy_attention(ours: Any, theirs: Any, small: PreTrainedModel, shape: Shape) -> None:
    """Write the projections of an attention layer at the heads' new positions."""
    wide, head = small.config.hidden_size, small.config.head_dim
    queries, keys = _head_positions(small, shape)
    repeats = len(keys) // small.config.num_key_value_heads
    origin = [key // repeats for key in keys]
    for into, weights, positions, sources in (
        (ours.q_proj, theirs.q_proj, queries, range(len(queries))),
        (ours.k_proj, theirs.k_proj, keys, origin),
        (ours.v_proj, theirs.v_proj, keys, origin),
    ):
        rows = weights.weight.view(-1, head, wide)[list(sources)]
        into.weight.view(-1, head, shape.hidden)[positions, :, :wide] = rows.to(into.weight)
    columns = theirs.o_proj.weight.view(wide, -1, head)
    ours.o_proj.weight.view(shape.hidden, -1, head)[:wide, queries] = columns.to(ours.o_proj.weight)


def check_shape(small: PreTrainedModel, shape: Shape) -> None:
    """Raise ValueError where the model cannot be enlarged to this shape."""
    config = small.config
    if config.model_type != "llama" or config.attention_bias or config.mlp_bias:
        raise ValueError(f"Only Llama models without biases can be enlarged; this is a {config.model_type} model.")
    if shape.heads % shape.kv_heads:
        raise ValueError(f"{shape.heads} heads cannot evenly share {shape.kv_heads} key-value heads.")
    queries, keys = _head_positions(small, shape)
    for what, needed, given in (
        ("hidden dimensions", config.hidden_size, shape.hidden),
        ("intermediate dimensions", config.intermediate_size, shape.intermediate),
        ("layers", config.num_hidden_layers, shape.layers),
        ("heads", max(queries) + 1, shape.heads),
        ("key-value heads", max(keys) + 1, shape.kv_heads),
    ):
        if needed > given:
            raise ValueError(f"The shape {shape.name} has {given} {what}, but {needed} are needed.")


def _head_positions(small: PreTrainedModel, shape: Shape) -> tuple[list[int], list[int]]:
    """The positions of query heads and of key-value heads in the large model, so that each query keeps its keys.

    Where fewer queries share a key-value head in the large shape, key-value heads are repeated, one after another.
    """
    config = small.config
    group, big = config.num_attention_heads // config.num_key_value_heads, shape.heads // shape.kv_heads
    copies = ceil(group / big)
    queries = []
    for head in range(config.num_attention_heads):
        kv, rank = divmod(head, group)
        queries.append((kv * copies + rank // big) * big + rank % big)
    return queries, list(range(config.num_key_value_heads * copies))


def _random(
    small: PreTrainedModel, shape: Shape, epsilon: float, device: str | torch.device, dtype: torch.dtype
) -> PreTrainedModel:
    """A random model of the shape, created on the device where it will run."""
    config = copy.deepcopy(small.config)
    config.update(
        {
            "hidden_size": shape.hidden,
            "intermediate_size": shape.intermediate,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.kv_heads,
            "head_dim": small.config.head_dim,
            "rms_norm_eps": epsilon,
        }
    )
    with torch.device(device):
        made = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    made.generation_config = small.generation_config
    return made.eval().requires_grad_(False)
