"""The pool of graph lanes: lanes are lent, released and lent again; what happens if compiling or capturing fails.

Without a GPU the same passes run uncaptured, in float64.
"""

from __future__ import annotations

import gc

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, gpu, kinds, model

from csd.models.backends import graph_pool
from csd.models.backends.capture import CaptureError, CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.graph_compile import ORDER, compile_width, inductor
from csd.models.backends.graph_pool import RESTART, GraphPool, prepare_graphs


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


class Recorder(Uncaptured):
    """Notes the width of each pass that is captured; captures fail while `fails` says so of a width."""

    def __init__(self, fails=lambda width: False, error=None):
        self.widths, self.fails = [], fails
        self.error = error or RuntimeError("operation not permitted when stream is capturing\nmore")

    def __call__(self, run, memory):
        width = len(run.args[2]) - 1
        self.widths.append(width)
        if self.fails(width):
            raise self.error
        return run


def ready_pool(count: int, device: str = "cpu", capture=None) -> GraphPool:
    of_device = CudaCapture(torch.device(device)) if device == "cuda" else Uncaptured()
    pool = GraphPool(model("llama", device), CONTEXT, count, capture or of_device)
    for _ in range(count):
        assert pool.add_lane() == {}
    return pool


@pytest.fixture
def sizes(monkeypatch):
    """Lanes of 256 and 512 slots besides those of full length, which for a context of 900 tokens are 1024."""
    monkeypatch.setattr(graph_pool, "SIZES", (256, 512))


def test_room_for_the_text_and_the_padding():
    for capacity in (1, 192, 193, 194, 944, 4096):
        slots = graph_pool.slots_for(capacity)
        assert slots % graph_pool.BUCKET == 0
        assert capacity + WIDTHS[-1] - 1 <= slots < capacity + WIDTHS[-1] + graph_pool.BUCKET


@pytest.mark.parametrize(
    ("context", "sizes"), [(200, (512,)), (1024, (1280,)), (2048, (1024, 2304)), (4096, (1024, 2048, 4352))]
)
def test_few_sizes_of_lanes_up_to_all_that_the_model_reads(context, sizes):
    assert graph_pool.lane_sizes(context) == sizes


# --- lending -------------------------------------------------------------------------------------------------------


def test_lanes_come_back_and_are_lent_clean(made):
    pool = ready_pool(2)
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
    again = [pool.open_lane(CONTEXT) for _ in range(2)]
    assert len(made) == 3
    for lane in again:
        check(lane, "llama", TEXTS[1][:9], 0, 9)
    pool.open_lane(CONTEXT)
    assert len(made) == 4  # only as many are kept as were made ready


def test_a_released_lane_belongs_to_the_next_text_alone(made):
    pool = ready_pool(1)
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
    pool = ready_pool(1)
    pool.open_lane(CONTEXT)
    gc.collect()
    pool.open_lane(CONTEXT)
    assert len(made) == 2


def test_nan_does_not_outlive_its_text(made):
    pool = ready_pool(1)
    with torch.inference_mode():
        made[0]._values[0].fill_(torch.nan)
    check(pool.open_lane(CONTEXT), "llama", TEXTS[0][:9], 0, 9)
    assert len(made) == 1


def lend(pool: GraphPool, *capacities: int) -> None:
    """A race with texts of these lengths."""
    for lane in [pool.open_lane(capacity) for capacity in capacities]:
        lane.release()


def test_lanes_for_long_texts_are_kept_for_the_next_race(made, sizes):
    """Of one size beside the smallest, so that memory is bounded, and no more than are kept ready."""
    pool = GraphPool(model("llama"), 900, 2, Uncaptured())
    for _ in range(2):
        pool.add_lane()
    lend(pool, 300, 300)
    assert [lane.slots for lane in made] == [256, 256, 512, 512]
    lend(pool, 10, 300, 420, 100)
    assert len(made) == 4
    lend(pool, 900)
    lend(pool, 300)
    assert [lane.slots for lane in made[4:]] == [1024, 512]
    lend(pool, 900, 900, 900)
    lend(pool, 900, 900, 10, 10)
    assert [lane.slots for lane in made[6:]] == [1024, 1024, 1024]
    assert {slots: len(lanes) for slots, lanes in pool._free.items()} == {256: 2, 512: 0, 1024: 2}


def test_a_long_lane_reads_its_text(sizes):
    pool = GraphPool(model("llama"), CONTEXT, 1, Uncaptured())
    check(pool.open_lane(CONTEXT), "llama", TEXTS[0], 0, 1)
    pool = GraphPool(model("llama"), CONTEXT, 1, Uncaptured())
    check(pool.open_lane(100), "llama", TEXTS[0][:100], 0, 100)


def test_a_model_with_a_short_context_needs_no_longer_lane(made):
    lend(ready_pool(1), 100_000)
    assert len(made) == 1


# --- what does not work --------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("bad", [(8,), (80,), (1, 64, 80)])
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


def off_by_one(model, fed, *buffers):
    return forward(model, torch.cat([fed[:1] + 1, fed[1:]]), *buffers)


def test_a_lane_with_wrong_logits_is_not_used(monkeypatch):
    monkeypatch.setattr(graph_pool, "forward", off_by_one)
    backend, notes = prepare_graphs("target", model("llama"), CONTEXT, 1)
    assert isinstance(backend, EagerBackend)
    assert "its logits differ from those of the plain forward" in notes[0]


# --- compiled forwards ---------------------------------------------------------------------------------------------


def counting(used: list):
    """The forward, taken for a compiled one; notes the width of each pass."""

    def counted(model, fed, *buffers):
        used.append(len(fed) - 1)
        return forward(model, fed, *buffers)

    return counted


