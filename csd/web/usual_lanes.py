"""The lanes and settings that the page starts with, in place of those of the race to lose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from csd.stage.tour import LOSE
from csd.web.context import PageContext
from csd.web.fields import FamilyFields
from csd.web.form_events import start_with
from csd.web.preset_choice import preset_choices
from csd.web.updates import FormUpdate, StatusLine

USUAL_AGAIN = "The usual settings are back."


def show_usual_lanes(context: PageContext, fields: FamilyFields, update: FormUpdate | None = None) -> FormUpdate:
    """The lanes, settings and temperature that the page starts with, in place of those of the race to lose."""
    update = update or FormUpdate(status=StatusLine(USUAL_AGAIN))
    return with_usual_lanes(context, fields, replace(update, values={**update.values, "temperature": 0.0}))


def show_usual_methods(context: PageContext, fields: FamilyFields) -> FormUpdate:
    """The lanes that the page starts with, and their settings."""
    return with_usual_lanes(context, fields, FormUpdate())


def was_to_lose(temperature: float | None, by_hand: Collection[str]) -> bool:
    return temperature == LOSE.temperature and "temperature" not in by_hand


def with_usual_lanes(context: PageContext, fields: FamilyFields, update: FormUpdate) -> FormUpdate:
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
