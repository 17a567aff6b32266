"""From the fields of a form to a request: what they become, and what cannot be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from csd.decoding.methods import (
    METHODS,
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    HorizontalCascade,
    PromptLookup,
    Refusal,
    Speculative,
    VerticalCascade,
)
from csd.models import catalog
from csd.request.defaults import make_defaults
from csd.request.form import Form, in_order, to_fields, to_request
from csd.request.request import Request

DRAFTS = ("small", "tiny")
DEFAULTS = make_defaults(DRAFTS)
K = "[[2,6,10],[0,4,8],[0,0,8]]"


def test_vertical_follows_the_first_drafters_of_K_and_horizontal_takes_its_first_row():
    lanes = ("vertical cascade", "horizontal cascade", "cascade")
    vertical, horizontal, both = to_request(DEFAULTS.form(prompt="a", lanes=lanes, K=K), DEFAULTS).methods
    assert vertical.ks == (2, 4, 8)
    assert horizontal.ks == (2, 6, 10)
    assert both.K == ((2, 6, 10), (0, 4, 8), (0, 0, 8))


@pytest.mark.parametrize(
    "methods",
    [
        (Autoregressive(), Speculative("tiny", 3), PromptLookup(5), AdaptiveCascade(DRAFTS, lenience=2.0)),
        (Cascade(DRAFTS, ((2, 6, 10), (0, 4, 8), (0, 0, 8)), lenience=3.0), Speculative("small", 2)),
        (VerticalCascade(DRAFTS, (5, 3, 4), lenience=2.0),),
        (HorizontalCascade(DRAFTS, (2, 4, 6)),),
        (Autoregressive(),),
    ],
)
def test_a_request_gives_its_form_back(methods):
    request = Request("a", methods, 9, temperature=0.5, top_k=3, top_p=0.9, seed=7, rule="rejection", stop_at_eos=False)
    fields = to_fields(request)
    assert to_request(DEFAULTS.form(**fields), DEFAULTS, least=1) == request
    assert "k" in fields or not any(isinstance(method, Speculative) for method in methods)


def test_lanes_that_one_form_cannot_describe_are_refused():
    with pytest.raises(Refusal, match="different values of k"):
        to_fields(Request("a", (Speculative("small", 2), Speculative("small", 3))))


def test_K_is_text_or_nested_lists():
    as_lists = DEFAULTS.form(lanes=["cascade"], K=[[2, 6, 10], [0, 4, 8], [0, 0, 8]])
    assert to_request(as_lists, DEFAULTS, least=1) == to_request(replace(as_lists, K=K), DEFAULTS, least=1)


def test_always_n_tokens_ignores_the_end_of_text_token():
    assert to_request(DEFAULTS.form(prompt="a"), DEFAULTS).stop_at_eos
    assert not to_request(DEFAULTS.form(prompt="a", always=True), DEFAULTS).stop_at_eos


@pytest.mark.parametrize("name", ["cascade, adaptive", "adaptive", "adaptive-cascade", " adaptive cascade "])
def test_names_of_earlier_versions_still_work(name):
    (lane,) = to_request(DEFAULTS.form(lanes=[name]), DEFAULTS, least=1).methods
    assert lane == AdaptiveCascade(DRAFTS)


def test_lanes_in_the_order_of_the_registry():
    assert in_order(["cascade", "speculative", "autoregressive"]) == ["autoregressive", "speculative", "cascade"]


@pytest.mark.parametrize("spec", catalog.READY, ids=lambda spec: spec.name)
def test_every_preset_of_every_ready_family_makes_a_request(spec):
    defaults = make_defaults([model.name for model in spec.drafts])
    for preset in defaults.presets:
        for method in to_request(Form("a", **preset.fields()), defaults).methods:
            method.check(defaults.drafts)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"lanes": ("cascade",)}, "1 method is chosen. Choose 2 to 4."),
        ({"lanes": tuple(METHODS)}, f"{len(METHODS)} methods are chosen."),
        ({"lanes": ("cascade", "magic")}, "There is no method “magic”"),
        ({"temperature": None}, "Temperature is empty"),
        ({"seed": float("nan")}, "The seed must be a whole number from 0 to 9,007,199,254,740,991, not nan."),
        ({"k": 2.5}, "The number of guesses k must be a whole number from 1 to 64, not 2.5."),
        ({"K": "[[2,6]"}, "could not be read"),
        ({"K": [1, 2, 3]}, "could not be read"),
        ({"K": "[[2,6,10],[0,4,8]]"}, "K must have 3 rows of 3 numbers"),
        ({"lanes": ("cascade", "autoregressive"), "lenience": ""}, "Lenience is empty"),
        ({"seed": 2**53}, "The seed must be a whole number from 0"),
        ({"seed": 10**400}, "not a number of about 401 digits"),
        ({"top_k": 10**30}, "Top-k must be"),
        ({"temperature": "1"}, "Temperature must be"),
        ({"top_p": True}, "Top-p must be"),
        ({"max_new": float("inf")}, "New tokens must be"),
        ({"always": "no"}, "must be true or false, not 'no'"),
        ({"lanes": ("autoregressive", "prompt lookup"), "lenience": -1}, "Lenience must be"),
        ({"lanes": ("autoregressive", "cascade"), "k": 10**30}, "The number of guesses k must be"),
        ({"lanes": "cascade"}, "must be a list of names"),
        ({"lanes": 5}, "must be a list of names"),
        ({"lanes": None}, "must be a list of names"),
        ({"lanes": (["a"] * 10**5, {})}, "There is no method"),
        ({"lanes": ("\ud83d", "cascade")}, "There is no method “?”"),
        ({"K": [[2**62] * 3] * 3}, "K holds whole numbers from 0 to 64"),
        ({"K": "[" * 10**5}, "could not be read"),
        ({"K": "[[1]]" + " " * 10**5}, "could not be read"),
        ({"K": [["x" * 10**5] * 3] * 3}, "could not be read"),
        ({"K": {1, 2}}, "K must be text or lists"),
        ({"K": 10**5000}, "K must be text or lists"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(fields, sentence):
    with pytest.raises(Refusal) as refusal:
        to_request(DEFAULTS.form(**{"prompt": "a", "K": K, **fields}), DEFAULTS)
    said = str(refusal.value)
    assert sentence in said and said.endswith(".") and len(said) < 400 and said.encode()


def test_all_wrong_fields_are_counted_and_the_first_of_the_page_is_told():
    form = DEFAULTS.form(prompt="a", lanes=("cascade",), max_new=0, K="[[1]]", temperature=-1)
    with pytest.raises(Refusal, match=r"^New tokens must be .*, not 0\. 3 more settings need a change\.$") as refusal:
        to_request(form, DEFAULTS)
    assert refusal.value.field == "max_new"


def test_too_many_new_tokens_alone_are_left_to_the_models_which_know_the_prompt():
    assert to_request(DEFAULTS.form(prompt="a", max_new=100_000), DEFAULTS).max_new == 100_000
    with pytest.raises(Refusal, match="from 1 to 4,095, not 100000. 1 more setting needs a change"):
        to_request(DEFAULTS.form(prompt="a", max_new=100_000, temperature=-1), DEFAULTS)
    with pytest.raises(Refusal, match="from 1 to 4,095, not 10000000"):
        to_request(DEFAULTS.form(prompt="a", max_new=10**7), DEFAULTS)


def test_a_wrong_field_that_no_lane_uses_gets_its_default_unless_strict():
    form = DEFAULTS.form(prompt="a", lanes=("autoregressive", "adaptive cascade"), k=-1, K="[[1]]", seed=-1)
    request = to_request(form, DEFAULTS, strict=False)
    assert request == to_request(replace(form, k=4, K=K, seed=0), DEFAULTS)
    for used in ({"lanes": ("autoregressive", "cascade")}, {"lanes": ("autoregressive", "speculative")}):
        with pytest.raises(Refusal):
            to_request(replace(form, **used), DEFAULTS, strict=False)
    with pytest.raises(Refusal, match="The seed"):
        to_request(replace(form, temperature=1.0), DEFAULTS, strict=False)


def test_fields_that_no_lane_uses_may_be_empty():
    lanes = ("autoregressive", "adaptive cascade")
    form = DEFAULTS.form(prompt="a", lanes=lanes, k=None, lookup="")
    assert to_request(form, DEFAULTS) == to_request(DEFAULTS.form(prompt="a", lanes=lanes), DEFAULTS)
