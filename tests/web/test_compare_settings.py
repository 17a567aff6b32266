"""What Compare says of the form of the Race tab."""

from __future__ import annotations

import pytest
from fake_page import context, fields

from csd.decoding.k_matrix import format_K
from csd.request.defaults import PAPER_K
from csd.web import compare
from csd.web.compare_settings import from_settings
from csd.web.compare_tab import lead_html
from csd.web.examples import examples_by_kind
from csd.web.fields import PageFields
from csd.web.usual_lanes import show_usual_methods

PARTS = ["cascade", "horizontal cascade", "vertical cascade", "autoregressive"]  # in any order


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lanes": PARTS}, "autoregressive, vertical cascade, horizontal cascade and cascade."),
        ({"K": "[[2,4,6],[0,1,2],[0,0,1]]"}, "prompt lookup and cascade, with your own plan."),
        ({"K": format_K(PAPER_K[2])}, "prompt lookup and cascade, with the paper's plan"),
        ({"K": "[["}, "prompt lookup and cascade, with your own plan."),
        ({"k": 3, "lookup": 5, "lenience": 2.5}, "with 3 guesses per step, 5 guesses of the copier and lenience 2.5."),
        ({"draft": "tiny", "lanes": ["autoregressive", "speculative"]}, "with the tiny model as the guesser."),
    ],
)
def test_compare_says_which_lanes_it_takes_from_the_settings(changes, said):
    page = context()
    told = from_settings(page, fields(page.start, **changes))
    assert (
        told.startswith("As chosen under Settings, Compare will race autoregressive, ") or "autoregressive and" in told
    )
    assert said in told


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 1.0, "max_new": 20, "prompt": "A fox"},
        {"lanes": ["cascade", "prompt lookup", "speculative", "autoregressive"]},
        {"family": "another"},
    ],
    ids=["the start", "what a comparison does not take", "another order", "no such family"],
)
def test_it_says_nothing_of_the_usual(changes):
    page = context()
    assert from_settings(page, fields(page.start, **changes)) == ""


def test_a_plan_that_an_example_brings_is_usual():
    page = context()
    brought = [one.settings() for prompts in examples_by_kind(page.studio.home.spec).values() for one in prompts]
    for settings in brought:
        assert from_settings(page, fields(page.start, **{k: settings[k] for k in ("k", "K") if k in settings})) == ""


def test_a_button_brings_the_usual_back():
    page = context()
    form = fields(page.start, lanes=PARTS, K="[[2,4,6],[0,1,2],[0,0,1]]", k=3, lenience=2.0)
    update = show_usual_methods(page, form.family)
    assert from_settings(page, PageFields.from_values({**form.values(), **update.values, "preset": ""})) == ""
    assert "prompt" not in update.values and "max_new" not in update.values and update.status is None


def test_two_plans_are_asked_about_the_prompt_that_they_race_on():
    said = lead_html(compare.TWO_PLANS, "Tell me <b>\n{why}")
    assert "Which of two plans is faster?" in said and "Both race on “Tell me &lt;b&gt; {why}”." in said
    assert "on every kind" in lead_html(compare.BY_KIND, "Tell me")
