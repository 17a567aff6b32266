"""What a comparison found: a verdict in a sentence, and a dot plot of kinds of prompt and methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from csd.plots.kinds import LaneDot, dots_by_kind
from csd.theme import method_phrase

Figure = Any
"""A plotly figure."""


@dataclass(frozen=True)
class LaneResult:
    """A lane on one prompt: its speed-ups over the repeats. `counts` is False for a text that is not the target's."""

    kind: str
    title: str
    method: str
    speedups: tuple[float, ...]
    counts: bool = True

    @property
    def middle(self) -> float:
        return median(self.speedups)


def draw(results: Sequence[LaneResult]) -> Figure | None:
    """Median and range of each lane on each kind; None where nothing can be compared."""
    shown = [one for one in results if one.speedups]
    if not any(one.method != "autoregressive" for one in shown):
        return None
    titles = list(dict.fromkeys(one.title for one in shown))
    methods = {one.title: one.method for one in shown}
    names = _names(methods)
    again = [title for i, title in enumerate(titles) if methods[title] in [methods[before] for before in titles[:i]]]
    dots = [
        LaneDot(one.kind, names[one.title], one.method, one.middle, _range(one.speedups), one.title in again)
        for one in shown
        if one.method != "autoregressive"
    ]
    fewest, most = min(len(one.speedups) for one in shown), max(len(one.speedups) for one in shown)
    races = f"{fewest} to {most} races" if fewest < most else "one race" if most == 1 else f"{most} races"
    return dots_by_kind(f"{'Median and range of ' if most > 1 else 'Speed-up in '}{races} on each prompt", dots)


def verdict(results: Sequence[LaneResult]) -> str:
    """Which lane is fastest, and where it is not; empty before anything can be compared."""
    winners = {kind: lanes for kind in _kinds(results) if len(lanes := _ranking(results, kind)) > 1}
    if not winners:
        return ""
    names = {title: _phrase(title, method) for title, method in _methods(results).items()}
    if len(winners) == 1:
        first, second = next(iter(winners.values()))[:2]
        return (
            _capital(f"{names[first.title]} is fastest: {first.middle:.2f}× against {second.middle:.2f}× of ")
            + f"{names[second.title]}.{_unclear(winners)}"
        )
    wins = Counter(lanes[0].title for lanes in winners.values())
    best, count = wins.most_common(1)[0]
    where = f"all {count} kinds" if count == len(winners) else f"{count} of {len(winners)} kinds"
    others = [
        f"on {_join([kind for kind, lanes in winners.items() if lanes[0].title == title])} {names[title]} wins"
        for title in wins
        if title != best
    ]
    sentence = "; ".join((f"{names[best]} is fastest on {where}", *others))
    return f"{_capital(sentence)}.{_unclear(winners)}"


def _ranking(results: Sequence[LaneResult], kind: str) -> list[LaneResult]:
    lanes = [one for one in results if one.kind == kind and one.speedups and one.counts]
    return sorted(lanes, key=lambda one: -one.middle)


def _unclear(winners: Mapping[str, Sequence[LaneResult]]) -> str:
    """Where the ranges of the first two overlap, so that another repeat may turn them round."""
    close = [
        kind
        for kind, (first, second, *_) in winners.items()
        if len(first.speedups) > 1 and min(first.speedups) <= max(second.speedups)
    ]
    if not close:
        return ""
    where = "" if len(winners) == 1 else f" on {_join(close)}"
    return f" The ranges of the first two overlap{where}, so this is not certain."


def _range(speedups: Sequence[float]) -> tuple[float, float] | None:
    return (min(speedups), max(speedups)) if len(speedups) > 1 else None


def _kinds(results: Sequence[LaneResult]) -> list[str]:
    return list(dict.fromkeys(one.kind for one in results))


def _methods(results: Sequence[LaneResult]) -> dict[str, str]:
    return {one.title: one.method for one in results}


def _names(methods: Mapping[str, str]) -> dict[str, str]:
    """A short name for each lane's title: its method where that is enough."""
    counts = Counter(methods.values())
    return {title: method if counts[method] == 1 else title for title, method in methods.items()}


def _phrase(title: str, method: str) -> str:
    return method_phrase(method) if title.partition(",")[0] == method and "K=" not in title else title


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
