"""Events that fill in the form, or read it: links, presets, examples, another family, its copies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.models import catalog
from csd.models.names import drafts_fault, target_fault
from csd.models.spec import COPIES, FamilySpec, custom
from csd.request import link
from csd.request.prompts import Prompt
from csd.stage.tour import LOSE
from csd.web import examples
from csd.web.context import PageContext, fields_of, settings_of
from csd.web.examples import example_kinds, next_example
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.preset_choice import preset_choices
from csd.web.preset_names import is_custom, preset_of
from csd.web.races import FinishedRace, first_recorded
from csd.web.typed import is_own_prompt
from csd.web.updates import FormUpdate, StatusLine

OWN_PROMPT = "My prompt"  # the chip that brings back what the visitor typed
USUAL_COPY = "self-8bit"  # drafts for a target that comes without drafts
NAME_TARGET = (
    f"Name a big model under Settings. Without small models, {USUAL_COPY}, a quantised copy of it, guesses for it."
)
NAMED_DRAFTS = f"The small models that you name take the place of {USUAL_COPY}. Tick it to have both."
RESET = "The settings are as they were at the start."
USUAL_AGAIN = "The usual settings are back."
USUAL_AT_HOME = (
    "The {home} race at temperature 1.5 with a fixed plan, for a loss. Any example brings the usual settings back."
)
USUAL = "Temperature 1.5 and a fixed plan, for a loss. Any example brings the usual settings back."
NO_EXAMPLE = "These models have no example of that kind. Choose another one."
TAKES_OVER = "{name} answers your own words: the {home} know little beyond the examples."
TAKES_OVER_WITH_COPY = (
    "{name} answers your own words: the {home} know little beyond the examples. "
    "Only a copy of itself guesses for it: expect a smaller gain."
)
CONTINUES = "The {home} only continue texts like the examples. {name} (under Settings) answers questions."
HOME_AGAIN = "Back to the {home}. Press Race."
BEFORE = " On the stage is still the race of {name}."
NO_DRAFTS = f"Nothing guesses for this big model. Tick {USUAL_COPY}, a copy of it, or name a small model."


def show_example(
    context: PageContext,
    fields: FamilyFields,
    number: int,
    prompt: str | None,
    by_hand: Collection[str] = (),
    max_new: float | None = None,
    temperature: float | None = None,
    k: float | None = None,
    K: str | None = None,
) -> FormUpdate:
    """The next example of a kind, given by its number among the kinds of the family.

    Fields named in `by_hand`, which the visitor has set, stay. The status line tells a length that differs from
    `max_new`, the form's. A prompt of the visitor's own moves to a chip. The form's `temperature` tells whether the
    last race was the one to lose: its lanes are then put back. An example may have a draft length `k` and a plan `K` of
    its own; the next one brings back the usual ones.
    """
    spec = _spec_of(fields)
    kinds = example_kinds(spec)
    if number >= len(kinds):
        return FormUpdate(status=StatusLine(NO_EXAMPLE))
    example = next_example(spec, kinds[number], prompt)
    found = example.prompt
    values = {name: getattr(found, name) for name in examples.FIELDS if name not in by_hand}
    length = values.get("max_new", max_new)
    longer = f" {length} tokens instead of {max_new:g}." if max_new and length != max_new else ""
    said = StatusLine(f"{example.number} of {example.count}: {found.title}.{longer}")  # short: it has one line
    # Kept for the session, so no longer than one that races.
    is_kept = is_own_prompt(context, prompt) and len(prompt or "") <= context.studio.deployment.max_prompt
    own_prompt = prompt if is_kept else None
    update = FormUpdate(values, status=said, own_prompt=own_prompt)
    if _was_to_lose(temperature, by_hand):
        update = _with_usual_lanes(context, fields, update)
    return replace(update, values={**update.values, **_settings_for(fields, found, {"k": k, "K": K}, by_hand)})


def _settings_for(
    fields: FamilyFields, example: Prompt | None, given: Mapping[str, Any], by_hand: Collection[str] = ()
) -> dict[str, Any]:
    try:
        settings = examples.settings_for(fields.to_choice(), example, given)
    except ValueError:  # a custom family that is not filled in yet
        return {}
    return {name: value for name, value in settings.items() if name not in by_hand}


def show_own_prompt(
    context: PageContext, fields: FamilyFields, typed: str, by_hand: Collection[str], temperature: float | None
) -> FormUpdate:
    """The visitor's own prompt, which an example had replaced. The race to lose is over, as with an example."""
    update = FormUpdate({"prompt": typed})
    return show_usual_lanes(context, fields, update) if _was_to_lose(temperature, by_hand) else update


