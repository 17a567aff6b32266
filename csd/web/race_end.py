"""The end of a race as the page shows it: its line, its stage and its results."""

from __future__ import annotations

from dataclasses import replace

from csd.record.race import Race
from csd.request.form import to_fields
from csd.request.request import Request
from csd.stage import log as stage
from csd.stage.headline import headline
from csd.web.context import PageContext
from csd.web.measured_words import judge_prediction, rows_html
from csd.web.races import FinishedRace, replay_log
from csd.web.results import make_results
from csd.web.updates import RaceUpdate, StageView, StatusLine
from csd.web.views import describe_end

BELOW = " Below is the last finished race."
MEASURED_HERE = "{} was measured on this machine now. The recording had {}, on another processor."
MEASURED_NOW = "{} was measured now. The recording had {}: speeds vary from run to run."


def tell_end(context: PageContext, visitor: str, race: FinishedRace, log: str) -> RaceUpdate:
    predicted = context.studio.visitors.find(visitor).measured.get(race.id)
    results = make_results(context, visitor, race)
    outcome = judge_prediction(predicted, Race(race.traces)) if predicted and not race.stopped else None
    stopped = " ".join(race.notes) if race.stopped else ""  # where there are none, the stage shows what there is to say
    end = " ".join((outcome.said, *race.notes)) if outcome else stopped or describe_end(race)
    said = " ".join(filter(None, (end, results.files.note)))
    return RaceUpdate(
        StatusLine(said, "measured", table=rows_html(outcome.rows))
        if outcome
        else StatusLine(said, "ended", spoken=_is_on_stage(race, said)),
        stage=StageView(race.id, log),
        results=results,
    )


def tell_last_finished(context: PageContext, visitor: str, said: str, play_landing: bool = False) -> RaceUpdate | None:
    """In place of a race with nothing to see: a sentence that says why, over the visitor's last race that was finished,
    or over what the page began with. None where there is neither."""
    visitors = context.studio.visitors
    own = (visitors.find_race(visitor, race.id) for race in reversed(visitors.find(visitor).races))
    race = next((race for race in own if race and not race.stopped), context.landing)
    if race is None:
        return None
    log = replay_log(race, play_landing and race is context.landing, others(context, visitor, race))
    return tell_end(context, visitor, race, log + stage.ask(said + BELOW))


def tell_why(update: RaceUpdate, why: str) -> RaceUpdate:
    """In place of an end that the stage shows anyway."""
    if not why or update.status is None or not update.status.spoken:
        return update
    return replace(update, status=StatusLine(why, "recorded"))


def tell_recorded(update: RaceUpdate, recorded: FinishedRace | None, race: FinishedRace) -> RaceUpdate:
    """In place of an end that the stage shows anyway: why the factor is not that of the recorded race, which the page
    began with and which had the same settings."""
    if recorded is None or update.status is None or not update.status.spoken or not _has_same_settings(recorded, race):
        return update
    then, now = (headline(Race(one.traces)).factor for one in (recorded, race))
    if not then or not now or then == now:
        return update
    here, there = (one.recording.machine.partition(",")[0] for one in (race, recorded))
    said = MEASURED_HERE if here and there and here != there else MEASURED_NOW
    return replace(update, status=StatusLine(said.format(now, then), "measured"))


def _has_same_settings(one: FinishedRace, other: FinishedRace) -> bool:
    if one.recording.family != other.recording.family:
        return False
    try:
        return to_fields(Request.from_traces(one.traces)) == to_fields(Request.from_traces(other.traces))
    except ValueError:  # lanes with different settings
        return False


def others(context: PageContext, visitor: str, race: FinishedRace) -> list[Race]:
    """What this visitor has raced besides with the same prompt, without races from files."""
    own = context.studio.visitors.races(visitor, race.traces[0].header.text)
    return [Race(other.traces) for other in own if not other.origin and other.id != race.id]


def _is_on_stage(race: FinishedRace, said: str) -> bool:
    """Whether the stage itself shows all that is said about the end of a race: it was stopped, or every lane wrote the
    whole text."""
    lengths = {len(trace.tokens) for trace in race.traces}
    return (race.stopped or len(lengths) == 1) and said == describe_end(replace(race, notes=()))
