"""A family at the cost of a big one without its weights: small models, enlarged without changing what they compute.

A Llama's weights stand in the first rows and columns of bigger matrices. What could alter the result is zero, the rest is
random. So tokens and acceptance are those of the small family, while memory and time are those of the big shape.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from math import ceil

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from csd.models.backends.prepare import prepare_models
from csd.models.catalog import FamilyError, FamilySpec, ModelSpec
from csd.models.device import check_memory, memory_notes, resolve_device, resolve_dtype
from csd.models.family import Family, load_family
from csd.models.messages import Progress, ignore


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama. Head size and vocabulary stay those of the small model."""

    name: str
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int

    def parameters(self, head: int, vocab: int, tied: bool) -> int:
        """How many numbers a model of this shape has, tied ones once."""
        attention = 2 * self.hidden * head * (self.heads + self.kv_heads)
        layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.layers * layer + (1 if tied else 2) * vocab * self.hidden + self.hidden


# Shapes of known models at head size 64: names are those of the models, whose larger vocabularies are not imitated.
_68M = Shape("68M", 768, 3072, 2, 12, 12)
_160M = Shape("160M", 768, 3072, 12, 12, 12)
_HALF = Shape("0.5B", 1024, 5120, 24, 16, 16)
_1B = Shape("1B", 2048, 8192, 16, 32, 8)
_7B = Shape("7B", 4096, 11008, 32, 64, 64)
_13B = Shape("13B", 5120, 13824, 40, 80, 80)

SHAPES: dict[str, dict[str, Shape]] = {
    "1B": {"target": _1B, "draft-mid": _160M, "draft-small": _68M},
    "7B": {"target": _7B, "draft-mid": _HALF, "draft-small": _68M},
    "13B": {"target": _13B, "draft-mid": _1B, "draft-small": _68M},
}
"""For each size the shape of each model of the embedded family."""


def scaled(
    spec: FamilySpec,
    size: str,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress = ignore,
) -> Family:
    """A family of this project's shapes, opened and enlarged to a key of SHAPES. Raises FamilyError."""
    if size not in SHAPES:
        raise FamilyError(f"There is no size called {size!r}. Choose one of: {', '.join(SHAPES)}.")
    absent = [model.name for model in spec.models if model.name not in SHAPES[size]]
    if absent:
        raise FamilyError(
            f"There is no {size} shape for {absent[0]} of {spec.name}. Choose the embedded family for this measurement."
        )
    device = resolve_device(device)
    dtype = resolve_dtype(dtype, device)
    return enlarged(
        load_family(spec, "cpu", "float32", progress), SHAPES[size], f"{size} shape", device, dtype, progress
    )


def enlarged(
    family: Family,
    shapes: dict[str, Shape],
    label: str,
    device: str,
    dtype: str,
    progress: Progress = ignore,
) -> Family:
    """A loaded family with each model in the shape of its name, on one device and in one number format.

    Tokenizer, bigram table and contexts stay. Raises FamilyError where a model does not fit its shape or the memory.
    """
    try:
        specs = {
            model.name: _spec(model, family.models[model.name], shapes[model.name]) for model in family.spec.models
        }
    except ValueError as error:
        raise FamilyError(f"{family.spec.name} cannot be enlarged: {error}") from error
    spec = replace(
        family.spec,
        name=f"{family.spec.name}, {label}",
        target=specs["target"],
        drafts=tuple(specs[draft.name] for draft in family.spec.drafts),
        about=f"The {family.spec.name} family, enlarged without changing its function; a measure of cost, not of quality.",
    )
    check_memory(spec, dtype, device)
    models = {}
    for name, model in family.models.items():
        progress(f"enlarging {name} to {shapes[name].name}")
        models[name] = enlarge(model, shapes[name], device, getattr(torch, dtype))
    prepared = prepare_models(models, family.contexts, device, progress)
    levels = tuple(
        replace(level, model=specs[level.name].id, parameters=models[level.name].num_parameters(), dtype=dtype)
        for level in family.levels
    )
    return replace(
        family,
        spec=spec,
        levels=levels,
        models=models,
        backends=prepared.backends,
        costs=prepared.costs,
        device=device,
        dtype=dtype,
        notes=(spec.about, *memory_notes(spec, dtype), *family.notes, *prepared.notes),
    )


