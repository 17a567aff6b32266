"""Linear maps with weights of 8 or 4 bits: the kernels that PyTorch has, and which of them this machine is fast at.

Which kernels exist depends on the processor and on how PyTorch was built, and some fall back to reference code that is
a thousand times slower. So each one is tried before it is used.
"""

from __future__ import annotations

import warnings
from functools import cache
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from csd.models.backends.linear import Kernel, Linear

GROUPS = (64, 32)  # inputs that share a scale in 4-bit weights; the first that divides the number of inputs
FILE_GROUP = 32  # inputs that share one in files of 4-bit weights (GGUF's Q4_0, Q4_1 and Q4_K)
STEPS = 15  # between the least and the greatest code of 4 bits
NEAR = 0.01  # of a step: how far weights may be from an even grid that are taken to be on it
SOME = 16  # outputs on which weights are tried first
PROBE_SHAPE = (1536, 1024)  # outputs and inputs of the map on which a kernel is tried
PROBE_WIDTHS = (1, 4, 8)
PROBE_REPEATS = 8
SLOWEST = 3.0  # times a float32 product: far above noise on a busy machine, far below reference code
TOLERANCE = {8: 0.05, 4: 0.2}  # by bits: relative distance from the exact product of random numbers


class ShapeError(ValueError):
    """A kernel cannot do maps of this shape."""


@cache
def find_kernels(bits: int, device: str) -> tuple[Kernel, ...]:
    """The kernels of a device type that are right and not far slower than a float32 product, the most exact one first.

    `pack` of such a kernel raises ShapeError for a shape that it cannot do. Tried once per process.
    """
    found = {kernel: _probe(kernel, bits, device) for kernel in KERNELS.get((bits, device), ())}
    return tuple(kernel for kernel, usable in found.items() if usable)


@torch.inference_mode()
def _probe(kernel: Kernel, bits: int, device: str) -> bool:
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(rows, PROBE_SHAPE[1], generator=generator) for rows in (PROBE_SHAPE[0], max(PROBE_WIDTHS)))
    exact = x @ weight.t()
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    weight, x = weight.to(device, dtype), x.to(device, dtype)
    try:
        quantised = kernel.pack(weight)
        found = quantised(x)
    except Exception:  # which errors an absent kernel raises differs between builds of PyTorch
        return False
    if (found.float().cpu() - exact).norm() > TOLERANCE[bits] * exact.norm():
        return False
    if device != "cpu":
        return True  # a copy's passes are timed like any other model's
    return _seconds(quantised, x) < SLOWEST * _seconds(lambda x: torch.nn.functional.linear(x, weight), x)


def _seconds(linear: Linear, x: Tensor) -> float:
    """The sum over widths of the fastest repeat; a warm-up comes first."""
    total = 0.0
    for width in PROBE_WIDTHS:
        rows, times = x[:width].contiguous(), []
        linear(rows)
        for _ in range(PROBE_REPEATS):
            started = perf_counter()
            linear(rows)
            times.append(perf_counter() - started)
        total += min(times)
    return total


def _dynamic_int8(weight: Tensor) -> Linear:
    """Rows are quantised as well, for integer dot products: 16 rows take hardly longer than one."""
    packed = _packed_int8(weight)
    multiply = torch.ops.quantized.linear_dynamic
    # Without VNNI, sums of two products of full range overflow 16 bits.
    seven_bits = not torch.cpu._is_vnni_supported()

    def linear(x: Tensor) -> Tensor:
        if len(x) == 1:
            return multiply(x, packed, seven_bits)
        # One scale serves all rows, and the first token of a text has numbers a thousand times larger than others.
        largest = torch.linalg.vector_norm(x, torch.inf, -1, True).clamp_(min=torch.finfo(x.dtype).tiny)
        return multiply(x / largest, packed, seven_bits).mul_(largest)

    return linear


def _packed_int8(weight: Tensor) -> object:
    codes, scales = _int8(weight)
    before = torch.backends.quantized.engine
    available = torch.backends.quantized.supported_engines
    torch.backends.quantized.engine = "x86" if "x86" in available else "qnnpack"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # quantised tensors are to leave PyTorch; then this kernel is absent
            make: Any = torch._make_per_channel_quantized_tensor  # pyright: ignore[reportPrivateImportUsage]
            tensor = make(codes, scales.double(), torch.zeros(len(scales), dtype=torch.long), 0)
            return torch.ops.quantized.linear_prepack(tensor, None)
    finally:
        torch.backends.quantized.engine = before


