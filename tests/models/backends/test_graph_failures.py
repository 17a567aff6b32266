"""What a pool does where capturing fails: a step down the ladder for what failed, and a sentence about it."""

from __future__ import annotations

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, gpu, model
from graph_pools import Recorder, off_by_one

from csd.models.backends import graph_pool
from csd.models.backends.capture import CaptureError
from csd.models.backends.cuda_graphs import WIDTHS, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.graph_pool import RESTART, GraphPool, prepare_graphs


def prepared(monkeypatch, capture, count: int = 2):
    monkeypatch.setattr(graph_pool, "Uncaptured", lambda: capture)
    return prepare_graphs("target", model("llama"), CONTEXT, count)


def test_lanes_that_work_need_no_note(made):
    pool, notes = prepare_graphs("target", model("llama"), CONTEXT, 2)
    assert notes == () and isinstance(pool, GraphPool) and len(made) == 2


def test_if_no_width_can_be_captured_the_eager_backend_runs_and_a_note_says_so(monkeypatch):
    backend, notes = prepared(monkeypatch, Recorder(lambda width: True))
    assert notes == (
        "target runs without CUDA graphs, so a pass takes about 8 times as long (7B on an H200): "
        "operation not permitted when stream is capturing",
    )
    assert isinstance(backend, EagerBackend)
    check(backend.open_lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50)


@pytest.mark.parametrize("bad", [(8,), (1, 64, 80)])
def test_if_one_width_cannot_be_captured_the_others_stay(monkeypatch, bad):
    pool, notes = prepared(monkeypatch, Recorder(lambda width: width in bad))
    assert isinstance(pool, GraphPool) and pool.widths == tuple(width for width in WIDTHS if width not in bad)
    which = "1, 64 or 80" if len(bad) > 1 else bad[0]
    assert notes == (
        f"target has no CUDA graph for {which} tokens, which go through its other graphs: "
        "operation not permitted when stream is capturing",
    )
    every_width(pool.open_lane(CONTEXT), "llama")


def test_a_width_that_fails_in_one_lane_is_left_out_of_all(monkeypatch):
    recorder = Recorder()
    recorder.fails = lambda width: width == 4 and recorder.widths.count(4) > 1
    pool, notes = prepared(monkeypatch, recorder, 2)
    assert [sorted(lane.passes) for lane in pool._free[512]] == [[1, 2, 8, 16, 32, 64, 80]] * 2
    assert "no CUDA graph for 4 tokens" in notes[0]


def test_after_a_capture_that_failed_halfway_the_note_says_to_restart(monkeypatch):
    error = CaptureError("operation not permitted when stream is capturing")
    for bad in ((8,), WIDTHS):
        _, notes = prepared(monkeypatch, Recorder(lambda width, bad=bad: width in bad, error))
        assert notes[1:] == (RESTART,)


def test_if_there_is_memory_for_some_lanes_only_these_are_used(monkeypatch):
    recorder = Recorder(error=torch.OutOfMemoryError("CUDA out of memory."))
    recorder.fails = lambda width: len(recorder.widths) > 2 * len(WIDTHS)
    pool, notes = prepared(monkeypatch, recorder, 4)
    assert isinstance(pool, GraphPool)
    assert notes == ("target has CUDA graphs for 2 of 4 lanes, so a race with more may fail: CUDA out of memory.",)
    for lane in [pool.open_lane(CONTEXT) for _ in range(2)]:
        check(lane, "llama", TEXTS[0][:50], 0, 50)


def test_a_lane_with_wrong_logits_is_not_used(monkeypatch):
    monkeypatch.setattr(graph_pool, "forward", off_by_one)
    backend, notes = prepare_graphs("target", model("llama"), CONTEXT, 1)
    assert isinstance(backend, EagerBackend)
    assert "its logits differ from those of the plain forward" in notes[0]


@gpu
def test_a_capture_that_fails_leaves_the_device_in_order(monkeypatch):
    """To be run in a process of its own: what PyTorch keeps of the failed capture may disturb other tests."""

    def looks(*arguments):
        rows = forward(*arguments)
        rows.argmax().item()  # waits for the device, which no graph can capture
        return rows

    monkeypatch.setattr(graph_pool, "forward", looks)
    backend, notes = prepare_graphs("target", model("llama", "cuda"), CONTEXT, 1)
    assert "runs without CUDA graphs" in notes[0] and notes[1] == RESTART
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    check(backend.open_lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50, "cuda")
