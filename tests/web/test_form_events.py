"""Presets, examples, drafts and K: what they fill into the form, without Gradio."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_page import HOME, RECORDED, context, fields

from csd.decoding.k_matrix import format_K
from csd.models import catalog
from csd.record.recording import Recording
from csd.record.trace import Level
from csd.request.form import to_fields
from csd.request.prompts import Prompt
from csd.request.request import Request
from csd.stage.tour import LOSE
from csd.web import example_events, family_choice, form_events, losing_race
from csd.web.context import fields_of, settings_of
from csd.web.examples import MOST_KINDS, example_kinds, example_title, examples_by_kind, first_example, settings_for
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.preset_choice import preset_choices
from csd.web.preset_names import labelled
from csd.web.races import first_recorded, uploaded_race
from csd.web.typed import has_typed
from csd.web.updates import Choices, FormUpdate

DEFAULTS = HOME.defaults
EMBEDDED = FamilyFields("embedded", device="cpu")
OTHER = FamilyChoice(catalog.find("Qwen3"), "cpu")


@pytest.fixture(scope="module")
def page():
    return context()


def test_names_of_models_are_checked_where_visitors_may_give_some(page):
    fields = custom(target="asdf", others="/no/such/folder")
    target, drafts = family_choice.check_names(page, fields)
    assert "owner/name" in target and "no folder" in drafts
    closed = replace(page, options={**page.options, "family": ("embedded",)})
    assert family_choice.check_names(closed, fields) == ("", "")


def custom(**names: str) -> FamilyFields:
    return FamilyFields(CUSTOM, **names)


def test_the_page_starts_with_the_defaults_of_its_family(page):
    start = page.start.values()
    assert (start["family"], start["device"]) == ("embedded", "cpu")
    assert PageFields.from_values(start) == page.start
    without_race = fields_of(HOME)
    example = first_example(HOME.spec)
    assert without_race.form == DEFAULTS.form(prompt=example.prompt, max_new=example.max_new)


def test_the_page_starts_with_the_settings_of_the_race_on_its_stage(page):
    _, request = page.start.to_request()
    assert to_fields(request) == to_fields(Request.from_traces(page.landing.traces))
    assert page.landing.recording.family == page.start.family.family
    assert not has_typed(page, "v", page.start)


def test_settings_go_back_to_the_start_and_the_prompt_stays(page):
    form = replace(page.start.form, prompt="Mine.", temperature=1.5, lanes=["autoregressive", "cascade"], max_new=500)
    reset = form_events.reset_settings(page, replace(page.start, form=form))
    assert reset.values == {**page.start.values(), "prompt": "Mine."}
    assert form_events.reset_settings(page, replace(page.start, family=custom())) == FormUpdate()


def test_the_settings_of_a_race_that_this_machine_cannot_run_are_those_of_an_example(page):
    race = first_recorded(page.recorded, "smollm2")
    without_copies = FamilyFields("smollm2", copies=[]).to_choice().defaults
    assert settings_of(race, without_copies).keys() == {"prompt", "temperature", "seed", "max_new"}
    assert "lanes" in settings_of(race, FamilyFields("smollm2").to_choice().defaults)


def test_a_kind_of_examples_goes_round(page):
    prompts = next(iter(examples_by_kind(HOME.spec).values()))
    seen, text = [], "typed by hand"
    for _ in range(len(prompts) + 1):
        update = example_events.show_example(page, EMBEDDED, 0, text)
        assert update.own_prompt == (text if text == "typed by hand" else None)
        text = update.values["prompt"]
        seen.append(text)
    assert seen == [*(prompt.prompt for prompt in prompts), prompts[0].prompt]
    assert update.values.keys() == {"prompt", "temperature", "seed", "max_new", "k", "K"}
    assert update.status.text == f"1 of {len(prompts)}: {prompts[0].title}."
    assert example_events.show_example(page, EMBEDDED, 9, text).status.text == example_events.NO_EXAMPLE
    kept = example_events.show_example(page, EMBEDDED, 0, prompts[0].prompt, ("max_new", "temperature", "k", "K"))
    assert kept.values.keys() == {"prompt", "seed"}, "what the visitor has set stays"
    told = example_events.show_example(page, EMBEDDED, 0, prompts[-1].prompt, max_new=128).status.text
    assert told == f"1 of {len(prompts)}: {prompts[0].title}. 64 tokens instead of 128."
    for same in ({"max_new": 128}, {"by_hand": ("max_new",), "max_new": 64}):
        assert "instead" not in example_events.show_example(page, EMBEDDED, 0, text, **same).status.text
    assert example_title(text) == prompts[0].title
    assert example_title("typed by hand") == ""


def test_a_prompt_that_is_too_long_to_race_is_not_kept_for_the_session(page):
    most = page.studio.deployment.max_prompt
    assert example_events.show_example(page, EMBEDDED, 0, "a" * most).own_prompt == "a" * most
    assert example_events.show_example(page, EMBEDDED, 0, "a" * (most + 1)).own_prompt is None


def test_an_example_may_have_a_plan_and_a_draft_length_of_its_own(page):
    """The frog brings a plan, the fox also k = 7, a rewrite the family's, and what the visitor has set stays."""
    frog, fox, *_ = (prompt.settings() for prompt in examples_by_kind(HOME.spec)["story"])
    usual = {name: DEFAULTS.preset.fields()[name] for name in ("k", "K")}
    assert page.start.form.K == frog["K"] != usual["K"] and fox["k"] == 7 != usual["k"]

    def brought(number, before=None, by_hand=(), **given):
        values = example_events.show_example(page, EMBEDDED, number, before, by_hand, **given).values
        return {name: values[name] for name in ("k", "K") if name in values}

    edit = example_kinds(HOME.spec).index("edit")
    assert brought(0, **usual) == frog
    assert brought(0, page.start.form.prompt, **{**usual, **frog}) == fox
    assert brought(edit, **fox) == usual
    own = {"k": 9, "K": "[[2,4,6],[0,1,2],[0,0,1]]"}
    assert brought(edit, **own) == brought(0, **own) == {}, "the visitor's own, or a preset's"
    assert brought(edit, None, ("k", "K"), **fox) == brought(0, None, ("k", "K")) == {}
    one = replace(EMBEDDED, family="smollm2").to_choice()
    assert settings_for(one, Prompt("story", "p", K=((2, 6, 10), (0, 4, 8), (0, 0, 8))), {}) == {
        name: one.defaults.preset.fields()[name] for name in ("k", "K")
    }, "a plan for other drafts"


