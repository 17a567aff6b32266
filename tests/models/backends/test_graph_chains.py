"""Chains: one graph writes what one pass for each token writes, whatever came before. Graphs are recorded operations."""

from __future__ import annotations

import random

import pytest
import torch
from graph_models import CONTEXT, SLOTS, TEXTS, VOCAB, check, every_width, gpu, graph_lane, model, record_all
from graph_pools import ready_pool
from recorded_capture import RecordedCapture

from csd.decoding.acceptance import Coupled, Greedy
from csd.decoding.chain import Chain
from csd.decoding.choice import CoupledChooser, GreedyChooser, top_two
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Nothing
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper
from csd.decoding.tokens import TokenSequence
from csd.models.backends import graph_chains, graph_pool
from csd.models.backends.capture import CaptureError, CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import GraphLane, forward
from csd.models.backends.graph_chains import LENGTHS
from csd.models.backends.graph_check import PlainLogits
from csd.models.backends.graph_pool import GraphPool
from csd.models.session import FollowingSession, Session

WIDTHS = (1, 4, 16)
RULES = {
    "greedy": lambda seed, device: Greedy(),
    "coupled": lambda seed, device: Coupled(LogitsWarper(0.8), GumbelNoise(seed, VOCAB, device)),
    "top-k": lambda seed, device: Coupled(LogitsWarper(0.8, top_k=5), GumbelNoise(seed, VOCAB, device)),
}


def chained_lane(kind: str, capture=None, device: str = "cpu") -> GraphLane:
    lane = GraphLane(model(kind, device), SLOTS, CONTEXT - 1, capture or RecordedCapture())
    record_all(lane, dict.fromkeys(WIDTHS, forward))
    lane.record_chains(forward)
    lane.release = lambda: None
    return lane


def test_a_recorded_graph_is_the_plain_forward():
    """Of the recording itself: it is a fair stand-in for a captured graph."""
    lane = GraphLane(model("llama"), SLOTS, CONTEXT - 1, RecordedCapture())
    every_width(record_all(lane, dict.fromkeys((1, 2, 4, 8, 16, 32, 64, 80), forward)), "llama")


def chain_is_loop(lane: GraphLane, other: GraphLane, rule) -> None:
    """Drafts of every length, at random places, after rewinds, up to the end of the context; and the same margins."""
    r, text = random.Random(4), TokenSequence(list(TEXTS[0][:150]))
    ours, theirs = FollowingSession("it", lane, VOCAB, CONTEXT), Session("it", other.run, VOCAB, CONTEXT)
    one, loop = Chain(ours, rule), Vertical(theirs, Nothing(), rule)
    counts = [1, 2, 3, 4, 5, 7, 8, 11]
    while len(text) < CONTEXT - 3:
        count = counts.pop(0) if counts else 40
        found, wanted = (Horizontal(((drafter, count),)).draft(text, count) for drafter in (one, loop))
        assert found.tokens == wanted.tokens
        assert [review.margin for review in found.reviews] == pytest.approx(
            [review.margin for review in wanted.reviews]
        )
        text.commit([*found.tokens[: r.randint(0, len(found))], r.randrange(VOCAB)])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("llama", "greedy"),
        ("llama", "coupled"),
        ("llama", "top-k"),
        ("gpt2, with learned positions", "coupled"),
        ("qwen3, with norms of q and k", "greedy"),
    ],
)
def test_a_chain_is_the_loop_token_for_token(kind, name):
    chain_is_loop(chained_lane(kind), chained_lane(kind), RULES[name](7, "cpu"))


def test_chains_are_as_long_as_they_can_be_without_a_step_too_many():
    capture = RecordedCapture()
    lane = chained_lane("llama", capture)
    session = FollowingSession("it", lane, VOCAB, CONTEXT)
    for rule in (Greedy(), Coupled(LogitsWarper(0.5), GumbelNoise(3, VOCAB))):
        for count, graphs in ((1, 1), (2, 2), (4, 2), (8, 2), (5, 3), (7, 3), (16, 4)):
            text = TokenSequence(list(TEXTS[0][:20]))
            session.logits(text, 20)  # as a review left it
            before = capture.replays
            assert len(Chain(session, rule).draft(text, count)) == count
            assert capture.replays - before == graphs  # a pass, and chains


def test_a_filter_needs_the_host_and_takes_a_replay_for_each_token():
    capture = RecordedCapture()
    session = FollowingSession("it", chained_lane("llama", capture), VOCAB, CONTEXT)
    before = capture.replays
    Chain(session, RULES["top-k"](1, "cpu")).draft(TokenSequence(list(TEXTS[0][:9])), 8)
    assert capture.replays - before == 8


def test_other_seeds_and_temperatures_need_no_other_graph():
    lane, texts = chained_lane("llama"), set()
    for chooser in (
        CoupledChooser(1, 0.7),
        CoupledChooser(2**64 - 1, 0.7),
        CoupledChooser(1, 30.0),
        CoupledChooser(1, 0.7),
    ):
        lane.run(TEXTS[0][:30], 0, 1)
        rule = Coupled(LogitsWarper(chooser.temperature), GumbelNoise(chooser.seed, VOCAB))
        assert rule.chooser == chooser
        wanted = Chain(FollowingSession("it", lane, VOCAB, CONTEXT), rule)
        chain = lane.follow_chain(torch.tensor(5.0), 7, chooser)[:, 0].tolist()
        texts.add(tuple(chain))
        drafted = wanted.draft(TokenSequence([*TEXTS[0][:30], 5]), 7).tokens
        assert chain == list(drafted)
    assert len(texts) == 3


