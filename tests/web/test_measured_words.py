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
from csd.stage.headline import times
from csd.web import what_if
from csd.web.measured_words import tell_measured
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


def prediction(race: Race, **moved: float):
    """What the panel predicts for a race's own plan, with some of its sliders moved."""
    panel = what_if.panel_after(race, race.traces[0].header.drafts)
    value = sliders_value(panel.groups)
    for slider in (slider for group in value["groups"] for slider in group["sliders"]):
        slider["value"] = moved.get(slider["key"].replace(" ", "_").replace("-", "_"), slider["value"])
    predicted = what_if.measure(WhatIf(panel.drafts, panel.draft, panel.k, panel.K or "", value)).predicted
    assert predicted
    return predicted


def test_what_was_measured_stands_beside_what_was_predicted():
    said = tell_measured(prediction(FROG), FROG)
    lanes = {trace.header.method: FROG.speedup(trace) for trace in FROG.traces}
    assert said.startswith("Theory said 2.0× for speculative decoding and 2.8× for the cascade; measured: ")
    assert said.endswith(f"{times(lanes['speculative'] or 0)} and {times(lanes['cascade'] or 0)}."), (
        "near: no more to say"
    )


def test_the_number_that_the_visitor_invented_is_named_and_no_trivial_one():
    said = tell_measured(prediction(FROG, target_accepts_draft_mid=0.293, draft_small=0.13), FROG)
    assert said.endswith(
        ". You had set the small model's acceptance to 0.29; in this race it was 0.97, and with the race's numbers, "
        "theory says 2.0× and 2.8×."
    )


def test_the_visitors_own_numbers_are_told_and_no_others():
    moved = tell_measured(prediction(FROG, target_accepts_draft_mid=0.5, draft_small=0.9), FROG)
    assert "set the small model's acceptance to 0.50 and the tiny model's cost to 0.90; in this race they were" in moved
    assert moved.count(". ") == 1, "two sentences"
    plan = prediction(FROG)
    usual = replace(plan, model=replace(plan.model, costs={**plan.model.costs, "draft-mid": 0.9}))
    assert ". With the race's numbers, theory says 2.0× and 2.8×." in tell_measured(usual, FROG)


def test_steps_that_took_another_time_are_told_where_the_numbers_were_the_same():
    race = Race(bundled_recordings()["6-story-a-mouse-on-an-island-sampled"].traces)
    assert tell_measured(prediction(race), race).endswith(". Speculative decoding was faster: steps took less time.")


def test_a_race_of_another_plan_measures_nothing():
    assert tell_measured(replace(prediction(FROG), k=3), FROG) == ""
    assert tell_measured(prediction(FROG), Race(FROG.traces[:1])) == ""


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.parametrize("name", RACES)
def test_theory_says_with_the_races_numbers_what_the_tab_shows_after_the_race(name):
    race = RACES[name]
    said = tell_measured(prediction(race, target_accepts_draft_mid=0.293), race)
    panel = what_if.panel_after(race, race.traces[0].header.drafts)
    command = [str(NODE), "--input-type=module", "--eval", ON_THE_TAB, ASSETS.as_uri()]
    value = json.dumps(what_if.figure_value(panel))
    done = subprocess.run(command, input=value, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert said.endswith(f"theory says {times(shown['speculative'])} and {times(shown['cascade'])}.")
