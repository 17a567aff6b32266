"""Choose the kernel of a linear map for each width of a pass, by measuring on the model's own weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from time import perf_counter

import torch
from torch import Tensor

from csd.models.backends.linear import Kernel, Linear

WIDTHS = {1: 4.0, 2: 2.0, 4: 2.0, 8: 2.0, 16: 1.0, 32: 0.5}  # measured, and how much each counts; others round up
SAMPLE_BYTES = 2**24  # weights of one shape take turns, so that each one comes from memory and not from a cache
SAMPLES = 8  # at most
REPEATS = 8
SECONDS = 0.1  # per shape, after the first repeat
GAIN = 0.95  # of the time: what a second layout must reach, since it takes memory

Choice = tuple[Kernel, ...]
"""The kernel for each of `WIDTHS`."""


@torch.inference_mode()
def choose_kernels(kernels: Sequence[Kernel], weights: Sequence[Tensor], layouts: int = 2) -> Choice:
    """The fastest kernels for maps like `weights`, all of one shape [out, in], in at most `layouts` layouts."""
    if len(kernels) == 1:
        return (kernels[0],) * len(WIDTHS)
    times = _measure(kernels, weights[: max(1, min(SAMPLES, SAMPLE_BYTES // weights[0].nbytes))])

    def best(among: Sequence[Kernel], width: int) -> Kernel:
        return min(among, key=lambda kernel: times[kernel, width])

    def cost(among: Sequence[Kernel]) -> float:
        seconds = sum(count * times[best(among, width), width] for width, count in WIDTHS.items())
        return seconds * GAIN ** (1 - len(among))

    sets = [found for size in range(1, layouts + 1) for found in combinations(kernels, size)]
    chosen = min(sets, key=cost)
    return tuple(best(chosen, width) for width in WIDTHS)


def pack(weight: Tensor, choice: Choice) -> Linear:
    """The map of [out, in] that runs the chosen kernel at each width; each layout is stored once."""
    maps = {kernel: kernel.pack(weight) for kernel in dict.fromkeys(choice)}
    if len(maps) == 1:
        return maps[choice[0]]
    widths = list(WIDTHS)
    by_width = [maps[choice[next(i for i, upto in enumerate(widths) if w <= upto)]] for w in range(1, widths[-1] + 1)]
    by_width, last = [by_width[0], *by_width], widths[-1]
    return lambda x: by_width[min(len(x), last)](x)


def describe(choice: Choice) -> str:
    """Such as "oneDNN packed; x @ W from 16"."""
    parts, before = [], None
    for width, kernel in zip(WIDTHS, choice, strict=True):
        if kernel is not before:
            parts.append(kernel.name if before is None else f"{kernel.name} from {width}")
        before = kernel
    return "; ".join(parts)


def _measure(kernels: Sequence[Kernel], weights: Sequence[Tensor]) -> Mapping[tuple[Kernel, int], float]:
    """Seconds of a pass through all the weights by kernel and width, times the kernel's handicap; best of repeats."""
    maps = {kernel: [kernel.pack(weight) for weight in weights] for kernel in kernels}
    dtype = torch.float64 if weights[0].dtype == torch.float64 else torch.float32
    inputs = {width: torch.randn(width, weights[0].shape[1], dtype=dtype) for width in WIDTHS}
    times: dict[tuple[Kernel, int], float] = {}
    begun = perf_counter()
    for repeat in range(REPEATS):
        if repeat and perf_counter() - begun > SECONDS:
            break
        for width, x in inputs.items():
            for kernel, linears in maps.items():
                linears[0](x)  # the kernel is selected, and threads wake up
                started = perf_counter()
                for linear in linears:
                    linear(x)
                seconds = kernel.handicap * (perf_counter() - started)
                times[kernel, width] = min(seconds, times.get((kernel, width), seconds))
    return times
