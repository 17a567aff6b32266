"""The curves and settings of the what-if panel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade
from plans import made_by, plan

from csd.decoding.k_matrix import from_budgets, to_budgets
from csd.decoding.methods import Cascade, Refusal, Speculative
from csd.record.race import Race
from csd.theory.ewif import ewif_speculative
from csd.theory.prediction import CostModel, predict_round
from csd.theory.what_if import (
    USUAL_COPY_ALPHA,
    Measured,
    SliderValues,
    describe_curves,
    pairs,
    parts_without_effect,
    predict_curves,
    settings_of_race,
    with_first,
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
        return [curve.wide for curve in predict_curves((A, B), draft, 4, K, model)]

    idle, before = parts_without_effect((A, B), draft, K), values(MODEL)
    for pair in MODEL.alphas:
        moved = replace(MODEL, alphas={**MODEL.alphas, pair: 0.5})
        assert (values(moved) == before) == (pair in idle)
    for name in (A, B):
        assert (values(replace(MODEL, costs={**MODEL.costs, name: 0.5})) == before) == (name in idle)


def test_the_first_budget_of_the_target_is_the_one_that_changes():
    assert from_budgets(with_first(to_budgets(K), 5))[0] == (5, 9, 13)
    assert from_budgets(with_first(to_budgets(((0, 4, 8), (0, 0, 0), (0, 0, 8))), 1))[0] == (0, 1, 5)


def test_curves_pass_through_the_predictions():
    guess, both = predict_curves((A, B), A, 4, K, MODEL)
    assert guess.current_speedup == pytest.approx(ewif_speculative(0.8, 0.2, 4))
    assert guess.flat[9] == pytest.approx(ewif_speculative(0.8, 0.2, 10))
    assert (both.current, both.current_speedup) == (2, pytest.approx(predict_round(plan(K, (A, B)), MODEL).ewif))
    wide = predict_curves((A, B), A, 4, K, replace(MODEL, per_reviewed_token=0.1))[0]
    assert wide.flat == guess.flat and wide.current_speedup == pytest.approx(3.3616 / (1 + 0.8 + 0.4))


def test_both_settings_are_compared_and_the_best_ones_named():
    guess, both = predict_curves((A, B), A, 4, K, MODEL)
    said, why = describe_curves((guess, both))
    ratio = both.current_speedup / guess.current_speedup
    assert said == f"With this plan, the cascade should be {ratio:.2f} times as fast as speculative decoding."
    tokens, runs = both.round.tokens, both.round.passes
    assert both.current_speedup == pytest.approx(tokens / runs)
    assert f"{tokens:.1f} tokens in the time of {runs:.1f} runs of the big model: {tokens:.1f} / {runs:.1f} = " in why
    assert both.best == both.current and "guessed first" not in why
    later = predict_curves((A, B), A, 4, ((9, 13, 17), *K[1:]), MODEL)
    best = f"With {later[1].best} tokens guessed first it would be {max(later[1].wide):.1f}×."
    assert describe_curves(later)[1].endswith(best)
    slow = replace(both, wide=tuple(value / 2 for value in both.wide))
    assert "speculative decoding should be" in describe_curves((guess, slow))[0]
    assert "equally fast" in describe_curves((guess, replace(guess, name="cascade")))[0]


def test_what_a_race_measured_has_its_place_on_a_curve():
    guess = made_by(Speculative("small", 3), autoregressive())
    both = made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade())
    measured = {one.name: one for one in settings_of_race(Race((autoregressive(), guess, both))).measured}
    assert measured["speculative"] == Measured("speculative", pytest.approx(1.0), "small", 3)
    assert (measured["cascade"].at, measured["cascade"].speedup) == (2, pytest.approx(2.0))
    model = SliderValues((0.8, 0.4, 0.5), (0.1,), 0.05).to_model(("small",))
    same = predict_curves(("small",), "small", 4, ((5, 6), (0, 2)), model)
    other = predict_curves(("small",), "small", 4, ((5, 7), (0, 2)), model)
    assert same[0].rest == measured["speculative"].rest
    assert same[1].rest == measured["cascade"].rest != other[1].rest
    assert settings_of_race(Race((guess, both))).measured == (), "no autoregressive lane, no speed-up"


@pytest.mark.parametrize(
    ("change", "word"), [({"K": ((1, 2),)}, "3 rows"), ({"draft": "x"}, "no draft"), ({"k": 0}, "k must be")]
)
def test_what_cannot_be_predicted_is_a_sentence(change, word):
    asked = {"drafts": (A, B), "draft": A, "k": 4, "K": K, "model": MODEL} | change
    with pytest.raises(Refusal, match=word):
        predict_curves(**asked)


def test_sliders_show_what_was_measured():
    assert pairs((A, B)) == tuple(MODEL.alphas)
    values = SliderValues.of_model((A, B), replace(MODEL, per_reviewed_token=0.0314))
    assert values == SliderValues((0.8, 0.6, 0.3, 0.7, 0.4, 0.4), (0.2, 0.05), 0.031)
    back = values.to_model((A, B))
    assert (back.alphas, back.costs[B]) == (MODEL.alphas, 0.05)
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
