"""Kernels of 8 and 4 bits: near the exact product where they are offered, absent where they are wrong or slow."""

from __future__ import annotations

import pytest
import torch

from csd.models.backends import quantised
from csd.models.backends.quantised import KERNELS, TOLERANCE, QuantisedKernel, ShapeError, find_kernel

ON_CPU = [kernel for kernel in KERNELS if kernel.device == "cpu"]
SHAPES = [(48, 64), (37, 32), (7, 96), (40, 24), (37, 16)]


def weight_and_rows(shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    return (torch.randn(rows, shape[1], generator=generator).to(dtype) for rows in (shape[0], 5))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", ON_CPU, ids=lambda kernel: kernel.name)
def test_a_map_is_near_the_exact_one_or_refused(kernel, shape):
    weight, rows = weight_and_rows(shape)
    try:
        found = kernel.pack(weight)(rows)
    except ShapeError:
        assert shape[1] % 32
        return
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    exact = rows @ weight.t()
    assert found.shape == exact.shape and found.dtype == torch.float32
    assert (found - exact).norm() < TOLERANCE[kernel.bits] * exact.norm()


@pytest.mark.parametrize("kernel", ON_CPU, ids=lambda kernel: kernel.name)
def test_rows_of_zeros_and_zero_weights_stay_zero(kernel):
    weight = torch.zeros(16, 32)
    try:
        linear = kernel.pack(weight)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    assert linear(torch.zeros(2, 32)).abs().max() == 0
    assert linear(torch.ones(2, 32)).abs().max() < 1e-6


@pytest.fixture
def kernels(monkeypatch):
    """Replaces the kernels that are tried."""
    find_kernel.cache_clear()
    yield lambda *made: monkeypatch.setattr(quantised, "KERNELS", made)
    find_kernel.cache_clear()


def plain(name: str, seconds: float, monkeypatch=None) -> QuantisedKernel:
    def pack(weight):
        linear = lambda x: x @ weight.t()  # noqa: E731
        linear.seconds = seconds
        return linear

    return QuantisedKernel(name, 8, "cpu", pack)


def wrong(weight):
    return lambda x: 2 * (x @ weight.t())


def absent(weight):
    raise RuntimeError("no such kernel")


def test_the_first_right_kernel_unless_another_is_clearly_faster(kernels, monkeypatch):
    monkeypatch.setattr(quantised, "_seconds", lambda linear, x: getattr(linear, "seconds", 1.0))
    kernels(plain("first", 0.5), plain("a little faster", 0.45), plain("slow", 2.0))
    assert find_kernel(8, "cpu").name == "first"
    find_kernel.cache_clear()
    kernels(plain("first", 0.5), plain("faster", 0.3))
    assert find_kernel(8, "cpu").name == "faster"


def test_no_kernel_where_all_are_wrong_absent_or_slow(kernels, monkeypatch):
    monkeypatch.setattr(quantised, "_seconds", lambda linear, x: getattr(linear, "seconds", 1.0))
    kernels(QuantisedKernel("wrong", 8, "cpu", wrong), QuantisedKernel("absent", 8, "cpu", absent), plain("slow", 2.0))
    assert find_kernel(8, "cpu") is None
    assert find_kernel(4, "cpu") is None


def test_packing_leaves_pytorchs_engine_as_it_was():
    before = torch.backends.quantized.engine
    find_kernel.cache_clear()
    find_kernel(8, "cpu")
    assert torch.backends.quantized.engine == before
