"""Events that show a race that has ended: an earlier one, that of an address or a link, or one from a file."""

from __future__ import annotations

import logging
from dataclasses import replace

from csd.record.recording import Recording
from csd.stage import log as stage
from csd.web.context import PageContext
from csd.web.family_events import family_lines
from csd.web.fields import FamilyFields, PageFields
from csd.web.form_events import fill_form, restore_form
from csd.web.linked_races import is_link, is_part_of_link
from csd.web.race_end import others, tell_end, tell_last_finished
from csd.web.races import LINKED, RECORDED, FinishedRace, replay_log, uploaded_race
from csd.web.typed import has_typed
from csd.web.updates import FormUpdate, RaceUpdate, StageView, StatusLine
from csd.web.visitors import Asked

KEPT = "What you typed stays in the form."
ON_STAGE = "on="  # before the id of a race that Back leads to
GONE = "This race is no longer kept. Press Race to run what the form holds."
CUT = "This link is incomplete: its race is missing. Press Race to run what the form holds."
UNSHOWN = "This race was read, but it cannot be shown. Open another file, or run the race again and save it anew."
CUT_OFF = "Your race ended when the page was left or reloaded."

log = logging.getLogger(__name__)


def show_race(context: PageContext, visitor: str, race_id: str | None, fields: PageFields) -> RaceUpdate:
    """One of the visitor's own races, or a recorded one, on the stage, in the figures and in the form."""
    own = context.studio.visitors.find_race(visitor, race_id or "")
    race = context.recorded.get(race_id or "") or own
    if race is None:
        return RaceUpdate(StatusLine("That race is no longer available. Run it again.", "refused"))
    is_played = bool(race.origin) and not race.id.startswith(LINKED)  # a link shows what its sender saw
    update = tell_end(context, visitor, race, replay_log(race, is_played, others(context, visitor, race)))
    return _with_form(context, visitor, race, fields, update)


def show_address(context: PageContext, visitor: str, fragment: str, fields: PageFields) -> RaceUpdate:
    """The race that the page's address names, such as "race=2-edit-rename-the-fox", or "on=ID" of one that Back leads
    to; without one, that of the visitor which a reload has ended or which was refused, or else the latest, or what the
    page began with."""
    if (fragment or "").startswith(ON_STAGE):
        return show_race(context, visitor, fragment.removeprefix(ON_STAGE), fields)
    name = (fragment or "").removeprefix("race=")
    if is_part_of_link(name):
        return RaceUpdate(StatusLine(""), stage=StageView("", stage.ask(CUT)))
    if is_link(name):
        return _show_linked(context, visitor, name, fields)
    if name and RECORDED + name not in context.recorded:
        sentence = f"There is no recorded race “{name[:60]}”. Choose one from the list."
        return RaceUpdate(StatusLine(sentence, "refused"))
    own = context.studio.visitors.find(visitor)
    if not name and own.unfinished:
        return _ask_again(context, visitor, own.unfinished)
    latest = next((one for one in reversed(own.races) if not one.is_empty), context.landing)
    return show_race(context, visitor, RECORDED + name if name else latest and latest.id, fields)


def _ask_again(context: PageContext, visitor: str, asked: Asked) -> RaceUpdate:
    """The form of a race that was cut off, refused or stopped at once, over a stage that asks for it and shows the race
    before."""
    form, family = _form_of(context, asked), family_lines(context, asked.fields.family)
    said = asked.why or CUT_OFF
    shown = tell_last_finished(context, visitor, said, play_landing=True)  # already on the stage: its log goes on
    if shown is None:
        return RaceUpdate(StatusLine(""), family, StageView("", stage.ask(said)), form=form)
    return replace(shown, status=StatusLine(""), family=family, form=form)


def _form_of(context: PageContext, asked: Asked) -> FormUpdate:
    """The whole form; a prompt that was not kept stays as the browser has brought it back."""
    values = asked.fields.values()
    try:
        form = fill_form(context, asked.fields.family, values)
    except ValueError:  # its family is what was refused
        form = FormUpdate(values)
    return replace(
        form, values={name: form.values[name] for name in form.values if asked.has_prompt or name != "prompt"}
    )


def _show_linked(context: PageContext, visitor: str, name: str, fields: PageFields) -> RaceUpdate:
    """A race that a link names, which is kept among the visitor's own; or, where it is gone, an empty stage."""
    visitors = context.studio.visitors
    if visitors.find_race(visitor, LINKED + name) is None:
        race = context.linked.find(name)
        if race is None:
            return RaceUpdate(StatusLine(""), stage=StageView("", stage.ask(GONE)))
        visitors.keep_race(visitor, race)
    return show_race(context, visitor, LINKED + name, fields)


def open_file(context: PageContext, visitor: str, data: bytes | None, fields: PageFields) -> RaceUpdate:
    """A race from a visitor's file, which is kept among the visitor's own."""
    try:
        race = uploaded_race(Recording.from_bytes(data or b""))
    except ValueError as error:
        return RaceUpdate(StatusLine(str(error), "refused"))
    visitors = context.studio.visitors
    visitors.keep_race(visitor, race)
    try:
        update = tell_end(context, visitor, race, replay_log(race, play=True))
        return _with_form(context, visitor, race, fields, update)
    except Exception:  # whatever a file may bring about, its visitor is told
        log.exception("showing a race from a file")
        visitors.drop_race(visitor, race.id)
        return RaceUpdate(StatusLine(UNSHOWN, "refused"))


def _with_form(
    context: PageContext, visitor: str, race: FinishedRace, fields: PageFields, update: RaceUpdate
) -> RaceUpdate:
    """A race that is shown fills in the form with its settings, unless the visitor would lose what was typed there."""
    context.studio.visitors.state(visitor).has_chosen_family |= race.recording.family != context.studio.home.spec.name
    if has_typed(context, visitor, fields):
        said = update.status.text if update.status and not update.status.spoken else ""
        return replace(update, status=StatusLine(f"{said} {KEPT}".strip(), "ended"))
    form = restore_form(context, race)
    if form is None:
        return update
    context.studio.visitors.state(visitor).unfinished = None  # the form holds another race now
    family = family_lines(context, FamilyFields.from_values(form.values))
    return replace(update, family=family, form=form)
