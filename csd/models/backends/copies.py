"""Quantised copies of a target, as drafts: the same network with the weights of its linear maps in 8 or 4 bits.

A copy shares with its target whatever is not a linear map, above all the embedding table. What it says need not be the
same at every width: it only drafts, the target reviews.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from csd.models.backends.interface import Backend
from csd.models.backends.linear import Kernel, Linear
from csd.models.backends.llama_cpu import fold, fuse_with, is_supported, keep_apart
from csd.models.backends.quantised import ShapeError, find_spacing

# What rounds less is accepted more often: on SmolLM2 135M, drafts of 7 tokens gave 6.9 tokens per target pass with
# the weights of its 4-bit file, and 6.1 with weights rounded to 8 bits. So its measured times count this much.
EXACT = 0.85


def lean_copy(target: Any, kernels: tuple[Kernel, ...], fewer: tuple[Kernel, ...] = ()) -> Backend | None:
    """A copy that runs the lean forward; None if that does not support the target.

    `fewer` are kernels of 4 bits, for the maps of a target whose weights were read from a 4-bit file: they lose
    next to nothing there, and read half as much. Its norms stay apart, because their factors would lead off the
    file's grid.
    """
    if not is_supported(target):
        return None
    is_exact = find_spacing(target.model.layers[0].mlp.down_proj.weight.detach()) is not None
    exact = tuple(
        replace(kernel, pack=partial(_pack_fewest, kernel, kernels[0]), handicap=EXACT * kernel.handicap)
        for kernel in fewer
        if is_exact
    )
    guarded = tuple(replace(kernel, pack=partial(quantise, kernel=kernel)) for kernel in (*exact, *kernels))
    return fuse_with(target, torch.float32, guarded, len(guarded), keep_apart if is_exact else fold)


def _pack_fewest(few: Kernel, otherwise: Kernel, weight: Tensor) -> Linear:
    return (otherwise if find_spacing(weight) is None else few).pack(weight)


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
