"""The what-if panel: its sliders, its sentences, and the race that measures it. Without Gradio."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_page import HOME, RECORDED

from csd.decoding.k_matrix import example_K, format_K
from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.theory.prediction import CostModel
from csd.theory.what_if import PanelSettings, settings_of_race, with_best_start
from csd.web import what_if
from csd.web.slider_values import sliders_value
from csd.web.what_if import WhatIf

PRESET, DRAFTS = HOME.defaults.preset, HOME.defaults.drafts
PANEL = what_if.starting_panel(HOME.defaults)
WITHOUT_PLAN = Race(RECORDED[:3])  # no cascade
ASKED = WhatIf(DRAFTS, "small", 4, "[[4,6,8],[0,1,2],[0,0,1]]", sliders_value(PANEL.groups))


def unused(value) -> list[str]:
    return [slider["key"] for group in value["groups"] for slider in group["sliders"] if slider["unused"]]


def test_the_panel_has_a_slider_for_each_pair_and_each_draft():
    often, cost = PANEL.groups
    assert [slider.label for slider in often.sliders[:2]] == [
        "small model, checked by big model",
        "tiny model, checked by big model",
    ]
    assert [slider.key for slider in cost.sliders] == ["small", "tiny", "width"]
    assert len(often.sliders) == 6
    assert (PANEL.k, PANEL.K) == (PRESET.k, format_K(PRESET.K))
    assert all(0 <= slider.value <= slider.high for group in PANEL.groups for slider in group.sliders)


def test_a_race_sets_the_panel():
    panel = what_if.panel_after(Race(RECORDED), DRAFTS)
    assert panel.drafts == DRAFTS
    assert panel.groups != PANEL.groups
    assert panel.K == format_K(RECORDED[-1].header.settings["K"])
    assert what_if.panel_after(WITHOUT_PLAN, DRAFTS).K is None, "it had none, and that of before fits"
    best = with_best_start(DRAFTS, example_K(len(DRAFTS)), settings_of_race(WITHOUT_PLAN).model)
    assert what_if.panel_after(WITHOUT_PLAN, DRAFTS[:1]).K == format_K(best)
    for drafts in ((), ("a", "b", "c")):
        assert what_if.make_panel(PanelSettings(drafts, "", None, None, CostModel())).groups == ()


def test_the_panel_starts_from_the_race_that_the_page_begins_with():
    shown = what_if.starting_panel(HOME.defaults, Race(RECORDED))
    assert shown.groups == what_if.panel_after(Race(RECORDED), DRAFTS).groups != PANEL.groups
    assert shown.K == format_K(RECORDED[-1].header.settings["K"])
    without = what_if.starting_panel(HOME.defaults, WITHOUT_PLAN)
    assert without.K == format_K(with_best_start(DRAFTS, PRESET.K, settings_of_race(WITHOUT_PLAN).model))
    other = Race(tuple(replace(trace, header=replace(trace.header, levels=())) for trace in RECORDED))
    assert what_if.starting_panel(HOME.defaults, other) == PANEL


def test_sliders_without_effect_are_switched_off_until_K_uses_them():
    dead = what_if.check_plan(replace(ASKED, K="[[16,16,20],[0,0,7],[0,0,0]]"))
    assert unused(dead.sliders) == [
        "target accepts tiny",
        "small accepts tiny",
        "tiny accepts MaxGram",
        "tiny",
    ]
    assert what_if.check_plan(ASKED).sliders is None
    alive = what_if.check_plan(replace(ASKED, sliders=dead.sliders))
    assert unused(alive.sliders) == []


def test_K_is_made_to_fit_a_family_with_another_number_of_drafts():
    assert what_if.fit_K(DRAFTS, ASKED.K, None) == ASKED.K
    dear, cheap = (CostModel({("target", "one"): 0.8}, {"one": c}) for c in (0.8, 0.05))
    fitted = [
        what_if.fit_K(
            ("one",), ASKED.K, sliders_value(what_if.make_panel(PanelSettings(("one",), "one", 4, None, model)).groups)
        )
        for model in (dear, cheap)
    ]
    assert fitted == [format_K(with_best_start(("one",), ((5, 10), (0, 10)), model)) for model in (dear, cheap)]
    assert fitted[0] != fitted[1]
    assert what_if.fit_K(("one",), ASKED.K, "no sliders").count("[") == 3
    assert what_if.check_plan(replace(ASKED, drafts=(), K="7")).refused.startswith("This panel")
    for unreadable in ("", "[[", "7"):
        assert what_if.fit_K(DRAFTS, unreadable, None) == unreadable


def test_the_figure_begins_with_what_the_race_measured_and_says_so():
    race, adaptive = (
        Race(bundled_recordings()[name].traces)
        for name in ("1-story-an-otter-makes-a-boat", "smollm2-3-story-a-baker-and-his-guest-sampled")
    )
    value = what_if.figure_value(what_if.panel_after(race, DRAFTS))
    assert [one["name"] for one in value["measured"]] == ["speculative", "cascade"]
    assert value["isMeasured"] and value["start"]["sliders"] == value["sliders"]
    origins = {one["key"]: one["origin"] for group in value["sliders"]["groups"] for one in group["sliders"]}
    assert origins["target accepts small"] == "measured" and set(origins.values()) <= {"measured", "usual"}
    assert all(one["about"] == "" for one in value["measured"]), "both lanes are as predicted"
    assert what_if.figure_value(what_if.panel_after(adaptive, ("self-8bit",)))["measured"][-1]["about"]
    assert not value["wasStopped"]
    stopped = Race((*race.traces[:-1], replace(race.traces[-1], end="stopped")))
    assert what_if.figure_value(what_if.panel_after(stopped, DRAFTS))["wasStopped"]
    usual = what_if.figure_value(PANEL)
    assert not usual["isMeasured"] and not usual["measured"] and usual["K"] == PANEL.K


def test_the_picture_of_a_step_has_the_levels_of_the_family():
    value = what_if.step_value(PANEL)
    assert [(one["role"], one["look"]) for one in value["levels"]] == [
        ("small model", "2"),
        ("tiny model", "1"),
        ("copier", "0"),
    ]
    assert (value["target"], value["K"], tuple(value["drafts"])) == ("big model", PANEL.K, PANEL.drafts)
    assert what_if.step_value(replace(PANEL, groups=()))["sliders"]["groups"] == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": None}, "k is empty. Enter a whole number"),
        ({"k": 1.5}, "k must be a whole number from 1 to 64, not 1.5."),
        ({"k": float("inf")}, "not inf"),
        ({"k": 0}, "k must be"),
        ({"K": "[["}, "could not be read"),
        ({"draft": "nobody"}, "nobody"),
        ({"sliders": None}, "must be a number"),
        ({"drafts": ("a", "b", "c")}, "one or two drafts"),
    ],
)
def test_what_cannot_be_predicted_gets_a_sentence(changes, sentence):
    assert sentence in what_if.check_plan(replace(ASKED, **changes)).refused


def test_no_race_measures_sliders_that_cannot_be_read():
    update = what_if.measure(replace(ASKED, sliders=5))
    assert update.fields is None and "must be a number" in update.text


def test_measuring_fills_in_the_form():
    update = what_if.measure(ASKED)
    assert update.fields == {"draft": "small", "k": 4, "K": ASKED.K, "lanes": list(what_if.MEASURED)}
    own = what_if.measure(ASKED, ["speculative", "prompt lookup"]).fields
    assert own and own["lanes"] == ["autoregressive", "speculative", "prompt lookup", "cascade"], (
        "the form's lanes stay"
    )
    assert what_if.measure_parts(ASKED).fields["lanes"][1:] == [
        "vertical cascade",
        "horizontal cascade",
        "cascade",
    ]
    assert what_if.measure(replace(ASKED, K="[[")).fields is None
    nothing = what_if.measure_parts(replace(ASKED, K="[[5,5,5],[0,0,0],[0,0,0]]"))
    assert nothing.fields is None and "no halves" in nothing.text


def test_a_dear_draft_is_predicted_with_the_cost_that_the_browser_computes_with():
    """The race measured it, so its slider goes further than those of usual costs."""
    dear = CostModel(costs={DRAFTS[0]: 2.5}, per_reviewed_token=0.4)
    groups = what_if.make_panel(PanelSettings(DRAFTS, DRAFTS[0], 4, None, dear)).groups
    predicted = what_if.measure(replace(ASKED, sliders=sliders_value(groups))).predicted
    assert predicted and (predicted.model.costs[DRAFTS[0]], predicted.model.per_reviewed_token) == (2.5, 0.4)
    assert predicted.moved == frozenset()


def test_the_papers_curves_are_three_figures():
    assert len(what_if.paper_curves(sliders_value(what_if.CURVES))) == 3
    assert what_if.paper_curves({"groups": "none"}) is None


@pytest.mark.parametrize("draft", ["nobody", ["small"], None])
def test_a_draft_that_is_none_gets_a_sentence_and_no_race(draft):
    asked = replace(ASKED, draft=draft)
    for update in (what_if.measure(asked), what_if.measure_parts(asked)):
        assert update.text.startswith("There is no draft") and update.fields is None
