"""Links, presets, examples and K: what they fill into the form, without Gradio."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from fake_page import HOME, RECORDED, context, fields

from csd.decoding.k_matrix import format_K
from csd.models import catalog
from csd.record.recording import Recording
from csd.record.trace import Level
from csd.request.form import to_fields
from csd.request.request import Request
from csd.web import form_events, link_events
from csd.web.context import fields_of, settings_of
from csd.web.examples import MOST_KINDS, example_kinds, example_title, examples_by_kind, first_example
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.races import first_recorded, uploaded_race
from csd.web.typed import has_typed
from csd.web.updates import Choices, FormUpdate

DEFAULTS = HOME.defaults
EMBEDDED = FamilyFields("embedded", device="cpu")
OTHER = FamilyChoice(catalog.find("Qwen3"), "cpu")
SMOLLM2 = FamilyChoice(catalog.find("smollm2"), "cpu")


@pytest.fixture(scope="module")
def page():
    return context()


@pytest.fixture
def growing():
    """A page that prefers another family, which is ready and has recorded races."""
    return ready(SMOLLM2)


def ready(preferred: FamilyChoice):
    page = context(behind=(preferred,))
    page.studio.families.ensure_loading(preferred)
    while page.studio.families.any_loading:
        pass
    return page


def custom(**names: str) -> FamilyFields:
    return FamilyFields(CUSTOM, **names)


def test_the_page_starts_with_the_defaults_of_its_family(page):
    start = page.start.values()
    assert (start["family"], start["device"]) == ("embedded", "cpu")
    assert PageFields.from_values(start) == page.start
    without_race = fields_of(HOME)
    assert without_race.form == DEFAULTS.form(prompt=first_example(HOME.spec).prompt)


def test_the_page_starts_with_the_settings_of_the_race_on_its_stage(page):
    _, request = page.start.to_request()
    assert to_fields(request) == to_fields(Request.from_traces(page.landing.traces))
    assert page.landing.recording.family == page.start.family.family
    assert not has_typed(page, "v", page.start)


def test_the_settings_of_a_race_that_this_machine_cannot_run_are_those_of_an_example(page):
    race = first_recorded(page.recorded, "smollm2")
    without_copies = FamilyFields("smollm2", copies=[]).to_choice().defaults
    assert settings_of(race, without_copies).keys() == {"prompt", "temperature", "seed", "max_new"}
    assert "lanes" in settings_of(race, FamilyFields("smollm2").to_choice().defaults)


def test_a_kind_of_examples_goes_round(page):
    prompts = next(iter(examples_by_kind(HOME.spec).values()))
    seen, text = [], "typed by hand"
    for _ in range(len(prompts) + 1):
        update = form_events.show_example(page, EMBEDDED, 0, text)
        assert update.own_prompt == (text if text == "typed by hand" else None)
        text = update.values["prompt"]
        seen.append(text)
    assert seen == [*(prompt.prompt for prompt in prompts), prompts[0].prompt]
    assert update.values.keys() == {"prompt", "temperature", "seed", "max_new"}
    assert update.status.text == f"1 of {len(prompts)}: {prompts[0].title}."
    kept = form_events.show_example(page, EMBEDDED, 0, text, ("max_new", "temperature"))
    assert kept.values.keys() == {"prompt", "seed"}, "what the visitor has set stays"
    told = form_events.show_example(page, EMBEDDED, 0, prompts[-1].prompt, max_new=64).status.text
    assert told == f"1 of {len(prompts)}: {prompts[0].title}. 128 tokens instead of 64."
    for same in ({"max_new": 128}, {"by_hand": ("max_new",), "max_new": 64}):
        assert "instead" not in form_events.show_example(page, EMBEDDED, 0, text, **same).status.text
    assert example_title(text) == prompts[0].title
    assert example_title("typed by hand") == ""


def test_the_losing_race_of_the_tour_leaves_the_length(page):
    update = form_events.show_losing_race(page, EMBEDDED, "typed by hand")
    tuned = DEFAULTS.find_preset("tuned K")
    assert {**update.values, **tuned.fields(), "temperature": 1.5} == update.values
    assert update.presets.selected == "tuned K" and update.own_prompt == "typed by hand"
    assert "max_new" not in update.values
    assert update.values["prompt"] == examples_by_kind(HOME.spec)["story"][0].prompt
    other = form_events.show_losing_race(page, FamilyFields("smollm2", device="cpu"), None)
    assert "cascade" in other.values["lanes"] and other.values["temperature"] == 1.5


def test_a_family_brings_its_presets_and_drafts():
    update = form_events.change_drafts(EMBEDDED)
    assert update.values == DEFAULTS.preset.fields()
    assert update.drafts == DEFAULTS.drafts
    assert update.presets == Choices(tuple(one.name for one in DEFAULTS.presets), DEFAULTS.preset.name)
    one_draft = form_events.change_drafts(custom(target="a/b", others="c/d, "))
    assert (one_draft.drafts, one_draft.values["draft"]) == (("d",), "d")
    assert form_events.change_drafts(custom()) == FormUpdate()


def test_leaving_the_field_of_custom_drafts_changes_nothing_for_a_ready_family(page):
    assert form_events.name_drafts(page, "v", EMBEDDED) == FormUpdate()
    edited = custom(target="a/b", others="c/d, ")
    assert form_events.name_drafts(page, "v", edited) == form_events.change_drafts(edited) != FormUpdate()


def test_a_preset_fills_in_its_fields():
    paper = DEFAULTS.find_preset("paper's K")
    assert form_events.apply_preset("paper's K", EMBEDDED).values == paper.fields()
    assert form_events.apply_preset("paper's K", custom()) == FormUpdate()


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
    paper = DEFAULTS.find_preset("paper's K")
    spaced = format_K(DEFAULTS.preset.K).replace(",", ", ")
    for changes in ({}, {"K": spaced}, {"K": ""}, {"K": "[[4"}, {"K": format_K(paper.K), "preset": paper.name}):
        assert fields(page.start, **changes).lanes == page.start.form.lanes
    assert fields(page.start, K=format_K(paper.K)).lanes != page.start.form.lanes
    assert fields(page.start, K="[[2,4],[0,1]]", family=CUSTOM).lanes == page.start.form.lanes


def test_a_link_takes_the_form_to_another_page(page):
    sent = fields(page.start, prompt="A fox & a hen", K="[[2,4,6],[0,1,2],[0,0,1]]", max_new=32, always=True)
    query, omitted = link_events.copy_link(page, "v", sent)
    assert omitted == ""
    assert "family" not in query
    update = link_events.open_link(page, "v", dict(_pairs(query)))
    assert PageFields.from_values(update.values) == sent
    assert update.status.text == "The link has filled in the form. Press Race."
    assert link_events.copy_link(page, "v", page.start) == ("", "")
    assert link_events.open_link(page, "v", {}) == FormUpdate()


def test_a_link_may_hide_controls(page):
    assert link_events.open_link(page, "v", {"hide": "advanced, seed"}) == FormUpdate()
    update = link_events.open_link(page, "v", {"hide": "seed,everything", "k": "9"})
    assert update.values["k"] == 9
    assert "'everything', which is not on this page. It can hide: advanced, " in update.status.text


def test_a_link_selects_the_preset_that_it_agrees_with(page):
    paper = DEFAULTS.find_preset("paper's K")
    query, _ = link_events.copy_link(page, "v", fields(page.start, **paper.fields()))
    assert link_events.open_link(page, "v", dict(_pairs(query))).presets.selected == "paper's K"


def test_what_is_wrong_in_a_link_is_said_and_left_out(page):
    update = link_events.open_link(page, "v", {"k": "0", "family": CUSTOM, "nonsense": "1", "seed": "7"})
    assert (update.values["family"], update.values["k"], update.values["seed"]) == ("embedded", DEFAULTS.preset.k, 7)
    for part in ("The link has filled in the form.", "The models in the link were ignored.", "'nonsense'", "k must be"):
        assert part in update.status.text
    alone = link_events.open_link(page, "v", {"nonsense": "1"})
    assert alone.values == page.start.values()
    assert "Press Race" not in alone.status.text


def test_a_link_may_name_a_family_as_it_was_called(page):
    update = link_events.open_link(page, "v", {"family": "SmolLM2"})
    assert update.values["family"] == "SmolLM2 1.7B"


def test_a_link_of_another_family_brings_its_drafts(page):
    update = link_events.open_link(page, "v", {"family": "Qwen3", "K": format_K(DEFAULTS.preset.K)})
    assert update.drafts == ("Qwen3-1.7B", "Qwen3-0.6B")
    assert update.values["draft"] in update.drafts


def test_every_ready_family_has_examples_and_a_button_for_each_kind(page):
    for spec in catalog.READY:
        kinds = examples_by_kind(spec)
        assert 5 <= len(kinds) <= MOST_KINDS
        for number, kind in enumerate(example_kinds(spec)):
            first = kinds[kind][0]
            update = form_events.show_example(page, FamilyFields(spec.name), number, "typed by hand")
            assert (update.values["prompt"], example_title(first.prompt)) == (first.prompt, first.title)
    unnamed = form_events.show_example(page, custom(), 0, None)  # a custom family that is not filled in yet
    assert unnamed.values["prompt"] == first_example(OTHER.spec).prompt


def test_the_preferred_family_takes_over_a_form_that_nobody_has_touched(growing):
    update = form_events.prefer_family(growing, "v", growing.start)
    after = PageFields.from_values({**growing.start.values(), **update.values})
    race = first_recorded(growing.recorded, "smollm2")
    assert after.family.to_choice() == SMOLLM2
    assert after.form.prompt == race.traces[0].header.text
    assert update.landing.stage.race == race.id
    assert race.id in update.landing.files.traces
    assert update.presets.selected == SMOLLM2.defaults.preset.name
    assert (update.drafts, update.kinds) == (SMOLLM2.defaults.drafts, example_kinds(SMOLLM2.spec))
    assert form_events.prefer_family(growing, "v", after) == FormUpdate()
    assert link_events.open_link(growing, "w", {}) == update  # a visitor who comes later


def test_a_family_without_a_recorded_race_leaves_prompt_and_stage(page):
    update = form_events.prefer_family(ready(OTHER), "v", page.start)
    assert update.values["family"] == "Qwen3"
    assert "prompt" not in update.values and update.landing is None


def test_what_was_typed_stays_when_the_preferred_family_takes_over(growing):
    typed = fields(growing.start, prompt="Why is the sea salty?", max_new=40)
    update = form_events.prefer_family(growing, "v", typed)
    assert (update.values["family"], update.landing) == ("smollm2", None)
    assert not update.values.keys() & {"prompt", "max_new", "temperature", "seed"}
    only_longer = form_events.prefer_family(growing, "v", fields(growing.start, max_new=40))
    assert "prompt" in only_longer.values and only_longer.landing
    assert "max_new" not in only_longer.values


def test_nothing_takes_over_once_the_visitor_has_raced(growing):
    growing.studio.visitors.state("v").count = 1
    assert form_events.prefer_family(growing, "v", growing.start) == FormUpdate()


@pytest.mark.parametrize(
    "changes", [{"k": 9}, {"lanes": ["autoregressive", "cascade"]}, {"copies": ["self-8bit"]}, {"family": "Qwen2.5"}]
)
def test_a_form_that_was_set_up_for_a_family_keeps_it(growing, changes):
    assert form_events.prefer_family(growing, "v", fields(growing.start, **changes)) == FormUpdate()


def test_a_copy_that_this_machine_leaves_out_is_not_offered_ready_made():
    loads = []

    def load(spec, *_):
        loads.append(spec)
        return SimpleNamespace(spec=spec.without_copies(), device="cpu", placed="", dtype="torch.float32", notes=())

    page = context(load=load, behind=(SMOLLM2,))
    families = page.studio.families
    families.ensure_loading(SMOLLM2)
    while families.any_loading:
        pass
    update = form_events.prefer_family(page, "v", page.start)
    assert (update.values["copies"], update.drafts) == ([], ())
    chosen = form_events.choose_family(page, "v", FamilyFields("smollm2", device="cpu"))
    assert (chosen.values["copies"], chosen.drafts) == ([], ())
    shown = PageFields.from_values({**page.start.values(), **update.values}).family.to_choice()
    families.ensure_loading(OTHER)  # which does not push it out
    assert families.ensure_loading(shown).status.state == "ready"
    assert SMOLLM2.spec in loads and shown.spec not in loads


def test_a_family_that_the_visitor_or_a_link_has_chosen_stays(growing):
    form_events.choose_family(growing, "v", FamilyFields("embedded"))
    link_events.open_link(growing, "w", {"seed": "3"})
    for visitor in "vw":
        assert form_events.prefer_family(growing, visitor, growing.start) == FormUpdate()


def test_nothing_is_preferred_before_it_is_ready(page):
    waiting = context(behind=(OTHER,))
    assert form_events.prefer_family(waiting, "v", waiting.start) == FormUpdate()
    assert form_events.prefer_family(page, "v", page.start) == FormUpdate()


def test_a_link_names_its_family_where_another_one_may_take_over(growing):
    query, _ = link_events.copy_link(growing, "v", growing.start)
    assert query == "?family=embedded"
    assert link_events.open_link(growing, "v", dict(_pairs(query))).values == growing.start.values()


def test_copies_of_the_target_are_drafts():
    ticked = FamilyFields("embedded", device="cpu", copies=["self-4bit", "self-8bit"])
    update = form_events.change_drafts(ticked)
    assert update.drafts == ("self-8bit", "self-4bit", "draft-mid", "draft-small")
    assert update.values["draft"] == "self-8bit"
    assert update.presets.options == ("adaptive", "short drafts")
    assert FamilyFields("embedded", copies=[]).to_choice() == FamilyFields("embedded").to_choice()


def test_a_custom_family_without_drafts_gets_a_copy_and_is_told_so(page):
    update = form_events.choose_family(page, "v", custom(target="a/b"))
    assert (update.values["copies"], update.drafts) == (["self-8bit"], ("self-8bit",))
    assert update.status.text == form_events.NAME_TARGET
    unticked = form_events.choose_copies(page, "v", custom(target="a/b", copies=[]))
    assert (unticked.drafts, unticked.status.text) == ((), form_events.NO_DRAFTS)
    named = form_events.choose_family(page, "v", custom(target="a/b", others="c/d"))
    assert (named.values["copies"], named.drafts, named.status) == ([], ("d",), None)
    assert form_events.choose_family(page, "v", EMBEDDED).values["copies"] == []


def test_named_drafts_take_the_place_of_a_copy_that_the_visitor_has_not_ticked(page):
    named = custom(target="a/b", others="c/d", copies=["self-8bit"])
    form_events.choose_family(page, "v", custom())
    update = form_events.name_drafts(page, "v", named)
    assert (update.values["copies"], update.drafts, update.status.text) == ([], ("d",), form_events.NAMED_DRAFTS)
    form_events.choose_family(page, "v", custom())
    form_events.choose_copies(page, "v", named)
    update = form_events.name_drafts(page, "v", named)
    assert "copies" not in update.values and update.drafts == ("self-8bit", "d")


@pytest.mark.parametrize("family", [EMBEDDED, custom(target="a/b"), custom(target="a/b", others="c/d")])
def test_a_link_brings_the_copies_along(page, family):
    with_copy = replace(family, copies=["self-8bit"]).filled_in()
    values = {**page.start.values(), **asdict(with_copy), **with_copy.to_choice().defaults.preset.fields()}
    sent = PageFields.from_values(values)
    query, _ = link_events.copy_link(page, "v", sent)
    assert "copies=self-8bit" in query
    assert PageFields.from_values(link_events.open_link(page, "v", dict(_pairs(query))).values) == sent


def test_a_recorded_race_brings_its_copies_back(page):
    header = RECORDED[0].header
    levels = (*header.levels[:-1], Level("self-8bit", 3), Level("target", 4))
    trace = replace(RECORDED[0], header=replace(header, levels=levels))
    restored = form_events.restore_form(page, uploaded_race(Recording((trace,))))
    assert restored.values["copies"] == ["self-8bit"]
    assert restored.drafts == ("self-8bit", *DEFAULTS.drafts)


def _pairs(query: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(query.removeprefix("?"), keep_blank_values=True)


def test_the_link_of_a_recorded_race_is_its_address_until_the_form_says_otherwise(page):
    race = page.landing
    update = form_events.restore_form(page, race)
    shown = PageFields.from_values(update.values)
    assert link_events.copy_link(page, "v", shown, race.id) == (f"#race={race.id.removeprefix('recorded-')}", "")
    for other in ({"prompt": "My own."}, {"seed": 7}, {"max_new": 12}):
        query, _ = link_events.copy_link(page, "v", PageFields.from_values({**update.values, **other}), race.id)
        assert query.startswith("?"), other
    assert link_events.copy_link(page, "v", shown, "of a visitor")[0] == link_events.copy_link(page, "v", shown)[0]
