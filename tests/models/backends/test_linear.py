"""oneDNN keeps a program for every number of rows, so its maps see few numbers: counted by oneDNN itself."""

from copy import deepcopy

import pytest
import torch
from graph_models import CONTEXT, TEXTS, model
from transformers.activations import GELUActivation
from transformers.pytorch_utils import Conv1D

from csd.models.backends.eager import EagerBackend
from csd.models.backends.linear import BLOCK, PACKED, ROUNDED, cpu_kernels, in_few_widths
from csd.models.backends.prepare import choose_backend

WIDTHS = range(1, 400)
FEW = len(ROUNDED) + 1
NEEDS_ONEDNN = pytest.mark.skipif(PACKED not in cpu_kernels(torch.float32), reason="PyTorch without oneDNN")


# Older processors have no packed map in bfloat16.
KERNELS = [(dtype, kernel) for dtype in (torch.float32, torch.bfloat16) for kernel in cpu_kernels(dtype)]


@NEEDS_ONEDNN
@pytest.mark.parametrize(("dtype", "kernel"), KERNELS, ids=lambda value: getattr(value, "name", str(value)))
def test_texts_of_every_length_compile_few_programs(dtype, kernel, capfd):
    linear = kernel.pack(torch.randn(11, 7, dtype=dtype))  # a shape of this test's own
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON_CREATION):
        for width in WIDTHS:
            linear(torch.randn(width, 7))
    compiled = [line for line in capfd.readouterr().out.splitlines() if "create:cache_miss" in line]
    products = [line for line in compiled if "inner_product" in line or "matmul" in line]
    assert len(products) <= FEW
    if kernel is PACKED:
        assert products  # oneDNN says what it compiles


@NEEDS_ONEDNN
@pytest.mark.parametrize("kind", ["gpt-neox", "gpt2, with learned positions"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_so_do_those_of_a_model_that_transformers_runs(dtype, kind, capfd):
    own = deepcopy(model(kind)).to(dtype)
    parts = sum(isinstance(part, (torch.nn.Linear, Conv1D, GELUActivation)) for part in own.modules())
    expected = EagerBackend(deepcopy(own)).open_lane(CONTEXT).run(TEXTS[0], 0, CONTEXT)
    lane = choose_backend("target", own, CONTEXT)[0].open_lane(CONTEXT)
    torch.testing.assert_close(
        lane.run(TEXTS[0], 0, CONTEXT), expected, rtol=0.1, atol=0.1 * float(expected.abs().max())
    )
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON_CREATION):
        for length in range(1, CONTEXT):
            lane.run(TEXTS[0][:length], 0, 1)
    assert capfd.readouterr().out.count("create:cache_miss") <= FEW * parts


@pytest.mark.parametrize("width", [1, 9, 10, 17, 18, 64, 65, 128, 255, 256, 257, 700])
def test_the_result_is_that_of_the_map_itself(width):
    weight, rows = torch.randn(7, 11, dtype=torch.float64), torch.randn(width, 11, dtype=torch.float64)
    seen = []

    def linear(x):
        seen.append(len(x))
        return x @ weight.t()

    torch.testing.assert_close(in_few_widths(linear)(rows), rows @ weight.t())
    assert {*seen} <= {*ROUNDED, BLOCK}
    assert sum(seen) < 1.5 * width


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 33])
def test_reviews_of_usual_lengths_have_no_rows_to_spare(width):
    seen = []
    in_few_widths(lambda x: seen.append(len(x)) or x)(torch.zeros(width, 1))
    assert seen == [width]
