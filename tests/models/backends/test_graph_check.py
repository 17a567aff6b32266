"""Lanes are compared with the plain forward: what counts as equal, and how much memory a comparison takes."""

from __future__ import annotations

import pytest
import torch
from graph_models import CONTEXT, model, record_all
from torch.utils._python_dispatch import TorchDispatchMode

from csd.models.backends.capture import Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.backends.graph_check import ROWS, PlainLogits, is_close


class Largest(TorchDispatchMode):
    """The largest number of elements of a result, and the number formats of all results."""

    def __init__(self):
        super().__init__()
        self.elements, self.formats = 0, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for one in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(one, torch.Tensor) and not function.is_view:
                self.elements = max(self.elements, one.numel())
                self.formats.add(one.dtype)
        return result


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_a_comparison_takes_little_memory(dtype):
    """A hundred rows of a vocabulary of 150,000 in float64 would take a gigabyte on a GPU that is nearly full."""
    rows = torch.randn(100, 1000).to(dtype)
    with Largest() as largest:
        assert is_close(rows, rows)
    assert largest.elements <= ROWS * 1000
    assert largest.formats <= {torch.float32, torch.bool}


def test_rounding_and_a_constant_per_row_are_no_difference():
    rows = torch.randn(40, 50)
    assert is_close(rows + torch.arange(40)[:, None], rows)
    assert is_close(rows.bfloat16(), rows.bfloat16() * 1.01)


@pytest.mark.parametrize("row", [0, 17, 39])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 5.0])
def test_one_wrong_number_is_a_difference(row, wrong):
    rows = torch.randn(40, 50)
    other = rows.clone()
    other[row, 7] = wrong
    assert not is_close(other, rows)


def shifted(width):
    """A forward that is wrong at one width."""

    def run(model, fed, *buffers):
        rows = forward(model, fed, *buffers)
        return rows.roll(1, 0) if len(fed) - 1 == width else rows

    return run


@pytest.mark.parametrize("wrong", [2, 80])
def test_a_wrong_width_is_found_and_no_other(wrong):
    lane = GraphLane(model("llama"), 512, CONTEXT - 1, Uncaptured())
    record_all(lane, dict.fromkeys(WIDTHS, shifted(wrong)))
    plain = PlainLogits(model("llama"), CONTEXT)
    assert [width for width in WIDTHS if not plain.agree_at(lane, width)] == [wrong]
    assert plain.agree(lane.run) == (wrong != 80)  # the widest reads long texts


def test_what_is_left_of_another_text_is_found():
    """A pass that looks at the slot after its last id is right as long as nothing has been written there."""

    def looks_ahead(model, fed, keys, values, last_position):
        rows = forward(model, fed, keys, values, last_position)
        rows[:, 0] += 100 * keys[-1][0, 0, int(fed[0]) + len(fed) - 1, 0]
        return rows

    lane = GraphLane(model("llama"), 512, CONTEXT - 1, Uncaptured())
    record_all(lane, {4: looks_ahead})
    plain = PlainLogits(model("llama"), CONTEXT)
    first = lane.run_at(4, plain._texts[0][:4], 0)
    assert is_close(first, plain._rows[0][:4])
    assert not plain.agree_at(lane, 4)
