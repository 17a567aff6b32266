"""The family that answers a visitor's own prompts, and when it does not, without Gradio."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from fake_page import RECORDED, context, fields, load_family
from in_a_loop import in_a_loop

from csd.models import catalog
from csd.record.recording import Recording
from csd.web import family_choice, link_events, losing_race, own_prompts
from csd.web.compare_settings import from_settings
from csd.web.examples import example_kinds, examples_by_kind
from csd.web.fields import FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.races import FinishedRace
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


def own(page, **changes) -> PageFields:
    return fields(page.start, **{"prompt": "Why is the sea salty?", **changes})


def test_the_preferred_family_takes_over_a_form_with_a_prompt_of_the_visitors(growing):
    update = own_prompts.begin_own_prompt(growing, "v", own(growing))
    after = PageFields.from_values({**own(growing).values(), **update.values})
    assert after.family.to_choice() == SMOLLM2
    assert after.form.prompt == "Why is the sea salty?"
    assert after.form.max_new == growing.start.form.max_new
    *others, last = growing.start.form.lanes
    assert (last, after.form.lanes) == ("cascade", [*others, "adaptive cascade"]), "it goes by what runs cost here"
    assert from_settings(growing, after) == "", "nobody chose them"
    assert after.form.K == SMOLLM2.defaults.preset.fields()["K"]
    assert "SmolLM2 135M answers your own prompts" in update.status.text and update.stage is None
    assert update.presets.selected == "adaptive"
    assert (update.drafts, update.kinds) == (SMOLLM2.defaults.drafts, example_kinds(SMOLLM2.spec))
    assert own_prompts.begin_own_prompt(growing, "v", after) == FormUpdate()


def test_a_pasted_text_that_is_too_long_is_told_at_once_and_stays(growing):
    pasted = "word " * 1500
    update = own_prompts.begin_own_prompt(growing, "v", own(growing, prompt=pasted))
    assert update.status.text == (
        "The prompt has 1,500 tokens, and this model reads at most 1,024, new ones included. Shorten it."
    )
    assert update.values["family"] == "smollm2" and "prompt" not in update.values
    after = PageFields.from_values({**own(growing, prompt=pasted).values(), **update.values})
    again = own_prompts.begin_own_prompt(growing, "v", after)
    assert (again.status.text, again.status.state) == (update.status.text, "refused"), "no models are brought along"
    assert own_prompts.begin_own_prompt(growing, "v", own(growing, prompt="word " * 900)).status.state == "switched"


def test_it_takes_over_while_it_is_still_loading():
    """A race of it waits, and answers as it would later; the models of the page would know nothing of the question."""
    gate = threading.Event()
    page = context(load=lambda spec, *_: gate.wait(20) and load_family(spec), behind=(SMOLLM2,))
    assert "family" not in own_prompts.begin_own_prompt(page, "v", own(page)).values, "nobody loads it"
    page.studio.families.ensure_loading(SMOLLM2)
    update = own_prompts.begin_own_prompt(page, "v", own(page))
    gate.set()
    assert update.values["family"] == "smollm2" and update.status.text.endswith("SmolLM2 135M is still loading.")


def test_the_form_waits_until_no_race_of_the_visitor_runs(page):
    state = page.studio.visitors.state("v")
    state.stop = threading.Event()

    async def wait() -> list[bool]:
        waiting = asyncio.create_task(own_prompts.await_end_of_race(page, "v"))
        await asyncio.sleep(3 * own_prompts.LOOK_AGAIN)
        before, state.stop = waiting.done(), None
        await waiting
        return [before, waiting.done()]

    assert in_a_loop(wait()) == [False, True]


def test_an_example_and_a_link_without_settings_leave_the_family_of_the_page(growing):
    assert own_prompts.begin_own_prompt(growing, "v", growing.start) == FormUpdate()
    assert link_events.open_link(growing, "v", {}) == FormUpdate()


def test_the_family_of_the_page_comes_back_with_its_settings_and_stays(growing):
    taken = own_prompts.begin_own_prompt(growing, "back", own(growing))
    form = PageFields.from_values({**own(growing).values(), **taken.values})
    update = own_prompts.go_home(growing, "back", form)
    after = PageFields.from_values({**form.values(), **update.values})
    assert after.family.to_choice() == growing.studio.home
    assert after.form == replace(growing.start.form, prompt="Why is the sea salty?")
    assert (update.status.text, update.status.state) == ("Back to the demo models. Press Race.", "")
    assert (update.drafts, update.kinds) == (
        growing.studio.home.defaults.drafts,
        example_kinds(growing.studio.home.spec),
    )
    stays = own_prompts.begin_own_prompt(growing, "back", own(growing))
    assert "family" not in stays.values and stays.status.text == (
        "The demo models only continue texts like the examples. SmolLM2 135M (under Settings) answers questions."
    )
    kept = own_prompts.go_home(growing, "back", replace(form, form=replace(form.form, max_new=40)))
    assert "max_new" not in kept.values and "prompt" not in kept.values


def test_back_at_the_family_of_the_page_the_race_of_another_is_said_to_be_on_the_stage(growing):
    def keep(name: str, family: str) -> None:
        recording = Recording(tuple(replace(one, header=replace(one.header, family=family)) for one in RECORDED))
        growing.studio.visitors.keep_race("raced", FinishedRace(name, name, recording))

    keep("one", "smollm2")
    status = own_prompts.go_home(growing, "raced", own(growing)).status
    assert status.state == "previous" and status.text.endswith("The race shown is still SmolLM2 135M’s.")
    keep("two", growing.studio.home.spec.name)
    assert own_prompts.go_home(growing, "raced", own(growing)).status.state == ""


def test_what_was_typed_stays_when_the_preferred_family_takes_over(growing):
    update = own_prompts.begin_own_prompt(growing, "v", own(growing, max_new=40, temperature=0.5))
    assert update.values["family"] == "smollm2"
    assert not update.values.keys() & {"prompt", "max_new", "temperature", "seed"}


def test_it_takes_over_after_races_of_examples_too(growing):
    """Which may have brought a draft length and a plan of their own, or the usual ones back."""
    growing.studio.visitors.state("v").count = 1
    home = growing.studio.home
    usual = own(growing, k=home.defaults.preset.k)
    brought = [one.settings() for kind in examples_by_kind(home.spec).values() for one in kind]
    assert any("K" in one for one in brought)
    for form in (usual, *(own(growing, **one) for one in brought)):
        assert own_prompts.begin_own_prompt(growing, "v", form).values["family"] == "smollm2"


def test_the_settings_of_the_race_to_lose_give_way_to_a_prompt_of_the_visitors(growing):
    """Also on a page that was loaded again, and has them from the race on its stage."""
    lost = losing_race.show_losing_race(growing, growing.start.family, None).values
    form = PageFields.from_values({**own(growing).values(), **lost, "prompt": "My grandmother keeps bees."})
    update = own_prompts.begin_own_prompt(growing, "v", form)
    assert (update.values["family"], update.values["temperature"]) == ("smollm2", 0)
    assert update.values["lanes"] == [*growing.start.form.lanes[:-1], "adaptive cascade"]
    assert "SmolLM2 135M answers your own prompts" in update.status.text
    replanned = replace(form, form=replace(form.form, k=2, K="[[1,1,1],[0,0,0],[0,0,0]]"))
    assert own_prompts.begin_own_prompt(growing, "v", replanned).values["temperature"] == 0, (
        "for the race that was lost"
    )
    chosen = replace(form, form=replace(form.form, seed=5))
    assert "temperature" not in own_prompts.begin_own_prompt(growing, "v", chosen).values, "that was set up by hand"


def test_the_length_and_the_temperature_of_an_example_give_way_unless_they_were_typed(growing):
    usual = growing.start.form
    examples = [one for kind in examples_by_kind(growing.studio.home.spec).values() for one in kind]
    longer = next(one for one in examples if one.max_new != usual.max_new)
    warmer = next(one for one in examples if one.temperature != usual.temperature)
    brought = {"max_new": longer.max_new, "temperature": warmer.temperature}
    values = own_prompts.begin_own_prompt(growing, "v", own(growing, **brought)).values
    assert (values["max_new"], values["temperature"]) == (usual.max_new, usual.temperature)
    typed = own_prompts.begin_own_prompt(growing, "v", own(growing, **brought), ["max_new"]).values
    assert "max_new" not in typed and typed["temperature"] == usual.temperature


def test_a_prompt_that_has_raced_meanwhile_keeps_the_settings_of_its_race(growing):
    first = RECORDED[0]
    trace = replace(first, header=replace(first.header, text="Why is the sea salty?"))
    growing.studio.visitors.keep_race("raced", FinishedRace("race 1", "sea", Recording((trace,))))
    assert own_prompts.begin_own_prompt(growing, "raced", own(growing)) == FormUpdate()
    after = own_prompts.begin_own_prompt(growing, "raced", own(growing, prompt="Why is the sky blue?"))
    assert after.values["family"] == "smollm2"


def test_without_another_family_an_own_prompt_has_the_usual_plan_and_draft_length(page):
    usual = page.studio.home.defaults.preset.fields()
    assert page.start.form.K != usual["K"], "the race on the stage has one of its own"
    assert own_prompts.begin_own_prompt(page, "v", own(page)).values == {"K": usual["K"]}
    assert own_prompts.begin_own_prompt(page, "v", own(page, k=7)).values == {"K": usual["K"], "k": usual["k"]}
    assert own_prompts.begin_own_prompt(page, "v", own(page, K="[[2,4,6],[0,1,2],[0,0,1]]")) == FormUpdate()


@pytest.mark.parametrize(
    "changes", [{"k": 9}, {"lanes": ["autoregressive", "cascade"]}, {"copies": ["self-8bit"]}, {"family": "Qwen2.5"}]
)
def test_a_form_that_was_set_up_for_a_family_keeps_it(growing, changes):
    assert "family" not in own_prompts.begin_own_prompt(growing, "v", own(growing, **changes)).values


def test_a_copy_that_this_machine_leaves_out_is_not_offered_ready_made():
    loads = []

    def load(spec, *_):
        loads.append(spec)
        return load_family(spec.without_copies())

    page = context(load=load, behind=(SMOLLM2,))
    families = page.studio.families
    families.ensure_loading(SMOLLM2)
    while families.any_loading:
        pass
    update = own_prompts.begin_own_prompt(page, "v", own(page))
    assert (update.values["copies"], update.drafts) == ([], ())
    chosen = family_choice.choose_family(page, "v", FamilyFields("smollm2", device="cpu"))
    assert (chosen.values["copies"], chosen.drafts) == ([], ())
    shown = PageFields.from_values({**page.start.values(), **update.values}).family.to_choice()
    families.ensure_loading(OTHER)  # which does not push it out
    assert families.ensure_loading(shown).status.state == "ready"
    assert SMOLLM2.spec in loads and shown.spec not in loads


def test_a_family_that_the_visitor_or_a_link_has_chosen_stays(growing):
    family_choice.choose_family(growing, "v", FamilyFields("embedded"))
    link_events.open_link(growing, "w", {"seed": "3"})
    for visitor in "vw":
        assert "family" not in own_prompts.begin_own_prompt(growing, visitor, own(growing)).values


def test_nothing_is_preferred_before_it_is_ready(page):
    waiting = context(behind=(OTHER,))
    assert "family" not in own_prompts.begin_own_prompt(waiting, "v", own(waiting)).values


def test_a_link_names_its_family_where_another_one_may_take_over(growing):
    query, _ = link_events.copy_link(growing, "v", growing.start)
    assert query == "?family=embedded"
    assert link_events.open_link(growing, "v", {"family": "embedded"}).values == growing.start.values()
