"""What the page shows of a race that has ended: figures, the paper's prediction, files, the list of races."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from csd.plots import race as race_figures
from csd.plots.positions import acceptance_by_position
from csd.record.race import Race
from csd.theory import figures as theory_figures
from csd.theory.comparison import compare_with_theory
from csd.web.context import PageContext
from csd.web.downloads import RaceFiles
from csd.web.puzzles import puzzle_value
from csd.web.races import FinishedRace, KeptRace
from csd.web.theory_view import comparison_table
from csd.web.what_if import Figure, WhatIfPanel, panel_after

FIGURES = (
    race_figures.speedup,
    race_figures.acceptance_by_level,
    acceptance_by_position,
    race_figures.time_per_level,
)


@dataclass(frozen=True)
class RaceResults:
    """`figures` are those of FIGURES; `comparison` is a table (HTML) of predicted and measured speed-ups, `prediction`
    its figure; `panel` sets the what-if panel, and `puzzles` what the puzzles show; `listed` are (title, id) of every
    race that can be shown again."""

    race_id: str
    figures: tuple[Figure, ...]
    comparison: str
    prediction: Figure
    panel: WhatIfPanel
    puzzles: dict[str, Any]
    listed: tuple[tuple[str, str], ...]
    files: RaceFiles


def listed_races(context: PageContext, own: Sequence[KeptRace]) -> tuple[tuple[str, str], ...]:
    """(title, id) of every race that can be shown again: the visitor's `own`, latest first, and the recorded ones. Of
    one that was stopped at once there is nothing to show."""
    seen = (one for one in reversed(own) if not one.is_empty)
    return tuple((one.title, one.id) for one in (*seen, *context.recorded.values()))


def make_results(context: PageContext, visitor: str, race: FinishedRace) -> RaceResults:
    """Earlier races of this prompt give the spread of the measured speed-ups; of the others, only the latest is
    unpacked."""
    visitors, traces = context.studio.visitors, Race(race.traces)
    kept, own = visitors.find(visitor).races, visitors.races(visitor, race.traces[0].header.text)
    latest = next((one for one in reversed(kept) if not one.origin), None)
    run = [one for one in own if not one.origin]
    if latest is not None and latest.id not in [one.id for one in run]:
        run.append(latest.unpack())
    lanes = compare_with_theory(traces, [Race(other.traces) for other in own if other.id != race.id])
    return RaceResults(
        race_id=race.id,
        figures=tuple(figure(traces) for figure in FIGURES),
        comparison=comparison_table(lanes, [level for trace in race.traces for level in trace.header.levels]),
        prediction=theory_figures.prediction(lanes),
        panel=panel_after(traces, context.studio.home.defaults.drafts),
        puzzles=puzzle_value([Race(one.traces) for one in run], race.id if latest and latest.id == race.id else ""),
        listed=listed_races(context, kept),
        files=context.downloads.save_race(race, visitors.find(visitor).owner or visitor),
    )
