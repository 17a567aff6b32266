"""Quantised copies of a target, as drafts: the same network with the weights of its linear maps in 8 or 4 bits.

A copy shares with its target whatever is not a linear map, above all the embedding table. What it says need not be the
same at every width: it only drafts, the target reviews.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from csd.models.backends.interface import Backend
from csd.models.backends.linear import Kernel, Linear
from csd.models.backends.llama_cpu import fuse_with, is_supported
from csd.models.backends.quantised import ShapeError


def lean_copy(target: PreTrainedModel, kernels: tuple[Kernel, ...]) -> Backend | None:
    """A copy that runs the lean forward; None if that does not support the target."""
    if not is_supported(target):
        return None
    guarded = tuple(replace(kernel, pack=partial(quantise, kernel=kernel)) for kernel in kernels)
    return fuse_with(target, torch.float32, guarded, len(guarded))


@torch.no_grad()
def quantised_model(target: PreTrainedModel, kernel: Kernel) -> PreTrainedModel:
    """transformers' own model with quantised linear maps, the output head among them; all else is the target's."""
    shared = {id(tensor): tensor for tensor in (*target.parameters(), *target.buffers())}
    copy = deepcopy(target, shared)
    for parent in list(copy.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.Linear):
                setattr(parent, name, QuantisedLinear(child.weight, child.bias, kernel))
            elif isinstance(child, Conv1D):  # GPT-2's name for a linear map stored as [in, out]
                setattr(parent, name, QuantisedLinear(child.weight.t(), child.bias, kernel))
    return copy


class QuantisedLinear(nn.Module):
    """A linear map with quantised weights, over the last dimension of anything; rows keep their number format."""

    weight = None  # T5 asks every linear map for its number format

    def __init__(self, weight: Tensor, bias: Tensor | None, kernel: Kernel):
        super().__init__()
        self._format = torch.float32 if weight.device.type == "cpu" else weight.dtype
        self._linear, self._bias = quantise(weight.to(self._format).contiguous(), kernel), bias

    def forward(self, x: Tensor) -> Tensor:
        rows = self._linear(x.flatten(0, -2).to(self._format)).to(x.dtype).unflatten(0, x.shape[:-1])
        return rows if self._bias is None else rows + self._bias


def quantise(weight: Tensor, kernel: Kernel) -> Linear:
    """The map of [out, in] in the kernel's bits; a shape that the kernel cannot do keeps its weights."""
    try:
        return kernel.pack(weight)
    except ShapeError:
        plain = weight.clone()
        return lambda x: x @ plain.t()
