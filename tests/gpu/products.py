"""The products of weights with few rows that a pass consists of: by rows, fused or not, and by a kernel of our own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from csd.bench.enlarge import SHAPES, Shape
from gpu.figures import Figure, Figures, seconds
from gpu.size import size_here
from gpu.timing import work_seconds

HEAD, VOCAB = 64, 8192  # of the embedded family, which the shapes keep
ROWS = (1, 2, 8, 16)
READ = {"cuda": 600 * 2**20, "cpu": 2**20}  # bytes of weights in turn: several times the L2 cache


@dataclass(frozen=True)
class Product:
    """Weights of n outputs and k inputs."""

    name: str
    n: int
    k: int

    def weights(self, device: str, dtype: torch.dtype) -> list[Tensor]:
        """Enough of them that none is still in the cache when its turn comes again."""
        count = max(3, READ[device] // (self.n * self.k * dtype.itemsize))
        return [torch.randn(self.n, self.k, device=device, dtype=dtype) for _ in range(count)]


def products(shape: Shape) -> tuple[Product, ...]:
    """Those of one layer and of the head, single and fused."""
    queries, keys = shape.heads * HEAD, shape.kv_heads * HEAD
    return (
        Product("q", queries, shape.hidden),
        Product("q, k, v fused", queries + 2 * keys, shape.hidden),
        Product("gate", shape.intermediate, shape.hidden),
        Product("gate, up fused", 2 * shape.intermediate, shape.hidden),
        Product("down", shape.hidden, shape.intermediate),
        Product("head", VOCAB, shape.hidden),
    )


TINY = Shape("tiny", 64, 96, 1, 1, 1)


@torch.no_grad()
def main(device: str, path: Path) -> None:
    figures, dtype = Figures(path), torch.bfloat16 if device == "cuda" else torch.float32
    for product in products(SHAPES[size_here()]["target"] if device == "cuda" else TINY):
        size, name = product.n * product.k * dtype.itemsize, f"{product.name}, {product.n} x {product.k}"
        weights = cache(partial(product.weights, device, dtype))  # only made if something is left to measure
        for rows in ROWS:
            what = f"{name}, rows {rows}"
            figures.measure(what, partial(_linear, what, rows, weights, size, device))
        if device == "cuda":
            what = f"{name}, rows 1, Triton"
            figures.measure(what, partial(_matvec, what, weights, size))


def _linear(what: str, rows: int, make: Callable[[], list[Tensor]], size: int, device: str) -> Figure:
    """By PyTorch, which on a GPU is cuBLAS."""
    weights = make()
    x = torch.randn(rows, weights[0].shape[1], device=device, dtype=weights[0].dtype)
    return seconds(what, work_seconds([lambda w=w: F.linear(x, w) for w in weights], device), bytes=size)


def _matvec(what: str, make: Callable[[], list[Tensor]], size: int) -> Figure:
    """By the Triton kernel, with the blocks that are fastest here."""
    from gpu.matvec import BLOCKS, matvec

    weights = make()
    x = torch.randn(weights[0].shape[1], device="cuda", dtype=weights[0].dtype)
    times = {
        blocks: work_seconds([lambda w=w, blocks=blocks: matvec(w, x, blocks) for w in weights], "cuda")
        for blocks in BLOCKS
    }
    best = min(times, key=times.__getitem__)
    exact = weights[0].double() @ x.double()
    error = float((matvec(weights[0], x, best).double() - exact).norm() / exact.norm())
    return seconds(what, times[best], text=f"blocks {best}, error {error:.1%}", bytes=size)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
