"""Compiled forwards in a pool: they take over where they work, and what does not work stays as it was."""

from __future__ import annotations

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, gpu, model
from graph_pools import Recorder, off_by_one, ready_pool

from csd.models.backends.capture import Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.backends.graph_compile import ORDER, compile_width, inductor


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
    ready, _, made = [pool.open_lane(CONTEXT) for _ in range(3)]
    for lane in (ready, made):
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


@gpu
def test_compiled_passes_are_the_plain_forward():
    pool, compiled = ready_pool(1, "cuda"), inductor(forward)
    scratch = pool.open_scratch()
    for width in WIDTHS:
        compile_width(scratch, width, compiled)
    assert pool.use_compiled(dict.fromkeys(WIDTHS, compiled)) == {}
    every_width(pool.open_lane(CONTEXT), "llama", "cuda")
