"""Capturing CUDA graphs, on a device that is played: what is locked, in which mode, and what a failure says."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from csd.models.backends.capture import CAPTURING, WARM_UPS, CaptureError, CudaCapture


@pytest.fixture
def device(monkeypatch):
    """torch.cuda as far as capturing needs it. `state` is "capturing" during a capture; `ending` fails if it is set."""
    played = SimpleNamespace(state="", ending=None, replays=0, stream="default")

    class Stream:
        device = torch.device("cuda")

        def __init__(self, *_):
            pass

        def wait_stream(self, other):
            pass

        def synchronize(self):
            pass

    class Graph:
        def replay(self):
            played.replays += 1

    @contextmanager
    def on_stream(stream):
        played.stream = "side"
        try:
            yield
        finally:
            played.stream = "default"

    @contextmanager
    def capturing(graph, pool, stream, capture_error_mode):
        assert pool == "memory" and capture_error_mode == "thread_local"
        played.state = "capturing"
        try:
            yield
        finally:
            played.state = ""
            if played.ending:
                raise played.ending

    for name, fake in {
        "Stream": Stream, "CUDAGraph": Graph, "graph": capturing, "stream": on_stream, "current_stream": Stream,
        "graph_pool_handle": lambda: "memory",
    }.items():  # fmt: skip
        monkeypatch.setattr(torch.cuda, name, fake)
    return played


def capture(run):
    made = CudaCapture(torch.device("cuda"))
    return made(run, made.new_memory())


def test_a_function_runs_while_it_is_captured_and_never_again(device):
    states = []

    def run():
        states.append((device.state, device.stream, torch.is_inference_mode_enabled()))
        return "rows"

    captured = capture(run)
    assert states == [("", "side", True)] * WARM_UPS + [("capturing", "side", True)]
    assert [captured(), captured()] == ["rows"] * 2
    assert device.replays == 2 and len(states) == WARM_UPS + 1


def test_one_capture_at_a_time_in_the_whole_process(device):
    free = []

    def look():
        free.append(CAPTURING.acquire(blocking=False))
        if free[-1]:
            CAPTURING.release()

    def run():
        other = threading.Thread(target=look)
        other.start()
        other.join()

    capture(run)
    assert free == [False] * (WARM_UPS + 1)


def test_a_failure_halfway_says_what_went_wrong_first(device):
    def run():
        if device.state:
            raise RuntimeError("a wait inside\nmore")

    device.ending = RuntimeError("capture was invalidated")
    with pytest.raises(CaptureError, match="^a wait inside$"):
        capture(run)
    assert device.stream == "default"
    with pytest.raises(CaptureError, match="invalidated"):
        capture(lambda: None)


def test_a_failure_before_capturing_is_not_one_of_capturing(device):
    def run():
        raise torch.OutOfMemoryError("CUDA out of memory.")

    with pytest.raises(torch.OutOfMemoryError):
        capture(run)
