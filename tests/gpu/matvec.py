"""A matrix times a vector in Triton: whether a kernel of our own would read weights faster than cuBLAS does."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCKS = ((2, 1024, 4), (4, 1024, 4), (4, 1024, 8), (8, 512, 4), (8, 1024, 8), (16, 512, 8), (1, 2048, 4), (2, 2048, 8))
"""Outputs of a program, inputs that it reads at a time, and its warps."""


def matvec(weights: Tensor, x: Tensor, blocks: tuple[int, int, int]) -> Tensor:
    """weights [n, k] times x [k]; n must be a multiple of the first block."""
    n, k = weights.shape
    y = torch.empty(n, device=x.device, dtype=x.dtype)
    _kernel[(n // blocks[0],)](x, weights, y, k, blocks[0], blocks[1], num_warps=blocks[2])
    return y


@triton.jit
def _kernel(x, weights, y, K: tl.constexpr, N_BLOCK: tl.constexpr, K_BLOCK: tl.constexpr):
    n = tl.program_id(0) * N_BLOCK + tl.arange(0, N_BLOCK)
    sums = tl.zeros((N_BLOCK, K_BLOCK), tl.float32)
    for start in range(0, K, K_BLOCK):
        k = start + tl.arange(0, K_BLOCK)
        inputs = tl.load(x + k, mask=k < K, other=0.0).to(tl.float32)
        block = tl.load(
            weights + n[:, None] * K + k[None, :], mask=(k < K)[None, :], other=0.0, eviction_policy="evict_first"
        )
        sums += inputs[None, :] * block.to(tl.float32)
    tl.store(y + n, tl.sum(sums, 1).to(y.dtype.element_ty))
