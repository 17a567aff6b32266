"""Stopwatches: they time forward passes and pass everything through."""

from __future__ import annotations

import pytest
import torch

from csd.bench.stopwatch import make_stopwatch, watch_backends

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]


class Backend:
    """A backend whose only lane returns what it was given."""

    released = False

    def open_lane(self, capacity):
        self.capacity = capacity
        return self

    def run(self, *arguments):
        return self.capacity, arguments

    def release(self):
        self.released = True


@pytest.mark.parametrize("device", DEVICES)
def test_forward_passes_are_timed_from_the_last_reset(device):
    stopwatch = make_stopwatch(device)
    backend = Backend()
    lane = watch_backends({"target": backend}, stopwatch)["target"].open_lane(7)
    forward = lane.run
    assert stopwatch.seconds == 0
    assert forward([1], 0, 1) == (7, ([1], 0, 1))
    once = stopwatch.seconds
    forward([1], 0, 1)
    assert 0 < once < stopwatch.seconds
    stopwatch.reset()
    assert stopwatch.seconds == 0
    lane.release()
    assert backend.released