def _spec(model: ModelSpec, small: PreTrainedModel, shape: Shape) -> ModelSpec:
    _checked(small, shape)
    config = small.config
    return replace(
        model,
        id=f"{model.id} in a {shape.name} shape",
        dtype="auto",
        parameters=shape.parameters(config.head_dim, config.vocab_size, config.tie_word_embeddings),
        cache=2 * shape.layers * shape.kv_heads * config.head_dim,
    )


@torch.no_grad()
def enlarge(
    small: PreTrainedModel, shape: Shape, device: str | None = None, dtype: torch.dtype | None = None
) -> PreTrainedModel:
    """A model of this shape, made on the device, that gives the same logits; default: the small one's device and type.

    Raises ValueError with a sentence where the small one does not fit in.
    """
    _checked(small, shape)
    # The mean of squares is taken over more numbers, the new ones 0: smaller by `share`, and so must be what is added.
    share = small.config.hidden_size / shape.hidden
    big = _random(small, shape, small.config.rms_norm_eps * share, device or small.device, dtype or small.dtype)
    wide, head = small.config.hidden_size, small.config.head_dim
    queries, keys = _places(small, shape)
    origin = [place // (len(keys) // small.config.num_key_value_heads) for place in keys]

    def put(into: torch.nn.Module, weights: torch.Tensor) -> None:
        into.weight[: weights.shape[0], : weights.shape[1]] = weights.to(into.weight)

    def norm(into: torch.nn.Module, weights: torch.Tensor) -> None:
        into.weight[:wide] = (weights.double() * share**0.5).to(into.weight)

    big.model.embed_tokens.weight.zero_()  # so that the new dimensions of the hidden state are 0 from the start
    put(big.model.embed_tokens, small.model.embed_tokens.weight)
    if not small.config.tie_word_embeddings:
        put(big.lm_head, small.lm_head.weight)
    norm(big.model.norm, small.model.norm.weight)
    for layer in big.model.layers:  # and stay 0, whatever layers, heads and neurons there are more
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    for layer, model in zip(big.model.layers, small.model.layers):
        norm(layer.input_layernorm, model.input_layernorm.weight)
        norm(layer.post_attention_layernorm, model.post_attention_layernorm.weight)
        put(layer.mlp.gate_proj, model.mlp.gate_proj.weight)
        put(layer.mlp.up_proj, model.mlp.up_proj.weight)
        put(layer.mlp.down_proj, model.mlp.down_proj.weight)
        ours, theirs = layer.self_attn, model.self_attn
        for into, weights, places, sources in (
            (ours.q_proj, theirs.q_proj, queries, range(len(queries))),
            (ours.k_proj, theirs.k_proj, keys, origin),
            (ours.v_proj, theirs.v_proj, keys, origin),
        ):
            rows = weights.weight.view(-1, head, wide)[list(sources)]
            into.weight.view(-1, head, shape.hidden)[places, :, :wide] = rows.to(into.weight)
        columns = theirs.o_proj.weight.view(wide, -1, head)
        ours.o_proj.weight.view(shape.hidden, -1, head)[:wide, queries] = columns.to(ours.o_proj.weight)
    return big


def _checked(small: PreTrainedModel, shape: Shape) -> None:
    config = small.config
    if config.model_type != "llama" or config.attention_bias or config.mlp_bias:
        raise ValueError(f"A {config.model_type} model is given; only a Llama without biases can be enlarged.")
    if shape.heads % shape.kv_heads:
        raise ValueError(f"{shape.heads} heads cannot share {shape.kv_heads} heads of keys and values evenly.")
    queries, keys = _places(small, shape)
    for what, needed, there in (
        ("hidden dimensions", config.hidden_size, shape.hidden),
        ("neurons", config.intermediate_size, shape.intermediate),
        ("layers", config.num_hidden_layers, shape.layers),
        ("heads", max(queries) + 1, shape.heads),
        ("heads of keys and values", max(keys) + 1, shape.kv_heads),
    ):
        if needed > there:
            raise ValueError(f"The shape {shape.name} has {there} {what}, and {needed} are needed.")


def _places(small: PreTrainedModel, shape: Shape) -> tuple[list[int], list[int]]:
    """Where each head goes, so that it keeps its keys and values: heads, and heads of keys and values.

    Where fewer heads share keys and values in the big shape, keys and values come several times, one after another.
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
    """A random model of the shape, made where it will run."""
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
