"""Simulation: the costs of a simulated method are those of the real one's forward passes."""

from __future__ import annotations

import pytest
import toy
from toy import DRAFTS

from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative, title
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review
from csd.request.prompts import Prompt
from csd.tuning.simulation import ReplaySession, simulate
from csd.tuning.transcripts import TopTokens, Transcript, record_transcript, run_method

PROMPTS = [Prompt("a", "abcabcab", max_new=40), Prompt("b", "badcafe", temperature=0.8, seed=3, max_new=40)]
COSTS = tuple(10.0**width for width in range(9))  # the digits of a sum are the numbers of passes of each width


@pytest.fixture(scope="module")
def family():
    return toy.family(9, seed=2, noises=(0.5, 0.9, 1.6), bigram=True)


@pytest.fixture(scope="module")
def transcripts(family):
    return [record_transcript(family, prompt) for prompt in PROMPTS]


@pytest.mark.parametrize("method", [Autoregressive(), PromptLookup(6)], ids=title)
def test_the_simulation_is_exact_where_no_draft_continues_after_an_error(family, transcripts, method):
    for prompt, transcript in zip(PROMPTS, transcripts):
        steps = run_method(family, prompt, method).steps
        reviews = [r for step in steps for r in toy.records_of(step.review) if isinstance(r, Review)]
        real = sum(family.costs[review.by][len(review.tokens)] for review in reviews)
        assert simulate(method, transcript, family) == pytest.approx(real)


@pytest.mark.parametrize(
    ("method", "seconds"),
    [
        (Speculative("draft-3", 1), (32.0625, 34.8125)),
        (Speculative("draft-1", 4), (19.175925925925917, 23.175925925925924)),
        (
            Cascade(DRAFTS, ((4, 6, 8, 10), (0, 2, 4, 6), (0, 0, 3, 4), (0, 0, 0, 2))),
            (28.331018518518537, 34.51851851851851),
        ),
        (
            Cascade(DRAFTS, ((0, 3, 3, 5), (0, 4, 4, 7), (0, 0, 0, 2), (0, 0, 0, 0)), 3.0),
            (18.347222222222225, 23.71527777777778),
        ),
        (AdaptiveCascade(DRAFTS), (13.88425925925926, 22.27314814814815)),
    ],
    ids=["speculative, k=1", "speculative, k=4", "cascade", "lenient cascade", "adaptive cascade"],
)
def test_costs_that_were_counted_before_stay_the_same(family, transcripts, method, seconds):
    """A regression test: on a toy, how many tokens each pass feeds decides the sum; the second text is a sampled one."""
    found = tuple(simulate(method, transcript, family) for transcript in transcripts)
    assert found == pytest.approx(seconds, rel=1e-9)


def replay_session(predicted: int = 12) -> ReplaySession:
    predictions = [TopTokens((i,), (0.0,)) for i in range(predicted)]
    return ReplaySession("it", predictions, 3, 100, COSTS)


def test_a_pass_feeds_what_is_not_cached_and_at_least_the_token_before_the_first_row():
    session, prompt = replay_session(), [1, 2, 3]
    session.prefill(TokenSequence(list(prompt)))
    assert session.seconds == 0
    fed = []
    for committed, tail, since in [
        ([], (), 3),  # all is cached: the last token of the prompt is fed again for its row
        ([], (4, 5), 3),  # that token, and two drafted ones
        ([], (4, 9, 9), 4),  # 4 is kept only up to the token before position 4
        ([4], (), 4),  # the draft was rejected
        ([4], (6, 7), 5),  # 6 and 7 are new
        ([4], (6, 7, 8), 6),  # 7 is fed again, 8 is new
        ([4, 6, 7, 8], (), 7),  # committed: only the last token is fed
    ]:
        before = session.seconds
        session.logits(TokenSequence([*prompt, *committed], tail), since)
        fed.append(COSTS.index(session.seconds - before) + 1)
    assert fed == [1, 3, 3, 1, 2, 2, 1]


def test_replayed_rows_are_those_of_the_positions_and_the_last_one_is_repeated():
    session = replay_session(predicted=3)
    text = TokenSequence([1, 2, 3], (4, 5, 6, 7))
    assert [top.best for top in session.logits(text, 3)] == [0, 1, 2, 2, 2]
    assert [top.best for top in session.logits(text, 4)] == [1, 2, 2, 2]


def test_wider_passes_than_were_measured_cost_what_the_widest_costs():
    session = ReplaySession("it", [TopTokens((0,), (0.0,))], 1, 100, (1.0, 3.0))
    session.logits(TokenSequence([1], (2, 3, 4)), 1)
    assert session.seconds == 3.0


def test_a_draft_whose_context_is_full_is_left_out():
    family = toy.family(9, noises=(0.5, 0.9), contexts={"draft-2": 20})
    transcript = record_transcript(family, PROMPTS[0])
    alone = simulate(Autoregressive(), transcript, family)
    assert simulate(Speculative("draft-2", 3), transcript, family) > 0
    skipped = Transcript(transcript.prompt * 3, transcript.tokens, {**transcript.predictions, "draft-2": ()})
    assert simulate(Speculative("draft-2", 3), skipped, family) == pytest.approx(alone)
