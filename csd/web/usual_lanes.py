"""The lanes and settings that the page starts with, in place of those of the race to lose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.stage.tour import LOSE
from csd.web.context import PageContext, fields_of
from csd.web.fields import FamilyFields
from csd.web.form_events import start_with
from csd.web.loads import FamilyChoice
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


def lanes_of_own_prompts(context: PageContext, choice: FamilyChoice) -> list[str]:
    """The lanes with which these models answer a visitor's own prompts: those that the page starts with, if the
    family's own are among them, and the adaptive cascade in place of the one with a plan. A plan was tuned on one
    machine, and where a draft costs much of a run of the target it soon loses on another; the adaptive cascade goes by
    what runs cost here. Lanes that the operator chose stay, and so do those of the page's own models."""
    chosen, start = context.studio.deployment.lanes, context.start.form.lanes
    own = fields_of(choice, None, chosen).form.lanes
    lanes = list(start if set(own) <= set(start) else own)
    if chosen or choice == context.studio.home:
        return lanes
    return [AdaptiveCascade.name if lane == Cascade.name else lane for lane in lanes]
