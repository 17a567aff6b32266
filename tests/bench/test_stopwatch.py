"""Stopwatches: they time forward passes and pass everything through."""

from __future__ import annotations

import pytest
import torch

from csd.bench.stopwatch import make_stopwatch, watch_lanes

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]


@pytest.mark.parametrize("device", DEVICES)
def test_forward_passes_are_timed_from_the_last_reset(device):
    stopwatch = make_stopwatch(device)
    lanes = watch_lanes({"target": lambda capacity: lambda *arguments: (capacity, arguments)}, stopwatch)
    forward = lanes["target"](7)
    assert stopwatch.seconds == 0
    assert forward([1], 0, 1) == (7, ([1], 0, 1))
    once = stopwatch.seconds
    forward([1], 0, 1)
    assert 0 < once < stopwatch.seconds
    stopwatch.reset()
    assert stopwatch.seconds == 0
