"""Linear maps with weights of 8 or 4 bits: the kernels that PyTorch has, and which of them this machine is fast at.

Which kernels exist depends on the processor and on how PyTorch was built, and some fall back to reference code that is
a thousand times slower. So each one is tried before it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import torch
from torch import Tensor

Linear = Callable[[Tensor], Tensor]
"""[n, in] to [n, out], in float32 on a CPU and in the weights' own format on a GPU."""

GROUPS = (64, 32)  # inputs that share a scale in 4-bit weights; the first that divides the number of inputs
PROBE_SHAPE = (1536, 1024)  # outputs and inputs of the map on which a kernel is tried
PROBE_WIDTHS = (1, 4, 8)
PROBE_REPEATS = 8
CLEARLY = 0.8  # of the time
TOLERANCE = {8: 0.05, 4: 0.2}  # by bits: relative distance from the exact product of random numbers


@dataclass(frozen=True)
class QuantisedKernel:
    """One way to store a weight in few bits and to multiply with it.

    `pack` takes [out, in], in any floating-point format, and returns the map. It raises `ShapeError` for a shape that
    the kernel cannot do, and whatever PyTorch raises where the kernel does not exist.
    """

    name: str
    bits: int
    device: str
    pack: Callable[[Tensor], Linear]


class ShapeError(ValueError):
    """A kernel cannot do maps of this shape."""


@cache
def find_kernel(bits: int, device: str) -> QuantisedKernel | None:
    """The first kernel of a device type that is right and faster than a float32 product; None if there is none.

    A later one is taken if it is clearly faster. Measured once per process.
    """
    found, best = None, 0.0
    for kernel in KERNELS:
        seconds = _probe(kernel) if (kernel.bits, kernel.device) == (bits, device) else None
        if seconds is not None and (found is None or seconds < CLEARLY * best):
            found, best = kernel, seconds
    return found


@torch.inference_mode()
def _probe(kernel: QuantisedKernel) -> float | None:
    """Seconds over the widths of decoding; None if the kernel fails, is wrong, or is slower than float32."""
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(rows, PROBE_SHAPE[1], generator=generator) for rows in (PROBE_SHAPE[0], max(PROBE_WIDTHS)))
    exact = x @ weight.t()
    dtype = torch.float32 if kernel.device == "cpu" else torch.bfloat16
    weight, x = weight.to(kernel.device, dtype), x.to(kernel.device, dtype)
    try:
        quantised = kernel.pack(weight)
        found = quantised(x)
    except Exception:  # which errors an absent kernel raises differs between builds of PyTorch
        return None
    if (found.float().cpu() - exact).norm() > TOLERANCE[kernel.bits] * exact.norm():
        return None
    if kernel.device != "cpu":
        return 0.0  # on a GPU a copy is chosen for its size; its passes are timed like any other model's
    ours, plain = (_seconds(linear, x) for linear in (quantised, lambda x: torch.nn.functional.linear(x, weight)))
    return ours if ours < plain else None


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
    """Activations are quantised as well, with one scale per pass: integer dot products, about as fast for 16 rows."""
    packed = _packed_int8(weight)
    multiply = torch.ops.quantized.linear_dynamic
    # Without VNNI, sums of two products of full range overflow 16 bits.
    seven_bits = not torch.cpu._is_vnni_supported()
    return lambda x: multiply(x, packed, seven_bits)


def _packed_int8(weight: Tensor) -> object:
    codes, scales = _int8(weight)
    before = torch.backends.quantized.engine
    available = torch.backends.quantized.supported_engines
    torch.backends.quantized.engine = "x86" if "x86" in available else "qnnpack"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # quantised tensors are to leave PyTorch some day; then this kernel is absent
            zeros = torch.zeros(len(scales), dtype=torch.long)
            tensor = torch._make_per_channel_quantized_tensor(codes, scales.double(), zeros, 0)
            return torch.ops.quantized.linear_prepack(tensor, None)
    finally:
        torch.backends.quantized.engine = before


def _weight_only_int8(weight: Tensor) -> Linear:
    """Activations in bfloat16: fastest over one to four rows of small weights, slow over many."""
    if weight.shape[1] % 16:  # on a CPU the result would be wrong, without an error
        raise ShapeError
    codes, scales = _int8(weight)
    half = scales.bfloat16()
    return lambda x: torch._weight_int8pack_mm(x.bfloat16(), codes, half).to(x.dtype)


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
    packed = torch._convert_weight_to_int4pack(pairs, 2)
    return lambda x: torch._weight_int4pack_mm(x.bfloat16(), packed, group, scales)[:, :outputs].to(x.dtype)


def _int4(weight: Tensor) -> tuple[Tensor, Tensor, int]:
    """Codes from 0 to 15, [out, in]; scales and middles of each group of inputs, [groups, out, 2]; the group's size.

    A weight is (code - 8) x scale + middle. Outputs are filled up to a multiple of 16, as the kernels need them.
    """
    group = next((size for size in GROUPS if weight.shape[1] % size == 0), 0)
    if not group:
        raise ShapeError
    weight = torch.nn.functional.pad(weight.float(), (0, 0, 0, -len(weight) % 16))
    groups = weight.unflatten(1, (-1, group))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scales = (high - low).clamp(min=torch.finfo(torch.float32).tiny) / 15
    codes = ((groups - low) / scales).round().clamp(0, 15).to(torch.int32).flatten(1)
    middles = low + 8 * scales
    return codes, torch.cat([scales, middles], -1).transpose(0, 1).contiguous().bfloat16(), group


KERNELS = (
    QuantisedKernel("int8 weights and activations", 8, "cpu", _dynamic_int8),
    QuantisedKernel("int8 weights, bfloat16 activations", 8, "cpu", _weight_only_int8),
    QuantisedKernel("int4 weights, bfloat16 activations", 4, "cpu", _weight_only_int4_cpu),
    QuantisedKernel("int8 weights, bfloat16 activations", 8, "cuda", _weight_only_int8),
    QuantisedKernel("int4 weights, bfloat16 activations", 4, "cuda", _weight_only_int4_cuda),
)
