"""Events that run and stop a race."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from csd.decoding.errors import Refusal
from csd.run import LaneAdvanced, RaceEvent, RaceStarted
from csd.stage import log as stage
from csd.web.context import PageContext
from csd.web.examples import example_title
from csd.web.family_events import family_lines
from csd.web.fields import PageFields
from csd.web.measured_words import predicted_rows, rows_html
from csd.web.news import Batch, Finished, Refused, Waiting
from csd.web.other_models import who_runs, why_others
from csd.web.race_end import others, tell_end, tell_last_finished, tell_recorded, tell_why
from csd.web.race_thread import STOPPED_BEFORE
from csd.web.updates import FormUpdate, RaceUpdate, StageView, StatusLine
from csd.web.visitors import Asked, VisitorState

EDITED_K = (
    "The plan was changed, so the cascade that follows it races. Choose a preset to have the adaptive cascade back."
)
REFUSED = "Your race was refused before the page was loaded again. {why}"
STOPPED = "Your race was stopped before its first token."
WRONG_K = "The plan (K) has a mistake, and no method of this race uses it."


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
    said = "Racing."  # the prompt and the settings above it say what, and how long
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
            state.unfinished = (
                replace(state.unfinished, why=STOPPED) if news.race.is_empty and state.unfinished else None
            )
            if predicted:
                kept = {race.id: state.measured[race.id] for race in state.races if race.id in state.measured}
                state.measured = {**kept, news.race.id: predicted}
            play = predicted is None  # who measures wants the number
            log += stage.closed(news.race.traces, play, others(context, visitor, news.race))
            update = tell_recorded(tell_end(context, visitor, news.race, log), context.landing, news.race)
            before = tell_last_finished(context, visitor, STOPPED) if news.race.is_empty else None
            update = replace(before, status=update.status) if before else update
            yield tell_why(update, why_others(context, choice, state.has_chosen_family))
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
        why = STOPPED if line.text == STOPPED_BEFORE else REFUSED.format(why=line.text)
        state.unfinished = replace(state.unfinished, why=why)
    return line


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
