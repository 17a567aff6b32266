"""Graph lanes: each width gives the logits of the plain forward, whatever was in the buffers before.

Without a GPU the same passes run uncaptured, in float64.
"""

from __future__ import annotations

import random

import pytest
import torch
from graph_models import CONTEXT, TEXTS, VOCAB, check, every_width, gpu, kinds, model, plain

from csd.decoding.acceptance import Coupled, Greedy
from csd.decoding.choice import top_two
from csd.decoding.generate import generate
from csd.decoding.k_matrix import LONGEST_DRAFT
from csd.decoding.methods import LaneParts, Speculative
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.models.backends import cuda_graphs as graphs
from csd.models.backends.cuda_graphs import WIDTHS, CapturedPass, GraphLane, forward
from csd.models.backends.graph_pool import GraphPool
from csd.models.session import FollowingSession, Session
from csd.record.trace import Step

SLOTS = 512


def graph_lane(kind: str, device: str = "cpu", forwards=None) -> GraphLane:
    stream = torch.cuda.Stream() if device == "cuda" else None
    forwards = dict.fromkeys(WIDTHS, forward) if forwards is None else forwards
    return GraphLane(model(kind, device), SLOTS, CONTEXT - 1, forwards, stream)


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
        lane = GraphPool(model(kind), CONTEXT).open_lane(capacity)
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
            rows = lane.forward_at(4, forward)
        torch.testing.assert_close(rows, plain("llama", TEXTS[0][: keep + 4])[keep:], rtol=1e-9, atol=1e-9)


def test_each_width_runs_its_own_forward():
    """The narrowest width that holds the ids; ids beyond the widest are fed in one pass, uncaptured."""
    used = []

    def at(width):
        def noting(model, fed, keys, values, last_position, rows=0):
            used.append((width, len(fed) - 1))
            return forward(model, fed, keys, values, last_position, rows)

        return noting

    lane = graph_lane("llama", forwards={width: at(width) for width in (8, 2)})
    for count in (1, 2, 3, 8, 9):
        check(lane, "llama", TEXTS[0][:count], 0, count)
    assert used == [(2, 2), (2, 2), (8, 8), (8, 8)]


def test_rows_beyond_the_widest_come_from_one_pass():
    text, lane = TEXTS[0][:150], graph_lane("llama")
    check(lane, "llama", text[:20], 0, 1)
    check(lane, "llama", text, 20, 130)


def test_the_longest_draft_fits_the_widest():
    assert LONGEST_DRAFT < WIDTHS[-1]


def following(lane, vocab: int = VOCAB) -> FollowingSession:
    lane.release = lambda: None
    return FollowingSession("it", lane, vocab, CONTEXT)


def follows(kind: str, device: str = "cpu") -> None:
    """`follow` is a pass over the token that it is given, after any pass and after a rewind."""
    lane, text = graph_lane(kind, device), TEXTS[0]
    for keep, count in ((0, 60), (60, 1), (40, 7), (30, 1)):
        lane.run(text[keep : keep + count], keep, 1)
        for end in range(keep + count, keep + count + 5):
            token = torch.tensor(float(text[end]), device=device)
            rows = lane.follow(token)
            within = 1e-9 if device == "cpu" else 1e-5
            torch.testing.assert_close(rows, plain(kind, text[: end + 1], device)[-1:], rtol=within, atol=within)
            assert torch.equal(lane.choice, top_two(rows))


@kinds
def test_follow_is_a_pass_over_one_token(kind):
    follows(kind)


def test_the_choice_belongs_to_the_rows_that_were_returned():
    lane, text = graph_lane("llama"), TEXTS[0]
    for keep, count, rows in ((0, 20, 3), (20, 5, 5), (25, 1, 1), (26, 70, 2)):
        logits = lane.run(text[keep : keep + count], keep, rows)
        assert torch.equal(lane.choice, top_two(logits))
    lane.run(text[:130], 0, 1)  # beyond the widest
    assert lane.choice is None


def test_a_choice_among_more_tokens_than_the_family_has_is_not_used():
    ours = following(graph_lane("llama"), VOCAB - 1)
    rows = ours.logits(TokenSequence(TEXTS[0][:9]), 9)
    assert rows.shape[1] == VOCAB - 1 and ours.choice is None


@pytest.mark.parametrize("rule", [Greedy(), Coupled(LogitsWarper(0.9, top_k=8), GumbelNoise(3, VOCAB))], ids=str)
def test_a_chain_over_a_graph_lane_is_the_loop(rule):
    """Drafts of one model reviewed by another, with chains and choices of the passes, and without."""
    texts = []
    for chained in (True, False):
        lanes = {name: graph_lane(kind) for name, kind in (("target", "llama"), ("draft", "llama, tied"))}
        sessions = {
            name: following(lane) if chained else Session(name, lane.run, VOCAB, CONTEXT)
            for name, lane in lanes.items()
        }
        root = Speculative("draft", 5).build(LaneParts(sessions, rule, SuffixIndex()))
        records = generate(root, list(sessions.values()), TEXTS[0][:30], 60)
        texts.append([(one.tokens, one.review.tokens, one.review.accepted) for one in records if isinstance(one, Step)])
    assert texts[0] == texts[1] and sum(len(tokens) for tokens, _, _ in texts[0]) == 60


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
    assert sorted(lane._graphs) == list(WIDTHS)
    assert all(isinstance(captured, CapturedPass) for captured in lane._graphs.values())


@gpu
def test_a_captured_pass_calls_no_forward(monkeypatch):
    lane = graph_lane("llama", "cuda")

    def fail(*_):
        pytest.fail("a pass was not replayed")

    monkeypatch.setattr(graphs.GraphLane, "forward_at", fail)
    every = [lane.run(TEXTS[0][:count], 0, 1) for count in WIDTHS]
    assert all(rows.shape == (1, VOCAB) for rows in every)


@gpu
def test_a_copy_that_waits_is_not_overwritten():
    """Calls without a look at their logits: each text still reaches the device."""
    lane, text = graph_lane("llama", "cuda"), TEXTS[0][:40]
    for position, token in enumerate(text):
        lane.run([token], position, 1)
    check(lane, "llama", [*text, 1, 2], 40, 2, "cuda")


@gpu
@kinds
def test_a_captured_pass_follows(kind):
    follows(kind, "cuda")
