"""Priors: how often copied and drafted tokens are right on transcripts."""

from __future__ import annotations

import pytest
import toy
from toy import DRAFTS

from csd.decoding.adaptive.prior import ANY, KINDS
from csd.request.prompts import Prompt
from csd.tuning.priors import RateCounter, acceptance_by_position, count_prior
from csd.tuning.transcripts import TopTokens, Transcript, record_transcript

PROMPTS = [Prompt("a", "abcabcab", max_new=40), Prompt("b", "badcafe", temperature=0.8, seed=3, max_new=40)]


def test_rates_never_fall_as_the_evidence_grows():
    family = toy.family(9, seed=2, noises=(0.5, 0.9, 1.6), bigram=True)
    prior = count_prior([record_transcript(family, prompt) for prompt in PROMPTS], DRAFTS, family.bigram)
    assert list(prior.copies) == sorted(prior.copies)
    for draft in DRAFTS:
        rates = prior.of_draft(draft)
        assert len(rates) == KINDS and all(0 < rate < 1 for rate in rates)
        assert list(rates[: ANY - 1]) == sorted(rates[: ANY - 1])
    assert prior.of_draft("draft-3")[ANY] > prior.of_draft("draft-1")[ANY]  # the better draft is believed more


def test_neighbours_that_would_decrease_are_pooled():
    counter = RateCounter((0.5, 0.5, 0.5))
    for _ in range(4):
        counter.add(0, True)
    for _ in range(4):
        counter.add(1, False)
    assert counter.rates(0, 3) == pytest.approx([0.5, 0.5, 0.5])  # (2 + 4 + 2 + 0) / 16 and 2 / 4


def test_positions_that_a_draft_cannot_read_are_not_counted():
    short = Transcript((1,), (5, 6, 7), {"d": (TopTokens((5, 0), (0.0, 9.0)),)})
    never = Transcript((1,), (5, 6, 7), {})
    assert count_prior([short], ["d"], None).drafts == count_prior([short, never], ["d"], None).drafts


def test_acceptance_by_position_is_the_share_of_right_tokens_given_those_before():
    right = Transcript((1,), (5, 6, 7, 8), {"d": tuple(TopTokens((token, 0), (0.0, 1.0)) for token in (5, 6, 0, 8))})
    # From each start: right, right, wrong | right, wrong | wrong | right.
    assert acceptance_by_position([right], "d") == (0.75, 0.5, 0.0)
    assert acceptance_by_position([right], "unknown") == ()