def show_usual_lanes(context: PageContext, fields: FamilyFields, update: FormUpdate | None = None) -> FormUpdate:
    """The lanes, settings and temperature that the page starts with, in place of those of the race to lose."""
    update = update or FormUpdate(status=StatusLine(USUAL_AGAIN))
    return _with_usual_lanes(context, fields, replace(update, values={**update.values, "temperature": 0.0}))


def show_usual_methods(context: PageContext, fields: FamilyFields) -> FormUpdate:
    """The lanes that the page starts with, and their settings."""
    return _with_usual_lanes(context, fields, FormUpdate())


def _was_to_lose(temperature: float | None, by_hand: Collection[str]) -> bool:
    return temperature == LOSE.temperature and "temperature" not in by_hand


def _with_usual_lanes(context: PageContext, fields: FamilyFields, update: FormUpdate) -> FormUpdate:
    """The lanes that the page starts with, and their settings; k and K are the family's, not those of the race on the
    stage."""
    try:
        choice = fields.to_choice()
    except ValueError:  # a custom family that is not filled in yet
        return update
    start = start_with(context.start, choice).values()
    values = {**update.values, **{name: start[name] for name in choice.defaults.preset.fields()}}
    values |= {name: choice.defaults.preset.fields()[name] for name in ("k", "K")}
    return replace(update, values=values, presets=preset_choices(choice, values))


def show_losing_race(context: PageContext, fields: FamilyFields, prompt: str | None) -> FormUpdate:
    """The tour's recipe for a race that a cascade loses, at the length that the form has.

    A family without the recipe's preset or kind of example takes its first preset of a cascade with K, or its first
    example. Copies of the target guess too well to lose: their family gives way to the one that the page starts with.
    """
    home, start = context.studio.home, context.start
    gives_way = _drafts_are_copies(fields) and fields.family != start.family.family
    fields = start.family if gives_way else fields
    spec = _spec_of(fields)
    kinds = example_kinds(spec)
    number = kinds.index(LOSE.example) if LOSE.example in kinds else 0
    said = StatusLine(USUAL_AT_HOME.format(home=catalog.title(home.spec.name)) if gives_way else USUAL)
    update = replace(show_example(context, fields, number, prompt, ("max_new",)), status=said)
    try:
        choice = fields.to_choice()
    except ValueError:
        return update
    with_K = [one for one in choice.defaults.presets if Cascade.name in one.lanes]
    preset = next((one for one in with_K if one.name == LOSE.preset), with_K[0])
    lanes = [*preset.lanes, AdaptiveCascade.name]  # which guesses less where guesses are rejected
    values = {**update.values, **preset.fields(), "lanes": lanes, "temperature": LOSE.temperature}
    update = replace(update, values=values, presets=preset_choices(choice, values, preset.name))
    if not gives_way:
        return update
    family = {name: value for name, value in start.values().items() if name in link.FAMILY}
    return replace(update, values={**family, **values}, drafts=choice.defaults.drafts, kinds=example_kinds(spec))


def _drafts_are_copies(fields: FamilyFields) -> bool:
    try:
        drafts = fields.to_choice().defaults.drafts
    except ValueError:
        return False
    return bool(drafts) and all(name in COPIES for name in drafts)


