"""Counts what a GPU would be told to do, on the meta device: shapes are real, and nothing is computed.

An operation is one of PyTorch's that writes something; views are left out. On a GPU it is at least one kernel. Whatever
would read a number of the device, other than through `csd.decoding.transfer`, raises an error there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from csd.decoding import acceptance, noise, sampling, transfer
from csd.models.backends import graph_chains


@dataclass
class Counts:
    """`graphs` that are launched, the operations `captured` in them, and the `launches` of operations outside them.

    `uploads` are copies to the device that do not wait, `waits` are those from it, for which the host does.
    """

    graphs: int = 0
    captured: int = 0
    launches: int = 0
    uploads: int = 0
    waits: int = 0


class Counting(TorchDispatchMode):
    """Counts operations on the meta device; also a `Capture` whose replays count as one launch each."""

    def __init__(self) -> None:
        super().__init__()
        self.counts, self._in_graph = Counts(), False

    def new_memory(self) -> None:
        return None

    def __call__(self, run: Callable[[], Any], memory: Any) -> Callable[[], Any]:
        def replay() -> Any:
            self.counts.graphs += 1
            self._in_graph = True
            try:
                return run()
            finally:
                self._in_graph = False

        return replay

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        made, read = _tensors(result), _tensors((args, kwargs))
        if any(one.is_meta for one in made) and not _is_free(func, made, read):
            if func is torch.ops.aten.copy_.default and not args[1].is_meta:
                self.counts.uploads += 1
            elif self._in_graph:
                self.counts.captured += 1
            else:
                self.counts.launches += 1
        return result


@contextmanager
def counted() -> Iterator[Counting]:
    """What runs inside is counted, also its copies between host and device. Numbers that are fetched are zeros."""
    counting = Counting()

    def to_device(numbers: Tensor, device: torch.device) -> Tensor:
        counting.counts.uploads += bool(len(numbers))
        return torch.empty_like(numbers, device=device)

    def to_host(values: Tensor) -> Callable[[], list[float]]:
        def wait() -> list[float]:
            counting.counts.waits += 1
            return [0.0] * len(values)

        return wait

    with ExitStack() as stack:
        for module in (transfer, acceptance):
            stack.enter_context(mock.patch.object(module, "to_host", to_host))
        for module in (transfer, noise, sampling, graph_chains):
            stack.enter_context(mock.patch.object(module, "to_device", to_device))
        stack.enter_context(torch.inference_mode())
        yield stack.enter_context(counting)


def _is_free(func: Any, made: list[Tensor], read: list[Tensor]) -> bool:
    """Whether it only looks at memory in another way, or reserves some."""
    if func._schema.is_mutable:
        return False
    memory = {one.untyped_storage()._cdata for one in read}
    return "empty" in func._schema.name or all(one.untyped_storage()._cdata in memory for one in made)


def _tensors(of: Any) -> list[Tensor]:
    return [one for one in tree_leaves(of) if isinstance(one, Tensor)]
