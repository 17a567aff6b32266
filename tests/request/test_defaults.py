"""Defaults: what runs where the visitor leaves something open, for any family and with a tuned record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from csd.decoding.adaptive.prior import GENERAL
from csd.decoding.methods import METHODS, AdaptiveCascade, PromptLookup
from csd.models.catalog import find
from csd.request.defaults import LOOKUP, SHORT_DRAFT, defaults_for, make_defaults
from csd.request.form import to_request
from csd.request.tuned import find_tuned

DRAFTS = ("small", "tiny")


@pytest.fixture
def tuned():
    """The record that is shipped with the embedded family."""
    return find_tuned(find("embedded"), "cpu")


def test_a_plan_that_was_tuned_comes_before_the_adaptive_cascade(tuned):
    defaults = make_defaults(DRAFTS, tuned)
    first, second, *_ = defaults.presets
    assert (first.name, first.draft, first.k, first.K) == ("tuned K", tuned.draft, tuned.k, tuned.K)
    assert (second.name, second.lanes[-1], second.k) == ("adaptive", AdaptiveCascade.name, tuned.k)
    assert defaults.preset is first and defaults.find_preset("adaptive") is second
    assert defaults.find_preset("no such preset") is first
    assert defaults_for(find("smollm2"), "cpu").preset.name == "tuned K", "for one draft too"
    assert make_defaults(DRAFTS).preset.name == "adaptive", "nothing was tuned"
    assert make_defaults((), tuned).preset.name == "adaptive", "without drafts there is nothing to plan"


def test_methods_take_their_settings_from_the_tuned_record(tuned):
    defaults = make_defaults(DRAFTS, replace(tuned, lookup=LOOKUP + 3))
    form = defaults.form(prompt="a", lanes=["prompt lookup", "adaptive cascade"])
    lookup, adaptive = to_request(form, defaults).methods
    assert lookup == PromptLookup(LOOKUP + 3)
    assert adaptive == AdaptiveCascade(DRAFTS, prior=tuned.prior)


def test_a_family_is_looked_up_with_its_device(tuned):
    assert defaults_for(find("embedded"), "cpu") == replace(make_defaults(DRAFTS, tuned), context=1024)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_every_preset_can_be_run_with_any_number_of_drafts(count):
    defaults = make_defaults([f"draft-{i}" for i in range(count)])
    assert defaults.prior == GENERAL
    for preset in defaults.presets:
        for method in to_request(defaults.form(prompt="a", **preset.fields()), defaults).methods:
            method.check(defaults.drafts)
    for method in to_request(defaults.form(prompt="a", lanes=defaults.every_lane), defaults, most=9).methods:
        method.check(defaults.drafts)


def test_a_family_without_drafts_races_prompt_lookup_and_cascades_of_max_gram():
    defaults = make_defaults(())
    assert defaults.preset.lanes == ("autoregressive", "prompt lookup", "adaptive cascade")
    assert defaults.every_lane == ("autoregressive", "prompt lookup", "adaptive cascade")
    assert all("speculative" not in preset.lanes for preset in defaults.presets)


def test_what_was_not_tuned_gets_short_drafts():
    defaults = make_defaults(DRAFTS)
    assert (defaults.preset.draft, defaults.preset.k, defaults.preset.lookup) == ("small", SHORT_DRAFT, LOOKUP)
    assert [preset.name for preset in defaults.presets] == ["adaptive", "short drafts", "paper's K"]


def test_what_was_published_for_a_family_takes_the_place_of_the_papers_example():
    defaults = defaults_for(find("FLAN-T5 XXL"), "cpu")
    *_, by_size, previous = defaults.presets
    assert (by_size.K, by_size.lenience) == (((5, 19, 29), (0, 1, 11), (0, 0, 10)), 2)
    assert (previous.K, previous.lenience) == (((5, 13, 23), (0, 1, 11), (0, 0, 10)), 5)
    for preset in defaults.presets:
        for method in to_request(defaults.form(prompt="a", **preset.fields()), defaults).methods:
            method.check(defaults.drafts)
    one = replace(find("FLAN-T5 XXL"), drafts=find("FLAN-T5 XXL").drafts[:1])  # nothing was published for one draft
    assert [preset.name for preset in defaults_for(one).presets] == ["adaptive", "short drafts", "paper's K"]


def test_every_lane_is_a_method():
    assert set(make_defaults(DRAFTS).every_lane) <= METHODS.keys()
