"""The size of the enlarged family, so that every GPU measures what it has room for."""

from __future__ import annotations

import torch

ROOM_FOR_7B = 22 * 2**30  # bytes: 13 GB of weights, the drafts, lanes, graphs and what compiling takes


def size_of_models(memory: int) -> str:
    """The name of the shapes in `csd.bench.enlarge.SHAPES` for a GPU with this many bytes."""
    return "7B" if memory >= ROOM_FOR_7B else "1B"


def size_here() -> str:
    """The size for this GPU."""
    return size_of_models(torch.cuda.get_device_properties(0).total_memory)
