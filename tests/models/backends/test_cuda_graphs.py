"""Graph lanes: each width gives the logits of the plain forward, whatever was in the buffers before.

Without a GPU the same passes run uncaptured, in float64.
"""

from __future__ import annotations

import random

import pytest
import torch
from graph_models import (
    CONTEXT,
    SLOTS,
    TEXTS,
    VOCAB,
    check,
    every_width,
    gpu,
    graph_lane,
    kinds,
    model,
    plain,
    record_all,
)
from torch.utils._python_dispatch import TorchDispatchMode

from csd.decoding.tokens import TokenSequence
from csd.models.backends.capture import CapturedRun, CaptureError, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.backends.graph_pool import GraphPool
from csd.models.session import Session
from csd.ranges import LONGEST_DRAFT


class Masks(TorchDispatchMode):
    """The mask that each call of attention gets."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket is torch.ops.aten.scaled_dot_product_attention:
            self.seen.append(args[3])
        return function(*args, **(kwargs or {}))


@kinds
def test_every_width_is_the_plain_forward_twice_and_after_rewinds(kind):
    every_width(graph_lane(kind), kind)


@kinds
def test_a_session_in_any_order_of_calls(kind):
    r = random.Random(3)
    ours = Session("it", graph_lane(kind).run, VOCAB, CONTEXT)
    text = list(TEXTS[0][:70])
    ours.prefill(TokenSequence(text))
    while len(text) < 110:
        tail = tuple(r.randrange(VOCAB) for _ in range(r.randint(0, 12)))
        since = r.randint(len(text), len(text) + len(tail))
        rows = ours.logits(TokenSequence(text, tail), since)
        torch.testing.assert_close(rows, plain(kind, [*text, *tail])[since - 1 :], rtol=1e-9, atol=1e-9)
        text += [*tail[: r.randint(0, len(tail))], r.randrange(VOCAB)]


@kinds
def test_up_to_the_last_token_that_fits(kind):
    """Where padding reaches beyond the end of the text and beyond the positions that the model knows."""
    for capacity in (60, CONTEXT):
        lane = GraphPool(model(kind), CONTEXT, 1, Uncaptured()).open_lane(capacity)
        text = TEXTS[1][:capacity]
        lane.run(text, 0, 1)
        for count in (33, 17, 5, 3, 1, 40):
            check(lane, kind, text, capacity - count, count)


def test_a_forward_of_one_width_reads_nothing_but_its_tensors():
    """The number of kept tokens is a tensor: another value gives other logits without another call."""
    lane = graph_lane("llama")
    for keep in (0, 4, 8, 4):
        with torch.inference_mode():
            lane._fed[:5].copy_(torch.tensor([keep, *TEXTS[0][keep : keep + 4]]))
            rows = lane.run_plain(4, forward)
        torch.testing.assert_close(rows, plain("llama", TEXTS[0][: keep + 4])[keep:], rtol=1e-9, atol=1e-9)


def noting(used: list, name):
    """The forward; notes the name and the width of each pass."""

    def noted(model, fed, *buffers):
        used.append((name, len(fed) - 1))
        return forward(model, fed, *buffers)

    return noted


def test_each_width_runs_its_own_forward():
    """The narrowest width that holds the ids; more than the widest holds are fed in several passes."""
    used = []
    lane = graph_lane("llama", forwards={width: noting(used, width) for width in (8, 2)})
    for count in (1, 2, 3, 8, 9, 27):
        check(lane, "llama", TEXTS[0][:count], 0, count)
    assert used == [(2, 2), (2, 2), (8, 8), (8, 8), *[(2, 2), (8, 8)], *[(8, 8)] * 4]


@kinds
def test_chunks_are_one_pass(kind):
    """Prompts and catch-ups of any length: the rows of the plain forward, whichever of them are asked for."""
    lane = graph_lane(kind)
    for keep, count in ((0, 81), (0, 160), (19, 150), (1, 199)):
        for rows in (1, 80, 81, count):
            lane.run(TEXTS[0][:keep] or [0], 0, 1)
            check(lane, kind, TEXTS[0][: keep + count], keep, min(rows, count))


def test_every_pass_is_one_that_was_recorded():
    """Prompts and catch-ups included: nothing runs that could not be a replay."""
    lane = graph_lane("llama")
    calls, of_passes = [], []
    for width, run in lane.passes.items():
        lane.passes[width] = lambda run=run, width=width: of_passes.append(width) or run()
    hook = lane._model.register_forward_hook(lambda *_: calls.append(1))
    try:
        for count in (1, 3, 80, 81, 200):
            lane.run(TEXTS[0][:count], 0, 1)
    finally:
        hook.remove()
    assert of_passes == [1, 4, 80, 1, 80, 64, 80, 80]
    assert len(calls) == len(of_passes)


def test_rows_of_chunks_survive_the_next_chunk():
    """Where passes share their memory, as captured graphs may, each one overwrites the rows of the one before."""
    shared = torch.zeros(WIDTHS[-1], VOCAB, dtype=torch.float64)

    def into_shared(*arguments):
        rows = forward(*arguments)
        shared[: len(rows)] = rows
        return shared[: len(rows)]

    lane = graph_lane("llama", forwards=dict.fromkeys(WIDTHS, into_shared))
    check(lane, "llama", TEXTS[0][:190], 0, 190)
    check(lane, "llama", TEXTS[0], 60, 81)


def test_rows_of_one_chunk_are_not_copied():
    lane = graph_lane("llama")
    kept = {}
    for width, run in lane.passes.items():
        lane.passes[width] = lambda run=run, width=width: kept.setdefault(width, run())
    rows = lane.run(TEXTS[0][:150], 0, 80)
    assert rows.untyped_storage().data_ptr() == kept[80][0].untyped_storage().data_ptr()


def test_the_mask_is_made_of_numbers_once_for_all_layers():
    """A mask of booleans would be converted in each layer, by two or three kernels."""
    lane = graph_lane("llama")
    with Masks() as masks:
        lane.run_plain(8, forward)
    assert len(masks.seen) == lane._model.config.num_hidden_layers > 1
    assert {mask.dtype for mask in masks.seen} == {torch.float64}
    assert len({mask.data_ptr() for mask in masks.seen}) == 1


def test_a_capture_that_fails_leaves_the_lane_as_it_was():
    """The pass stays, and later captures get memory of their own: the old one may be taken for in use."""
    memories = []

    class Failing(Uncaptured):
        fails = False

        def new_memory(self):
            memories.append(object())
            return memories[-1]

        def __call__(self, run, memory):
            assert memory is memories[-1]
            if self.fails:
                raise CaptureError("operation not permitted when stream is capturing")
            return run

    capture = Failing()
    lane = record_all(GraphLane(model("llama"), SLOTS, CONTEXT - 1, capture), dict.fromkeys(WIDTHS, forward))
    capture.fails = True
    with pytest.raises(CaptureError):
        lane.record(8, forward)
    capture.fails = False
    lane.record(8, forward)
    assert len(memories) == 2
    every_width(lane, "llama")


def test_everything_is_recorded_in_inference_mode():
    modes = []

    class Noting(Uncaptured):
        def __call__(self, run, memory):
            modes.append(torch.is_inference_mode_enabled())
            return run

    GraphLane(model("llama"), SLOTS, CONTEXT - 1, Noting()).record(8, forward)
    assert modes == [True]


def test_the_longest_draft_fits_the_widest():
    assert LONGEST_DRAFT < WIDTHS[-1]


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@kinds
def test_each_captured_width_is_the_plain_forward(kind):
    lanes = [graph_lane(kind, "cuda") for _ in range(2)]
    for lane in (*lanes, lanes[0]):
        every_width(lane, kind, "cuda")


@gpu
def test_every_width_is_captured():
    lane = graph_lane("llama", "cuda")
    assert sorted(lane.passes) == list(WIDTHS)
    assert all(isinstance(captured, CapturedRun) for captured in lane.passes.values())


@gpu
def test_a_captured_pass_calls_no_forward():
    """Neither does a prompt that takes several passes."""
    lane, calls = graph_lane("llama", "cuda"), []
    hook = model("llama", "cuda").register_forward_hook(lambda *_: calls.append(1))
    try:
        every = [lane.run(TEXTS[0][:count], 0, 1) for count in (*WIDTHS, 200)]
    finally:
        hook.remove()
    assert all(rows.shape == (1, VOCAB) for rows in every)
    assert not calls


@gpu
def test_a_copy_that_waits_is_not_overwritten():
    """Calls without a look at their logits: each text still reaches the device."""
    lane, text = graph_lane("llama", "cuda"), TEXTS[0][:40]
    for position, token in enumerate(text):
        lane.run([token], position, 1)
    check(lane, "llama", [*text, 1, 2], 40, 2, "cuda")
