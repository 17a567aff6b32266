"""A lean forward for Llama models on a CPU: the same answers as transformers' in about two thirds of the time.

A CPU spends its time reading weights. Fused (q, k, v; gate, up) and packed once in the layout of the kernel that reads
them, a review of 8 tokens costs little more than one of 1, where transformers' linear layers pack them at every call.
The transformers model stays the oracle: `lean` compares the two before the lean one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel

from csd.models.session import Run

LARGEST = 2**30  # bytes of weights: the fused ones are a second copy
PROBE = 24  # tokens compared with the oracle

Linear = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """Weights of one layer: norms, and linear maps as functions."""

    before: Tensor
    qkv: Linear
    out: Linear
    between: Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, eq=False, repr=False)
class Llama:
    """Fused weights; `cos` and `sin` are [context, 1, head_dim], the first half of `sin` negated for rotating by a roll."""

    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Tensor
    head: Linear
    cos: Tensor
    sin: Tensor
    heads: int
    kv_heads: int
    epsilon: float

    def lane(self, capacity: int) -> Run:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        width = self.cos.shape[-1]
        keys, values = (self.embedding.new_empty(len(self.layers), self.kv_heads, capacity, width) for _ in range(2))

        @torch.inference_mode()
        def run(ids: list[int], keep: int, rows: int) -> Tensor:
            return self._forward(torch.tensor(ids), keep, rows, keys, values)

        return run

    def _forward(self, ids: Tensor, keep: int, rows: int, keys: Tensor, values: Tensor) -> Tensor:
        n, end = len(ids), keep + len(ids)
        cos, sin, half = self.cos[keep:end], self.sin[keep:end], self.cos.shape[-1] // 2
        rotated = self.heads + self.kv_heads
        mask = torch.ones(n, end, dtype=torch.bool).tril(keep) if n > 1 else None
        x = F.embedding(ids, self.embedding)
        for layer, key, value in zip(self.layers, keys, values):
            qkv = layer.qkv(self._normed(x, layer.before)).view(n, rotated + self.kv_heads, -1)
            qk = qkv[:, :rotated]
            qk = qk * cos + qk.roll(half, -1) * sin
            key[:, keep:end] = qk[:, self.heads :].transpose(0, 1)
            value[:, keep:end] = qkv[:, rotated:].transpose(0, 1)
            query = qk[:, : self.heads].transpose(0, 1)
            seen = F.scaled_dot_product_attention(
                query[None], key[None, :, :end], value[None, :, :end], mask, enable_gqa=self.heads != self.kv_heads
            )[0]
            x = x + layer.out(seen.transpose(0, 1).reshape(n, -1))
            gate, up = layer.gate_up(self._normed(x, layer.between)).chunk(2, -1)
            x = x + layer.down(F.silu(gate) * up)
        return self.head(self._normed(x[-rows:], self.norm))

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.epsilon)


def packed(*linears: torch.nn.Linear) -> Linear:
    """The maps side by side as one: in oneDNN's own layout where it has the format, else stored [in, out]."""
    weight = torch.cat([linear.weight.detach() for linear in linears])
    if weight.dtype != torch.float32 or not torch.backends.mkldnn.is_available():
        turned = weight.t().contiguous()
        return lambda x: x @ turned
    ready = torch.ops.mkldnn._reorder_linear_weight(weight)
    apply = torch.ops.mkldnn._linear_pointwise
    return lambda x: apply(x, ready, None, "none", [], "")


def lean(model: PreTrainedModel) -> Llama | None:
    """The lean forward of a model, or None where it does not fit or does not give the same answers."""
    if not _fits(model):
        return None
    llama = _fused(model)
    ids = torch.arange(1, PROBE + 1)
    with torch.inference_mode():
        expected = model(input_ids=ids[None], use_cache=False).logits[0]
    found = llama.lane(PROBE)(ids.tolist(), 0, PROBE)
    scale = float(expected.abs().max())
    return llama if torch.allclose(found, expected, rtol=0, atol=1e-4 * max(scale, 1.0)) else None


def _fits(model: PreTrainedModel) -> bool:
    config = model.config
    return (
        config.model_type == "llama"
        and model.device.type == "cpu"
        and model.dtype in (torch.float32, torch.float64)
        and config.hidden_act == "silu"
        and not (config.attention_bias or config.mlp_bias)
        and config.rope_parameters["rope_type"] in ("default", "linear", "llama3")
        and sum(weight.nbytes for weight in model.parameters()) <= LARGEST
    )


@torch.no_grad()
def _fused(model: PreTrainedModel) -> Llama:
    config, body = model.config, model.model

    layers = tuple(
        Layer(
            before=layer.input_layernorm.weight.detach(),
            qkv=packed(layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj),
            out=packed(layer.self_attn.o_proj),
            between=layer.post_attention_layernorm.weight.detach(),
            gate_up=packed(layer.mlp.gate_proj, layer.mlp.up_proj),
            down=packed(layer.mlp.down_proj),
        )
        for layer in body.layers
    )
    places = torch.arange(config.max_position_embeddings)[None]
    cos, sin = (angle[0, :, None] for angle in body.rotary_emb(body.embed_tokens.weight, places))
    sin = torch.cat([-sin[..., : sin.shape[-1] // 2], sin[..., sin.shape[-1] // 2 :]], -1)
    return Llama(
        embedding=body.embed_tokens.weight.detach(),
        layers=layers,
        norm=body.norm.weight.detach(),
        head=packed(model.lm_head),
        cos=cos,
        sin=sin,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        epsilon=config.rms_norm_eps,
    )
