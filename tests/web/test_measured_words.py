"""What is said of a race that measured a prediction."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace

import pytest

from csd.paths import ASSETS
from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.stage.standing import times
from csd.theory.assumed import Prediction
from csd.web import what_if
from csd.web.measured_words import judge_prediction, predicted_rows, rows_html
from csd.web.slider_values import sliders_value
from csd.web.what_if import WhatIf

NODE = shutil.which("node")
RACES = {
    name: Race(bundled_recordings()[name].traces) for name in ("1-story-a-frog-makes-a-kite", "2-edit-rename-the-fox")
}
FROG = RACES["1-story-a-frog-makes-a-kite"]
ON_THE_TAB = """
import { readFileSync } from "node:fs";
const { curvesOf, modelOf } = await import(`${process.argv[1]}/theory/curves.js`);
const { parseK } = await import(`${process.argv[1]}/controls/cumulative.js`);
const { drafts, draft, k, K, sliders } = JSON.parse(readFileSync(0, "utf-8"));
const curves = curvesOf(drafts, draft, k, parseK(K, drafts.length + 1), modelOf(sliders));
console.log(JSON.stringify(Object.fromEntries(curves.map(({ look, ys, at }) => [look, ys[at]]))));
"""


def prediction(race: Race, **moved: float) -> Prediction:
    """What the panel predicts for a race's own plan, with some of its sliders moved."""
    panel = what_if.panel_after(race, race.traces[0].header.drafts)
    value = sliders_value(panel.groups)
    for slider in (slider for group in value["groups"] for slider in group["sliders"]):
        slider["value"] = moved.get(slider["key"].replace(" ", "_").replace("-", "_"), slider["value"])
    predicted = what_if.measure(WhatIf(panel.drafts, panel.draft, panel.k, panel.K or "", value)).predicted
    assert predicted
    return predicted


def said(predicted: Prediction, race: Race) -> str:
    outcome = judge_prediction(predicted, race)
    return outcome.said if outcome else ""


def test_what_was_measured_stands_beside_what_was_predicted():
    plan = prediction(FROG)
    outcome = judge_prediction(plan, FROG)
    lanes = {trace.header.method: FROG.speedup(trace) for trace in FROG.traces}
    assert outcome and outcome.said == "Theory held.", "near: no more to say"
    assert [(row.method, times(row.predicted), row.measured) for row in outcome.rows] == [
        ("speculative", "2.0×", lanes["speculative"]),
        ("cascade", "2.8×", lanes["cascade"]),
    ]
    before, after = rows_html(predicted_rows(plan)), rows_html(outcome.rows)
    assert "<td>2.8×</td><td>–</td><td>–</td>" in before, "the race has not ended"
    assert before.count("<tr>") == after.count("<tr>") == 3, "the table keeps its size"
    assert "–" not in after


def test_the_number_that_the_visitor_invented_is_named_and_no_trivial_one():
    outcome = judge_prediction(prediction(FROG, target_accepts_small=0.293, tiny=0.13), FROG)
    assert outcome and [times(row.again or 0) for row in outcome.rows] == ["2.0×", "2.8×"]
    assert outcome.said == (
        "Theory was off: you set the small model's acceptance to 0.29; in this race it was 0.97. "
        "With this race's own numbers it holds."
    )


def test_the_visitors_own_numbers_are_told_and_no_others():
    moved = said(prediction(FROG, target_accepts_small=0.5, tiny=0.9), FROG)
    assert "set the small model's acceptance to 0.50 and the tiny model's cost to 0.90; in this race they were" in moved
    assert moved.endswith(" With this race's own numbers it holds.")
    plan = prediction(FROG)
    usual = replace(plan, model=replace(plan.model, costs={**plan.model.costs, "small": 0.9}))
    assert said(usual, FROG) == (
        "Theory was off: it had the acceptance and the costs of another race. With this race's own numbers it holds."
    )


def test_steps_that_took_another_time_are_told_where_the_numbers_were_the_same():
    race = Race(bundled_recordings()["6-story-a-mouse-on-an-island-sampled"].traces)
    assert said(prediction(race), race) == "Theory was off: speculative decoding was faster: steps took less time."


def test_a_race_of_another_plan_measures_nothing():
    assert judge_prediction(replace(prediction(FROG), k=3), FROG) is None
    assert judge_prediction(prediction(FROG), Race(FROG.traces[:1])) is None


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.parametrize("name", RACES)
def test_theory_says_with_the_races_numbers_what_the_tab_shows_after_the_race(name):
    race = RACES[name]
    outcome = judge_prediction(prediction(race, target_accepts_small=0.293), race)
    panel = what_if.panel_after(race, race.traces[0].header.drafts)
    command = [str(NODE), "--input-type=module", "--eval", ON_THE_TAB, ASSETS.as_uri()]
    value = json.dumps(what_if.figure_value(panel))
    done = subprocess.run(command, input=value, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert outcome and {row.method: times(row.again or 0) for row in outcome.rows} == {
        method: times(speedup) for method, speedup in shown.items()
    }