def test_the_losing_race_of_the_tour_leaves_the_length(page):
    update = losing_race.show_losing_race(page, EMBEDDED, "typed by hand")
    tuned = DEFAULTS.find_preset("tuned K")
    lanes = [*tuned.lanes, "adaptive cascade"]
    assert update.values.items() >= {**tuned.fields(), "lanes": lanes, "temperature": LOSE.temperature}.items()
    assert update.presets.selected == "tuned K" and update.own_prompt == "typed by hand"
    assert "max_new" not in update.values
    assert "max_new" not in losing_race.show_losing_race(page, EMBEDDED, None, 77).values, "one that the visitor typed"
    of_an_example = losing_race.show_losing_race(page, EMBEDDED, None, 128).values["max_new"]
    assert of_an_example == page.start.form.max_new != 128, "an example has brought it"
    assert update.values["prompt"] == examples_by_kind(HOME.spec)["story"][0].prompt
    after = example_events.show_example(page, EMBEDDED, 1, None, temperature=LOSE.temperature)
    problem = next(iter(examples_by_kind(HOME.spec)["word problem"])).settings()
    usual = {**page.start.values(), "k": DEFAULTS.preset.k, **problem}
    assert after.values.items() >= {name: usual[name] for name in tuned.fields()}.items(), "the usual lanes are back"
    own = example_events.show_own_prompt(page, EMBEDDED, "My words", (), LOSE.temperature)
    assert own.values["prompt"] == "My words" and own.values["temperature"] == 0
    assert own.values["lanes"] == after.values["lanes"]
    kept = example_events.show_own_prompt(page, EMBEDDED, "My words", ("temperature",), LOSE.temperature)
    assert kept.values == {"prompt": "My words"}
    by_hand = example_events.show_example(page, EMBEDDED, 1, None, ("temperature",), temperature=LOSE.temperature)
    assert "lanes" not in by_hand.values, "the temperature is the visitor's own"
    other = losing_race.show_losing_race(page, FamilyFields("smollm2", device="cpu"), "typed by hand")
    assert other.values.items() >= update.values.items(), "a copy of the target guesses too well to lose"
    assert (other.values["family"], other.drafts, other.own_prompt) == ("embedded", DEFAULTS.drafts, "typed by hand")
    assert other.status.text.startswith("Back to the demo models. At temperature 1.5")


