"""From the page's fields to settings: what they become, and what cannot be read."""

from __future__ import annotations

import pytest

from csd.decoding.methods import Refusal, checked
from csd.models import catalog
from csd.request import form, tuned

DRAFTS = ("draft-mid", "draft-small")
K = "[[2,6,10],[0,4,8],[0,0,8]]"


def test_every_preset_suits_its_family():
    for spec in catalog.READY:
        drafts = tuple(model.name for model in spec.drafts)
        for preset in form.presets(drafts):
            asked = form.Form("a", ("speculative", "cascade"), preset.draft, preset.k, 8, form.matrix_text(preset.K))
            for method in form.settings(asked, drafts).methods:
                checked(method, drafts)


def test_the_adaptive_cascade_comes_first_and_then_what_was_tuned():
    record = tuned.find(catalog.find("embedded"), "cpu")
    first, second, *_ = form.presets(DRAFTS, record)
    assert (first.name, first.lanes[-1], first.k) == ("adaptive", "cascade, adaptive", record.k)
    assert (second.name, second.draft, second.k, second.K) == ("tuned K", record.draft, record.k, record.K)
    [lane] = form.settings(form.Form("a", ["cascade, adaptive"]), DRAFTS, 1, record.prior).methods
    assert (lane.name, lane.drafts, lane.prior) == ("adaptive", DRAFTS, record.prior)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_there_is_a_preset_for_any_number_of_drafts(count):
    drafts = tuple(f"draft-{i}" for i in range(count))
    for preset in form.presets(drafts):
        asked = form.Form("a", ("autoregressive", "cascade"), K=form.matrix_text(preset.K))
        checked(form.settings(asked, drafts).methods[1], drafts)


def test_vertical_takes_the_diagonal_of_K_and_horizontal_its_first_row():
    lanes = ("cascade, vertical only", "cascade, horizontal only", "cascade")
    vertical, horizontal, both = form.settings(form.Form("a", lanes, K=K), DRAFTS).methods
    assert vertical.K == ((2, 2, 2), (0, 4, 4), (0, 0, 8))
    assert horizontal.K == ((2, 6, 10), (0, 0, 0), (0, 0, 0))
    assert both.K == ((2, 6, 10), (0, 4, 8), (0, 0, 8))


def test_always_n_tokens_switches_the_end_off():
    assert form.settings(form.Form("a", K=K), DRAFTS).stop_at_eos
    assert not form.settings(form.Form("a", K=K, always=True), DRAFTS).stop_at_eos


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"lanes": ("cascade",)}, "1 method is chosen. Choose 2 to 4."),
        ({"lanes": tuple(form.LANES)}, "7 methods are chosen."),
        ({"lanes": ("cascade", "magic")}, "There is no method called 'magic'"),
        ({"temperature": None}, "Temperature is empty"),
        ({"seed": float("nan")}, "The seed is empty or no number"),
        ({"k": 2.5}, "Speculative k is 2.5. It must be a whole number."),
        ({"K": "[[2,6]"}, "could not be read"),
        ({"K": "[[2,6,10],[0,4,8]]"}, "K must have 3 rows of 3 numbers"),
        ({"lenience": ""}, "Lenience is empty"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(fields, sentence):
    with pytest.raises(Refusal) as refusal:
        form.settings(form.Form(**{"prompt": "a", "K": K, **fields}), DRAFTS)
    assert sentence in str(refusal.value)