def _weight_only_int8(weight: Tensor) -> Linear:
    """Activations in bfloat16: fastest over one to four rows of small weights, slow over many."""
    if weight.shape[1] % 16:  # on a CPU the result would be wrong, without an error
        raise ShapeError
    codes, scales = _int8(weight)
    half = scales.bfloat16()
    return lambda x: torch.ops.aten._weight_int8pack_mm(x.bfloat16(), codes, half).to(x.dtype)


def _int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Codes from -127 to 127, [out, in], and the scale of each output."""
    scales = weight.float().abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / 127
    return (weight.float() / scales[:, None]).round().to(torch.int8), scales


def _weight_only_int4_cpu(weight: Tensor) -> Linear:
    codes, scales, group = _int4(weight)
    packed, outputs = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1), len(weight)
    multiply = torch.ops.aten._weight_int4pack_mm_for_cpu
    return lambda x: multiply(x.bfloat16(), packed, group, scales)[:, :outputs].to(x.dtype)


def _weight_only_int4_cuda(weight: Tensor) -> Linear:
    codes, scales, group = _int4(weight)
    pairs, outputs = (codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8), len(weight)
    packed = torch.ops.aten._convert_weight_to_int4pack(pairs, 2)
    return lambda x: torch.ops.aten._weight_int4pack_mm(x.bfloat16(), packed, group, scales)[:, :outputs].to(x.dtype)


def find_spacing(weight: Tensor) -> Tensor | None:
    """The step between the weights in each group of 32 inputs, [out, groups, 1], if no group has more than 16 values,
    evenly spaced, as weights have that were read from a 4-bit file; None otherwise."""
    if weight.shape[1] % FILE_GROUP:
        return None
    return None if _spacing(weight[:SOME]) is None else _spacing(weight)


def _spacing(weight: Tensor) -> Tensor | None:
    groups = weight.float().unflatten(1, (-1, FILE_GROUP))
    low = groups.amin(-1, keepdim=True)
    span = groups.amax(-1, keepdim=True) - low
    if _is_even(groups - low, even := span / STEPS):
        return even
    gaps = groups.sort(-1).values.diff(dim=-1)
    least = gaps.masked_fill_(gaps <= even * NEAR, torch.inf).amin(-1, keepdim=True)
    counts = (span / least).round().clamp_(min=1)
    step = span / counts
    return step if counts.max() <= STEPS and _is_even(groups - low, step) else None


def _is_even(heights: Tensor, step: Tensor) -> bool:
    """Whether the heights of weights over the least of their group are multiples of a step."""
    codes = heights / step.clamp(min=torch.finfo(torch.float32).tiny)
    return bool((codes - codes.round()).abs().max() <= NEAR)


def _int4(weight: Tensor) -> tuple[Tensor, Tensor, int]:
    """Codes from 0 to 15, [out, in]; scales and middles of each group of inputs, [groups, out, 2]; the group's size.

    A weight is (code - 8) x scale + middle. Outputs are filled up to a multiple of 16, as the kernels need them.
    """
    weight = torch.nn.functional.pad(weight.float(), (0, 0, 0, -len(weight) % 16))
    spacing = find_spacing(weight)
    divides = (size for size in GROUPS if weight.shape[1] % size == 0)
    group = next(divides, 0) if spacing is None else FILE_GROUP
    if not group:
        raise ShapeError
    groups = weight.unflatten(1, (-1, group))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scales = ((high - low) / STEPS if spacing is None else spacing).clamp(min=torch.finfo(torch.float32).tiny)
    codes = ((groups - low) / scales).round().clamp(0, STEPS).to(torch.int32).flatten(1)
    middles = low + 8 * scales
    return codes, torch.cat([scales, middles], -1).transpose(0, 1).contiguous().bfloat16(), group


WEIGHTS_ONLY_8 = Kernel("int8 weights", _weight_only_int8)
WEIGHTS_ONLY_4 = Kernel("int4 weights", _weight_only_int4_cpu)
# Rounding rows costs acceptance: on SmolLM2 135M, drafts of 6 tokens gave 4.4 tokens per target pass instead of 6.0.
INTEGERS_8 = Kernel("int8 weights and rows", _dynamic_int8, handicap=2.0)

KERNELS: dict[tuple[int, str], tuple[Kernel, ...]] = {
    (8, "cpu"): (WEIGHTS_ONLY_8, INTEGERS_8),
    (4, "cpu"): (WEIGHTS_ONLY_4,),
    (8, "cuda"): (WEIGHTS_ONLY_8,),
    (4, "cuda"): (Kernel("int4 weights", _weight_only_int4_cuda),),
}
"""By bits and device type, the most exact kernel first."""
