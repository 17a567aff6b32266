"""Kernels of 8 and 4 bits: near the exact product where they are offered, absent where they are wrong or slow."""

from __future__ import annotations

import pytest
import torch

from csd.models.backends import quantised
from csd.models.backends.linear import Kernel
from csd.models.backends.quantised import (
    INTEGERS_8,
    KERNELS,
    TOLERANCE,
    WEIGHTS_ONLY_4,
    ShapeError,
    find_kernels,
    find_spacing,
)

ON_CPU = [(kernel, bits) for bits in (8, 4) for kernel in KERNELS[bits, "cpu"]]
kernels = pytest.mark.parametrize(("kernel", "bits"), ON_CPU, ids=lambda value: getattr(value, "name", str(value)))
SHAPES = [(48, 64), (37, 32), (7, 96), (40, 24), (37, 16)]


def weight_and_rows(shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    return (torch.randn(rows, shape[1], generator=generator).to(dtype) for rows in (shape[0], 5))


@pytest.mark.parametrize("shape", SHAPES)
@kernels
def test_a_map_is_near_the_exact_one_or_refused(kernel, bits, shape):
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
    assert (found - exact).norm() < TOLERANCE[bits] * exact.norm()


@kernels
def test_rows_of_zeros_and_zero_weights_stay_zero(kernel, bits):
    weight = torch.zeros(16, 32)
    try:
        linear = kernel.pack(weight)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    assert linear(torch.zeros(2, 32)).abs().max() == 0
    assert linear(torch.ones(2, 32)).abs().max() < 1e-6


@pytest.fixture
def tried(monkeypatch):
    """Replaces the kernels that are tried, and the clock by each kernel's word; plain products take a second."""
    monkeypatch.setattr(quantised, "_seconds", lambda linear, x: getattr(linear, "seconds", 1.0))
    find_kernels.cache_clear()
    yield lambda *made: monkeypatch.setattr(quantised, "KERNELS", {(8, "cpu"): made})
    find_kernels.cache_clear()


def exact(name: str, seconds: float) -> Kernel:
    def pack(weight):
        def linear(x):
            return x @ weight.t()

        linear.seconds = seconds
        return linear

    return Kernel(name, pack)


def absent(weight):
    raise RuntimeError("no such kernel")


def test_wrong_absent_and_slow_kernels_are_passed_over(tried):
    wrong = Kernel("wrong", lambda weight: lambda x: 2 * (x @ weight.t()))
    tried(wrong, Kernel("absent", absent), exact("slow", 20.0), exact("one", 0.5), exact("two", 0.1))
    assert [kernel.name for kernel in find_kernels(8, "cpu")] == ["one", "two"]
    assert find_kernels(4, "cpu") == ()


def on_grid(codes: torch.Tensor) -> torch.Tensor:
    """Weights with these codes, [out, in], as a 4-bit file holds them: a scale and a least value for 32 inputs."""
    generator = torch.Generator().manual_seed(5)
    groups = codes.unflatten(1, (-1, 32))
    scales, low = (torch.rand(*groups.shape[:2], 1, generator=generator).half().float() for _ in range(2))
    return (groups * scales - 8 * low).flatten(1)


def codes(least: int, greatest: int) -> torch.Tensor:
    return torch.randint(least, greatest + 1, (48, 128), generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize(("least", "greatest"), [(0, 15), (3, 12), (7, 7)])
def test_weights_of_a_4_bit_file_keep_their_codes(least, greatest):
    weight = on_grid(codes(least, greatest))
    weight[0] = 0
    spacing = find_spacing(weight)
    assert spacing is not None and spacing.shape == (48, 4, 1)
    low = weight.unflatten(1, (-1, 32)).amin(-1, keepdim=True)
    steps = (weight.unflatten(1, (-1, 32)) - low) / spacing.clamp(min=1e-30)
    assert (steps - steps.round()).abs().max() < 0.01 and steps.max() <= 15.01
    try:
        found = WEIGHTS_ONLY_4.pack(weight)(rows := torch.randn(5, 128))
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    product = rows @ weight.t()
    assert (found - product).norm() < 0.01 * product.norm(), "rows and scales are in bfloat16"


def test_other_weights_are_on_no_grid():
    weight = on_grid(codes(0, 15))
    assert find_spacing(weight[:, :40]) is None, "no whole groups"
    assert find_spacing(torch.randn(48, 128)) is None
    assert find_spacing(weight * torch.rand(128)) is None, "the factors of a norm"
    weight[40, 3] += 0.3 * find_spacing(weight)[40, 0, 0]
    assert find_spacing(weight) is None, "one weight between the steps"
    assert find_spacing(on_grid(codes(0, 16))) is None, "17 values"


def test_packing_leaves_pytorchs_engine_as_it_was():
    before = torch.backends.quantized.engine
    find_kernels.cache_clear()
    find_kernels(8, "cpu")
    assert torch.backends.quantized.engine == before


def test_rows_in_integers_do_not_depend_on_one_that_is_far_larger():
    """The first token of a text has such rows."""
    weight, rows = weight_and_rows((48, 64))
    rows[0] *= 1000
    try:
        found = INTEGERS_8.pack(weight)(rows)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    product = rows @ weight.t()
    assert ((found - product).norm(dim=-1) < TOLERANCE[8] * product.norm(dim=-1)).all()
