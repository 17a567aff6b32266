"""A lean forward for Llama models on a CPU: the same logits as transformers in much less time.

A CPU spends its time reading weights, and for small models calling small operations. Here linear maps are fused (q, k,
v; gate, up), run by kernels that are chosen for each width, and take in the weights of the norms before them; rotary
embeddings are one complex product. `fuse` returns the lean forward only if its logits are those of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel

from csd.models.backends.kernel_choice import SAMPLES, Choice, choose_kernels, describe, pack
from csd.models.backends.linear import Kernel, Linear, cpu_kernels
from csd.models.memory import MAX_CONTEXT, MAX_PACKED

PROBE = 24  # tokens on which the logits are compared with transformers'
TOLERANCE = 1e-4  # of the largest logit
TYPICAL = 0.2  # in bfloat16, of a row's length: what half of the rows must keep to
TWO_LAYOUTS = 2**27  # bytes of weights up to which a map may be stored in two layouts, for different widths


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """The linear maps of one layer. `qkv` and `gate_up` contain the weights of the norm before them."""

    qkv: Linear
    out: Linear
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, eq=False, repr=False)
class Map:
    """A linear map [out, in] of rows that are multiplied with `inputs` before, the weights of a norm."""

    weight: Tensor
    inputs: Tensor | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Llama:
    """A backend with fused weights, computing in float32, or in float64 where the weights are.

    `rotations` are complex, [context, 1, head_dim / 2]: components i and i + head_dim / 2 of a head, which a rotation
    mixes, stand side by side here. `epsilon` is that of a norm of sums instead of means. `kernels` says for each kind
    of map which kernel runs it.
    """

    embedding: Tensor
    layers: tuple[Layer, ...]
    head: Linear
    rotations: Tensor
    heads: int
    kv_heads: int
    epsilon: Tensor
    kernels: Mapping[str, str]

    def open_lane(self, capacity: int) -> LlamaLane:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        return LlamaLane(self, capacity)

    def forward(self, ids: Tensor, keep: int, rows: int, caches: list[Tensor]) -> Tensor:
        """Logits of the last `rows` ids, [rows, V], fed after `keep` cached tokens.

        `caches` has for each layer [2 x key-value heads, capacity, head_dim], keys before values; those of `ids` are
        written into it.
        """
        n, end, kv_heads = len(ids), keep + len(ids), self.kv_heads
        rotated, shared = self.heads + kv_heads, self.heads != kv_heads
        rotations = self.rotations[keep:end]
        mask = _causal_mask(n, end, self.epsilon.dtype) if n > 1 else None
        x = F.embedding(ids, self.embedding).to(self.epsilon.dtype)
        for layer, cache in zip(self.layers, caches, strict=True):
            qkv = layer.qkv(self._normalised(x)).view(n, rotated + kv_heads, -1)
            qkv[:, :rotated].view(rotations.dtype).mul_(rotations)
            cache[:, keep:end] = qkv[:, self.heads :].transpose(0, 1)
            query, seen = qkv[:, : self.heads].transpose(0, 1)[None], cache[None, :, :end]
            mixed = F.scaled_dot_product_attention(
                query, seen[:, :kv_heads], seen[:, kv_heads:], mask, enable_gqa=shared
            )
            x.add_(layer.out(mixed[0].transpose(0, 1).reshape(n, -1)))
            gate, up = layer.gate_up(self._normalised(x)).chunk(2, -1)
            x.add_(layer.down(F.silu(gate).mul_(up)))
        return self.head(self._normalised(x[-rows:]))

    def _normalised(self, x: Tensor) -> Tensor:
        """Rows of length 1: root mean square and the norm's weights are part of the next map."""
        return x / torch.linalg.vector_norm(x, 2, -1, True).hypot(self.epsilon)


class LlamaLane:
    """A model over an empty cache for texts of up to `capacity` tokens."""

    def __init__(self, llama: Llama, capacity: int):
        self._llama = llama
        shape = (2 * llama.kv_heads, capacity, 2 * llama.rotations.shape[-1])
        self._caches = [llama.epsilon.new_empty(shape) for _ in llama.layers]

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        return self._llama.forward(torch.tensor(ids), keep, rows, self._caches)

    def release(self) -> None:
        """Nothing to give back: the cache is freed with the lane."""


def fuse(model: PreTrainedModel) -> Llama | None:
    """The lean forward of a model; None if the model is not supported or the logits differ from transformers'."""
    size = sum(weight.nbytes for weight in model.parameters())
    if not is_supported(model) or size > MAX_PACKED:  # packed weights are a second copy
        return None
    llama = fuse_with(model, model.dtype, cpu_kernels(model.dtype), 2 if size <= TWO_LAYOUTS else 1)
    ids = torch.arange(1, PROBE + 1)
    with torch.inference_mode():
        expected = model(input_ids=ids[None], use_cache=False).logits[0]
    found = llama.open_lane(PROBE).run(ids.tolist(), 0, PROBE)
    return llama if _agree(found, expected) else None


