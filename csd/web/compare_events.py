"""The event of the Compare tab: several races of a visitor, one after another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import format_K
from csd.decoding.methods import Autoregressive, Cascade
from csd.models import catalog
from csd.record.race import Race
from csd.request.prompts import Prompt
from csd.request.request import Request
from csd.sentences import counted
from csd.web import compare
from csd.web.compare import PlannedRace
from csd.web.compare_findings import Compared, LaneResult, draw, lane_words, numbers, verdict
from csd.web.compare_recording import RecordedComparison, recorded_comparison
from csd.web.context import PageContext
from csd.web.deployment import WHILE_AWAITED
from csd.web.examples import examples_by_kind, plan_of_text, settings_for
from csd.web.fields import PageFields
from csd.web.finding import Finding
from csd.web.loads import FamilyChoice
from csd.web.named_plans import PlanChoice, find_plan
from csd.web.news import Finished, Refused, Waiting
from csd.web.races import FinishedRace, prompt_start
from csd.web.updates import BetweenRaces, CompareUpdate, StatusLine

LIMITED = (
    "Stopped after {} of {} races: the {:g} seconds that this page gives to one comparison{} are over. Finished races "
    "are kept. Ask for fewer repeats or tokens."
)


ASKED = "Which method is fastest on which kind of prompt?"
EMPTY = "Compare races the lanes of the Race tab on every kind of prompt."
NO_DRAFTS = "These models have no draft, so there are no plans to compare."
TOO_LITTLE = "Too little has run to compare."
DIFFERS = "Speeds differ between races, the Race tab’s included, and between machines; so may the winners."
OTHERS_FIRST = "Race {} of {}, {}. Others are racing first; your comparison goes on by itself."
RECORDED, YOURS = "Recorded comparison", "Your comparison"  # either can be shown in place of the other
NO_PAIR = "Press Compare: the plans race in turns, and which one is faster will stand here."
PAIR = ("one plan", "other plan")  # what the rows of two plans are called before they are compared


@dataclass(frozen=True)
class ComparisonForm:
    """`what` is compare.BY_KIND or compare.TWO_PLANS; `plans` are the two of the latter."""

    what: str
    repeats: Any
    plans: tuple[PlanChoice, PlanChoice]


def show_example(context: PageContext, visitor: str) -> CompareUpdate:
    """The visitor's latest comparison of all kinds; without one, the recorded comparison, or empty rows for a family
    without one."""
    if (own := _own(context, visitor, compare.BY_KIND)) is not None:
        return own
    return show_recorded(context, visitor)


def show_recorded(context: PageContext, visitor: str) -> CompareUpdate:
    """The recorded comparison, or empty rows for a family without one."""
    found = _recorded(context)
    if found is None:
        figure = draw((), _usual_lanes(context))
        return CompareUpdate(StatusLine(EMPTY), finding=Finding(ASKED), figure=figure, other="")
    where = f"{found.date}, on {found.machine.partition(',')[0]}"
    said = f"Recorded with the {catalog.title(found.family)} on {where}, {found.races} races of each prompt. {DIFFERS}"
    has_own = compare.BY_KIND in context.studio.visitors.find(visitor).compared
    return CompareUpdate(
        StatusLine(said),
        rows=found.rows,
        words=lane_words(found.results),
        csv=context.downloads.save_table(compare.csv_text(found.rows), stays=True) or "",
        finding=_finding(found.results),
        figure=draw(found.results),
        other=YOURS if has_own else "",
    )


def _usual_lanes(context: PageContext) -> list[LaneResult]:
    """What the page's own models race unless the visitor chooses otherwise."""
    home = context.studio.home
    lanes = home.defaults.preset.fields()["lanes"]
    return [LaneResult(kind, lane, lane, ()) for kind in examples_by_kind(home.spec) for lane in lanes]


def _recorded(context: PageContext) -> RecordedComparison | None:
    """The recorded comparison, if it is of the family that the page starts with."""
    found = recorded_comparison()
    return found if found and found.family == context.studio.home.spec.name else None


def _instead_of_own(context: PageContext, what: str) -> str:
    """What can be shown in place of a comparison of the visitor's own."""
    return RECORDED if what == compare.BY_KIND and _recorded(context) else ""


