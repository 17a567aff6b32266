"""The pool of graph lanes: lanes are lent, released and lent again; what happens if compiling or capturing fails.

Without a GPU the same passes run uncaptured, in float64.
"""

from __future__ import annotations

import gc

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, gpu, kinds, model

from csd.models.backends import graph_pool
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.graph_pool import GraphPool, compile_forwards, prepare_graphs


@pytest.fixture
def made(monkeypatch) -> list[GraphLane]:
    """Every lane that is made."""
    lanes = []

    class Counted(GraphLane):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            lanes.append(self)

    monkeypatch.setattr(graph_pool, "GraphLane", Counted)
    return lanes


def test_room_for_the_text_and_the_padding():
    for capacity in (1, 192, 193, 194, graph_pool.READY_CAPACITY, 4096):
        slots = graph_pool._slots(capacity)
        assert slots % graph_pool.BUCKET == 0
        assert capacity + WIDTHS[-1] - 1 <= slots < capacity + WIDTHS[-1] + graph_pool.BUCKET
    assert graph_pool._slots(graph_pool.READY_CAPACITY) == 1024


# --- lending -------------------------------------------------------------------------------------------------------


def test_lanes_come_back_and_are_lent_clean(made):
    pool = GraphPool(model("llama"), CONTEXT)
    pool.fill(2)
    assert len(made) == 2
    one, other = pool.open_lane(CONTEXT), pool.open_lane(10)
    check(one, "llama", TEXTS[0][:50], 0, 50)
    check(other, "llama", TEXTS[1][:50], 0, 50)
    check(one, "llama", TEXTS[0][:53], 50, 3)  # the other lane changed nothing
    assert len(made) == 2
    third = pool.open_lane(CONTEXT)  # more than were ready
    assert len(made) == 3
    for lane in (one, other, third):
        lane.release()
    again = [pool.open_lane(CONTEXT) for _ in range(3)]
    assert len(made) == 3
    for lane in again:
        check(lane, "llama", TEXTS[1][:9], 0, 9)


def test_a_released_lane_belongs_to_the_next_text_alone(made):
    pool = GraphPool(model("llama"), CONTEXT)
    one = pool.open_lane(CONTEXT)
    one.release()
    one.release()  # once: two texts never share a lane
    first, second = pool.open_lane(CONTEXT), pool.open_lane(CONTEXT)
    assert len(made) == 2
    check(first, "llama", TEXTS[0][:20], 0, 20)
    check(second, "llama", TEXTS[1][:20], 0, 20)
    check(first, "llama", TEXTS[0][:21], 20, 1)
    with pytest.raises(RuntimeError, match="released"):
        one.run([1], 0, 1)


def test_a_lane_that_is_dropped_does_not_come_back(made):
    """Only `release` returns a lane; one that was forgotten is freed, and a new one is made."""
    pool = GraphPool(model("llama"), CONTEXT)
    pool.open_lane(CONTEXT)
    gc.collect()
    assert pool._free == []
    pool.open_lane(CONTEXT)
    assert len(made) == 2


def test_nan_does_not_outlive_its_text(made):
    pool = GraphPool(model("llama"), CONTEXT)
    pool.fill(1)
    with torch.inference_mode():
        made[0]._values[0].fill_(torch.nan)
    check(pool.open_lane(CONTEXT), "llama", TEXTS[0][:9], 0, 9)
    assert len(made) == 1


def test_a_longer_text_gets_a_lane_of_its_own(made, monkeypatch):
    monkeypatch.setattr(graph_pool, "READY_CAPACITY", 40)
    pool = GraphPool(model("llama"), CONTEXT)
    pool.fill(1)
    long = pool.open_lane(CONTEXT)
    assert len(made) == 2
    check(long, "llama", TEXTS[0], 0, 1)
    long.release()
    assert pool._free == made[:1]


# --- what does not work --------------------------------------------------------------------------------------------


