"""Stopwatches: they time forward passes and pass everything through."""

from __future__ import annotations

import pytest
import torch

from csd.bench.stopwatch import CudaStopwatch, make_stopwatch, watch_backends

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


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


class FakeEvent:
    """An event of a GPU whose clock moves by a millisecond with each forward pass; counts the events that are made."""

    now, made = 0.0, 0

    def __init__(self, enable_timing: bool):
        assert enable_timing
        type(self).made += 1
        self.at = None

    def record(self, stream) -> None:
        self.at = type(self).now

    def synchronize(self) -> None:
        assert self.at is not None

    def elapsed_time(self, end: FakeEvent) -> float:
        return end.at - self.at


def test_events_are_made_before_and_used_again(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: device)

    def forward() -> str:
        FakeEvent.now += 1
        return "logits"

    stopwatch = CudaStopwatch("cuda", 4)
    made = FakeEvent.made
    for passes in (3, 4, 5, 11):
        stopwatch.reset()
        assert stopwatch.seconds == 0
        assert [stopwatch.run(forward) for _ in range(passes)] == ["logits"] * passes
        FakeEvent.now += 100  # time outside forward passes does not count
        assert stopwatch.seconds == stopwatch.seconds == pytest.approx(passes / 1000)
    assert made == FakeEvent.made == 8