def test_compiled_forwards_take_over_in_all_lanes(made):
    pool, used = ready_pool(2), []
    compiled = counting(used)
    assert pool.use_compiled(dict.fromkeys(WIDTHS, compiled)) == {}
    assert all(run.args[0] is compiled for lane in made for run in lane.passes.values())
    every_width(pool.open_lane(CONTEXT), "llama")
    assert set(used) == set(WIDTHS) and len(made) == 2


def test_a_compiled_width_that_fails_or_is_wrong_stays_captured_as_it_was(made):
    """In all lanes, and without touching the others: a ladder, not a leap."""
    recorder = Recorder()
    pool, compiled = ready_pool(2, capture=recorder), counting([])
    recorder.widths.clear()
    recorder.fails = lambda width: width == 8 and recorder.widths.count(8) == 2  # in the second lane
    failures = pool.use_compiled({**dict.fromkeys(WIDTHS, compiled), 1: off_by_one})
    assert sorted(failures) == [1, 8]
    assert "differ" in str(failures[1]) and "capturing" in str(failures[8])
    for lane in made:
        plain = [width for width in WIDTHS if lane.passes[width].args[0] is forward]
        assert plain == [1, 8]
    every_width(pool.open_lane(CONTEXT), "llama")


def test_a_lane_that_was_lent_while_compiled_ones_took_over_is_not_kept(made):
    pool = ready_pool(2)
    lent = pool.open_lane(CONTEXT)
    pool.use_compiled({1: counting([])})
    check(lent, "llama", TEXTS[0][:9], 0, 9)
    lent.release()
    assert len(pool._free[512]) == 1


def test_in_a_race_a_lane_that_cannot_be_compiled_is_made_without(made):
    """A compiled forward that meets other shapes or settings raises; the race goes on."""
    pool, broken = ready_pool(1), []

    def compiled(*arguments):
        if broken:
            raise RuntimeError("Detected recompile when torch.compile stance is 'fail_on_recompile'")
        return forward(*arguments)

    assert pool.use_compiled({1: compiled, 8: compiled}) == {}
    broken.append(True)
    pool._free[512].clear()
    every_width(pool.open_lane(CONTEXT), "llama")
    assert {run.args[0] for run in made[-1].passes.values()} == {forward}


def test_a_width_that_is_left_out_is_padded_up(made):
    pool = ready_pool(1)
    pool.leave_out((2, 4))
    assert pool.widths == (1, 8, 16, 32, 64, 80) == tuple(sorted(made[0].passes))
    lanes = [pool.open_lane(CONTEXT) for _ in range(2)]
    assert tuple(sorted(made[1].passes)) == pool.widths
    for lane in lanes:
        check(lane, "llama", TEXTS[0][:3], 0, 3)


@pytest.fixture
def traced():
    """A compiler that counts how often it compiles; and its forward."""
    torch._dynamo.reset()
    graphs = []

    def backend(module, inputs):
        graphs.append(module)
        return module.forward

    yield graphs, torch.compile(forward, dynamic=False, fullgraph=True, backend=backend)
    torch._dynamo.reset()


@pytest.mark.slow
def test_compiled_forwards_serve_all_lanes_of_their_size(traced):
    """One trace for each width, also beyond dynamo's own limit of 8, and none for a further lane."""
    graphs, compiled = traced
    assert sorted(ORDER) == list(WIDTHS)
    pool, scratch = ready_pool(2), GraphLane(model("llama"), 512, CONTEXT - 1, Uncaptured())
    for width in range(1, 10):
        compile_width(scratch, width, compiled)
    assert len(graphs) == 9
    assert pool.use_compiled(dict.fromkeys((1, 2, 4, 8), compiled)) == {}
    for lane in [pool.open_lane(CONTEXT) for _ in range(3)]:
        every_width(lane, "llama")
    assert len(graphs) == 9


@pytest.mark.slow
def test_nothing_is_compiled_while_a_lane_is_made(traced, made):
    """Where a compiled forward would have to be compiled anew, for minutes, the plain one is captured."""
    graphs, compiled = traced
    pool, scratch = ready_pool(1), GraphLane(model("llama"), 512, CONTEXT - 1, Uncaptured())
    compile_width(scratch, 8, compiled)
    assert pool.use_compiled({8: compiled}) == {}
    pool.open_lane(CONTEXT)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    try:
        pool.open_lane(CONTEXT)
    finally:
        torch.set_num_threads(threads)
    assert [lane.passes[8].args[0] is forward for lane in made] == [False, True]
    assert len(graphs) == 1


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@kinds
def test_lanes_of_a_pool_are_the_plain_forward(kind):
    pool = GraphPool(model(kind, "cuda"), CONTEXT, 2, CudaCapture(torch.device("cuda")))
    for lane in [pool.open_lane(CONTEXT) for _ in range(2)]:
        every_width(lane, kind, "cuda")


@gpu
def test_compiled_passes_are_the_plain_forward():
    pool, compiled = ready_pool(1, "cuda"), inductor(forward)
    scratch = pool.open_scratch()
    for width in WIDTHS:
        compile_width(scratch, width, compiled)
    assert pool.use_compiled(dict.fromkeys(WIDTHS, compiled)) == {}
    every_width(pool.open_lane(CONTEXT), "llama", "cuda")


@gpu
def test_the_memory_of_a_lane_is_freed_with_it(monkeypatch):
    pool = ready_pool(1, "cuda")
    pool.open_lane(CONTEXT)  # taken, so that others are made
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        lane = pool.open_lane(CONTEXT)
        assert torch.cuda.memory_allocated() > before
        del lane
        gc.collect()
        assert torch.cuda.memory_allocated() == before


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