def test_a_model_with_wider_rows_than_the_family_chooses_on_its_own():
    session = FollowingSession("it", chained_lane("llama"), VOCAB - 1, CONTEXT)
    session.logits(TokenSequence(TEXTS[0][:9]), 9)
    assert session.follow_chain(torch.tensor(1.0), 7, GreedyChooser()) is None


def test_what_is_recorded_reads_the_same_after_another_text():
    lane, plain = chained_lane("llama"), PlainLogits(model("llama"), CONTEXT)
    assert plain.chains_agree(lane) and plain.chains_agree(lane)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_chain_that_writes_something_else_is_found(length):
    lane = chained_lane("llama")
    for by_length in lane.chains._by_length.values():
        run = by_length[length]
        by_length[length] = lambda run=run: run().roll(1, 0) + 1
    assert not PlainLogits(model("llama"), CONTEXT).chains_agree(lane)


def test_a_forward_that_waits_has_no_chain():
    def looks(*arguments):
        rows = forward(*arguments)
        return rows[: 1 + int(rows.argmax() < 0)]

    lane = record_all(GraphLane(model("llama"), SLOTS, CONTEXT - 1, RecordedCapture()), {1: forward})
    with pytest.raises(CaptureError, match="waits"):
        lane.record_chains(looks)
    assert lane.chains is None and lane.follow_chain(torch.tensor(1.0), 7, GreedyChooser()) is None


# --- in a pool -----------------------------------------------------------------------------------------------------


class NoChains(Uncaptured):
    """The first chains can be captured, so many of them, and no others."""

    def __init__(self, works: int = 0, error: Exception | None = None):
        self.works, self.error = works, error or RuntimeError("operation not permitted when stream is capturing\nmore")

    def __call__(self, run, memory):
        if run.func is graph_chains._chain:
            self.works -= 1
            if self.works < 0:
                raise self.error
        return run


def test_lanes_have_chains_once_they_are_recorded(made):
    pool = ready_pool(2)
    lent = pool.open_lane(CONTEXT)
    assert lent.follow_chain(torch.tensor(1.0), 7, GreedyChooser()) is None
    lent.release()
    assert pool.record_chains() is None
    lanes = [pool.open_lane(CONTEXT) for _ in range(3)]  # one more than were ready
    assert all(lane.chains for lane in made) and len(made) == 3
    for lane in lanes:
        check(lane, "llama", TEXTS[0][:50], 0, 50)
        assert len(lane.follow_chain(torch.tensor(1.0), 5, GreedyChooser())) == 3
        lane.release()
        with pytest.raises(RuntimeError, match="released"):
            lane.follow_chain(torch.tensor(1.0), 5, GreedyChooser())


def test_lanes_for_long_texts_write_token_by_token(monkeypatch):
    monkeypatch.setattr(graph_pool, "SIZES", (256, 512))
    pool = GraphPool(model("llama"), 900, 1, Uncaptured())
    pool.add_lane()
    pool.record_chains()
    found = [bool(pool.open_lane(capacity)._held.chains) for capacity in (10, 400)]
    assert found == [True, False]


@pytest.mark.parametrize("works", [0, 1, 7])
def test_if_one_lane_has_no_chains_none_has(made, works):
    """Of the second lane, one of six fails; passes stay as they are."""
    pool = ready_pool(2, capture=NoChains(works))
    assert "not permitted" in str(pool.record_chains())
    lanes = [pool.open_lane(CONTEXT) for _ in range(3)]
    assert not any(lane.chains for lane in made) and sorted(made[0].passes) == list(pool.widths)
    every_width(lanes[0], "llama")


def test_a_capture_that_fails_leaves_the_memory_behind():
    lane = graph_lane("llama", forwards={1: forward})
    lane._capture, lane._memory = NoChains(error=CaptureError("halfway")), "old"
    with pytest.raises(CaptureError):
        lane.record_chains(forward)
    assert lane._memory is None and lane.chains is None


def test_chains_are_of_the_narrowest_pass_and_as_compiled_as_it_is(made):
    pool, used = ready_pool(1), []

    def compiled(model, fed, *buffers):
        used.append(len(fed) - 1)
        return forward(model, fed, *buffers)

    pool.use_compiled({2: compiled})
    pool.leave_out((1,))
    used.clear()
    assert pool.record_chains() is None
    used.clear()
    made[0].follow_chain(torch.tensor(1.0), 7, GreedyChooser())
    assert used == [2] * 7


def test_chains_that_write_something_else_are_not_used(made, monkeypatch):
    pool = ready_pool(1)
    monkeypatch.setattr(graph_chains, "top_two", lambda scores: top_two(-scores))
    assert "one pass for each" in str(pool.record_chains()) and made[0].chains is None


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@pytest.mark.parametrize("name", RULES)
def test_a_captured_chain_is_the_loop(name):
    capture = CudaCapture(torch.device("cuda"))
    lanes = [chained_lane("llama", capture, "cuda") for _ in range(2)]
    chain_is_loop(*lanes, RULES[name](7, "cuda"))


@gpu
def test_lanes_of_a_gpu_have_chains():
    pool = ready_pool(2, "cuda")
    assert pool.record_chains() is None
    lane = pool.open_lane(CONTEXT)
    check(lane, "llama", TEXTS[0][:50], 0, 50, "cuda")
    assert len(lane.follow_chain(torch.tensor(1.0, device="cuda"), 7, GreedyChooser())) == 7
