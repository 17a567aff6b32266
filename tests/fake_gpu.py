"""Tensors that claim to be on a GPU, compute on the CPU, and count what would be launched and waited for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from csd.decoding import acceptance, noise, sampling, transfer

VIEWS = ("aten.view", "aten.slice", "aten.select", "aten.unsqueeze", "aten.squeeze", "aten.detach", "aten.split",
         "aten.expand", "aten.alias", "aten.unbind", "aten.t.", "aten._unsafe_view")  # fmt: skip
WAITS = ("aten._local_scalar_dense", "aten.item", "aten.nonzero", "aten.masked_select", "aten.is_nonzero", "aten.equal")


@dataclass
class Counted:
    """Since the last `reset`: kernels, copies from the host that do not wait, and waits of the host."""

    kernels: int = 0
    uploads: int = 0
    waits: int = 0

    def reset(self) -> None:
        self.kernels = self.uploads = self.waits = 0


COUNTED = Counted()


class FakeGpuTensor(torch.Tensor):
    """The tensor `held` on the CPU, as if it were on a GPU. A result is a tensor of the same kind."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> FakeGpuTensor:
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, strides=held.stride(), dtype=held.dtype)

    def __init__(self, held: torch.Tensor):
        self.held = held

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", 0)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        name = str(func)
        from_host = any(type(one) is torch.Tensor and one.dim() for one in tree_leaves(args))
        COUNTED.waits += name.startswith(WAITS) or from_host  # a copy between the devices that nobody asked for
        COUNTED.kernels += not name.startswith(VIEWS + WAITS)
        plain = {key: value for key, value in (kwargs or {}).items() if key not in ("device", "pin_memory")}
        out = func(*tree_map(_held, args), **tree_map(_held, plain))
        return tree_map(lambda one: cls(one) if isinstance(one, torch.Tensor) else one, out)

    def tolist(self):
        COUNTED.waits += 1
        return self.held.tolist()


def _held(one):
    return one.held if isinstance(one, FakeGpuTensor) else one


@pytest.fixture
def fake_gpu(monkeypatch) -> Counted:
    """Copies between host and device (`csd.decoding.transfer`) are counted, and `FakeGpuTensor` takes part in them."""

    def to_device(numbers: torch.Tensor, device: torch.device) -> torch.Tensor:
        assert torch.device(device).type == "cuda"
        COUNTED.uploads += 1
        return FakeGpuTensor(numbers)

    def to_host(values: torch.Tensor):
        assert isinstance(values, FakeGpuTensor) and values.dim() == 1
        fetched = values.held.clone()
        values.held.fill_(math.nan)

        def wait() -> list[float]:
            COUNTED.waits += 1
            return fetched.tolist()

        return wait

    for module in (transfer, noise, sampling):
        monkeypatch.setattr(module, "to_device", to_device)
    monkeypatch.setattr(acceptance, "to_host", to_host)
    COUNTED.reset()
    return COUNTED
