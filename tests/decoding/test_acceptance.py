"""Filters against the warpers of transformers, and the rules on hand-made drafts."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import DRAFTS, after, family, steps_of, text_of

from csd.decoding import acceptance
from csd.decoding.acceptance import Acceptance, AcceptanceRule, Coupled, Greedy
from csd.decoding.choice import top_two
from csd.decoding.draft import Draft
from csd.decoding.methods import Cascade
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper

INF = math.inf


def draft(*tokens: int) -> Draft:
    return Draft(tokens, ("d",) * len(tokens))


def decide(rule: AcceptanceRule, *review) -> Acceptance:
    return rule.launch(*review).fetch()


# --- greedy ------------------------------------------------------------------------------------------------------------


def test_greedy_accepts_up_to_the_first_difference():
    logits = torch.tensor([[0.0, 5, 1], [7, 0, 0], [0, 0, 3], [1, 2, 0]], dtype=torch.float64)
    whole = decide(Greedy(), draft(1, 0, 2), logits, 4)
    assert (whole.accepted, whole.token, whole.margin, whole.q) == (3, 1, 1.0, None)
    part = decide(Greedy(), draft(1, 2, 2), logits, 4)
    assert (part.accepted, part.token, part.margin) == (1, 0, 7.0)
    none = decide(Greedy(), draft(0, 0, 2), logits, 4)
    assert (none.accepted, none.token, none.margin) == (0, 1, 4.0)
    empty = decide(Greedy(), draft(), logits[:1], 4)
    assert (empty.accepted, empty.token) == (0, 1)


def test_lenience_accepts_scores_within_its_logarithm():
    near, far = math.log(3) - 1e-6, math.log(3) + 1e-6
    logits = torch.tensor([[0.0, -near, -far], [0, 0, 0], [0, 0, 0]], dtype=torch.float64)
    assert decide(Greedy(3.0), draft(1, 0), logits, 0).accepted == 2
    assert decide(Greedy(3.0), draft(2, 0), logits, 0).accepted == 0
    assert decide(Greedy(1.0), draft(1, 0), logits, 0).accepted == 0
    assert decide(Greedy(3.0), draft(2, 0), logits, 0).token == 0  # a correction is always the best token
    assert decide(Greedy(1.0), draft(0, 1), logits, 0).accepted == 1  # of ties, strict takes the first
    assert decide(Greedy(1.0001), draft(0, 1), logits, 0).accepted == 2  # and lenient takes any
    assert Greedy().with_lenience(3.0) == Greedy(3.0)


# --- coupled -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_coupled_is_an_exact_sample_of_the_target():
    """The distribution over seeds of the first two tokens, with a filter, through a whole tree."""
    toy, warper, total = family(4, 5, (0.7, 1.2), sharp=1.0), LogitsWarper(0.9, top_k=3), 1200
    prompt, method = (0, 1, 2, 0, 1), Cascade(DRAFTS[:2], ((1, 2, 4), (0, 2, 3), (0, 0, 2)), lenience=3.0)
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(total):
        counts[text_of(steps_of(toy, method, prompt, 4, Coupled(warper, GumbelNoise(seed, 4))))[:2]] += 1
        toy.opened.clear()
    probs = {}
    target = toy.tables["target"]
    for a, p in enumerate(warper(after(target, prompt)[None])[0].softmax(-1).tolist()):
        for b, r in enumerate(warper(after(target, (*prompt, a))[None])[0].softmax(-1).tolist()):
            if p * r:
                probs[a, b] = p * r
    assert set(counts) <= set(probs) and len(probs) == 9
    statistic = sum((counts[key] - total * chance) ** 2 / (total * chance) for key, chance in probs.items())
    assert statistic < 8 + 5 * math.sqrt(16)
    flat = sum((counts[key] - total / 9) ** 2 / (total / 9) for key in probs)
    assert flat > 8 + 5 * math.sqrt(16)  # the test can fail


def test_coupled_uses_the_noise_of_each_position():
    noise, row = GumbelNoise(3, 6), torch.zeros(3, 6, dtype=torch.float64)
    best = noise.rows(10, 3).argmax(-1).tolist()
    rule = Coupled(LogitsWarper(), GumbelNoise(3, 6))
    assert decide(rule, draft(*best[:2]), row, 10).accepted == 2
    assert decide(rule, draft(*best[:2]), row, 10).token == best[2]
    assert decide(rule, draft(), row[:1], 11).token == best[1]


def test_a_filter_that_leaves_one_token_has_no_margin():
    """JSON has no infinity, so where only one token is left the margin is None."""
    for warper in (LogitsWarper(top_k=1), LogitsWarper(top_p=1e-6)):
        result = decide(Coupled(warper, GumbelNoise(0, 4)), draft(), torch.tensor([[0.0, 3, 1, 2]]), 5)
        assert (result.token, result.margin) == (1, None)
        json.dumps(result.margin, allow_nan=False)


# --- filters -----------------------------------------------------------------------------------------------------------


@st.composite
def rows(draw, distinct: bool = True):
    """Logits [n, V] that are multiples of one half, so that ties are exact; `distinct` rows have none."""
    n, vocab = draw(st.integers(1, 4)), draw(st.integers(2, 12))
    made = [
        draw(st.lists(st.integers(-12, 12), min_size=vocab, max_size=vocab, unique=distinct)) for _ in range(n)
    ]  # fmt: skip
    return torch.tensor(made, dtype=torch.float64) / 2


def warped(logits: torch.Tensor, temperature: float, top_k: int, top_p: float) -> torch.Tensor:
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    scores = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        scores = TopKLogitsWarper(top_k)(None, scores)
    return TopPLogitsWarper(top_p)(None, scores) if top_p < 1 else scores


@settings(max_examples=150, deadline=None)
@given(rows(), st.sampled_from((0.5, 1.0, 1.7)), st.integers(0, 14), st.sampled_from((1.0, 0.93, 0.7, 0.3, 1e-6)))
def test_filters_agree_with_transformers(logits, temperature, top_k, top_p):
    ours = LogitsWarper(temperature, top_k, top_p)(logits)
    theirs = warped(logits, temperature, top_k, top_p)
    assert torch.equal(ours.isinf(), theirs.isinf())
    assert torch.allclose(ours.softmax(-1), theirs.softmax(-1), atol=1e-14)


@settings(max_examples=150, deadline=None)
@given(rows(distinct=False), st.integers(1, 12))
def test_top_k_keeps_all_ties_of_the_last_as_transformers_does(logits, top_k):
    """Which of two tied tokens `topk` returns is undefined and may change with the width, and the text with it."""
    assert torch.equal(LogitsWarper(top_k=top_k)(logits), warped(logits, 1.0, top_k, 1.0))


@settings(max_examples=150, deadline=None)
@given(rows(distinct=False), st.sampled_from((0.93, 0.7, 0.3)))
def test_top_p_keeps_the_same_probabilities_of_ties_as_transformers(logits, top_p):
    """Among ties the choice of transformers is undefined; ours is the first, and the kept probabilities are the same."""
    ours, theirs = (LogitsWarper(top_p=top_p)(logits).softmax(-1), warped(logits, 1.0, 0, top_p).softmax(-1))
    assert torch.allclose(ours.sort(-1).values, theirs.sort(-1).values, atol=1e-14)
    for row, kept in zip(logits, ours > 0):
        for value in row[kept].unique():
            ties = kept[row == value].tolist()
            assert ties == sorted(ties, reverse=True)


@given(rows(), st.sampled_from((0.7, 1.0)), st.integers(0, 5), st.sampled_from((1.0, 0.8)))
@settings(max_examples=60, deadline=None)
def test_a_row_is_filtered_the_same_alone_and_in_a_batch(logits, temperature, top_k, top_p):
    warper = LogitsWarper(temperature, top_k, top_p)
    whole = warper(logits)
    for i, row in enumerate(logits):
        assert torch.equal(warper(row[None])[0], whole[i])


def test_filters_do_not_write_into_the_logits():
    """The logits are a buffer of the session."""
    logits = torch.randn(3, 9, dtype=torch.float64)
    kept = logits.clone()
    for warper in (LogitsWarper(), LogitsWarper(0.5, 3, 0.5), LogitsWarper(top_k=2)):
        warper(logits)
        assert torch.equal(logits, kept)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32])
def test_half_precision_is_filtered_in_float32(kind):
    assert LogitsWarper(0.7, 3, 0.9)(torch.randn(2, 9).to(kind)).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_two_best_of_each_row(dtype):
    """Those of a graph against those of a CPU: the first of ties, margins, and None where a filter left one token."""
    scores = torch.randn(6, 50, generator=torch.Generator().manual_seed(1)).round(decimals=1).to(dtype)
    scores[1] = 3.0
    scores[2, 1:] = -math.inf
    firsts, margin = acceptance._argmax_on_cpu(scores)
    rows = top_two(scores)
    assert rows.dtype == torch.float64 and rows[:, 0].tolist() == firsts == scores.argmax(-1).tolist()
    assert torch.equal(rows[:, 1:], torch.stack([scores[i].topk(2).values.double() for i in range(6)]))
    for row in range(6):
        whole = draft(*firsts[:row])
        for choice in (None, rows[: row + 1]):
            result = Greedy().launch(whole, scores[: row + 1], 0, choice).fetch()
            assert (result.accepted, result.token, result.margin) == (row, firsts[row], margin(row))
    assert firsts[1] == 0 and margin(1) == 0 and margin(2) is None
