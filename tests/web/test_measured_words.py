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
    name: Race(bundled_recordings()[name].traces) for name in ("1-story-an-otter-makes-a-boat", "2-edit-rename-the-fox")
}
STORY = RACES["1-story-an-otter-makes-a-boat"]
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
    plan = prediction(STORY)
    outcome = judge_prediction(plan, STORY)
    lanes = {trace.header.method: STORY.speedup(trace) for trace in STORY.traces}
    assert outcome and outcome.said == "Theory held.", "near: no more to say"
    assert [(row.method, times(row.predicted), row.measured) for row in outcome.rows] == [
        ("speculative", "3.6×", lanes["speculative"]),
        ("cascade", "4.7×", lanes["cascade"]),
    ]
    before, after = rows_html(predicted_rows(plan)), rows_html(outcome.rows)
    assert "<td>4.7×</td><td>–</td><td>–</td>" in before, "the race has not ended"
    assert before.count("<tr>") == after.count("<tr>") == 3, "the table keeps its size"
    assert "–" not in after


def test_the_number_that_the_visitor_invented_is_named_and_no_trivial_one():
    outcome = judge_prediction(prediction(STORY, target_accepts_small=0.293, tiny=0.13), STORY)
    assert outcome and [times(row.again or 0) for row in outcome.rows] == ["3.6×", "4.7×"]
    assert outcome.said == (
        "Theory was off: you set the small model's acceptance to 0.29; in this race it was 0.98. "
        "With this race's own numbers it holds."
    )


def test_the_visitors_own_numbers_are_told_and_no_others():
    moved = said(prediction(STORY, target_accepts_small=0.5, tiny=0.9), STORY)
    assert "set the small model's acceptance to 0.50 and the tiny model's cost to 0.90; in this race they were" in moved
    assert moved.endswith(" With this race's own numbers it holds.")
    plan = prediction(STORY)
    usual = replace(plan, model=replace(plan.model, costs={**plan.model.costs, "small": 0.9}))
    assert said(usual, STORY) == (
        "Theory was off: it had the acceptance and the costs of another race. With this race's own numbers it holds."
    )


def test_steps_that_took_another_time_are_told_where_the_numbers_were_the_same():
    race = Race(bundled_recordings()["6-story-a-mouse-on-an-island-sampled"].traces)
    assert said(prediction(race), race) == "Theory was off: speculative decoding was faster: steps took less time."


def test_a_race_of_another_plan_measures_nothing():
    assert judge_prediction(replace(prediction(STORY), k=3), STORY) is None
    assert judge_prediction(prediction(STORY), Race(STORY.traces[:1])) is None


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
