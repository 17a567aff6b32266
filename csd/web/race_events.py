"""Events that run, stop and show races, and that load a family."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from csd.decoding.errors import Refusal
from csd.models import catalog
from csd.models.spec import COPIES
from csd.record.race import Race
from csd.record.recording import Recording
from csd.request.form import to_fields
from csd.request.request import Request
from csd.roles import COPIER, roles_of_family
from csd.run import LaneAdvanced, RaceEvent, RaceStarted
from csd.sentences import listed
from csd.stage import log as stage
from csd.stage.headline import headline
from csd.theory.assumed import Prediction
from csd.web.context import PageContext
from csd.web.examples import example_title, find_fault
from csd.web.fields import FamilyFields, PageFields
from csd.web.form_events import fill_form, restore_form
from csd.web.linked_races import is_link, is_part_of_link
from csd.web.loads import FamilyChoice, FamilyStatus
from csd.web.measured_words import judge_prediction, predicted_rows, rows_html
from csd.web.news import Batch, Finished, Refused, Waiting
from csd.web.races import LINKED, RECORDED, FinishedRace, replay_log, uploaded_race
from csd.web.results import make_results
from csd.web.typed import has_typed
from csd.web.updates import FamilyLines, FormUpdate, RaceUpdate, StageView, StatusLine
from csd.web.views import about_family, about_preferred, describe_end
from csd.web.visitors import Asked, VisitorState

EDITED_K = (
    "The plan was changed, so the cascade that follows it races. Choose a preset to have the adaptive cascade back."
)
WRONG_K = "The plan (K) has a mistake, and no method of this race uses it."
KEPT = "What you typed stays in the form."
MEASURED_HERE = "{} was measured here now. The recording, made on another processor, had {}."
MEASURED_NOW = "{} was measured here now. The recording had {}: speeds vary from run to run."
ON_STAGE = "on="  # before the id of a race that Back leads to
GONE = "This race is no longer kept. Press Race to run what the form holds."
CUT = "This link is incomplete: its race is missing. Press Race to run what the form holds."
UNSHOWN = "This race was read, but it cannot be shown. Open another file, or run the race again and save it anew."
CUT_OFF = "The page was loaded again, which ended your race."
REFUSED = "Your race was refused before the page was loaded again. {why}"
BELOW = " Below is the race before it."
WHY_OTHERS = "{name} answered, because the {home} know little beyond the examples."
LITTLE = " Only a copy of itself and a copier guess for it."
LOOK_AGAIN = 0.25  # seconds between two looks at a family that loads

log = logging.getLogger(__name__)


def run_race(context: PageContext, visitor: str, fields: PageFields, first_paint: float = 0.0) -> Iterator[RaceUpdate]:
    """One race of this visitor: status, family and stage as it goes on; the figures once, at the end.

    `first_paint` are the seconds in which the page draws the empty stage, before the lanes start."""
    family = fields.family
    state = context.studio.visitors.state(visitor)
    state.unfinished = Asked.keep(fields)
    try:
        choice, request = fields.to_request()
    except ValueError as error:
        yield RaceUpdate(_refuse(state, refusal_line(error)), family_lines(context, family))
        return
    title = example_title(request.prompt)
    said = f"Racing “{title}”." if title else "Racing."  # the settings beside it say how long
    if fields.lanes != list(fields.form.lanes):
        said = f"{said} {EDITED_K}"
        yield RaceUpdate(form=FormUpdate({"lanes": fields.lanes}))
    elif fields.leaves_out_K:
        said = f"{said} {WRONG_K}"
    log, who = "", who_runs(context, choice, state.has_chosen_family)
    predicted, state.predicted = state.predicted, None
    for news in context.studio.race(visitor, choice, request, first_paint):
        if isinstance(news, Waiting):
            yield RaceUpdate(StatusLine(news.sentence), family_lines(context, family))
        elif isinstance(news, Refused):
            line = _refuse(state, StatusLine(news.sentence, "refused", field=news.field))
            yield RaceUpdate(line, family_lines(context, family))
        elif isinstance(news, Finished):
            state.unfinished = None
            log += stage.closed(news.race.traces, again=_others(context, visitor, news.race))
            update = _tell_recorded(_finish(context, visitor, news.race, log, predicted), context.landing, news.race)
            yield _tell_why(update, why_others(context, choice, state.has_chosen_family))
        else:
            has_started = bool(log)
            log += _log_lines(news, *who)
            view = StageView(news.id, log)
            if log and not has_started:
                table = rows_html(predicted_rows(predicted)) if predicted else ""
                yield RaceUpdate(StatusLine(said, table=table), family_lines(context, family), view)
            else:
                yield RaceUpdate(stage=view if log else None)


def _refuse(state: VisitorState, line: StatusLine) -> StatusLine:
    """The line of a race that was refused, whose form is kept with it."""
    if state.unfinished is not None:
        state.unfinished = replace(state.unfinished, refused=line.text)
    return line


def _finish(
    context: PageContext, visitor: str, race: FinishedRace, log: str, predicted: Prediction | None = None
) -> RaceUpdate:
    results = make_results(context, visitor, race)
    outcome = judge_prediction(predicted, Race(race.traces)) if predicted and not race.stopped else None
    end = " ".join((outcome.said, *race.notes)) if outcome else describe_end(race)
    said = " ".join(filter(None, (end, results.files.note)))
    return RaceUpdate(
        StatusLine(said, "measured", table=rows_html(outcome.rows))
        if outcome
        else StatusLine(said, "ended", spoken=_is_on_stage(race, said)),
        stage=StageView(race.id, log),
        results=results,
    )


def _tell_why(update: RaceUpdate, why: str) -> RaceUpdate:
    """In place of an end that the stage shows anyway."""
    if not why or update.status is None or not update.status.spoken:
        return update
    return replace(update, status=StatusLine(why, "recorded"))


def _tell_recorded(update: RaceUpdate, recorded: FinishedRace | None, race: FinishedRace) -> RaceUpdate:
    """In place of an end that the stage shows anyway: why the factor is not that of the recorded race, which the page
    began with and which had the same settings."""
    if recorded is None or update.status is None or not update.status.spoken or not _has_same_settings(recorded, race):
        return update
    then, now = (headline(Race(one.traces)).factor for one in (recorded, race))
    if not then or not now or then == now:
        return update
    here, there = (one.recording.machine.partition(",")[0] for one in (race, recorded))
    said = MEASURED_HERE if here and there and here != there else MEASURED_NOW
    return replace(update, status=StatusLine(said.format(now, then), "ended"))


def _has_same_settings(one: FinishedRace, other: FinishedRace) -> bool:
    if one.recording.family != other.recording.family:
        return False
    try:
        return to_fields(Request.from_traces(one.traces)) == to_fields(Request.from_traces(other.traces))
    except ValueError:  # lanes with different settings
        return False


def _others(context: PageContext, visitor: str, race: FinishedRace) -> list[Race]:
    """What this visitor has raced besides with the same prompt, without races from files."""
    own = context.studio.visitors.races(visitor, race.traces[0].header.text)
    return [Race(other.traces) for other in own if not other.origin and other.id != race.id]


def _is_on_stage(race: FinishedRace, said: str) -> bool:
    """Whether the stage itself shows all that is said about the end of a race: every lane wrote the whole text."""
    lengths = {len(trace.tokens) for trace in race.traces}
    return not race.stopped and len(lengths) == 1 and said == describe_end(replace(race, notes=()))


def who_runs(context: PageContext, choice: FamilyChoice, is_chosen: bool) -> tuple[str, str]:
    """The title of models other than those of the page's first race, and a sentence: why they run, and who guesses for
    them."""
    home = context.studio.home
    if choice.spec.name == home.spec.name:
        return "", ""
    drafts = choice.defaults.drafts
    called = roles_of_family(drafts)
    guessers = [f"its {COPIES[name]}-bit copy" if name in COPIES else f"the {called[name]}" for name in drafts]
    helpers = listed([*guessers, f"the {COPIER}"])
    title = catalog.title(choice.spec.name)
    if is_chosen:
        return title, f"{title} runs; {helpers} guess{'' if guessers else 'es'} ahead."
    little = ": expect a smaller gain" if _has_copies_only(choice) else ""
    return title, f"{title} answers your own words; {helpers} guess{'' if guessers else 'es'} ahead{little}."


def why_others(context: PageContext, choice: FamilyChoice, is_chosen: bool) -> str:
    """Why other models than those of the page's first race have answered, unless the visitor chose them."""
    home = context.studio.home
    if is_chosen or choice.spec.name == home.spec.name:
        return ""
    why = WHY_OTHERS.format(name=catalog.title(choice.spec.name), home=catalog.title(home.spec.name))
    return why + (LITTLE if _has_copies_only(choice) else "")