def test_a_family_brings_its_presets_and_drafts():
    update = family_choice.change_drafts(EMBEDDED)
    assert update.values == DEFAULTS.preset.fields()
    assert update.drafts == DEFAULTS.drafts
    assert update.presets == Choices(tuple(one.name for one in DEFAULTS.presets), DEFAULTS.preset.name)
    one_draft = family_choice.change_drafts(custom(target="a/b", others="c/d, "))
    assert (one_draft.drafts, one_draft.values["draft"]) == (("d",), "d")
    assert family_choice.change_drafts(custom()) == FormUpdate()


def test_leaving_the_field_of_custom_drafts_changes_nothing_for_a_ready_family(page):
    assert family_choice.name_drafts(page, "v", EMBEDDED) == FormUpdate()
    edited = custom(target="a/b", others="c/d, ")
    assert family_choice.name_drafts(page, "v", edited) == family_choice.change_drafts(edited) != FormUpdate()


def test_a_preset_fills_in_its_fields():
    paper = DEFAULTS.find_preset("paper's K")
    assert form_events.apply_preset("paper's K", EMBEDDED).values == paper.fields()
    assert form_events.apply_preset("paper's K", custom()) == FormUpdate()


def test_a_setting_away_from_the_preset_makes_it_custom_and_back_again(page):
    assert page.start.form.lanes != DEFAULTS.preset.lanes, "one more lane, and the K of an example, are no departure"
    assert preset_choices(page.studio.home, page.start.values()).selected == "tuned K"
    for change in (
        {"lanes": ["autoregressive", "speculative"]},
        {"k": 3},
        {"lenience": 2},
        {"draft": "tiny"},
        {"K": "[[1"},
    ):
        update = form_events.follow_settings("tuned K", fields(page.start, **change))
        assert update.presets is not None and update.presets.selected == "custom, from tuned K", change
        assert labelled(update.presets.options)[-1] == ("custom", "custom, from tuned K")
        back = form_events.follow_settings(update.presets.selected, page.start)
        assert back.presets is not None and back.presets.selected == "tuned K"
        assert "custom, from tuned K" not in back.presets.options
    assert form_events.follow_settings("tuned K", page.start) == FormUpdate()
    assert form_events.apply_preset("custom, from tuned K", EMBEDDED) == FormUpdate()
    paper = DEFAULTS.find_preset("paper's K")
    both = fields(page.start, **{**paper.fields(), "lanes": [*paper.lanes, "adaptive cascade"]})
    assert form_events.follow_settings(paper.name, both) == FormUpdate()
    assert form_events.follow_settings("tuned K", fields(page.start, family=CUSTOM)) == FormUpdate()


def test_an_edited_K_races_with_the_cascade_that_follows_it(page):
    own_K = "[[2, 4, 6], [0, 1, 2], [0, 0, 1]]"
    edited = fields(page.start, K=own_K)
    assert edited.lanes == ["cascade" if lane == "adaptive cascade" else lane for lane in page.start.form.lanes]
    _, request = edited.to_request()
    assert [method.to_knobs()["K"] for method in request.methods if "K" in method.uses] == [
        ((2, 4, 6), (0, 1, 2), (0, 0, 1))
    ]
    chosen = fields(page.start, K=own_K, lanes=["adaptive cascade", "cascade"])
    assert chosen.lanes == chosen.form.lanes


