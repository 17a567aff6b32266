"""From timed runs to the figures that a benchmark prints: medians, ratios, and what is held against what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median, quantiles

from csd.record.metrics import REPEATED_LIMIT, geometric_mean
from csd.record.verdict import compare_tokens

ALONE, RACE, PEER = "alone", "race", "peer"
AUTOREGRESSIVE, BEST, SPECULATIVE = "autoregressive", "best autoregressive", "speculative"  # what ratios are against
EVERY, CALM = "all", f"at most {REPEATED_LIMIT:.0%} repeated"
MANY = 10  # runs from which a spread is p10 to p90; below it is lowest to highest


@dataclass(frozen=True)
class Run:
    """One lane, timed once, on prompt number `prompt`. `mode` is "alone", "race" or "peer".

    `seconds` is the time of `counted` tokens (all of a method's own, those behind a peer's first block) in `runs` target
    runs; `prefill` is the time before. `forwards`: seconds inside models while decoding. `margins`: the reference's top-2
    margins, token by token. None where a figure was not taken.
    """

    prompt: int
    repeat: int
    mode: str
    title: str
    tokens: tuple[int, ...]
    counted: int
    seconds: float
    prefill: float
    runs: int
    repeated: float
    forwards: float | None = None
    margins: tuple[float | None, ...] | None = None

    @property
    def speed(self) -> float:
        """Tokens per second of decoding."""
        return self.counted / self.seconds if self.counted and self.seconds else math.nan

    @property
    def with_prefill(self) -> float:
        """Tokens per second of everything; a peer's first block comes with its prefill."""
        return len(self.tokens) / (self.seconds + self.prefill)


@dataclass(frozen=True)
class Contestant:
    """A method of the project or a peer. `plain`: one token a run, so it may serve as the autoregressive baseline."""

    title: str
    name: str
    own: bool
    plain: bool