def test_if_capturing_fails_the_eager_backend_runs_and_a_note_says_so(monkeypatch):
    class Broken(GraphLane):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(graph_pool, "GraphLane", Broken)
    backend, notes = prepare_graphs("target", model("llama"), CONTEXT, 1)
    assert notes == (
        "target runs without CUDA graphs, which makes it slower: operation not permitted when stream is capturing",
    )
    assert isinstance(backend, EagerBackend)
    check(backend.open_lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50)


def test_a_lane_with_wrong_logits_is_not_used(monkeypatch):
    def off_by_one(model, fed, *more):
        return forward(model, torch.cat([fed[:1] + 1, fed[1:]]), *more)

    monkeypatch.setattr(graph_pool, "forward", off_by_one)
    backend, notes = prepare_graphs("target", model("llama"), CONTEXT, 1)
    assert isinstance(backend, EagerBackend)
    assert "its logits differ from those of the plain forward" in notes[0]


def test_a_lane_with_right_logits_is_used(made):
    backend, notes = prepare_graphs("target", model("llama"), CONTEXT, 2)
    assert notes == ()
    assert isinstance(backend, GraphPool)
    assert len(made) == 2


# --- compiling -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compiled_forwards_serve_all_lanes_of_their_size(monkeypatch):
    """One trace for each width and none for a second lane; widths without time are padded or stay uncompiled."""
    torch._dynamo.reset()
    traced = []

    def backend(module, inputs):
        traced.append(module)
        return module.forward

    assert sorted(graph_pool.COMPILE_ORDER) == list(WIDTHS)
    monkeypatch.setattr(graph_pool, "COMPILE_SECONDS", -1.0)
    lanes = [GraphLane(model("llama"), 256, CONTEXT - 1, {}, None) for _ in range(2)]
    assert list(compile_forwards(lanes[0], backend)) == list(WIDTHS)
    assert len(traced) == 1
    monkeypatch.setattr(graph_pool, "COMPILE_SECONDS", 1e9)
    monkeypatch.setattr(graph_pool, "COMPILE_ORDER", (1, 8))
    forwards = compile_forwards(lanes[0], backend)
    assert list(forwards) == [1, 8, 16, 32, 64, 80]
    assert forwards[16] is forward is not forwards[8]
    assert len(traced) == 2
    for _ in lanes:
        every_width(GraphLane(model("llama"), 256, CONTEXT - 1, forwards, None), "llama")
    assert len(traced) == 2


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@kinds
def test_lanes_of_a_pool_are_the_plain_forward(kind):
    pool = GraphPool(model(kind, "cuda"), CONTEXT)
    pool.fill(2)
    for lane in [pool.open_lane(CONTEXT) for _ in range(2)]:
        every_width(lane, kind, "cuda")


@gpu
def test_compiled_graphs_are_the_plain_forward():
    backend, notes = prepare_graphs("target", model("llama", "cuda"), CONTEXT, 2)
    assert notes == ()
    every_width(backend.open_lane(CONTEXT), "llama", "cuda")
    every_width(backend.open_lane(CONTEXT), "llama", "cuda")


@gpu
def test_the_memory_of_a_long_lane_is_freed_by_its_release():
    pool = GraphPool(model("llama", "cuda"), CONTEXT)
    pool.fill(1)
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        long = pool.open_lane(100_000)
        assert torch.cuda.memory_allocated() > before + 2**24
        long.release()
        gc.collect()
        assert torch.cuda.memory_allocated() == before


@gpu
def test_a_capture_that_fails_leaves_the_device_in_order(monkeypatch):
    def looks(*arguments):
        rows = forward(*arguments)
        rows.argmax().item()  # waits for the device, which no graph can capture
        return rows

    monkeypatch.setattr(graph_pool, "forward", looks)
    monkeypatch.setattr(GraphPool, "compile", lambda self: None)
    backend, notes = prepare_graphs("target", model("llama", "cuda"), CONTEXT, 1)
    assert "runs without CUDA graphs" in notes[0]
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    check(backend.open_lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50, "cuda")