def test_a_K_that_was_not_edited_leaves_the_lanes(page):
    adaptive, paper = ["autoregressive", "speculative", "adaptive cascade"], DEFAULTS.find_preset("paper's K")
    start = fields(page.start, lanes=adaptive, preset="adaptive")
    spaced = format_K(DEFAULTS.preset.K).replace(",", ", ")
    wrong = "[[8,4,2],[0,0,0],[0,0,0]]"
    chosen = [{"K": format_K(paper.K), "preset": name} for name in (paper.name, f"custom, from {paper.name}")]
    for changes in ({}, {"K": spaced}, {"K": ""}, {"K": "[[4"}, {"K": wrong}, *chosen):
        assert fields(start, **changes).lanes == adaptive
    assert fields(start, K=format_K(paper.K)).lanes == [*adaptive[:2], "cascade"]
    assert fields(start, K="[[2,4],[0,1]]", family=CUSTOM).lanes == adaptive
    assert fields(page.start, K=format_K(paper.K)).lanes == page.start.form.lanes, "the cascade races as it is"


def test_every_ready_family_has_examples_and_a_button_for_each_kind(page):
    for spec in catalog.READY:
        kinds = examples_by_kind(spec)
        assert 5 <= len(kinds) <= MOST_KINDS
        for number, kind in enumerate(example_kinds(spec)):
            first = kinds[kind][0]
            update = example_events.show_example(page, FamilyFields(spec.name), number, "typed by hand")
            assert (update.values["prompt"], example_title(first.prompt)) == (first.prompt, first.title)
    unnamed = example_events.show_example(page, custom(), 0, None)  # a custom family that is not filled in yet
    assert unnamed.values["prompt"] == first_example(OTHER.spec).prompt


def test_copies_of_the_target_are_drafts():
    ticked = FamilyFields("embedded", device="cpu", copies=["self-4bit", "self-8bit"])
    update = family_choice.change_drafts(ticked)
    assert update.drafts == ("self-8bit", "self-4bit", "small", "tiny")
    assert update.values["draft"] == "self-8bit"
    assert update.presets.options == ("adaptive", "short drafts")
    assert FamilyFields("embedded", copies=[]).to_choice() == FamilyFields("embedded").to_choice()


def test_a_custom_family_without_drafts_gets_a_copy_and_is_told_so(page):
    update = family_choice.choose_family(page, "v", custom(target="a/b"))
    assert (update.values["copies"], update.drafts) == (["self-8bit"], ("self-8bit",))
    assert update.status.text == family_choice.NAME_TARGET
    unticked = family_choice.choose_copies(page, "v", custom(target="a/b", copies=[]))
    assert (unticked.drafts, unticked.status.text) == ((), family_choice.NO_DRAFTS)
    named = family_choice.choose_family(page, "v", custom(target="a/b", others="c/d"))
    assert (named.values["copies"], named.drafts, named.status) == ([], ("d",), None)
    assert family_choice.choose_family(page, "v", EMBEDDED).values["copies"] == []


def test_named_drafts_take_the_place_of_a_copy_that_the_visitor_has_not_ticked(page):
    named = custom(target="a/b", others="c/d", copies=["self-8bit"])
    family_choice.choose_family(page, "v", custom())
    update = family_choice.name_drafts(page, "v", named)
    assert (update.values["copies"], update.drafts, update.status.text) == ([], ("d",), family_choice.NAMED_DRAFTS)
    family_choice.choose_family(page, "v", custom())
    family_choice.choose_copies(page, "v", named)
    update = family_choice.name_drafts(page, "v", named)
    assert "copies" not in update.values and update.drafts == ("self-8bit", "d")


def test_a_recorded_race_brings_its_copies_back(page):
    header = RECORDED[0].header
    levels = (*header.levels[:-1], Level("self-8bit", 3), Level("target", 4))
    trace = replace(RECORDED[0], header=replace(header, levels=levels))
    restored = form_events.restore_form(page, uploaded_race(Recording((trace,))))
    assert restored.values["copies"] == ["self-8bit"]
    assert restored.drafts == ("self-8bit", *DEFAULTS.drafts)
