"""What a GPU is told to do: one wait for each review and each draft, and no more operations than there were."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gpu import counts
from gpu.counting import counted
from gpu.counts import CHAINS, MODELS, PASSES, ROUNDS, bytes_of_pass, count_draft, count_pass, count_review
from gpu.figures import read_figures

MOST = {"greedy": (0, 0), "coupled": (29, 29), "coupled, top-p": (38, 38), "rejection": (34, 45)}
"""Operations after the pass, by rule, for a review of nothing and of 8 tokens."""


@pytest.mark.parametrize("rule", counts.RULES)
def test_a_review_is_a_pass_a_decision_and_one_wait(rule):
    for n, most in zip((0, 8), MOST[rule], strict=True):
        found = count_review(rule, n)
        assert (found.graphs, found.waits) == (1, 1) and found.uploads <= 3
        assert found.launches <= most
        assert (found.launches == 0) == (rule == "greedy")  # its choice is made in the pass


@pytest.mark.parametrize(
    ("rule", "way", "graphs", "launches", "waits"),
    [
        ("greedy", CHAINS, 2, 5, 1),
        ("greedy", PASSES, 8, 23, 1),
        ("greedy", ROUNDS, 8, 0, 8),
        ("coupled", CHAINS, 2, 36, 1),
        ("coupled", PASSES, 8, 255, 1),
        ("coupled, top-p", PASSES, 8, 327, 1),
    ],
)
def test_a_draft_of_8_tokens(rule, way, graphs, launches, waits):
    found = count_draft(rule, 8, way)
    assert (found.graphs, found.waits) == (graphs, waits) and found.launches <= launches
    assert found.uploads <= {CHAINS: 3, PASSES: 9, ROUNDS: 8}[way]


def test_a_chain_computes_what_its_passes_do_and_feeds_the_choices():
    chain, passes = (count_draft("greedy", 8, way).captured for way in (CHAINS, PASSES))
    assert passes < chain <= passes + 7 * 4  # where the token goes, the token, and its place in the result


def test_a_layer_costs_the_same_wherever_it_is():
    shape = MODELS["small"]
    one, two, three, four = (count_pass("small", replace(shape, layers=n), 1).captured for n in (1, 2, 3, 4))
    assert two - one == three - two == four - three <= 40


def test_bytes_of_a_7B_pass():
    """Llama 7B has 6.5 billion weights in its layers; keys and values are those of 1,024 slots."""
    weights, cache = bytes_of_pass("target", MODELS["target"])
    assert weights == pytest.approx(2 * 6.5e9, rel=0.01)
    assert cache == 2 * 32 * 1024 * 4096 * 2


def test_a_wait_that_nobody_announced_is_an_error():
    with counted(), pytest.raises(RuntimeError, match="meta"):
        torch.ones(3, device="meta").argmax().item()


def test_views_and_reserved_memory_are_free():
    with counted() as counting:
        rows = torch.empty(4, 5, device="meta")
        rows[1:, 2].view(3, 1).expand(3, 2)
        assert counting.counts.launches == 0
        rows.t().contiguous()
        rows[0].fill_(1)
        torch.zeros(3)  # on the host
        assert counting.counts.launches == 2


def test_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "WAYS", {"greedy": (CHAINS,)})
    monkeypatch.setattr(counts, "MODELS", {name: MODELS[name] for name in ("target", "tiny")})
    counts.main("cpu", tmp_path / "figures.jsonl")
    *passes, alone, review, draft = read_figures(tmp_path / "figures.jsonl")
    assert [one.value for one in passes] == [32 * 40 + 32, 2 * 40 + 32]
    assert alone.value == review.value == 1 and draft.value == 7 and "1 waits" in draft.text