@dataclass(frozen=True)
class Spread:
    """The median, and p10 to p90 of ten values and more, else the lowest and the highest."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """One contestant on one prompt, over all repeats. Speeds are tokens per second; `race` is the speed among the others.

    `verdict` is "reference", "identical", "near-tie", "differs" or "not compared"; `position` is the first other token.
    """

    prompt: int
    title: str
    tokens: int
    speed: Spread
    with_prefill: float
    prefill: float
    race: float | None
    tokens_per_run: float
    overhead: float | None
    share: float | None
    repeated: float
    verdict: str
    position: int | None = None


@dataclass(frozen=True)
class Ratio:
    """Geometric mean and lowest of a contestant's speed over another's, over the `count` prompts of a group."""

    title: str
    against: str
    group: str
    count: int
    mean: float
    lowest: float


@dataclass(frozen=True)
class Row:
    """A contestant over all its prompts: geometric means of speeds and shares, sums of counts.

    `race_share`: its speed in the race over its speed alone. `overhead`: share of decoding time outside the models.
    `share`: of the speed that reading the target's weights allows to autoregressive decoding.
    """

    title: str
    own: bool
    prompts: int
    speed: Spread
    with_prefill: float
    race_share: float | None
    tokens_per_run: float
    overhead: float | None
    share: float | None
    differs: int
    near_ties: int


@dataclass(frozen=True)
class Summary:
    """Contestants x prompts. `kinds` and `lengths` (tokens) are the prompts'; `limit` gives tokens per second at a context."""

    contestants: tuple[Contestant, ...]
    kinds: tuple[str, ...]
    lengths: tuple[int, ...]
    dtype: str
    runs: tuple[Run, ...]
    limit: Callable[[float], float] | None = field(default=None, compare=False)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """In the order of prompts, then of contestants; only where something was run."""
        grouped: dict[tuple[int, str], list[Run]] = {}
        for run in self.runs:
            grouped.setdefault((run.prompt, run.title), []).append(run)
        keys = [(prompt, one.title) for prompt in range(len(self.kinds)) for one in self.contestants]
        return tuple(cell for key in keys if key in grouped and (cell := self._cell(*key, grouped)))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for one in self.contestants if (row := self._row(one)))

    @cached_property
    def best(self) -> str:
        """The fastest contestant that decodes token by token, over the prompts on which all of those ran; empty: none."""
        plain = [one.title for one in self.contestants if one.plain and self.speeds(one.title)]
        shared = set.intersection(*(set(self.speeds(title)) for title in plain)) if plain else set()
        return max(plain, key=lambda title: _mean(self.speeds(title)[prompt] for prompt in shared), default="")

    @cached_property
    def repeating(self) -> frozenset[int]:
        """The prompts on which a text repeats itself."""
        return frozenset(cell.prompt for cell in self.cells if cell.repeated > REPEATED_LIMIT)

    @cached_property
    def ratios(self) -> tuple[Ratio, ...]:
        """Each contestant against each baseline that ran: over all prompts, without repeating texts, and kind by kind."""
        every = range(len(self.kinds))
        groups = {EVERY: [*every]}
        if self.repeating:
            groups[CALM] = [prompt for prompt in every if prompt not in self.repeating]
        kinds = dict.fromkeys(self.kinds)
        groups |= {kind: [p for p in every if self.kinds[p] == kind] for kind in kinds if len(kinds) > 1}
        return tuple(
            ratio
            for one in self.contestants
            for against, title in self._baselines().items()
            for group, prompts in groups.items()
            if one.title != title and (ratio := self._ratio(one.title, against, title, group, prompts))
        )

    def ratio(self, title: str, against: str, group: str = EVERY) -> Ratio | None:
        found = (one for one in self.ratios if (one.title, one.against, one.group) == (title, against, group))
        return next(found, None)

    def speeds(self, title: str) -> dict[int, float]:
        """Median speed of a contestant on each prompt on which it has one."""
        return self._speeds.get(title, {})

    def differing(self) -> list[Cell]:
        """Texts of the project's own methods that are other ones, and no near-tie explains it."""
        own = {one.title for one in self.contestants if one.own}
        return [cell for cell in self.cells if cell.title in own and cell.verdict == "differs"]

    @cached_property
    def _speeds(self) -> dict[str, dict[int, float]]:
        found: dict[str, dict[int, float]] = {}
        for cell in self.cells:
            if cell.speed.median > 0:
                found.setdefault(cell.title, {})[cell.prompt] = cell.speed.median
        return found

    def _baselines(self) -> dict[str, str]:
        """What ratios are against: the project's own autoregressive and speculative methods, and the best baseline."""
        first = {one.name: one.title for one in reversed(self.contestants) if one.own}
        found = {
            AUTOREGRESSIVE: first.get("autoregressive", ""),
            BEST: self.best,
            SPECULATIVE: first.get("speculative", ""),
        }
        return {against: title for against, title in found.items() if title}

    def _ratio(self, title: str, against: str, base: str, group: str, prompts: Iterable[int]) -> Ratio | None:
        ours, theirs = self.speeds(title), self.speeds(base)
        found = [ours[prompt] / theirs[prompt] for prompt in prompts if prompt in ours and prompt in theirs]
        return Ratio(title, against, group, len(found), geometric_mean(found), min(found)) if found else None

    def _cell(self, prompt: int, title: str, grouped: dict[tuple[int, str], list[Run]]) -> Cell | None:
        runs = grouped[prompt, title]
        timed = [run for run in runs if run.mode != RACE]
        if not timed:
            return None
        raced = [run.speed for run in runs if run.mode == RACE]
        verdicts = [self._verdict(run, self._reference(prompt, grouped)) for run in runs]
        verdict, position = max(verdicts, key=lambda found: VERDICTS.index(found[0]))
        decoding = sum(run.seconds for run in timed)
        inside = [run.forwards for run in timed if run.forwards is not None]
        speed = spread([run.speed for run in timed])
        context = self.lengths[prompt] + len(timed[0].tokens) / 2
        return Cell(
            prompt,
            title,
            len(timed[0].tokens),
            speed,
            median(run.with_prefill for run in timed),
            median(run.prefill for run in timed),
            median(raced) if raced else None,
            sum(run.counted for run in timed) / max(1, sum(run.runs for run in timed)),
            1 - sum(inside) / decoding if inside and decoding else None,
            speed.median / self.limit(context) if self.limit else None,
            max(run.repeated for run in runs),
            verdict,
            position,
        )

    def _reference(self, prompt: int, grouped: dict[tuple[int, str], list[Run]]) -> Run | None:
        runs = grouped.get((prompt, self._reference_title), ())
        return next((run for run in runs if run.mode == ALONE and run.margins is not None), None)

    @cached_property
    def _reference_title(self) -> str:
        return next((one.title for one in self.contestants if one.own and one.name == "autoregressive"), "")

    def _verdict(self, run: Run, reference: Run | None) -> tuple[str, int | None]:
        if reference is None:
            return "not compared", None
        found = compare_tokens(run.tokens, reference.tokens, reference.margins or (), self.dtype)
        if found.kind == "identical" and run.title == reference.title:
            return "reference", None
        return found.kind, found.position

    def _row(self, one: Contestant) -> Row | None:
        cells = [cell for cell in self.cells if cell.title == one.title]
        if not cells:
            return None
        speeds = [cell.speed for cell in cells if cell.speed.median > 0]
        timed = [run for run in self.runs if run.title == one.title and run.mode != RACE]
        decoding = sum(run.seconds for run in timed)
        inside = [run.forwards for run in timed if run.forwards is not None]
        return Row(
            one.title,
            one.own,
            len(cells),
            Spread(
                _mean(speed.median for speed in speeds),
                _mean(speed.low for speed in speeds),
                _mean(speed.high for speed in speeds),
            ),
            _mean(cell.with_prefill for cell in cells),
            _mean(cell.race / cell.speed.median for cell in cells if cell.race) if one.own and self._raced else None,
            sum(run.counted for run in timed) / max(1, sum(run.runs for run in timed)),
            1 - sum(inside) / decoding if inside and decoding else None,
            _mean(cell.share for cell in cells if cell.share) if self.limit else None,
            sum(cell.verdict == "differs" for cell in cells),
            sum(cell.verdict == "near-tie" for cell in cells),
        )

    @cached_property
    def _raced(self) -> bool:
        return any(run.mode == RACE for run in self.runs)


VERDICTS = ("reference", "not compared", "identical", "near-tie", "differs")  # the worst one of a cell's runs counts


def spread(values: Sequence[float]) -> Spread:
    """Of the values that are numbers; of none, NaN."""
    found = sorted(value for value in values if not math.isnan(value))
    if not found:
        return Spread(math.nan, math.nan, math.nan)
    if len(found) < MANY:
        return Spread(median(found), found[0], found[-1])
    tenths = quantiles(found, n=10, method="inclusive")
    return Spread(median(found), tenths[0], tenths[-1])


def _mean(values: Iterable[float]) -> float:
    return geometric_mean(value for value in values if value > 0)
