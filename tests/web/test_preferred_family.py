"""The family that takes over once it is ready, and when it does not, without Gradio."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fake_page import context, fields

from csd.models import catalog
from csd.web import form_events, link_events
from csd.web.examples import example_kinds
from csd.web.fields import FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.races import first_recorded
from csd.web.updates import FormUpdate

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
    assert link_events.open_link(growing, "v", {"family": "embedded"}).values == growing.start.values()
