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
const { curvesOf } = await import(`${site}/curves.js`);
const { between, ticks, spread } = await import(`${site}/chart.js`);
const asked = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify({
  rounds: asked.rounds.map(({ drafts, K, model }) => predict(stagesOf(drafts, K), model)),
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


def test_the_browser_computes_what_python_computes():
    dice = random.Random(5)
    rounds = [random_round(dice) for _ in range(25)]
    closed = [
        (*(round(dice.random(), 3) for _ in range(5)), dice.randint(1, 8), dice.randint(0, 6), dice.randint(0, 6))
        for _ in range(40)
    ] + [(1.0, 1.0, 1.0, 0.2, 0.0, 3, 2, 4)]
    asked = json.dumps({"rounds": rounds, "closed": closed})
    command = [str(NODE), "--input-type=module", "--eval", COMPUTE, (ASSETS / "theory").as_uri()]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
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