def _has_copies_only(choice: FamilyChoice) -> bool:
    drafts = choice.defaults.drafts
    return bool(drafts) and all(name in COPIES for name in drafts)


def _log_lines(batch: Batch, models: str, note: str) -> str:
    return "".join(_log_line(event, batch.id, models, note) for event in batch.events)


def _log_line(event: RaceEvent, race_id: str, models: str, note: str) -> str:
    if isinstance(event, RaceStarted):
        return stage.opened(event, race_id, example_title(event.headers[0].text), models, note)
    return stage.moved(event) if isinstance(event, LaneAdvanced) else stage.ended(event)


def refusal_line(error: ValueError) -> StatusLine:
    """Why a race is refused, and at which field."""
    return StatusLine(str(error), "refused", field=error.field if isinstance(error, Refusal) else "")


def stop_race(context: PageContext, visitor: str) -> StatusLine | None:
    """Stop the visitor's own race, which says itself how it ended. Without one, this says so, and the browser takes the
    race that may wait out of Gradio's queue."""
    if context.studio.visitors.stop(visitor):
        return None
    return StatusLine("Stopped. Your race is no longer running or queued.")


def show_race(context: PageContext, visitor: str, race_id: str | None, fields: PageFields) -> RaceUpdate:
    """One of the visitor's own races, or a recorded one, on the stage, in the figures and in the form."""
    own = context.studio.visitors.find_race(visitor, race_id or "")
    race = context.recorded.get(race_id or "") or own
    if race is None:
        return RaceUpdate(StatusLine("That race is no longer available. Run it again.", "refused"))
    update = _finish(context, visitor, race, replay_log(race, bool(race.origin), _others(context, visitor, race)))
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
    latest = next(reversed(own.races), context.landing)
    return show_race(context, visitor, RECORDED + name if name else latest and latest.id, fields)


