"""Graph lanes that work ahead of the host: choices of the passes, and tokens that the host has not seen yet."""

from __future__ import annotations

import pytest
import torch
from graph_models import CONTEXT, TEXTS, VOCAB, gpu, graph_lane, kinds, plain

from csd.decoding.acceptance import Coupled, Greedy
from csd.decoding.choice import top_two
from csd.decoding.generate import generate
from csd.decoding.methods import LaneParts, Speculative
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.models.session import FollowingSession, Session
from csd.record.trace import Step


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
    for rows in (1, 100):  # beyond the widest; of one pass, and of two
        logits = lane.run(text[:130], 0, rows)
        assert torch.equal(lane.choice, top_two(logits))


def test_a_choice_among_more_tokens_than_the_family_has_is_not_used():
    ours = following(graph_lane("llama"), VOCAB - 1)
    rows = ours.logits(TokenSequence(TEXTS[0][:9]), 9)
    assert rows.shape[1] == VOCAB - 1 and ours.choice is None


@pytest.mark.parametrize(
    "rule", [Greedy(), Coupled(LogitsWarper(0.9, top_k=8), GumbelNoise(3, VOCAB))], ids=["greedy", "coupled"]
)
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


@gpu
@kinds
def test_a_captured_pass_follows(kind):
    follows(kind, "cuda")
