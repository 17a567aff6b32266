"""The theory in the browser and in Python: the same numbers."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from dataclasses import replace

import pytest

from csd.decoding.k_matrix import from_budgets, to_budgets
from csd.decoding.stages import Stage, cascade_stages
from csd.paths import ASSETS
from csd.theory.ewif import best_k, ewif_combined, ewif_horizontal, ewif_speculative
from csd.theory.prediction import CostModel, predict_round
from csd.theory.what_if import pairs

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

COMPUTE = """
import { readFileSync } from "node:fs";
const site = process.argv[1];
const { predict, stagesOf, ewifCombined, ewifHorizontal, ewifSpeculative, bestK } = await import(`${site}/prediction.js`);
const { stepOf, total } = await import(`${site}/step.js`);
const { curvesOf } = await import(`${site}/curves.js`);
const { between, ticks, spread } = await import(`${site}/chart.js`);
const asked = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify({
  rounds: asked.rounds.map(({ drafts, K, model }) => predict(stagesOf(drafts, K), model)),
  steps: asked.rounds.map(({ drafts, K, model }) => {
    const { guesses, ...step } = stepOf(stagesOf(drafts, K), model);
    return { ...step, kept: guesses.map(({ kept }) => total(kept)), written: guesses.map(({ written }) => total(written)) };
  }),
  curves: asked.rounds.map(({ drafts, K, k, model }) => curvesOf(drafts, drafts[0], k, K, model).map(({ ys, at }) => [ys, at])),
  closed: asked.closed.map(([a, b, t, c1, c2, n, k, tail]) => [ewifCombined(a, b, t, c1, c2, n, k, tail),
    ewifHorizontal([[a, c1, n], [b, c2, k]]), ewifSpeculative(a, c1, k), bestK(a, c1, 12)]),
  ticks: [ticks(10.8, 5), ticks(0.66, 6)],
  spread: spread([50, 52, 300, 295], 4, 300),
  halfway: between({ top: 2, curves: [{ at: 1, ys: [1, 2] }] }, { top: 4, curves: [{ at: 2, ys: [2, 2] }] }, 0.5),
}));
"""


def random_round(dice: random.Random) -> dict:
    drafts = ("mid", "small")[: dice.randint(1, 2)]
    n = len(drafts) + 1
    budgets = tuple(tuple(dice.randint(0, 5) if c >= r else 0 for c in range(n)) for r in range(n))
    if not any(budgets[0]):
        budgets = ((1,) * n, *budgets[1:])
    alphas = {f"{one} accepts {other}": round(dice.random(), 3) for one, other in pairs(drafts)}
    costs = {name: round(dice.uniform(0, 0.6), 3) for name in drafts}
    model = {"alphas": alphas, "costs": costs, "width": round(dice.uniform(0, 0.1), 3)}
    return {"drafts": drafts, "K": from_budgets(budgets), "k": dice.randint(1, 20), "model": model}


def model_of(asked: dict) -> CostModel:
    alphas = {tuple(key.split(" accepts ")): alpha for key, alpha in asked["alphas"].items()}
    return CostModel(alphas, asked["costs"], asked["width"])


def compute(asked: dict) -> dict:
    """What the browser's modules find."""
    command = [str(NODE), "--input-type=module", "--eval", COMPUTE, (ASSETS / "theory").as_uri()]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_picture_of_a_step_adds_up_to_its_prediction():
    """The guesses that are kept and the big model's own token are the expected tokens; what the levels cost is the
    predicted time."""
    dice = random.Random(11)
    rounds = [random_round(dice) for _ in range(25)]
    for one, step in zip(rounds, compute({"rounds": rounds, "closed": []})["steps"], strict=True):
        plan = cascade_stages(one["drafts"], to_budgets(one["K"]))
        expected = predict_round(plan, model_of(one["model"]))
        assert sum(step["kept"]) + 1 == pytest.approx(expected.tokens, rel=1e-9)
        assert sum(run["cost"] for run in step["runs"].values()) == pytest.approx(expected.drafting, rel=1e-9)
        assert step["review"]["cost"] == pytest.approx(expected.review, rel=1e-9)
        assert (step["tokens"], step["passes"]) == (pytest.approx(expected.tokens), pytest.approx(expected.passes))
        assert sum(step["written"]) == pytest.approx(expected.block, rel=1e-9), "every drafted token has its place"
        assert step["kept"] == sorted(step["kept"], reverse=True)
        assert all(kept <= written + 1e-12 for kept, written in zip(step["kept"], step["written"], strict=True))


def test_the_chance_of_each_guess_is_that_of_all_before_it():
    alphas = {"target accepts mid": 0.9, "target accepts MaxGram": 0.5}
    model = {"alphas": alphas, "costs": {"mid": 0.2}, "width": 0.1}
    (step,) = compute({"rounds": [{"drafts": ["mid"], "K": [[2, 4], [0, 0]], "k": 1, "model": model}], "closed": []})[
        "steps"
    ]
    assert step["kept"] == pytest.approx([0.9, 0.9**2, 0.9**2 * 0.5, 0.9**2 * 0.25])
    assert step["written"] == [1, 1, 1, 1]
    assert step["runs"]["mid"] == {"count": 2, "each": 0.2, "cost": 0.4}
    assert step["review"] == {"guesses": 4, "each": 0.1, "cost": pytest.approx(1.4)}


def test_the_browser_computes_what_python_computes():
    dice = random.Random(5)
    rounds = [random_round(dice) for _ in range(25)]
    closed = [
        (*(round(dice.random(), 3) for _ in range(5)), dice.randint(1, 8), dice.randint(0, 6), dice.randint(0, 6))
        for _ in range(40)
    ] + [(1.0, 1.0, 1.0, 0.2, 0.0, 3, 2, 4)]
    found = compute({"rounds": rounds, "closed": closed})
    for one, made, curves in zip(rounds, found["rounds"], found["curves"], strict=True):
        drafts, K, model = one["drafts"], one["K"], model_of(one["model"])
        expected = predict_round(cascade_stages(drafts, to_budgets(K)), model)
        found_round = {"flat": expected.flat_ewif, "wide": expected.ewif}
        assert made == pytest.approx({**found_round, "tokens": expected.tokens, "passes": expected.passes}, rel=1e-9)
        (plan, at), (guess, k) = curves
        assert (plan[at], guess[k]) == (
            pytest.approx(expected.ewif),
            pytest.approx(predict_round((Stage(drafts[0], one["k"]),), model).ewif),
        )
        first = next(stage for stage in cascade_stages(drafts, to_budgets(K)))
        rest = cascade_stages(drafts, to_budgets(K))[1:]
        assert plan == pytest.approx(
            [predict_round((replace(first, k=x + 1), *rest), model).ewif for x in range(len(plan))], rel=1e-9
        )
    for (a, b, t, c1, c2, n, k, tail), made in zip(closed, found["closed"], strict=True):
        assert made == pytest.approx(
            [
                ewif_combined(a, b, t, c1, c2, n, k, tail),
                ewif_horizontal([(a, c1, n), (b, c2, k)]),
                ewif_speculative(a, c1, k),
                best_k(a, c1, 12),
            ],
            rel=1e-9,
        )
    assert found["ticks"] == [[0, 5, 10], [0, 0.2, 0.4, 0.6]]
    assert found["spread"] == [50, 67, 300, 283]
    assert found["halfway"] == {"top": 3, "curves": [{"at": 1.5, "ys": [1.5, 2]}]}
