"""The pool of graph lanes: lanes are lent, released and lent again.

Without a GPU the same passes run uncaptured, in float64.
"""

from __future__ import annotations

import gc

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, gpu, kinds, model
from graph_pools import ready_pool

from csd.models.backends import graph_pool
from csd.models.backends.capture import CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS
from csd.models.backends.graph_pool import GraphPool


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


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@kinds
def test_lanes_of_a_pool_are_the_plain_forward(kind):
    pool = GraphPool(model(kind, "cuda"), CONTEXT, 2, CudaCapture(torch.device("cuda")))
    for lane in [pool.open_lane(CONTEXT) for _ in range(2)]:
        every_width(lane, kind, "cuda")


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
