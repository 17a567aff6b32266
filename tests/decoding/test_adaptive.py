"""The adaptive cascade: what it learns, and that it drafts where a token is worth its time. Its exactness is tested elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy import DRAFTS, family, records_of, steps_of, text_of

from csd.decoding.acceptance import Greedy
from csd.decoding.adaptive.estimates import LONGEST_BLOCK, AcceptanceEstimate, CopyModel, Speed
from csd.decoding.adaptive.prior import AGREED, ANY, GENERAL, KINDS, MARGINS, Prior
from csd.decoding.adaptive.value import STRIDE, value_of_draft
from csd.decoding.errors import Refusal
from csd.decoding.generate import generate
from csd.decoding.maxgram import MaxGram
from csd.decoding.methods import AdaptiveCascade, LaneParts
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review, Step


def test_estimates_start_at_the_prior_and_converge_to_what_is_observed():
    estimate = AcceptanceEstimate((0.5, 0.9))
    assert estimate.rates == pytest.approx([0.5, 0.9])
    for i in range(600):
        estimate.update(0, i % 4 > 0)
    assert estimate.rates[0] == pytest.approx(0.75, abs=0.04)


def test_observations_of_one_kind_move_the_others():
    better, worse = AcceptanceEstimate((0.5, 0.8)), AcceptanceEstimate((0.5, 0.8))
    for _ in range(5):
        better.update(0, True)
        worse.update(0, False)
    assert better.rates[1] > 0.8 > worse.rates[1]


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=400))
def test_estimates_stay_probabilities(seen):
    estimate = AcceptanceEstimate((0.005, 0.5, 0.995))
    for kind, accepted in seen:
        estimate.update(kind, accepted)
    assert all(0 < rate < 1 for rate in estimate.rates)


def test_the_rate_is_tokens_over_seconds_and_forgets():
    speed = Speed(4.0, 2.0)
    assert speed.tokens_per_second == 2.0
    for _ in range(300):
        speed.add(6, 1.0)
    assert speed.tokens_per_second == pytest.approx(6.0, rel=1e-4)


def test_copies_learn_from_the_text_and_not_from_the_prompt():
    """In the prompt 1 is always followed by 2; the text then breaks this, and the estimate for copies falls."""
    copies, text = CopyModel(MaxGram(SuffixIndex(), 64), GENERAL.copies), [1, 2, 1, 2, 1, 2, 1]
    before = copies.rates(TokenSequence(text))[0]
    assert before == pytest.approx(GENERAL.copies[5])  # "1 2 1 2 1" occurred before
    text += [3, 1, 4, 1, 5, 1, 6, 1]
    after = copies.rates(TokenSequence(text))[0]
    assert after < GENERAL.copies[1]


def test_a_dropped_tail_teaches_nothing():
    plain, other = (CopyModel(MaxGram(SuffixIndex(), 64), GENERAL.copies) for _ in range(2))
    for tail in ((), (1, 2, 3), (9, 9), ()):
        other.rates(TokenSequence([1, 2, 3, 1], tail))
    plain.rates(TokenSequence([1, 2, 3, 1]))
    assert plain.rates(TokenSequence([1, 2, 3, 1])) == other.rates(TokenSequence([1, 2, 3, 1]))


@dataclass
class Fixed:
    """A model whose next token is a function of the text."""

    name: str
    follows: object
    costs: tuple[float, ...]
    context: int = 10**6
    choice: None = None

    def logits(self, sequence: TokenSequence, since: int):
        ids = sequence.since(0)
        rows = torch.zeros(len(ids) - since + 1, 64)
        for row, end in enumerate(range(since, len(ids) + 1)):
            rows[row, self.follows(ids[:end])] = 8.0
        return rows

    def prefill(self, sequence: TokenSequence) -> None:
        """Nothing is cached."""


def run(target, drafts, prompt, count, costs, prior=GENERAL):
    names = ("target", *(f"draft-{i}" for i in range(len(drafts))))
    models = {name: Fixed(name, follows, cost) for name, follows, cost in zip(names, (target, *drafts), costs)}
    index = SuffixIndex()
    root = AdaptiveCascade(names[1:], prior=prior).build(LaneParts(models, Greedy(), index))
    return [record for record in generate(root, [index], prompt, count) if isinstance(record, Step)]


def counts(ids):
    """0 1 2 ... 48 0 1 2 ...: nothing to copy at first, and easy to draft."""
    return (ids[-1] + 1) % 49


def scrambled(ids):
    """Never what a draft says, and no copy is right for long."""
    return (ids[-1] * 17 + len(ids) ** 2 * 5 + 11) % 49


FLAT, SLOPE = (1.0,) * 65, tuple(1.0 + 0.1 * width for width in range(65))
CHEAP = (0.05,) * 65


def block(steps):
    return [len(step.review.tokens) for step in steps]


def test_a_good_cheap_draft_gets_long_blocks_and_a_bad_one_is_given_up():
    good = run(counts, [counts], [0], 200, [FLAT, CHEAP])
    assert block(good)[0] > 12 and len(good) < 20
    bad = run(scrambled, [counts], [0], 200, [SLOPE, (0.8,) * 65])
    asked = [sum(isinstance(inner, Review) for inner in step.review.inner) for step in bad]
    assert sum(asked[:9]) > 0 and sum(asked[-100:]) == 0


def test_an_expensive_draft_is_not_run_where_copies_are_right():
    """The text repeats the prompt: after its first tokens the target reviews copies, not tokens of the draft."""
    prompt = [i * 19 % 61 for i in range(60)]
    steps = run(
        lambda ids: prompt[len(ids) % 60], [lambda ids: prompt[len(ids) % 60]], prompt, 55, [SLOPE, (0.5,) * 65]
    )
    authors = [author for step in steps for author in step.review.authors]
    assert authors.count("MaxGram") > 0.8 * len(authors)


def test_blocks_are_shorter_where_wide_reviews_are_expensive():
    flat, steep = (
        run(counts, [counts], [0], 45, [tuple(1.0 + slope * width for width in range(65)), CHEAP])
        for slope in (0.0, 2.0)
    )
    assert len(flat) == 1 and len(steep) > 5


def test_blocks_fill_a_step_of_the_cost_and_stop_there():
    """Widths up to 16 cost the same, 17 six times as much: copies fill the first 16."""
    costs = tuple(1.0 if width <= 16 else 6.0 for width in range(1, 66))
    prompt = [i * 19 % 61 for i in range(60)]
    steps = run(lambda ids: prompt[len(ids) % 60], [], prompt, 120, [costs])
    assert set(block(steps)[2:-1]) == {15}


def test_no_block_is_longer_than_the_remaining_budget_or_the_limit():
    steps = run(counts, [counts], [0], 400, [FLAT, (0.0001,) * 65])
    assert max(block(steps)) <= LONGEST_BLOCK
    assert sum(len(step.tokens) for step in steps) == 400


def test_a_draft_whose_context_is_full_leaves_the_others_running():
    reviews = []
    for seed in range(8):
        toy = family(6, seed=seed, noises=(0.0, 1.0, 1.0), contexts={"draft-3": 12})
        steps = steps_of(toy, AdaptiveCascade(DRAFTS), (1, 2, 3, 4), 60)
        assert len(text_of(steps)) == 60
        late = [record for step in steps if step.review.at > 14 for record in records_of(step.review)]
        reviews += [record for record in late if isinstance(record, Review)]
    assert any(record.by == "draft-3" and "12 tokens" in record.skipped for record in reviews)
    assert any(record.by in DRAFTS[1:] and not record.skipped for record in reviews)


def test_the_same_prompt_gives_the_same_blocks():
    def plain():
        return [
            (r.by, r.tokens)
            for s in steps_of(family(6, seed=6), AdaptiveCascade(DRAFTS), (1, 2), 50)
            for r in records_of(s.review)
        ]

    assert plain() == plain()


def test_a_prior_has_a_rate_for_every_kind():
    prior = Prior(drafts={"known": (0.5,) * (ANY + 1)})
    assert len(prior.unknown) == len(prior.of_draft("known")) == KINDS == ANY + 1 == AGREED + 2 == len(MARGINS) + 3
    assert prior.of_draft("other") == prior.unknown


@pytest.mark.parametrize(
    "prior",
    [
        Prior(copies=()),
        Prior(copies=(0.0, 0.5)),
        Prior(copies=(1.0,)),
        Prior(unknown=(0.5,) * (KINDS - 1)),
        Prior(drafts={"draft-1": (0.5,) * KINDS, "draft-2": (1.0,) * KINDS}),
    ],
)
def test_a_prior_that_nothing_can_be_estimated_from_is_refused(prior):
    with pytest.raises(Refusal, match="adaptive cascade's prior"):
        AdaptiveCascade(DRAFTS, prior=prior).check(DRAFTS)


@given(
    rate=st.floats(0.01, 0.99),
    p_alive=st.floats(0, 1),
    room=st.integers(1, 64),
    costs=st.lists(st.floats(1e-4, 1), min_size=80, max_size=80),
)
def test_a_longer_review_may_be_measured_as_the_faster_one(rate, p_alive, room, costs):
    """Then a token has a negative price. The closed form is the best of all lengths, at the same price."""
    found = value_of_draft(rate, 100.0, room, costs, 8, p_alive, 50.0)
    ahead = min(room, STRIDE)
    price = 50.0 * (1 / 100.0 + (costs[8 + ahead] - costs[8]) / ahead)
    worth = [p_alive * sum(rate**i for i in range(1, n + 1)) - n * price for n in range(room + 1)]
    assert found == pytest.approx(max(worth), abs=1e-9)
