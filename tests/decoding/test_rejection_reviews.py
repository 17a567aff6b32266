"""Single reviews under the rejection rule: what a token was drawn from, what is recorded, and what the sampler draws."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest
import torch
from enumeration import PathSampler, fits, outcomes
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import DRAFTS, TableSession, family

from csd.decoding.acceptance import Rejection, emitted_probs, residual_probs
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Draft, Nothing
from csd.decoding.maxgram import MaxGram
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence


def drafters(sampler, lenience: float):
    """The kinds of drafter that trees are made of, over one set of toy models."""
    toy = family(3, 7, (1.0, 1.5), sharp=1.0)
    strong, weak = (TableSession(name, toy.tables[name]) for name in DRAFTS[:2])
    rule = Rejection(LogitsWarper(), sampler, lenience)
    leaf = MaxGram(SuffixIndex(), 3)
    single = Vertical(weak, Nothing(), rule)
    over_copy = Vertical(weak, Horizontal(((leaf, 2),)), rule)
    return {
        "a draft alone": single,
        "a draft over Max-Gram": over_copy,
        "several rounds of that": Horizontal(((over_copy, 3),)),
        "a stage of each kind": Horizontal(((over_copy, 1), (single, 1), (leaf, 2))),
        "a draft over a draft": Vertical(strong, Horizontal(((single, 2),)), rule),
        "a draft over a draft over Max-Gram": Vertical(strong, Horizontal(((over_copy, 2),)), rule),
        "a draft over a mixed draft": Vertical(strong, Horizontal(((single, 1), (leaf, 3))), rule),
    }


@pytest.mark.parametrize("lenience", [1.0, 3.0])
@pytest.mark.parametrize("kind", list(drafters(None, 1.0)))
def test_q_is_the_distribution_that_each_token_was_drawn_from(kind, lenience):
    """Position by position: among all outcomes with the same prefix, a token is distributed as its row of q says.

    The row may depend on earlier events (which round wrote the token), so outcomes are grouped by their row as well.
    """
    prompt = (0, 1, 2, 0, 1)

    def run(sampler: PathSampler) -> Draft:
        return drafters(sampler, lenience)[kind].draft(TokenSequence(list(prompt)), 12)

    seen: defaultdict[tuple, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    total = 0.0
    for chance, draft in outcomes(run):
        total += chance
        rows = draft.probs(torch.zeros(1, 3, dtype=torch.float64)).tolist()
        assert len(rows) == len(draft.tokens) >= 1
        for position, (token, row) in enumerate(zip(draft.tokens, rows)):
            assert math.isclose(sum(row), 1, abs_tol=1e-12)
            key = (draft.tokens[:position], tuple(round(x, 9) for x in row))
            seen[key][token] += chance
    assert math.isclose(total, 1, abs_tol=1e-9)
    for (_, row), counts in seen.items():
        mass = sum(counts.values())
        assert all(abs(counts[token] / mass - x) < 1e-6 for token, x in enumerate(row))


@st.composite
def distributions(draw, vocab: int = 5):
    """p and q, with zeros in either, sometimes equal."""
    rows = []
    for _ in range(2):
        weights = draw(st.lists(st.sampled_from((0.0, 0.01, 0.3, 1.0, 7.0)), min_size=vocab, max_size=vocab))
        weights[draw(st.integers(0, vocab - 1))] += 1
        rows.append(torch.tensor([weights], dtype=torch.float64) / sum(weights))
    return rows if draw(st.booleans()) else [rows[0], rows[0].clone()]


@settings(max_examples=200, deadline=None)
@given(distributions(), st.sampled_from((1.0, 1.5, 3.0, 100.0)))
def test_emitted_probs_are_those_of_a_review_of_one_token(pair, lenience):
    """E against an enumeration of the rule itself, and in its limits: p at l = 1, q at l = infinity."""
    p, q = pair
    probs = defaultdict(float)
    for x, chance in enumerate(q[0].tolist()):
        if chance:
            draft = Draft((x,), ("d",), q)
            logits = torch.cat([p, p]).log()

            def review(sampler, draft=draft, logits=logits):
                return Rejection(LogitsWarper(), sampler, lenience).launch(draft, logits, 0).fetch()

            for part, result in outcomes(review):
                probs[x if result.accepted else result.token] += chance * part
                assert len(result.q) == result.accepted + 1
    E = emitted_probs(p, q, lenience)[0]
    assert max(abs(probs[x] - E[x]) for x in range(5)) < 1e-9
    assert (emitted_probs(p, q, 1.0) - p).abs().max() < 1e-12
    if not ((p == 0) & (q > 0)).any():  # a token that the reviewer never emits is rejected at any lenience
        assert (emitted_probs(p, q, 1e300) - q).abs().max() < 1e-9
    assert math.isclose(residual_probs(p, q).sum(), 1, abs_tol=1e-12)


def test_the_result_records_p_and_q_of_each_proposed_token():
    p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], dtype=torch.float64)
    q = torch.tensor([[0.2, 0.6, 0.2], [0.3, 0.4, 0.3]], dtype=torch.float64)

    class ScriptedSampler:
        def __init__(self, *tosses):
            self.tosses, self.asked, self.drawn_from = torch.tensor(tosses), [], []

        def accepts(self, chances):
            self.asked += chances.tolist()
            return self.tosses

        def draw(self, probs):
            self.drawn_from.append(probs.tolist())
            return probs.argmax(-1, keepdim=True)

    sampler = ScriptedSampler(True, False)
    result = Rejection(LogitsWarper(), sampler).launch(Draft((1, 2), ("d", "d"), q), p.log(), 9).fetch()
    assert sampler.asked == pytest.approx([0.5, 1 / 3])
    assert sampler.drawn_from[0] == pytest.approx([0, 1, 0])
    assert (result.accepted, result.token) == (1, 1)
    assert result.p_drafted == pytest.approx((0.3, 0.1)) and result.q_drafted == pytest.approx((0.6, 0.3))
    assert result.margin == pytest.approx(math.log(0.8 / 0.1))  # of the scores, as under the other rules
    # Fully accepted: the bonus comes from the last row of p.
    sampler = ScriptedSampler(True, True)
    result = Rejection(LogitsWarper(), sampler).launch(Draft((1, 2), ("d", "d"), q), p.log(), 9).fetch()
    assert sampler.drawn_from == [pytest.approx([0.2, 0.2, 0.6])] and result.accepted == 2 and len(result.q) == 3


def test_the_sampler_draws_by_weight_and_never_an_impossible_token():
    sampler = Sampler(3)
    probs = torch.tensor([0.0, 2.0, 0.0, 1.0, 1.0, 0.0])  # not normalized
    counts = Counter(int(sampler.draw(probs)) for _ in range(4000))
    assert set(counts) == {1, 3, 4}
    assert fits(counts, {1: 0.5, 3: 0.25, 4: 0.25}, 4000)
    assert {int(Sampler(seed).draw(torch.tensor([0.0, 0.0, 5.0]))) for seed in range(20)} == {2}
    assert 0.45 < sampler.accepts(torch.full((4000,), 0.5)).double().mean() < 0.55
    assert sampler.accepts(torch.ones(1000)).all() and not sampler.accepts(torch.zeros(1000)).any()
    assert [Sampler(1).draw(torch.ones(50)) for _ in range(3)] == [Sampler(1).draw(torch.ones(50))] * 3
