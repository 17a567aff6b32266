"""Greedy and coupled: every tree generates what its target alone generates, token for token, on random tables."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import DRAFTS, ToyFamily, after, family, records_of, steps_of, text_of
from toy_lanes import NAMED, VOCAB, check_steps, methods, settings_of_a_lane

from csd.decoding.acceptance import Coupled, Greedy
from csd.decoding.methods import (
    Cascade,
    Speculative,
    VerticalCascade,
    title,
)
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper
from csd.record.trace import Review


def alone(
    toy: ToyFamily,
    prompt: tuple[int, ...],
    max_new: int,
    eos: frozenset[int],
    noise: GumbelNoise | None,
    warper: LogitsWarper,
):
    """The oracle: the table's own argmax (of logits, or of filtered logits + noise) one token at a time."""
    text = list(prompt)
    while len(text) < len(prompt) + max_new:
        row = after(toy.tables["target"], text)[None]
        scores = row if noise is None else warper(row) + noise.rows(len(text), 1)
        text.append(int(scores.argmax()))
        if text[-1] in eos:
            break
    return tuple(text[len(prompt) :])


@settings(max_examples=250, deadline=None)
@given(settings_of_a_lane(), methods())
def test_greedy_equals_the_target_alone(lane, method):
    toy, prompt, max_new, eos = lane
    steps = steps_of(toy, method, prompt, max_new, Greedy(), eos)
    assert text_of(steps) == alone(toy, prompt, max_new, eos, None, LogitsWarper())
    check_steps(steps, prompt, max_new)


@settings(max_examples=250, deadline=None)
@given(
    settings_of_a_lane(),
    methods(),
    st.integers(0, 2**63 - 1),
    st.builds(
        LogitsWarper, st.sampled_from((0.3, 1.0, 1.7)), st.sampled_from((0, 1, 3)), st.sampled_from((1.0, 0.8, 0.05))
    ),
)
def test_coupled_equals_the_target_alone(lane, method, seed, warper):
    toy, prompt, max_new, eos = lane
    steps = steps_of(toy, method, prompt, max_new, Coupled(warper, GumbelNoise(seed, VOCAB)), eos)
    assert text_of(steps) == alone(toy, prompt, max_new, eos, GumbelNoise(seed, VOCAB), warper)
    check_steps(steps, prompt, max_new)


@pytest.mark.parametrize("method", NAMED, ids=title)
@pytest.mark.parametrize("max_new", [1, 2, 3, 60])
def test_every_named_method(method, max_new):
    """With budgets where nothing, or almost nothing, may be drafted, and with one where the tree does draft."""
    toy = family(VOCAB, seed=3, noises=(0.3, 0.6, 1.0), bigram=True)
    prompt = (1, 2, 3)
    steps = steps_of(toy, method, prompt, max_new)
    assert text_of(steps) == alone(toy, prompt, max_new, frozenset(), None, LogitsWarper())
    assert len(text_of(steps)) == max_new
    check_steps(steps, prompt, max_new)
    if max_new == 1:
        assert len(steps) == 1 and steps[0].review.tokens == ()
    if max_new == 60 and method.name != "autoregressive":
        assert len(steps) < 60  # something was accepted, so the equality above is not trivial


@pytest.mark.parametrize("method", NAMED, ids=title)
def test_a_perfect_draft_is_accepted_whole(method):
    """With drafts equal to the target, neural tokens are never rejected, and each round is as long as K allows."""
    toy = family(VOCAB, seed=5, noises=(0.0, 0.0, 0.0))
    steps = steps_of(toy, method, (1, 2, 3), 48)
    for step in steps:
        for record in records_of(step.review):
            if isinstance(record, Review) and "MaxGram" not in record.authors:
                assert record.accepted == len(record.tokens)
    if method.name == "speculative":
        assert {len(step.tokens) for step in steps[:-1]} == {method.k + 1}


def test_eos_inside_a_draft_ends_the_text_with_it():
    """Drafts end at an EOS, an accepted EOS brings no bonus token, and nothing follows it; with one id and with several."""
    toy = family(VOCAB, seed=11, noises=(0.0, 0.0, 0.0))
    free = alone(toy, (0, 1), 30, frozenset(), None, LogitsWarper())
    first = max(free.index(token) for token in free)  # where the last new token appears
    for eos in ({free[first]}, {free[first], free[3]}):
        want = alone(toy, (0, 1), 30, frozenset(eos), None, LogitsWarper())
        for method in NAMED:
            steps = steps_of(toy, method, (0, 1), 30, eos=frozenset(eos))
            assert text_of(steps) == want, title(method)
            assert not set(want[:-1]) & eos
            for step in steps:
                for record in records_of(step.review):
                    assert not set(record.tokens[:-1]) & eos, (title(method), record)
                    if isinstance(record, Review) and record.tokens and record.accepted == len(record.tokens):
                        assert (record.token is None) == (record.tokens[-1] in eos)


