"""How much memory a family needs, before anything of it is loaded. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from csd.models.spec import FamilySpec, ModelSpec

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
LANES = 4  # of a race of the page, and so KV caches of every model
MAX_CONTEXT = 4096  # tokens of context used at most, even if a model can read more; bounds the size of KV caches
SHORT_TEXT = 1024  # tokens; a GPU keeps lanes of this length ready besides those for the longest texts
MAX_PACKED = 2**30  # bytes of weights up to which a CPU packs them (see backends.llama_cpu)
SLACK = 1.1  # of weights and KV caches, for what allocators round up
MARGIN = 512 * 2**20  # bytes for activations, logits, CUDA graphs and the runtime


def memory_needed(spec: FamilySpec, dtype: str) -> int | None:
    """Bytes needed to run a family in `dtype`; None if a size is unknown."""
    return models_need(spec.models, dtype)


def models_need(models: Sequence[ModelSpec], dtype: str) -> int | None:
    """Bytes needed to run models on one device in `dtype` (those with a dtype of their own keep it); None if unknown.

    1.1 x (weights + 4 lanes x cache numbers per token x context), in bytes, summed over all models, plus 512 MiB. In
    float32 and float64, which run on CPUs, weights of up to 1 GiB are packed, one model at a time: the largest of them
    counts twice. In 16 bits, as on GPUs, lanes for short texts are added to those of full length. The weights of a
    quantised copy count by their bits.
    """
    if any(not (model.parameters and model.cache and model.context) for model in models):
        return None
    steady = sum(_weight_bytes(model, dtype) + cache_bytes(model, dtype) for model in models)
    return round(SLACK * (steady + max((_packing_bytes(model, dtype) for model in models), default=0))) + MARGIN


def _weight_bytes(model: ModelSpec, dtype: str) -> int:
    return model.parameters * (model.bits or 8 * BYTES[model.dtype_or(dtype)]) // 8


def cache_bytes(model: ModelSpec, dtype: str) -> int:
    """Bytes of the KV caches of all lanes."""
    each, longest = BYTES[model.dtype_or(dtype)], min(model.context, MAX_CONTEXT)
    short = SHORT_TEXT if each == 2 and longest > SHORT_TEXT else 0
    return LANES * model.cache * (longest + short) * each


def _packing_bytes(model: ModelSpec, dtype: str) -> int:
    """What a model takes besides its weights while they are packed for a CPU."""
    weights = _weight_bytes(model, dtype)
    return weights if not model.bits and BYTES[model.dtype_or(dtype)] >= 4 and weights <= MAX_PACKED else 0


def size(count: float) -> str:
    """A number of bytes in GiB or MiB, for people to read."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
