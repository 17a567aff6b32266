"""How much memory lanes, the process and the device take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from csd.models.memory import BYTES

if TYPE_CHECKING:
    from csd.models.family import Family


@dataclass(frozen=True)
class KVCache:
    """Bytes of one lane's KV cache of a model with room for `tokens`, computed from the model's shape.

    2 x layers x key-value heads x head size x bytes per number x tokens. A lane on a GPU rounds its tokens up.
    """

    model: str
    tokens: int
    bytes: int


@dataclass(frozen=True)
class Memory:
    """Bytes: each model's KV cache in a lane, the process's resident size, the GPUs' peak allocation (None: no GPU)."""

    caches: tuple[KVCache, ...]
    resident: int
    allocated: int | None


def measure_memory(family: Family, tokens: int) -> Memory:
    """The caches of a lane with room for `tokens`, and what the process and the device hold now."""
    import psutil
    import torch

    on_gpu = family.device.startswith("cuda")
    sizes = {model.name: model.cache for model in family.spec.models}
    caches = []
    for level in reversed(family.levels):
        room = min(tokens, family.contexts[level.name])
        number = BYTES.get(level.dtype, BYTES[family.dtype])  # a quantised copy's weights are, its cache is not
        caches.append(KVCache(level.name, room, sizes[level.name] * number * room))
    return Memory(
        tuple(caches),
        psutil.Process().memory_info().rss,
        sum(map(torch.cuda.max_memory_allocated, range(torch.cuda.device_count()))) if on_gpu else None,
    )