def test_the_prompt_may_end_with_eos():
    """EOS ids in the prompt do not end the text."""
    toy = family(VOCAB, seed=2)
    eos = frozenset({4})
    for method in NAMED:
        steps = steps_of(toy, method, (1, 4), 20, eos=eos)
        assert text_of(steps) == alone(toy, (1, 4), 20, eos, None, LogitsWarper())


@pytest.mark.parametrize("full", DRAFTS)
def test_a_draft_whose_context_is_full_is_skipped_and_the_trace_says_so(full):
    method = Cascade(DRAFTS, ((2, 4, 6, 10), (0, 2, 4, 6), (0, 0, 2, 6), (0, 0, 0, 6)))
    toy = family(VOCAB, seed=8, noises=(0.4, 0.4, 0.4), contexts={full: 12})
    prompt = (1, 2, 3, 4)
    steps = steps_of(toy, method, prompt, 40)
    assert text_of(steps) == alone(toy, prompt, 40, frozenset(), None, LogitsWarper())
    ran = [r for step in steps for r in records_of(step.review) if isinstance(r, Review) and r.by == full]
    skipped = [r for r in ran if r.skipped]
    assert skipped and len(skipped) < len(ran)
    for review in ran:
        assert bool(review.skipped) == (review.at > 12)
        assert review.at + len(review.tokens) <= 12 or review.skipped
    for review in skipped:
        assert "12 tokens" in review.skipped and full in review.skipped
        assert (review.tokens, review.token, review.seconds) == ((), None, 0.0)
    assert any(len(step.tokens) > 1 for step in steps if step.review.at > 14)  # the others keep drafting


def test_a_prompt_longer_than_the_context_of_the_draft():
    toy = family(VOCAB, seed=8, contexts={"draft-1": 3})
    steps = steps_of(toy, Speculative("draft-1", 4), (1, 2, 3, 4, 5), 12)
    assert text_of(steps) == alone(toy, (1, 2, 3, 4, 5), 12, frozenset(), None, LogitsWarper())
    assert all(step.review.inner[0].skipped for step in steps[:-1])


def test_the_budget_may_fill_the_context_to_the_last_token():
    toy = family(VOCAB, seed=4, context=20)
    for method in NAMED:
        assert text_of(steps_of(toy, method, (1, 2, 3, 4), 16)) == alone(
            toy, (1, 2, 3, 4), 16, frozenset(), None, LogitsWarper()
        )


def test_ties_go_to_the_first_index():
    """Where all scores are equal, greedy takes the first index, whatever was drafted."""
    toy = family(4, seed=1)
    toy.tables["target"].zero_()
    for method in NAMED:
        assert text_of(steps_of(toy, method, (3, 2), 12)) == (0,) * 12
        lenient_steps = steps_of(toy, method, (3, 2), 12)
        assert all(step.review.margin == 0 for step in lenient_steps)


def test_lenience_lets_inner_reviewers_accept_more_without_changing_the_text():
    def accepted(lenience: float) -> tuple[int, int, tuple[int, ...]]:
        kept = shown = 0
        texts: tuple[int, ...] = ()
        for seed in range(20):
            toy = family(VOCAB, seed=seed, sharp=1.0)
            method = VerticalCascade(DRAFTS[:2], (6, 3, 4), lenience=lenience)
            steps = steps_of(toy, method, (1, 2, 3), 40)
            texts += text_of(steps)
            inner = [r for s in steps for r in records_of(s.review) if isinstance(r, Review) and r.by != "target"]
            kept += sum(r.accepted for r in inner)
            shown += sum(len(r.tokens) for r in inner)
        return kept, shown, texts

    strict, lenient_ = accepted(1.0), accepted(3.0)
    assert strict[2] == lenient_[2]
    assert lenient_[0] / lenient_[1] > strict[0] / strict[1] + 0.05


def test_a_lane_is_the_same_every_time():
    toy = family(VOCAB, seed=6)
    plain = []
    for _ in range(2):
        steps = steps_of(toy, NAMED[-1], (1, 2), 40, Coupled(LogitsWarper(0.9), GumbelNoise(5, VOCAB)))
        plain.append([(step.tokens, step.authors, step.review.accepted) for step in steps])
    assert plain[0] == plain[1]


def test_the_hostile_session_is_hostile():
    """Rows become invalid at the next call, so a rule that kept some would be noticed."""
    toy = family(VOCAB)
    session = toy.session("target", 20)
    from csd.decoding.tokens import TokenSequence

    text = TokenSequence([1, 2, 3])
    first = session.logits(text, 3)
    assert torch.isfinite(first).all()
    session.logits(text, 2)
    assert torch.isnan(first).all()
