"""The race that a cascade loses: its settings in the form."""

from __future__ import annotations

from dataclasses import replace

from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.models import catalog
from csd.models.spec import COPIES
from csd.request import link
from csd.stage.tour import LOSE
from csd.web.context import PageContext
from csd.web.example_events import show_example
from csd.web.examples import example_kinds, is_brought
from csd.web.family_choice import spec_of
from csd.web.fields import FamilyFields, PageFields
from csd.web.preset_choice import preset_choices
from csd.web.updates import FormUpdate, StatusLine

USUAL = (
    "At temperature 1.5 the big model often picks unlikely words, which nobody can guess. "
    "Any example brings the usual settings back."
)
USUAL_AT_HOME = f"Back to the {{home}}. {USUAL}"


def show_losing_race(
    context: PageContext, fields: FamilyFields, prompt: str | None, max_new: float | None = None
) -> FormUpdate:
    """The tour's recipe for a race that a cascade loses. The form's length `max_new` stays, unless an example has
    brought it: then the usual one is back.

    A family without the recipe's preset or kind of example takes its first preset of a cascade with K, or its first
    example. Copies of the target guess too well to lose: their family gives way to the one that the page starts with.
    """
    home, start = context.studio.home, context.start
    gives_way = _drafts_are_copies(fields) and fields.family != start.family.family
    fields = start.family if gives_way else fields
    spec = spec_of(fields)
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
    if max_new is not None and is_brought(spec, "max_new", max_new):
        values["max_new"] = start.form.max_new
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


def holds_losing_race(context: PageContext, fields: PageFields) -> bool:
    """Whether the form holds the settings of the race to lose, and nothing that the visitor has set but another plan,
    which Theory may have brought for it."""
    given = fields.values()
    if given["temperature"] != LOSE.temperature:
        return False
    losing = {**context.start.values(), **show_losing_race(context, fields.family, None).values}
    free = {"prompt", "max_new", "draft", "k", "K", *link.FAMILY}
    free |= {"seed"} if is_brought(spec_of(fields.family), "seed", given["seed"]) else set()
    return all(link.same(given[name], value) for name, value in losing.items() if name in given and name not in free)
