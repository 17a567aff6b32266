"""The curves and settings of the what-if panel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade
from plans import made_by, plan

from csd.decoding.k_matrix import to_budgets
from csd.decoding.methods import Cascade, Speculative
from csd.decoding.stages import Stage, cascade_stages
from csd.ranges import LONGEST_DRAFT
from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.theory.assumed import Prediction
from csd.theory.measurement import measure_cost_model, target_step_seconds
from csd.theory.prediction import CostModel, predict_round
from csd.theory.what_if import (
    LONGEST_START,
    USUAL_COPY_ALPHA,
    Measured,
    SliderValues,
    pairs,
    parts_without_effect,
    settings_of_race,
    with_best_start,
    with_usual_values,
)

A, B, COPY = "mid", "small", "MaxGram"

MODEL = CostModel(
    {("target", A): 0.8, ("target", B): 0.6, ("target", COPY): 0.3, (A, B): 0.7, (A, COPY): 0.4, (B, COPY): 0.4},
    {A: 0.2, B: 0.05, COPY: 0.001},
)
K = ((2, 6, 10), (0, 4, 8), (0, 0, 8))


def test_what_has_no_effect_is_named_with_the_reason():
    only_first = ((16, 16, 20), (0, 0, 7), (0, 0, 0))
    assert parts_without_effect((A, B), A, only_first) == {
        ("target", B): "the tiny model writes nothing for the big model",
        (A, B): "the tiny model writes nothing for the small model",
        (B, COPY): "the tiny model takes no part",
        B: "the tiny model takes no part",
    }
    assert set(parts_without_effect((A, B), B, only_first)) == {
        (A, B),
        (B, COPY),
    }  # the speculative lane uses it
    assert parts_without_effect((A, B), A, K) == {}


@pytest.mark.parametrize("draft", [A, B])
@pytest.mark.parametrize("K", [K, ((16, 16, 20), (0, 0, 7), (0, 0, 0)), ((0, 4, 8), (0, 0, 0), (0, 0, 8))])
def test_exactly_those_parts_change_no_curve(draft, K):
    """Moved one by one, what is named leaves both curves as they are, and everything else moves one of them."""

    def values(model):
        return [predict_round(stages, model).ewif for stages in ((Stage(draft, 4),), plan(K, (A, B)))]

    idle, before = parts_without_effect((A, B), draft, K), values(MODEL)
    for pair in MODEL.alphas:
        moved = replace(MODEL, alphas={**MODEL.alphas, pair: 0.5})
        assert (values(moved) == before) == (pair in idle)
    for name in (A, B):
        assert (values(replace(MODEL, costs={**MODEL.costs, name: 0.5})) == before) == (name in idle)


def test_what_a_race_measured_has_its_place_on_a_curve():
    guess = made_by(Speculative("small", 3), autoregressive())
    both = made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade())
    measured = {one.name: one for one in settings_of_race(Race((autoregressive(), guess, both))).measured}
    assert replace(measured["speculative"], predicted=None, gap="") == Measured(
        "speculative", pytest.approx(1.0), len(guess.tokens), "small", 3
    )
    assert (measured["cascade"].at, measured["cascade"].speedup) == (2, pytest.approx(2.0))
    assert measured["cascade"].rest == "[[2,3],[0,2]]"
    assert settings_of_race(Race((guess, both))).measured == (), "no autoregressive lane, no speed-up"
    stopped = replace(autoregressive(), end="stopped")
    assert settings_of_race(Race((stopped, guess, both))).measured == (), "nor where the Race tab tells none"
    cut = [replace(trace, end="stopped", steps=trace.steps[:1]) for trace in (autoregressive(), guess, both)]
    assert settings_of_race(Race(tuple(cut))).model == CostModel(), "a few tokens measure nothing"


def test_what_is_predicted_beside_a_measured_lane_lies_on_its_curve():
    """One set of numbers, those of the two lanes, for the curves, the sliders and the table below them."""
    race = Race(bundled_recordings()["1-story-an-otter-makes-a-boat"].traces)
    found = settings_of_race(race)
    model = with_usual_values(found.drafts, found.model)
    assert found.k and found.K
    curves = Prediction(found.drafts, found.draft, found.k, found.K, model).speedups
    assert {one.name: one.predicted for one in found.measured} == pytest.approx(curves)
    assert all(one.speedup == pytest.approx(one.predicted, rel=0.15) for one in found.measured)
    assert found.model == measure_cost_model((race.traces[1], race.traces[3]), target_step_seconds(race))


def test_sliders_show_what_was_measured():
    assert pairs((A, B)) == tuple(MODEL.alphas)
    values = SliderValues.of_model((A, B), replace(MODEL, per_reviewed_token=0.0314))
    assert values == SliderValues((0.8, 0.6, 0.3, 0.7, 0.4, 0.4), (0.2, 0.05), 0.031)
    # The target never judged a copy directly, so that alpha keeps its usual value.
    measured = SliderValues.of_model(("small",), settings_of_race(Race(RACE)).model)
    assert (measured.alphas, measured.costs) == ((0.75, USUAL_COPY_ALPHA, 1.0), (0.25,))


def test_settings_of_a_race():
    guess = made_by(Speculative("small", 3), autoregressive())
    both = settings_of_race(Race((guess, made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade()))))
    assert (both.drafts, both.draft, both.k, both.K) == (("small",), "small", 3, ((2, 3), (0, 2)))
    neither = settings_of_race(Race(RACE))
    assert (neither.drafts, neither.draft, neither.k, neither.K) == (("small",), "small", None, None)
    empty = settings_of_race(Race(()))
    assert (empty.drafts, empty.draft, empty.k, empty.K) == ((), "", None, None)


def test_a_plan_starts_with_the_length_that_pays_best():
    drafts, K = ("mid", "small"), ((16, 16, 20), (0, 0, 7), (0, 0, 0))
    often = dict.fromkeys(pairs(drafts), 0.9)

    def lengths(c: float, alphas=often) -> tuple[int, ...]:
        return with_best_start(drafts, K, CostModel(alphas, {"mid": c, "small": c / 2}, 0.01))[0]

    dear, cheap = lengths(0.5), lengths(0.02)
    assert dear[0] < cheap[0] <= LONGEST_START
    assert all(row[2] - row[0] == 4 and row[1] == row[0] for row in (dear, cheap)), "what follows stays as long"

    def predicted(k: int) -> float:
        plan = cascade_stages(drafts, to_budgets(((k, k, k + 4), *K[1:])))
        return predict_round(plan, CostModel(often, {"mid": 0.5, "small": 0.25}, 0.01)).ewif

    assert predicted(dear[0]) == max(predicted(k) for k in range(1, LONGEST_START + 1))
    full = with_best_start(drafts, ((10, 10, 64), *K[1:]), CostModel(often, {"mid": 0.0, "small": 0.0}))
    assert full[0][2] <= LONGEST_DRAFT