def choose_family(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """What a family that the visitor has chosen brings along: copies, drafts, presets and examples."""
    state, spec = context.studio.visitors.state(visitor), _spec_of(replace(fields, copies=None))
    state.has_chosen_family, state.was_given_copy = True, not spec.drafts
    loaded = context.studio.families.as_loaded(FamilyChoice(spec, fields.device, fields.dtype))
    copies = list(loaded.spec.copies) if spec.drafts else [USUAL_COPY]
    update = change_drafts(replace(fields, copies=copies))
    said = StatusLine(NAME_TARGET) if not spec.drafts else update.status
    return replace(update, values={**update.values, "copies": copies}, kinds=example_kinds(spec), status=said)


def change_drafts(fields: FamilyFields) -> FormUpdate:
    """The family's drafts and its presets, the first of which is filled in."""
    try:
        choice = fields.to_choice()
    except ValueError:  # a custom family that is not filled in yet
        return FormUpdate()
    defaults = choice.defaults
    said = None if defaults.drafts else StatusLine(NO_DRAFTS)
    return FormUpdate(defaults.preset.fields(), defaults.drafts, preset_choices(choice), status=said)


def choose_copies(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """The same after the visitor has ticked or unticked a copy."""
    context.studio.visitors.state(visitor).was_given_copy = False
    return change_drafts(fields)


def name_drafts(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """The same after the names of custom drafts were edited; a ready family is left as the visitor has set it up.

    A copy that was ticked for want of drafts is unticked.
    """
    state = context.studio.visitors.state(visitor)
    if fields.family != CUSTOM:
        return FormUpdate()
    if not state.was_given_copy or not (fields.others or "").strip():
        return change_drafts(fields)
    state.was_given_copy = False
    update = change_drafts(replace(fields, copies=[]))
    return replace(update, values={**update.values, "copies": []}, status=StatusLine(NAMED_DRAFTS))


def check_names(context: PageContext, fields: FamilyFields) -> tuple[str, str]:
    """What is wrong with the names of the target and of the drafts, each in a sentence or empty.

    Where visitors may name no models, nothing is looked for on this machine."""
    if CUSTOM not in context.options["family"]:
        return "", ""
    return target_fault(fields.target or ""), drafts_fault(fields.others or "")


def begin_own_prompt(context: PageContext, visitor: str, fields: PageFields) -> FormUpdate:
    """What a prompt of the visitor's own brings along: the studio's preferred family, once it is ready, or else the
    usual k and K in place of those that an example has.

    The family stays where the visitor has chosen it, or has changed a setting that belongs to a family. The length
    stays in any case: larger models take longer as it is. A prompt that has raced meanwhile keeps the settings of its
    race, which is on the stage. The settings of the race to lose give way, also on a page that was loaded again.
    """
    studio, home = context.studio, context.studio.home
    raced = {race.prompt for race in studio.visitors.find(visitor).races}
    if not is_own_prompt(context, fields.form.prompt) or fields.form.prompt in raced:
        return FormUpdate()
    usual = show_usual_lanes(context, fields.family) if _holds_losing_race(context, fields) else FormUpdate()
    given, initial = {**fields.values(), **usual.values}, context.start.values()
    kept = {name for name in given if link.same(given[name], initial[name])}
    kept |= {name for name, value in home.defaults.preset.fields().items() if link.same(given[name], value)}
    of_family = {*link.FAMILY, *home.defaults.preset.fields()}
    has_chosen = studio.visitors.find(visitor).has_chosen_family
    is_ready = studio.families.status(studio.preferred).state == "ready"
    if studio.preferred == home or not is_ready or has_chosen or not of_family <= kept:
        settings = _settings_for(fields.family, None, given)
        goes_on = is_ready and studio.preferred != home and given["family"] == home.spec.name
        name, at_home = (catalog.title(choice.spec.name) for choice in (studio.preferred, home))
        said = StatusLine(CONTINUES.format(name=name, home=at_home)) if goes_on else None
        return replace(usual, values={**usual.values, **settings}, status=said)
    choice = studio.families.as_loaded(studio.preferred)
    preferred = fields_of(choice, None, studio.deployment.lanes)
    values = {**usual.values, **{name: value for name, value in preferred.values().items() if name in of_family}}
    presets = preset_choices(choice, {**given, **values})
    drafts = choice.defaults.drafts
    sentence = TAKES_OVER_WITH_COPY if drafts == (USUAL_COPY,) else TAKES_OVER
    told = sentence.format(name=catalog.title(choice.spec.name), home=catalog.title(home.spec.name))
    said = StatusLine(told, "switched")
    return FormUpdate(values, choice.defaults.drafts, presets, example_kinds(choice.spec), said)


def _holds_losing_race(context: PageContext, fields: PageFields) -> bool:
    """Whether the form holds the settings of the race to lose, and nothing that the visitor has set."""
    given = fields.values()
    if given["temperature"] != LOSE.temperature:
        return False
    losing = {**context.start.values(), **show_losing_race(context, fields.family, None).values}
    own = ("prompt", "max_new", *link.FAMILY)
    return all(link.same(given[name], value) for name, value in losing.items() if name in given and name not in own)


def go_home(context: PageContext, visitor: str, fields: PageFields) -> FormUpdate:
    """The family that the page starts with, and its settings, in place of another one that took over. The prompt and
    the length stay."""
    context.studio.visitors.state(visitor).has_chosen_family = True
    home, start = context.studio.home, context.start.values()
    names = {*link.FAMILY, *home.defaults.preset.fields()}
    values = {name: value for name, value in start.items() if name in names}
    presets = preset_choices(home, {**fields.values(), **values})
    other = _other_family_raced(context, visitor)
    before = BEFORE.format(name=catalog.title(other)) if other else ""
    said = StatusLine(HOME_AGAIN.format(home=catalog.title(home.spec.name)) + before, "previous" if other else "")
    return FormUpdate(values, home.defaults.drafts, presets, example_kinds(home.spec), said)


def _other_family_raced(context: PageContext, visitor: str) -> str:
    """The family of the visitor's latest race; empty where that is the one of the page, or where there was none."""
    own = context.studio.visitors.find(visitor).races
    family = own[-1].unpack().recording.family if own else ""
    return family if family != context.studio.home.spec.name else ""


def apply_preset(name: str, fields: FamilyFields) -> FormUpdate:
    if is_custom(name):
        return FormUpdate()
    try:
        defaults = fields.to_choice().defaults
    except ValueError:
        return FormUpdate()
    return FormUpdate(defaults.find_preset(name).fields())


def follow_settings(preset: str, fields: PageFields) -> FormUpdate:
    """The preset in the list after a setting was changed; nothing where it stays."""
    try:
        presets = preset_choices(fields.family.to_choice(), fields.values(), preset_of(preset))
    except ValueError:  # a custom family that is not filled in yet
        return FormUpdate()
    return FormUpdate() if presets.selected == preset else FormUpdate(presets=presets)


def restore_form(context: PageContext, race: FinishedRace) -> FormUpdate | None:
    """The settings of a race, to run it again; None if its family cannot be chosen, or if the form has no fields for
    its settings."""
    header = race.traces[0].header
    try:
        spec = catalog.find(header.family)
    except ValueError:
        return None
    if spec.name not in context.options["family"]:
        return None
    copies = [level.name for level in header.levels if level.name in COPIES]
    family = replace(context.start.family, family=spec.name, copies=copies).filled_in()
    try:
        context.studio.deployment.check_family(family.to_choice(), context.studio.families.homes)
    except ValueError:
        return None
    settings = settings_of(race, family.to_choice().defaults)
    if "lanes" not in settings or settings["rule"] not in context.options["rule"]:
        return None
    return fill_form(context, family, settings)


def fill_form(
    context: PageContext, family: FamilyFields, settings: Mapping[str, Any], status: StatusLine | None = None
) -> FormUpdate:
    """The whole form: what it starts with for a family, with these settings."""
    choice = family.to_choice()
    start = replace(start_with(context.start, choice), family=family)
    values = {**start.values(), **settings}
    presets = preset_choices(choice, values)
    return FormUpdate(values, choice.defaults.drafts, presets, example_kinds(choice.spec), status)


def reset_settings(context: PageContext, fields: PageFields) -> FormUpdate:
    """Everything but the models and the prompt, as the form starts with it: set up for the family's first race."""
    try:
        choice = fields.family.to_choice()
    except ValueError:  # a custom family that is not filled in yet
        return FormUpdate()
    race = first_recorded(context.recorded, choice.spec.name)
    own = (
        replace(fields_of(choice, race, context.studio.deployment.lanes), family=fields.family).values() if race else {}
    )
    return fill_form(context, fields.family, {**own, "prompt": fields.form.prompt}, StatusLine(RESET))


def start_with(start: PageFields, choice: FamilyChoice) -> PageFields:
    """The form as it starts with a family; that of the page is set up for the race on its stage."""
    if choice == start.family.to_choice():
        return start
    return replace(start, form=replace(start.form, **choice.defaults.preset.fields()))


def _spec_of(fields: FamilyFields) -> FamilySpec:
    try:
        return fields.to_choice().spec
    except ValueError:  # a custom family that is not filled in yet
        return custom(CUSTOM)
