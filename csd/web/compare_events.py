"""The event of the Compare tab: several races of a visitor, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding.methods import Autoregressive, Cascade
from csd.record.race import Race
from csd.web import compare
from csd.web.compare import PlannedRace
from csd.web.compare_findings import draw, verdict
from csd.web.context import PageContext
from csd.web.examples import examples_by_kind
from csd.web.fields import PageFields
from csd.web.loads import FamilyChoice
from csd.web.races import FinishedRace, prompt_start
from csd.web.studio import Finished, Refused, Waiting
from csd.web.updates import CompareUpdate, StatusLine

LIMITED = (
    "Stopped after {} of {} races: the {:g} seconds that this page gives to one comparison are over. Finished races "
    "are kept. Ask for fewer repeats or tokens."
)


@dataclass(frozen=True)
class ComparisonForm:
    """`what` is compare.BY_KIND or compare.TWO_CASCADES; `first_K` and `second_K` belong to the latter."""

    what: str
    repeats: Any
    first_K: str
    second_K: str


def show_example(context: PageContext, visitor: str) -> CompareUpdate:
    """What recorded races of the page's family came to, until the visitor starts a comparison."""
    family = context.studio.home.spec.name
    firsts: dict[str, FinishedRace] = {}
    for race in context.recorded.values():
        if race.recording.family == family:
            firsts.setdefault(race.recording.kind, race)
    races = _with_common_lanes(firsts.values())
    if not races or context.studio.visitors.find(visitor).has_compared:
        return CompareUpdate()
    number = f"{len(races)} recorded race{'' if len(races) == 1 else 's'}"
    said = f"An example: {number}. Press Compare to run your own."
    return replace(_show(context, races, _verdict(races)), status=StatusLine(said))


def _with_common_lanes(races: Collection[FinishedRace]) -> list[tuple[str, Race]]:
    """The lanes that every one of these races has; none where that is a single one."""
    titles = [frozenset(trace.header.title for trace in race.traces) for race in races]
    common = frozenset.intersection(*titles) if titles else frozenset()
    return [
        (
            f"{race.recording.kind}: {race.recording.title}",
            Race(tuple(trace for trace in race.traces if trace.header.title in common)),
        )
        for race in races
        if len(common) > 1
    ]


def run_comparison(
    context: PageContext,
    visitor: str,
    asked: ComparisonForm,
    fields: PageFields,
    first_paint: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[CompareUpdate]:
    """The table grows with each race, and keeps what it has if the visitor stops or the page's limit is reached.

    Each race waits `first_paint` seconds, in which the page draws what came of the one before."""
    try:
        choice, plan = plan_races(asked, fields)
    except ValueError as error:
        yield CompareUpdate(StatusLine(str(error), "refused"))
        return
    context.studio.visitors.state(visitor).has_compared = True
    races: list[tuple[str, Race]] = []
    limit = context.studio.deployment.max_seconds
    began = clock()
    yield CompareUpdate(StatusLine(f"Race 1 of {len(plan)}: {plan[0].label}."), (0, len(plan)), cleared=True)
    spent = 0.0
    for number, planned in enumerate(plan, 1):
        left = time_left(spent, number - 1, len(plan))
        shown = CompareUpdate(
            StatusLine(f"Race {number} of {len(plan)}: {planned.label}.{left}"), (number - 1, len(plan))
        )
        race = yield from _run(context, visitor, choice, planned, shown, first_paint)
        if race is None:
            if races:
                yield CompareUpdate(verdict=_verdict(races))
            return
        races.append((planned.label, Race(race.traces)))
        yield _show(context, races, f"{number} of {len(plan)} races finished.")
        if race.stopped:
            said = f"Stopped during race {number} of {len(plan)}; finished races are kept."
            yield CompareUpdate(StatusLine(said), verdict=_verdict(races))
            return
        spent = clock() - began
        if spent > limit and number < len(plan):
            said = LIMITED.format(number, len(plan), limit)
            yield CompareUpdate(StatusLine(said, "ended"), verdict=_verdict(races))
            return
    said = f"Done: {len(plan)} race{'' if len(plan) == 1 else 's'}."
    yield CompareUpdate(StatusLine(said, "ended"), verdict=_verdict(races))


def time_left(seconds: float, done: int, total: int) -> str:
    """Such as " About 40 s left." after some of the races; empty before the first has ended."""
    left = seconds / done * (total - done) if done else 0.0
    if not left:
        return ""
    return f" About {left / 60:.0f} min left." if left >= 90 else f" About {max(1, round(left))} s left."


def _show(context: PageContext, races: Sequence[tuple[str, Race]], said: str) -> CompareUpdate:
    """The numbers so far, under this headline."""
    rows, results = compare.table_rows(races), compare.lane_results(races)
    csv = context.downloads.save_table(compare.csv_text(rows))
    return CompareUpdate(rows=rows, csv=csv or "", verdict=said, figure=draw(results))


def _verdict(races: Sequence[tuple[str, Race]]) -> str:
    """What the races came to, once no more are coming."""
    return verdict(compare.lane_results(races))


def _run(
    context: PageContext,
    visitor: str,
    choice: FamilyChoice,
    planned: PlannedRace,
    shown: CompareUpdate,
    first_paint: float,
) -> Generator[CompareUpdate, None, FinishedRace | None]:
    """One race; returns None if it did not run."""
    yield shown
    race = None
    for news in context.studio.race(visitor, choice, planned.request, first_paint):
        if isinstance(news, Finished):
            race = news.race
        elif isinstance(news, Refused):
            yield CompareUpdate(StatusLine(news.sentence, "refused"))
        else:
            yield replace(shown, status=StatusLine(news.sentence)) if isinstance(news, Waiting) else shown
    return race


def plan_races(asked: ComparisonForm, fields: PageFields) -> tuple[FamilyChoice, tuple[PlannedRace, ...]]:
    """The races of a comparison. Raises ValueError with a sentence."""
    if asked.what == compare.BY_KIND:
        choice, request = fields.to_request()
        return choice, compare.plan_kinds(request, examples_by_kind(choice.spec), asked.repeats)
    lanes = [Autoregressive.name, Cascade.name]
    first, second = (
        replace(fields, form=replace(fields.form, lanes=lanes, K=K)).to_request()
        for K in (asked.first_K, asked.second_K)
    )
    label = prompt_start(fields.form.prompt)
    return first[0], compare.plan_pair(first[1], second[1], label, asked.repeats)
