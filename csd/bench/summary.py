"""From timed runs to the figures of a benchmark: entries x prompts, means over prompts, and ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from csd.bench.cells import Cell, SpeedLimit, Spread, make_cell, overhead, tokens_per_pass
from csd.bench.plan import SPEED_MODES, Entry, Plan
from csd.bench.ratios import ALL, AUTOREGRESSIVE, BEST, SPECULATIVE, Ratio, group_prompts, list_ratios
from csd.bench.simulated import Costs, cost_tables, simulate
from csd.bench.timed_run import TimedRun
from csd.record.metrics import REPEATED_LIMIT, geometric_mean

if TYPE_CHECKING:
    from csd.bench.limits import Limits
    from csd.models.family import Family


@dataclass(frozen=True)
class Row:
    """An entry over all its prompts: geometric means of speeds and shares, sums of counts.

    `race_share` is its speed in the race over its speed alone, `simulated` its SWI by table of costs; the other figures
    are those of `Cell`.
    """

    entry: str
    title: str
    own: bool
    prompts: int
    speed: Spread
    speed_with_prefill: float
    race_share: float | None
    tokens_per_pass: float
    overhead: float | None
    share_of_limit: float | None
    differs: int
    near_ties: int
    simulated: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """Entries x prompts. `kinds` and `lengths` (tokens) are the prompts', `costs` the tables of simulated speed-ups."""

    entries: tuple[Entry, ...]
    kinds: tuple[str, ...]
    lengths: tuple[int, ...]
    dtype: str
    runs: tuple[TimedRun, ...]
    limit: SpeedLimit | None = field(default=None, compare=False)
    costs: Mapping[str, Costs] = field(default_factory=dict)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """In the order of prompts, then of entries; only where something was run."""
        cells = (
            make_cell(self._runs[prompt, entry.id], self._reference(prompt), self.dtype, length, self.limit)
            for prompt, length in enumerate(self.lengths)
            for entry in self.entries
            if (prompt, entry.id) in self._runs
        )
        return tuple(cell for cell in cells if cell is not None)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A row for each entry that was run."""
        rows = (self._row(entry, [cell for cell in self.cells if cell.entry == entry.id]) for entry in self.entries)
        return tuple(row for row in rows if row is not None)

    @cached_property
    def ratios(self) -> tuple[Ratio, ...]:
        """Each entry against each reference: over all prompts, without repeating texts, and kind by kind."""
        speeds = {entry.id: self.speeds(entry.id) for entry in self.entries}
        return tuple(list_ratios(speeds, self._references, group_prompts(self.kinds, self.repeating)))

    def ratio(self, entry: str, against: str, group: str = ALL) -> Ratio | None:
        found = (one for one in self.ratios if (one.entry, one.against, one.group) == (entry, against, group))
        return next(found, None)

    @cached_property
    def best(self) -> str:
        """The fastest entry that decodes token by token, over the prompts on which all of those ran; empty if none."""
        speeds = {entry.id: self.speeds(entry.id) for entry in self.entries if entry.token_by_token}
        speeds = {entry: own for entry, own in speeds.items() if own}
        shared = set.intersection(*map(set, speeds.values())) if speeds else set()
        return max(speeds, key=lambda entry: _mean(speeds[entry][prompt] for prompt in shared), default="")

    @cached_property
    def repeating(self) -> frozenset[int]:
        """The prompts on which a text repeats itself."""
        return frozenset(cell.prompt for cell in self.cells if cell.repeated > REPEATED_LIMIT)

    @cached_property
    def differing(self) -> tuple[Cell, ...]:
        """Texts of the project's methods that differ from the reference's, and not at a near-tie."""
        own = {entry.id for entry in self.entries if entry.method}
        return tuple(cell for cell in self.cells if cell.entry in own and cell.verdict == "differs")

    def speeds(self, entry: str) -> Mapping[int, float]:
        """Median speed of an entry on each prompt on which it has one."""
        return {cell.prompt: cell.speed.median for cell in self.cells if cell.entry == entry and cell.speed.median > 0}

    def title(self, entry: str) -> str:
        """How an entry is displayed."""
        return next(one.title for one in self.entries if one.id == entry)

    @cached_property
    def _runs(self) -> dict[tuple[int, str], list[TimedRun]]:
        runs: dict[tuple[int, str], list[TimedRun]] = {}
        for run in self.runs:
            runs.setdefault((run.prompt, run.entry), []).append(run)
        return runs

    @cached_property
    def _references(self) -> dict[str, str]:
        """The entries that ratios are over, by what they stand for."""
        first = {entry.method.name: entry.id for entry in reversed(self.entries) if entry.method}
        found = {
            AUTOREGRESSIVE: first.get(AUTOREGRESSIVE, ""),
            BEST: self.best,
            SPECULATIVE: first.get(SPECULATIVE, ""),
        }
        return {against: entry for against, entry in found.items() if entry}

    def _reference(self, prompt: int) -> TimedRun | None:
        """The run that texts on a prompt are compared with: the first of the autoregressive method alone."""
        runs: Sequence[TimedRun] = self._runs.get((prompt, self._autoregressive), ())
        return next((run for run in runs if run.mode == "alone" and run.margins is not None), None)

    @cached_property
    def _autoregressive(self) -> str:
        own = (entry.id for entry in self.entries if entry.method and entry.method.name == AUTOREGRESSIVE)
        return next(own, "")

    @cached_property
    def _raced(self) -> bool:
        return any(run.mode == "race" for run in self.runs)

    def _row(self, entry: Entry, cells: Sequence[Cell]) -> Row | None:
        if not cells:
            return None
        speeds = [cell.speed for cell in cells if cell.speed.median > 0]
        runs = [run for run in self.runs if run.entry == entry.id]
        timed = [run for run in runs if run.mode in SPEED_MODES]
        race_shares = (cell.race_speed / cell.speed.median for cell in cells if cell.race_speed)
        return Row(
            entry=entry.id,
            title=entry.title,
            own=entry.method is not None,
            prompts=len(cells),
            speed=Spread(
                _mean(speed.median for speed in speeds),
                _mean(speed.low for speed in speeds),
                _mean(speed.high for speed in speeds),
            ),
            speed_with_prefill=_mean(cell.speed_with_prefill for cell in cells),
            race_share=_mean(race_shares) if entry.method and self._raced else None,
            tokens_per_pass=tokens_per_pass(timed),
            overhead=overhead(runs),
            share_of_limit=_mean(cell.share_of_limit for cell in cells if cell.share_of_limit) if self.limit else None,
            differs=sum(cell.verdict == "differs" for cell in cells),
            near_ties=sum(cell.verdict == "near-tie" for cell in cells),
            simulated=simulate(timed, self.costs),
        )


def summarize(family: Family, plan: Plan, runs: Sequence[TimedRun], limits: Limits | None = None) -> Summary:
    """The figures of these runs of a plan."""
    return Summary(
        plan.entries,
        tuple(prompt.kind for prompt in plan.prompts),
        tuple(len(family.encode(prompt.prompt)) for prompt in plan.prompts),
        family.dtype,
        tuple(runs),
        limits.autoregressive_speed if limits else None,
        cost_tables(family.levels),
    )


def _mean(values: Iterable[float]) -> float:
    """Geometric mean of the positive values; NaN where there are none."""
    return geometric_mean(value for value in values if value > 0)
