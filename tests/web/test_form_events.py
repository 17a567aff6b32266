"""Links, presets, examples and K: what they fill into the form, without Gradio."""

from __future__ import annotations

import pytest
from fake_page import HOME, context, fields

from csd.decoding.k_matrix import format_K
from csd.web import form_events
from csd.web.examples import example_title, examples_by_kind, first_example
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.updates import Choices, FormUpdate

DEFAULTS = HOME.defaults


@pytest.fixture(scope="module")
def page():
    return context()


def custom(**names: str) -> FamilyFields:
    return FamilyFields(CUSTOM, **names)


def test_the_page_starts_with_the_defaults_of_its_family(page):
    start = page.start.values()
    assert {name: start[name] for name in DEFAULTS.preset.fields()} == DEFAULTS.preset.fields()
    assert (start["prompt"], start["family"], start["device"]) == (first_example().prompt, "embedded", "cpu")
    assert PageFields.from_values(start) == page.start


def test_a_kind_of_examples_goes_round():
    kind, prompts = next(iter(examples_by_kind().items()))
    seen, text = [], "typed by hand"
    for _ in range(len(prompts) + 1):
        update = form_events.show_example(kind, text)
        text = update.values["prompt"]
        seen.append(text)
    assert seen == [*(prompt.prompt for prompt in prompts), prompts[0].prompt]
    assert update.values.keys() == {"prompt", "temperature", "seed", "max_new"}
    assert f"Example 1 of {len(prompts)}: {prompts[0].title}." in update.status.text
    assert example_title(text) == prompts[0].title
    assert example_title("typed by hand") == ""


def test_a_family_brings_its_presets_and_drafts():
    update = form_events.change_family(FamilyFields("embedded", device="cpu"))
    assert update.values == DEFAULTS.preset.fields()
    assert update.drafts == DEFAULTS.drafts
    assert update.presets == Choices(tuple(one.name for one in DEFAULTS.presets), DEFAULTS.preset.name)
    one_draft = form_events.change_family(custom(target="a/b", others="c/d, "))
    assert (one_draft.drafts, one_draft.values["draft"]) == (("d",), "d")
    assert form_events.change_family(custom()) == FormUpdate()


def test_leaving_the_field_of_custom_drafts_changes_nothing_for_a_ready_family():
    assert form_events.change_drafts(FamilyFields("embedded", device="cpu")) == FormUpdate()
    edited = custom(target="a/b", others="c/d, ")
    assert form_events.change_drafts(edited) == form_events.change_family(edited) != FormUpdate()


def test_a_preset_fills_in_its_fields():
    paper = DEFAULTS.find_preset("paper's K")
    assert form_events.apply_preset("paper's K", FamilyFields("embedded", device="cpu")).values == paper.fields()
    assert form_events.apply_preset("paper's K", custom()) == FormUpdate()


def test_an_edited_K_brings_the_cascade_that_follows_it(page):
    preset, other_K = DEFAULTS.preset, "[[2,4,6],[0,1,2],[0,0,1]]"
    assert form_events.edit_K(preset.name, page.start) == FormUpdate()
    edited = form_events.edit_K(preset.name, fields(page.start, K=other_K))
    assert edited.values == {"lanes": ["autoregressive", "speculative", "cascade"]}
    has_cascade = fields(page.start, K=other_K, lanes=["autoregressive", "cascade"])
    assert form_events.edit_K(preset.name, has_cascade) == FormUpdate()
    assert form_events.edit_K(preset.name, fields(page.start, K=other_K, family=CUSTOM)) == FormUpdate()


def test_a_link_takes_the_form_to_another_page(page):
    sent = fields(page.start, prompt="A fox & a hen", K="[[2,4,6],[0,1,2],[0,0,1]]", max_new=32, always=True)
    query, omitted = form_events.copy_link(page, sent)
    assert omitted == ""
    assert "family" not in query
    update = form_events.open_link(page, dict(_pairs(query)))
    assert PageFields.from_values(update.values) == sent
    assert update.status.text == "The link has filled in the form. Press Race."
    assert form_events.copy_link(page, page.start) == ("", "")
    assert form_events.open_link(page, {}) == FormUpdate()


def test_a_link_selects_the_preset_that_it_agrees_with(page):
    paper = DEFAULTS.find_preset("paper's K")
    query, _ = form_events.copy_link(page, fields(page.start, **paper.fields()))
    assert form_events.open_link(page, dict(_pairs(query))).presets.selected == "paper's K"


def test_what_is_wrong_in_a_link_is_said_and_left_out(page):
    update = form_events.open_link(page, {"k": "0", "family": CUSTOM, "nonsense": "1", "seed": "7"})
    assert (update.values["family"], update.values["k"], update.values["seed"]) == ("embedded", DEFAULTS.preset.k, 7)
    for part in ("The link has filled in the form.", "The models in the link were ignored.", "'nonsense'", "k must be"):
        assert part in update.status.text
    alone = form_events.open_link(page, {"nonsense": "1"})
    assert alone.values == page.start.values()
    assert "Press Race" not in alone.status.text


def test_a_link_may_name_a_family_as_it_was_called(page):
    update = form_events.open_link(page, {"family": "SmolLM2"})
    assert update.values["family"] == "SmolLM2 1.7B"


def test_a_link_of_another_family_brings_its_drafts(page):
    update = form_events.open_link(page, {"family": "Qwen3", "K": format_K(DEFAULTS.preset.K)})
    assert update.drafts == ("Qwen3-1.7B", "Qwen3-0.6B")
    assert update.values["draft"] in update.drafts


def _pairs(query: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(query.removeprefix("?"), keep_blank_values=True)
