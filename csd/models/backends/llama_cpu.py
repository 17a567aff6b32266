"""A lean forward for Llama models on a CPU: the same logits as transformers in about two thirds of the time.

A CPU spends its time reading weights. Here they are fused (q, k, v; gate, up) and packed once in the layout that the
kernel reads, while transformers' linear layers pack them at every call. With packed weights a pass over 8 tokens costs
little more than a pass over one. `fuse` returns the lean forward only if its logits are those of transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel

from csd.models.catalog import MAX_PACKED

PROBE = 24  # tokens on which the logits are compared with transformers'

Linear = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """Weights of one layer: norms, and linear maps as functions."""

    attention_norm: Tensor
    qkv: Linear
    out: Linear
    mlp_norm: Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, eq=False, repr=False)
class Llama:
    """A backend with fused weights.

    `cos` and `sin` are [context, 1, head_dim]; the first half of `sin` is negated, so that rotating needs only a roll.
    """

    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Tensor
    head: Linear
    cos: Tensor
    sin: Tensor
    heads: int
    kv_heads: int
    epsilon: float

    def open_lane(self, capacity: int) -> LlamaLane:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        return LlamaLane(self, capacity)

    def forward(self, ids: Tensor, keep: int, rows: int, keys: Tensor, values: Tensor) -> Tensor:
        """Logits of the last `rows` ids, [rows, V], fed after `keep` cached tokens.

        `keys` and `values` are [layers, key-value heads, capacity, head_dim]; those of `ids` are written into them.
        """
        n, end = len(ids), keep + len(ids)
        cos, sin, half = self.cos[keep:end], self.sin[keep:end], self.cos.shape[-1] // 2
        rotated = self.heads + self.kv_heads
        mask = torch.ones(n, end, dtype=torch.bool).tril(keep) if n > 1 else None
        x = F.embedding(ids, self.embedding).to(self.norm.dtype)
        for layer, key, value in zip(self.layers, keys, values, strict=True):
            qkv = layer.qkv(self._rms_norm(x, layer.attention_norm)).view(n, rotated + self.kv_heads, -1)
            qk = qkv[:, :rotated]
            qk = qk * cos + qk.roll(half, -1) * sin
            key[:, keep:end] = qk[:, self.heads :].transpose(0, 1)
            value[:, keep:end] = qkv[:, rotated:].transpose(0, 1)
            query = qk[:, : self.heads].transpose(0, 1)
            seen = F.scaled_dot_product_attention(
                query[None], key[None, :, :end], value[None, :, :end], mask, enable_gqa=self.heads != self.kv_heads
            )[0]
            x = x + layer.out(seen.transpose(0, 1).reshape(n, -1))
            gate, up = layer.gate_up(self._rms_norm(x, layer.mlp_norm)).chunk(2, -1)
            x = x + layer.down(F.silu(gate) * up)
        return self.head(self._rms_norm(x[-rows:], self.norm))

    def _rms_norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.epsilon)


class LlamaLane:
    """A model over an empty cache for texts of up to `capacity` tokens."""

    def __init__(self, llama: Llama, capacity: int):
        self._llama = llama
        shape = (len(llama.layers), llama.kv_heads, capacity, llama.cos.shape[-1])
        self._keys, self._values = (llama.norm.new_empty(shape) for _ in range(2))

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        return self._llama.forward(torch.tensor(ids), keep, rows, self._keys, self._values)

    def release(self) -> None:
        """Nothing to give back: the cache is freed with the lane."""


def pack(weight: Tensor) -> Linear:
    """A linear map of [out, in], in oneDNN's own layout for float32 if available, otherwise stored as [in, out]."""
    if weight.dtype != torch.float32 or not torch.backends.mkldnn.is_available():
        transposed = weight.t().contiguous()
        return lambda x: x @ transposed
    reordered = torch.ops.mkldnn._reorder_linear_weight(weight)
    linear = torch.ops.mkldnn._linear_pointwise
    return lambda x: linear(x, reordered, None, "none", [], "")


def fuse(model: PreTrainedModel) -> Llama | None:
    """The lean forward of a model; None if the model is not supported or the logits differ from transformers'."""
    if not is_supported(model) or sum(weight.nbytes for weight in model.parameters()) > MAX_PACKED:
        return None  # packed weights are a second copy
    llama = fuse_with(model, pack, model.dtype)
    ids = torch.arange(1, PROBE + 1)
    with torch.inference_mode():
        expected = model(input_ids=ids[None], use_cache=False).logits[0]
    found = llama.open_lane(PROBE).run(ids.tolist(), 0, PROBE)
    scale = float(expected.abs().max())
    return llama if torch.allclose(found, expected, rtol=0, atol=1e-4 * max(scale, 1.0)) else None


def is_supported(model: PreTrainedModel) -> bool:
    """Whether the lean forward can run a model, whatever its size."""
    config = model.config
    return (
        config.model_type == "llama"
        and model.device.type == "cpu"
        and model.dtype in (torch.float32, torch.float64)
        and config.hidden_act == "silu"
        and not (config.attention_bias or config.mlp_bias)
        and config.rope_parameters["rope_type"] in ("default", "linear", "llama3")
    )


@torch.no_grad()
def fuse_with(model: PreTrainedModel, pack: Callable[[Tensor], Linear], dtype: torch.dtype) -> Llama:
    """The lean forward with linear maps made by `pack` from [out, in], computing in `dtype`.

    The embedding table is the model's own.
    """
    config, body = model.config, model.model

    def fused(*linears: torch.nn.Linear) -> Linear:
        return pack(torch.cat([linear.weight.detach() for linear in linears]))

    layers = tuple(
        Layer(
            attention_norm=layer.input_layernorm.weight.detach().to(dtype),
            qkv=fused(layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj),
            out=fused(layer.self_attn.o_proj),
            mlp_norm=layer.post_attention_layernorm.weight.detach().to(dtype),
            gate_up=fused(layer.mlp.gate_proj, layer.mlp.up_proj),
            down=fused(layer.mlp.down_proj),
        )
        for layer in body.layers
    )
    positions = torch.arange(config.max_position_embeddings)[None]
    cos, sin = (angle[0, :, None].to(dtype) for angle in body.rotary_emb(body.embed_tokens.weight, positions))
    sin = torch.cat([-sin[..., : sin.shape[-1] // 2], sin[..., sin.shape[-1] // 2 :]], -1)
    return Llama(
        embedding=body.embed_tokens.weight.detach(),
        layers=layers,
        norm=body.norm.weight.detach().to(dtype),
        head=fused(model.lm_head),
        cos=cos,
        sin=sin,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        epsilon=config.rms_norm_eps,
    )
