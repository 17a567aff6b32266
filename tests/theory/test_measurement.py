"""What the hand-made race measured, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd.record.race import Race
from csd.record.trace import Step, Trace
from csd.theory.measurement import (
    cost_per_reviewed_token,
    measure_acceptance,
    measure_cost_model,
    measure_costs,
    measure_round,
    target_step_seconds,
)
from csd.theory.prediction import CostModel


def with_reviews(trace: Trace, **changes) -> Trace:
    """The trace with changed reviews of the target."""

    def changed(step: Step) -> Step:
        return replace(step, review=replace(step.review, **changes))

    return replace(trace, steps=tuple(map(changed, trace.steps)))


def test_acceptance_counts_judged_tokens_by_who_handed_them_up():
    """Round one: small hands up two copies and its own 9, which is rejected: 2 of 3. Round two: 1 of 1.

    small itself accepted both copies.
    """
    found = measure_acceptance(RACE)
    assert {pair: (count.accepted, count.proposed) for pair, count in found.items()} == {
        ("target", "small"): (3, 4),
        ("small", "MaxGram"): (2, 2),
    }


def test_acceptance_beyond_the_block_is_not_counted():
    """A file may claim any number."""
    found = measure_acceptance((with_reviews(cascade(), accepted=2**62),))
    assert found["target", "small"].proposed == 4


def test_costs_are_in_target_passes():
    assert target_step_seconds(Race(RACE)) == pytest.approx(0.1)
    assert measure_costs(RACE, 0.1) == pytest.approx({"MaxGram": 0.025, "small": 0.25})


def test_without_a_pass_over_a_single_token_there_is_no_unit():
    race = Race((cascade(),))
    assert math.isnan(target_step_seconds(race))
    assert measure_cost_model(race.traces, target_step_seconds(race)) == CostModel()
    assert math.isnan(target_step_seconds(Race(())))


def test_a_reviewed_token_costs_what_reviews_take_beyond_one_pass():
    slow = with_reviews(cascade(), seconds=0.14)
    assert cost_per_reviewed_token((autoregressive(), slow), 0.1) == pytest.approx(2 * 0.4 / 4)
    assert cost_per_reviewed_token(RACE, 0.1) == 0  # reviews that are cheaper than one pass are not credited
    assert cost_per_reviewed_token((autoregressive(),), 0.1) == 0


@pytest.mark.parametrize("seconds", [0.0, 5e-324, 1.7e308])
def test_impossible_times_give_a_model_and_no_error(seconds):
    """A file may claim any finite time."""
    alone = with_reviews(autoregressive(), seconds=seconds)
    target_step = target_step_seconds(Race((alone, cascade())))
    model = measure_cost_model((alone, with_reviews(cascade(), seconds=1.7e308)), target_step)
    assert all(math.isfinite(cost) for cost in (*model.costs.values(), model.per_reviewed_token))


def test_a_mean_round_adds_up():
    found = measure_round(cascade(), 0.1)
    assert (found.tokens, found.drafted) == (2, 2)
    assert (found.total, found.review, found.drafts, found.overhead) == pytest.approx((1, 0.65, 0.275, 0.075))