def _ask_again(context: PageContext, visitor: str, asked: Asked) -> RaceUpdate:
    """The form of a race that was cut off or refused, over a stage that asks for it and shows the race before."""
    form, family = _form_of(context, asked), family_lines(context, asked.fields.family)
    said = REFUSED.format(why=asked.refused) if asked.refused else CUT_OFF
    visitors = context.studio.visitors
    own = (visitors.find_race(visitor, race.id) for race in reversed(visitors.find(visitor).races))
    before = next((race for race in own if race and not race.stopped), None)
    if before is not None:
        log = replay_log(before, False, _others(context, visitor, before))
    elif context.landing is not None:  # already on the stage: its log goes on
        before, log = context.landing, replay_log(context.landing, True)
    else:
        return RaceUpdate(StatusLine(""), family, StageView("", stage.ask(said)), form=form)
    shown = _finish(context, visitor, before, log + stage.ask(said + BELOW))
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
        update = _finish(context, visitor, race, replay_log(race, play=True))
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


def family_lines(context: PageContext, fields: FamilyFields) -> FamilyLines:
    try:
        choice = fields.to_choice()
    except ValueError as error:
        return FamilyLines(FamilyStatus("failed", str(error)), str(error))
    families, preferred = context.studio.families, context.studio.preferred
    status = families.status(choice)
    faults = (*context.faults, find_fault(choice.spec), *choice.defaults.faults)
    about = " ".join((about_family(choice, status), *filter(None, faults)))
    if choice == context.studio.home != preferred:
        about = f"{about} {about_preferred(preferred, families.status(preferred))}"
    return FamilyLines(status, about, choice.defaults.context)


async def follow_family(context: PageContext, fields: FamilyFields) -> AsyncIterator[FamilyLines]:
    """What the chosen family is doing, until it is ready and compiled or has failed. Loads nothing itself."""
    context.studio.families.page_seen.set()
    while True:
        lines = family_lines(context, fields)
        yield lines
        if lines.status.is_settled or (lines.status.state == "waiting" and not _is_home(context, fields)):
            return
        await asyncio.sleep(LOOK_AGAIN)


def tell_preferred(context: PageContext) -> StatusLine | None:
    """What answers a visitor's own words, while it is still loading."""
    preferred = context.studio.preferred
    status = context.studio.families.status(preferred)
    if preferred == context.studio.home or status.is_final:
        return None
    return StatusLine(about_preferred(preferred, status), "switched")


async def await_preferred(context: PageContext, visitor: str) -> None:
    """Until the preferred family is ready, or has failed, and no race of this visitor runs."""
    studio = context.studio
    while not studio.families.status(studio.preferred).is_final or studio.visitors.find(visitor).stop:
        if studio.preferred == studio.home:
            return
        await asyncio.sleep(LOOK_AGAIN)


def _is_home(context: PageContext, fields: FamilyFields) -> bool:
    """Whether this is the family that loads with the page."""
    return fields.to_choice() == context.studio.home


def load_family(context: PageContext, visitor: str, fields: FamilyFields) -> StatusLine | None:
    """Says why, where a family cannot be loaded now."""
    try:
        choice = fields.to_choice()
    except ValueError:  # `follow_family` says why
        return None
    load = context.studio.families.ensure_loading(choice, visitor)
    refused = load.status.state == "failed"
    return StatusLine(load.status.sentence, "refused") if refused else None
