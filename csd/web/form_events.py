"""Events that fill in the form, or follow what is set in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from csd.models import catalog
from csd.models.spec import COPIES
from csd.web.context import PageContext, fields_of, settings_of
from csd.web.examples import example_kinds
from csd.web.fields import FamilyFields, PageFields
from csd.web.loads import FamilyChoice
from csd.web.preset_choice import preset_choices
from csd.web.preset_names import is_custom, preset_of
from csd.web.races import FinishedRace, first_recorded
from csd.web.updates import FormUpdate, StatusLine

RESET = "The settings are as they were at the start."


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
