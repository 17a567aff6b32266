"""The kernel of each width is the one that was measured fastest, in as few layouts as pay."""

from __future__ import annotations

import pytest
import torch

from csd.models.backends import kernel_choice
from csd.models.backends.kernel_choice import WIDTHS, choose_kernels, describe, pack
from csd.models.backends.linear import PLAIN, ROWS, Kernel, cpu_kernels


def named(name: str, handicap: float = 1.0) -> Kernel:
    """A kernel whose results say which one it was."""
    return Kernel(name, lambda weight: lambda x: f"{name} at {len(x)}", handicap)


ONE, TWO, THREE = named("one"), named("two"), named("three")


@pytest.fixture
def timed(monkeypatch):
    """Sets the seconds of each kernel at each of the measured widths."""

    def use(**seconds):
        made = {"one": ONE, "two": TWO, "three": THREE}
        times = {
            (made[name], width): float(each)
            for name, row in seconds.items()
            for width, each in zip(WIDTHS, row, strict=True)
        }
        monkeypatch.setattr(kernel_choice, "_measure", lambda kernels, weights: times)
        return [made[name] for name in seconds]

    return use


def names(choice) -> list[str]:
    return [kernel.name for kernel in choice]


def test_each_width_has_its_fastest_kernel(timed):
    kernels = timed(one=[1, 1, 5, 5, 5, 5], two=[2, 2, 2, 2, 9, 9])
    assert names(choose_kernels(kernels, [torch.ones(1, 1)])) == ["one", "one", "two", "two", "one", "one"]


def test_two_layouts_at_most(timed):
    kernels = timed(one=[1, 9, 9, 9, 9, 9], two=[9, 1, 1, 1, 9, 9], three=[9, 9, 9, 9, 1, 1])
    assert len(set(choose_kernels(kernels, [torch.ones(1, 1)]))) == 2
    assert names(choose_kernels(kernels, [torch.ones(1, 1)], layouts=1)) == ["two"] * 6


def test_a_second_layout_must_gain_something(timed):
    kernels = timed(one=[10, 10, 10, 10, 10, 10], two=[9.9, 9.9, 11, 11, 11, 11])
    assert names(choose_kernels(kernels, [torch.ones(1, 1)])) == ["one"] * 6


def test_widths_in_between_round_up():
    linear = pack(torch.ones(1, 1), (ONE, ONE, ONE, TWO, TWO, THREE))
    found = [linear(torch.ones(width, 1)) for width in (1, 4, 5, 16, 17, 33, 200)]
    assert found == ["one at 1", "one at 4", "two at 5", "two at 16", "three at 17", "three at 33", "three at 200"]
    assert pack(torch.ones(1, 1), (TWO,) * 6)(torch.ones(3, 1)) == "two at 3"


def test_it_is_told_in_words():
    assert describe((ONE, ONE, TWO, TWO, ONE, ONE)) == "one; two from 4; one from 16"
    assert describe((TWO,) * 6) == "two"


def test_measuring_counts_the_handicap(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(kernel_choice, "perf_counter", lambda: float(next(clock)))
    handicapped = Kernel("slow", ONE.pack, handicap=3.0)
    times = kernel_choice._measure([ONE, handicapped], [torch.ones(2, 3)] * 4)
    assert {times[ONE, width] for width in WIDTHS} == {1.0}
    assert {times[handicapped, width] for width in WIDTHS} == {3.0}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_every_kernel_is_the_product(dtype):
    weight, rows = torch.randn(5, 8, dtype=dtype), torch.randn(3, 8)
    rows = rows.double() if dtype == torch.float64 else rows
    expected = rows @ weight.to(rows.dtype).t()
    for kernel in (*cpu_kernels(dtype), PLAIN, ROWS):
        found = kernel.pack(weight)(rows)
        assert found.dtype == rows.dtype
        torch.testing.assert_close(found, expected, rtol=0.03, atol=0.1 if dtype == torch.bfloat16 else 1e-5)


def test_float64_has_one_kernel_so_that_rows_never_depend_on_the_width():
    assert cpu_kernels(torch.float64) == (PLAIN,)