def run_comparison(
    context: PageContext,
    visitor: str,
    asked: ComparisonForm,
    fields: PageFields,
    first_paint: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[CompareUpdate]:
    """The table grows with each race, and keeps what it has if the visitor stops or the page's limit is reached.

    Each race waits `first_paint` seconds, in which the page draws what came of the one before. An update `between` two
    races may be answered as late as others take the device; their time does not count."""
    try:
        choice, plan = plan_races(asked, fields)
    except ValueError as error:
        yield CompareUpdate(StatusLine(str(error), "refused"))
        return
    state = context.studio.visitors.state(visitor)
    state.stop_comparison = threading.Event()
    try:
        for update in _compare(context, visitor, choice, plan, state.stop_comparison, first_paint, clock):
            if update.found is not None:
                state.compared[asked.what] = update.found
            if update.progress is None and update.status:
                if asked.what in state.compared:
                    state.compared[asked.what] = replace(state.compared[asked.what], said=update.status.text)
                update = replace(update, other=_instead_of_own(context, asked.what))
            yield update
    finally:
        state.stop_comparison = None


def _compare(
    context: PageContext,
    visitor: str,
    choice: FamilyChoice,
    plan: Sequence[PlannedRace],
    stop: threading.Event,
    first_paint: float,
    clock: Callable[[], float],
) -> Iterator[CompareUpdate]:
    races: list[tuple[str, Race]] = []
    plans = plan[0].plans
    began = clock()
    first = StatusLine(f"Race 1 of {len(plan)}, {plan[0].label}.")
    yield replace(_show(context, visitor, plan, races), status=first, progress=(0, len(plan)), other="")
    spent = waited = 0.0
    for number, planned in enumerate(plan, 1):
        if races:
            since = clock()
            said = OTHERS_FIRST.format(number, len(plan), planned.label)
            yield CompareUpdate(StatusLine(said), (number - 1, len(plan)), between=BetweenRaces(planned.request, stop))
            waited += clock() - since
        if stop.is_set():
            said = f"Stopped after {counted(len(races), 'race')} of {len(plan)}; finished races are kept."
            yield CompareUpdate(StatusLine(said), finding=_found(races, plans))
            return
        left = time_left(spent, number - 1, len(plan))
        shown = CompareUpdate(
            StatusLine(f"Race {number} of {len(plan)}, {planned.label}.{left}"), (number - 1, len(plan))
        )
        race = yield from _run(context, visitor, choice, planned, shown, first_paint, spent)
        if race is None:
            if races:
                yield CompareUpdate(finding=_found(races, plans))
            return
        races.append((planned.label, Race(race.traces)))
        yield _show(context, visitor, plan, races)
        if race.stopped:
            said = f"Stopped during race {number} of {len(plan)}; finished races are kept."
            status = StatusLine(said) if stop.is_set() else StatusLine(" ".join((said, *race.notes)), "ended")
            yield CompareUpdate(status, finding=_found(races, plans))
            return
        spent, limit = clock() - began - waited, context.studio.most_seconds()
        if spent > limit and number < len(plan):
            others = WHILE_AWAITED if limit < context.studio.deployment.max_seconds else ""
            said = LIMITED.format(number, len(plan), limit, others)
            yield CompareUpdate(StatusLine(said, "ended"), finding=_found(races, plans))
            return
    said = f"Done: {counted(len(plan), 'race')}."
    yield CompareUpdate(StatusLine(said, "ended"), finding=_found(races, plans))


def time_left(seconds: float, done: int, total: int) -> str:
    """Such as " About 40 s left." after some of the races; empty before the first has ended."""
    left = seconds / done * (total - done) if done else 0.0
    if not left:
        return ""
    return f" About {left / 60:.0f} min left." if left >= 90 else f" About {max(1, round(left))} s left."


def _show(
    context: PageContext, visitor: str, plan: Sequence[PlannedRace], races: Sequence[tuple[str, Race]]
) -> CompareUpdate:
    """The numbers so far, in rows for all that is planned. What runs is said by the status alone."""
    plans = plan[0].plans
    rows, results = compare.table_rows(races), compare.lane_results(races, plans)
    racing = plan[len(races)].kind if len(races) < len(plan) else ""
    return CompareUpdate(
        rows=rows,
        words={**lane_words(results), **plans},
        csv=_save(context, visitor, rows) if rows else "",
        finding=Finding(""),
        figure=draw(results, compare.planned_lanes(plan), racing),
        found=Compared(tuple(results), tuple(map(tuple, rows)), dict(plans)) if results else None,
    )


def _found(races: Sequence[tuple[str, Race]], plans: Mapping[str, str]) -> Finding:
    """What the races came to, once no more are coming."""
    return found if (found := _finding(compare.lane_results(races, plans))).said else Finding(TOO_LITTLE)


def show_pair(context: PageContext, visitor: str) -> CompareUpdate:
    """The visitor's latest comparison of two plans, or empty rows."""
    if (own := _own(context, visitor, compare.TWO_PLANS)) is not None:
        return own
    figure = draw((), [LaneResult("", name, Cascade.name, ()) for name in PAIR])
    return CompareUpdate(StatusLine(""), rows=(), csv="", finding=Finding("", NO_PAIR), figure=figure, other="")


def _own(context: PageContext, visitor: str, what: str) -> CompareUpdate | None:
    """The visitor's latest comparison of this kind; nothing to draw while one runs, and None without one."""
    state = context.studio.visitors.find(visitor)
    if state.stop_comparison is not None:
        return CompareUpdate()
    if (found := state.compared.get(what)) is None:
        return None
    return CompareUpdate(
        StatusLine(found.said, "ended"),
        rows=found.rows,
        words={**lane_words(found.results), **found.plans},
        csv=_save(context, visitor, found.rows),
        finding=_finding(found.results),
        figure=draw(found.results),
        other=_instead_of_own(context, what),
    )


def _save(context: PageContext, visitor: str, rows: Sequence[Sequence[Any]]) -> str:
    """The path of the table as a file, on the account of the visitor's owner; empty where the disk is full."""
    owner = context.studio.visitors.find(visitor).owner or visitor
    return context.downloads.save_table(compare.csv_text(rows), owner) or ""


def _finding(results: Sequence[LaneResult]) -> Finding:
    """The first sentence of the verdict large, what it leaves open below it."""
    first, _, more = verdict(results).partition(". ")
    return Finding(f"{first.rstrip('.')}{'.' if first else ''}", more, numbers(results))


def _run(
    context: PageContext,
    visitor: str,
    choice: FamilyChoice,
    planned: PlannedRace,
    shown: CompareUpdate,
    first_paint: float,
    spent: float,
) -> Generator[CompareUpdate, None, FinishedRace | None]:
    """One race, `spent` seconds after the comparison began; returns None if it did not run."""
    yield shown
    race = None
    for news in context.studio.race(visitor, choice, planned.request, first_paint, spent=spent):
        if isinstance(news, Finished):
            race = news.race
        elif isinstance(news, Refused):
            yield CompareUpdate(StatusLine(news.sentence, "refused"))
        else:
            yield replace(shown, status=StatusLine(news.sentence)) if isinstance(news, Waiting) else shown
    return race


def _request_for(example: Prompt, choice: FamilyChoice, fields: PageFields) -> Request:
    """The lanes of the form with the settings that this example brings."""
    settings = settings_for(choice, example, {"k": fields.form.k, "K": fields.form.K})
    _, request = replace(fields, form=replace(fields.form, **settings)).to_request()
    return request


def plan_races(asked: ComparisonForm, fields: PageFields) -> tuple[FamilyChoice, tuple[PlannedRace, ...]]:
    """The races of a comparison. Raises ValueError with a sentence."""
    if asked.what == compare.BY_KIND:
        choice, _ = fields.to_request()
        firsts = [prompts[0] for prompts in examples_by_kind(choice.spec).values()]
        return choice, compare.plan_kinds({one: _request_for(one, choice, fields) for one in firsts}, asked.repeats)
    lanes = [Autoregressive.name, Cascade.name]
    family = fields.family.to_choice()
    if not family.defaults.drafts:
        raise Refusal(NO_DRAFTS)
    plans = [find_plan(one, family.defaults, plan_of_text(family, fields.form.prompt)) for one in asked.plans]
    form = replace(fields.form, lanes=lanes, K=format_K(plans[0].K))
    choice, request = replace(fields, form=form).to_request()
    return choice, compare.plan_pair(request, plans, prompt_start(fields.form.prompt), asked.repeats)