def _agree(found: Tensor, expected: Tensor) -> bool:
    """Whether logits are equal except for rounding, which in bfloat16 spoils some rows of transformers' forward."""
    if expected.dtype == torch.bfloat16:
        return bool(((found - expected).norm(dim=-1) / expected.float().norm(dim=-1)).median() <= TYPICAL)
    return torch.allclose(found, expected, rtol=0, atol=TOLERANCE * max(float(expected.abs().max()), 1.0))


def is_supported(model: PreTrainedModel) -> bool:
    """Whether the lean forward can run a model, whatever its size."""
    config = model.config
    return (
        config.model_type == "llama"
        and model.device.type == "cpu"
        and model.dtype in (torch.float32, torch.float64, torch.bfloat16)
        and config.hidden_act == "silu"
        and not (config.attention_bias or config.mlp_bias)
        and config.rope_parameters["rope_type"] in ("default", "linear", "llama3")
    )


def fold(one: Map) -> Map:
    """The same map with its factors in the weights."""
    if one.inputs is None:
        return one
    wide = one.weight.dtype if one.weight.dtype == torch.float64 else torch.float32
    return Map((one.weight.to(wide) * one.inputs.to(wide)).to(one.weight.dtype))


def keep_apart(one: Map) -> Map:
    """The map as it is, whose weights are the model's own."""
    return one


@torch.no_grad()
def fuse_with(
    model: Any, dtype: torch.dtype, kernels: tuple[Kernel, ...], layouts: int, join: Callable[[Map], Map] = fold
) -> Llama:
    """The lean forward with linear maps run by some of these kernels, each in at most so many layouts.

    The kernels get weights in `dtype`, into which `join` may have taken those of norms. The embedding table is the
    model's own; all else is stored anew.
    """
    layers = model.model.layers
    kinds: dict[str, Callable[[int], Map]] = {
        "qkv": lambda i: _qkv(layers[i]),
        "out": lambda i: Map(layers[i].self_attn.o_proj.weight),
        "gate_up": lambda i: _after_norm(
            layers[i].post_attention_layernorm, layers[i].mlp.gate_proj, layers[i].mlp.up_proj
        ),
        "down": lambda i: Map(layers[i].mlp.down_proj.weight),
    }
    rows = torch.float64 if dtype == torch.float64 else torch.float32

    def choose(maps: list[Map]) -> Choice:
        return choose_kernels(kernels, [join(one).weight.to(dtype) for one in maps], layouts)

    def store(one: Map, choice: Choice) -> Linear:
        joined = join(one)
        linear = pack(joined.weight.to(dtype), choice)
        return linear if joined.inputs is None else _behind(joined.inputs.to(rows), linear)

    samples = range(min(len(layers), SAMPLES))
    choices = {name: choose([kind(i) for i in samples]) for name, kind in kinds.items()}
    head = _after_norm(model.model.norm, model.lm_head)
    choices["head"] = choose([head])
    fused = [{name: store(kind(i), choices[name]) for name, kind in kinds.items()} for i, _ in enumerate(layers)]
    return Llama(
        embedding=model.model.embed_tokens.weight.detach(),
        layers=tuple(Layer(**maps) for maps in fused),
        head=store(head, choices["head"]),
        rotations=_rotations(model, rows),
        heads=model.config.num_attention_heads,
        kv_heads=model.config.num_key_value_heads,
        epsilon=torch.tensor((model.config.rms_norm_eps * model.config.hidden_size) ** 0.5, dtype=rows),
        kernels=_described(choices),
    )


def _described(choices: Mapping[str, Choice]) -> dict[str, str]:
    return {name: describe(choice) for name, choice in choices.items()}


def _behind(inputs: Tensor, linear: Linear) -> Linear:
    return lambda x: linear(x * inputs)


def _after_norm(norm: Any, *linears: Any) -> Map:
    """Several maps after a norm as one, for rows of length 1."""
    weight = torch.cat([linear.weight for linear in linears])
    return Map(weight, norm.weight.double() * norm.weight.numel() ** 0.5)


def _qkv(layer: Any) -> Map:
    """The fused map of queries, keys and values, with the components of each query and key in pairs."""
    attention = layer.self_attn
    fused = _after_norm(layer.input_layernorm, attention.q_proj, attention.k_proj, attention.v_proj)
    heads = fused.weight.unflatten(0, (-1, attention.head_dim))
    values = len(attention.v_proj.weight) // attention.head_dim
    paired = heads[:-values].unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)
    return replace(fused, weight=torch.cat([paired, heads[-values:]]).flatten(0, 1))


def _rotations(model: Any, dtype: torch.dtype) -> Tensor:
    """The complex number that turns each pair of components, by position: [context, 1, head_dim / 2]."""
    positions = torch.arange(min(model.config.max_position_embeddings, MAX_CONTEXT))[None]
    cos, sin = model.model.rotary_emb(torch.zeros(1, dtype=dtype), positions)
    half = cos.shape[-1] // 2
    return torch.complex(cos[0, :, :half], sin[0, :, :half])[:, None].contiguous()


def _causal_mask(rows: int, end: int, dtype: torch.dtype) -> Tensor:
    """What is added to scores, [rows, end]: nothing up to the row's own position, the last row's being the last."""
    return torch.full((rows, end), -torch.inf, dtype=dtype).triu_(end - rows + 1)
