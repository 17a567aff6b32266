"""Linear maps on a CPU: the kernels that PyTorch offers for each number format, as values to choose from.

Each kernel stores weights in a layout of its own. Which one is fast depends on the processor and on the width of the
pass: the layout that is best by far on one machine is the slowest on another of the same size.

oneDNN compiles a program for every number of rows that a map has been given, and keeps it: half a megabyte each, for
as long as the process lives. So its maps see few numbers of rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers.activations import GELUActivation, GELUTanh
from transformers.pytorch_utils import Conv1D

Linear = Callable[[Tensor], Tensor]
"""[n, in] to [n, out], both in float32; in float64 where the weights are; on a GPU in the weights' own format."""

# The rows of a oneDNN pass. A review of k tokens has k + 1, and k is a power of two more often than not.
ROUNDED = (*range(1, 10), 13, 17, 25, 33, 48, 64)
BLOCK = 256


@dataclass(frozen=True)
class Kernel:
    """One way to store a weight and to multiply with it.

    `pack` takes [out, in] and returns the map, whose storage is its own. Its measured times count `handicap` times: so
    noise does not choose between equals, and a kernel that rounds more must win clearly.
    """

    name: str
    pack: Callable[[Tensor], Linear]
    handicap: float = 1.0


def cpu_kernels(dtype: torch.dtype) -> tuple[Kernel, ...]:
    """The kernels for weights of this format. Float64 has one only, so that rows never depend on the width."""
    if dtype == torch.float64:
        return (PLAIN,)
    return tuple(kernel for kernel in (PACKED, PLAIN, ROWS) if kernel is not PACKED or _has_packed(dtype))


def _has_packed(dtype: torch.dtype) -> bool:
    if not torch.backends.mkldnn.is_available():
        return False
    return dtype == torch.float32 or torch.ops.mkldnn._is_mkldnn_bf16_supported()


def _packed(weight: Tensor) -> Linear:
    reordered = torch.ops.mkldnn._reorder_linear_weight(weight)
    linear = torch.ops.mkldnn._linear_pointwise

    def packed(x: Tensor) -> Tensor:
        return linear(x, reordered, None, "none", [], "")

    return in_few_widths(packed) if weight.dtype == torch.float32 else _in_dtype(weight.dtype, packed)


def _plain(weight: Tensor) -> Linear:
    transposed = weight.t().contiguous()
    return _in_dtype(weight.dtype, lambda x: x @ transposed)


def _rows(weight: Tensor) -> Linear:
    rows = weight.clone()
    return _in_dtype(weight.dtype, lambda x: F.linear(x, rows))


def _in_dtype(dtype: torch.dtype, linear: Linear) -> Linear:
    """The map of float32 rows. Weights in bfloat16 multiply rows in bfloat16, and that oneDNN does in every layout."""
    if dtype in (torch.float32, torch.float64):
        return linear
    few = in_few_widths(linear)
    return lambda x: few(x.to(dtype)).to(x.dtype)


def in_few_widths(linear: Linear) -> Linear:
    """The same map, called only with a number of rows that is in `ROUNDED`, or with `BLOCK` rows.

    Many rows are divided; a few are padded, and the result is cut to their number.
    """
    most = ROUNDED[-1]

    def mapped(x: Tensor) -> Tensor:
        n = len(x)
        if n > most and n != BLOCK:
            sizes = [BLOCK] * (n // BLOCK) + [most] * (n % BLOCK // most) + [n % BLOCK % most]
            return torch.cat([mapped(part) for part in x.split(sizes) if len(part)])
        rounded = n if n == BLOCK else ROUNDED[bisect_left(ROUNDED, n)]
        return linear(x) if n == rounded else linear(F.pad(x, (0, 0, 0, rounded - n)))[:n]

    return mapped


def see_few_widths(model: torch.nn.Module) -> None:
    """Let the parts of a model on a CPU that oneDNN computes see few numbers of rows: linear maps in 16 bits, and GELU.

    For models that transformers runs. All of it stays modules with the same weights.
    """
    for part in model.modules():
        is_map = isinstance(part, (torch.nn.Linear, Conv1D)) and part.weight.dtype.itemsize == 2
        if is_map or isinstance(part, (torch.nn.GELU, GELUActivation, GELUTanh)):
            _see_few_rows(part)


def _see_few_rows(part: Any) -> None:
    few = in_few_widths(part.forward)
    part.forward = lambda x: few(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


PACKED = Kernel("oneDNN packed", _packed)
PLAIN = Kernel("x @ W", _plain, handicap=1.1)
ROWS = Kernel("F.linear", _rows, handicap=1.1)
