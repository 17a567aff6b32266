"""The what-if panel: its knobs, its sentences, and the race that measures it. Without Gradio."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_page import HOME, RECORDED

from csd.decoding.k_matrix import format_K
from csd.record.race import Race
from csd.theory.prediction import CostModel
from csd.theory.what_if import MOST_DRAFTS, PanelSettings
from csd.web import what_if
from csd.web.what_if import WhatIf

PRESET, DRAFTS = HOME.defaults.preset, HOME.defaults.drafts
PANEL = what_if.starting_panel(HOME.defaults)
ASKED = WhatIf(
    DRAFTS,
    "draft-mid",
    4,
    "[[4,6,8],[0,1,2],[0,0,1]]",
    what_if.ALL_LEVELS,
    tuple(knob.value for knob in PANEL.alphas),
    tuple(knob.value for knob in PANEL.costs),
    PANEL.width,
)


def test_the_panel_has_a_knob_for_each_pair_and_each_draft():
    assert [knob.label for knob in PANEL.alphas[:2]] == ["α target ← draft-mid", "α target ← draft-small"]
    assert (len(PANEL.alphas), len(PANEL.costs)) == (what_if.MAX_ALPHAS, MOST_DRAFTS)
    assert (PANEL.k, PANEL.K) == (PRESET.k, format_K(PRESET.K))
    assert all(0 <= knob.value <= knob.maximum for knob in (*PANEL.alphas, *PANEL.costs))


def test_a_race_sets_the_panel():
    panel = what_if.panel_after(Race(RECORDED))
    assert panel.drafts == DRAFTS
    assert panel.alphas != PANEL.alphas
    for drafts in ((), ("a", "b", "c")):
        assert what_if.make_panel(PanelSettings(drafts, "", None, None, CostModel())).alphas == ()


def test_a_prediction_has_a_figure_and_a_sentence():
    prediction = what_if.predict(ASKED)
    assert prediction.figure is not None
    assert "Speculative, draft-mid, k=4: predicted" in prediction.text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": None}, "k is empty or not a whole number"),
        ({"k": 1.5}, "k is empty or not a whole number"),
        ({"k": 0}, "k must be"),
        ({"K": "[["}, "could not be read"),
        ({"draft": "nobody"}, "nobody"),
        ({"drafts": ("a", "b", "c")}, "one or two drafts"),
    ],
)
def test_what_cannot_be_predicted_gets_a_sentence(changes, sentence):
    prediction = what_if.predict(replace(ASKED, **changes))
    assert prediction.figure is None
    assert sentence in prediction.text


def test_a_level_can_be_removed():
    assert what_if.level_choices(DRAFTS)[1:] == ("without draft-mid", "without draft-small", "without Max-Gram")
    assert what_if.chosen_K(replace(ASKED, removed="without draft-small")) != what_if.chosen_K(ASKED)
    assert what_if.chosen_K(replace(ASKED, removed="without nobody")) == what_if.chosen_K(ASKED)


def test_measuring_fills_in_the_form():
    update = what_if.measure(ASKED)
    assert update.fields == {"draft": "draft-mid", "k": 4, "K": ASKED.K, "lanes": list(what_if.MEASURED)}
    assert what_if.measure(replace(ASKED, K="[[")).fields is None


def test_the_papers_curves_are_three_figures():
    assert len(what_if.paper_curves(0.2, 0.5)) == 3
