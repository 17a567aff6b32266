"""What a comparison found: a verdict in a sentence, its numbers, and a chart of kinds of prompt and methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from csd.decoding.methods import Autoregressive
from csd.plots.style import SPEEDUP
from csd.roles import BIG_MODEL, COPIER
from csd.sentences import capitalized, counted, listed
from csd.theme import method_phrase
from csd.web.compare_chart import CLOSE, KindRows, LaneRow, chart_html
from csd.web.finding import Number

AUTOREGRESSIVE = Autoregressive.name
OVERLAP = "{} ranges of the two fastest overlap; more repeats or longer texts may tell them apart."
SINGLE = "{} two fastest have raced only once, which does not show how much speeds vary."
MIXED = "{} ranges of the two fastest overlap, or they have raced only once."
NEAR = 0.1  # relative distance of two speeds that another run may bring into the other order
WITHIN = f"{{}} two fastest are within {NEAR:.0%}: which of them wins may change from run to run."
ONCE = " One race does not show how much a speed varies: ask for repeats."


@dataclass(frozen=True)
class LaneResult:
    """A lane on one prompt: its speed-ups over the repeats. `counts` is False for a text that is not the target's.
    `words` are its settings in plain words, `written` how many tokens of its texts each level wrote, by role."""

    kind: str
    title: str
    method: str
    speedups: tuple[float, ...]
    counts: bool = True
    words: str = ""
    written: Mapping[str, int] = field(default_factory=dict)

    @property
    def middle(self) -> float:
        return median(self.speedups)

    @property
    def guessers(self) -> list[tuple[str, float]]:
        """Who wrote which share of the text besides the big model, the most first."""
        whole = sum(self.written.values())
        found = {role: count / whole for role, count in self.written.items() if role != BIG_MODEL}
        return sorted(found.items(), key=lambda one: -one[1])

    @property
    def copies(self) -> bool:
        """Whether the copier alone guessed: its share is how much of the text was copied."""
        return [role for role, _ in self.guessers] == [COPIER]


@dataclass(frozen=True)
class Compared:
    """What a comparison has come to: its results, the rows of the table, and what its plans are called, by lane."""

    results: tuple[LaneResult, ...]
    rows: tuple[tuple[Any, ...], ...]
    plans: Mapping[str, str]
    said: str = ""


def draw(results: Sequence[LaneResult], planned: Sequence[LaneResult] = (), racing: str = "") -> str:
    """Median and range of each lane on each kind, in the rows of what is `planned`: those whose races are still to come
    have their names. `racing` is the kind whose race runs."""
    lanes = [one for one in _fill_in(planned, results) if one.method != AUTOREGRESSIVE]
    methods = _methods(lanes)
    names, again = _names(methods), _again(methods)
    rankings = _rankings(_fill_in(planned, results))
    won = _won(rankings, _once(results))
    most = max((len(one.speedups) for one in lanes), default=0)
    kinds = []
    for kind in _kinds(lanes):
        own = [one for one in lanes if one.kind == kind]
        rows = (
            LaneRow(
                names[one.title],
                one.method,
                one.middle if one.speedups else None,
                _range(one.speedups),
                won.get(kind) == one.title,
                one.title in again,
            )
            for one in own
        )
        kinds.append(KindRows(kind, tuple(rows), _note(own), kind == racing))
    return chart_html(kinds, f"{SPEEDUP}{', median and range' if most > 1 else ''}")


def _note(lanes: Sequence[LaneResult]) -> str:
    """How much of a kind's text is repeated, which a lane that only copies has found out."""
    return next((f"{dict(one.guessers)[COPIER]:.0%} repeated words" for one in lanes if one.copies), "")


def _fill_in(planned: Sequence[LaneResult], results: Sequence[LaneResult]) -> list[LaneResult]:
    """The results in the places of what was planned, under its titles: those of races that have run may change."""
    if not planned:
        return list(results)
    found = dict(zip(_places(results), results, strict=True))
    return [
        replace(found.get(place, one), title=one.title) for place, one in zip(_places(planned), planned, strict=True)
    ]


def _places(lanes: Sequence[LaneResult]) -> list[tuple[str, str, int]]:
    """Of each lane its kind, its method, and which one of this method it is there."""
    counts: Counter[tuple[str, str]] = Counter()
    places = []
    for one in lanes:
        places.append((one.kind, one.method, counts[one.kind, one.method]))
        counts[one.kind, one.method] += 1
    return places


def numbers(results: Sequence[LaneResult]) -> tuple[Number, ...]:
    """The speed-ups of the lane that wins most kinds, in the colour of a win only where it wins all; on a single kind,
    those of the two fastest."""
    rankings, methods, once = _rankings(results), _methods(results), _once(results)
    names, again = _names(methods), _again(methods)
    if len(rankings) == 1:
        won = _won(rankings, once).values()
        return tuple(
            Number(
                names[one.title],
                f"{one.middle:.1f}×",
                one.method,
                one.title not in again,
                is_bold=one.title in won,
                wins=one.title in won,
            )
            for one in next(iter(rankings.values()))[:2]
        )
    won = Counter(_won(rankings, once).values()).most_common(1)
    if not won:
        return ()
    title, count = won[0]
    speeds = [one.middle for lanes in rankings.values() for one in lanes if one.title == title]
    spread = dict.fromkeys(f"{end(speeds):.1f}" for end in (min, max))
    kinds = f"{names[title]}, over {counted(len(speeds), 'kind')}"
    return (Number(kinds, f"{'–'.join(spread)}×", methods[title], wins=count == len(rankings)),)


def verdict(results: Sequence[LaneResult]) -> str:
    """Which lane is fastest, and where that is not clear; empty before anything can be compared.

    A win is clear where the ranges of the first two do not overlap, and their speeds are not near. One race has no
    range, and the sentence says so.
    """
    rankings, once = _rankings(results), _once(results)
    if not rankings:
        return ""
    names = {title: _phrase(title, method) for title, method in _methods(results).items()}
    said = _of_one(next(iter(rankings.values())), names, once) if len(rankings) == 1 else _of_all(rankings, names, once)
    said = capitalized(f"in one race each, {said}" if once and len(rankings) > 1 else said)
    return f"{said}{_of_copies(rankings, once)}{ONCE if once else ''}"


def lane_words(results: Sequence[LaneResult]) -> dict[str, str]:
    """What readers call each lane, by its title; it is kept where two lanes would be called the same, or where the
    settings of one differ from kind to kind."""
    words = {title: {one.words for one in results if one.title == title} for title in _methods(results)}
    called = {one.title: f"{one.method}, {one.words}" for one in results if one.words and len(words[one.title]) == 1}
    called = {title: called.get(title, title) for title in words}
    counts = Counter(called.values())
    return {title: words if counts[words] == 1 else title for title, words in called.items()}


def _of_one(lanes: Sequence[LaneResult], names: Mapping[str, str], once: bool) -> str:
    first, second = lanes[:2]
    digits = 2 if f"{first.middle:.1f}" == f"{second.middle:.1f}" else 1  # one as beside the bars
    own, its, rival = f"{first.middle:.{digits}f}×", f"{second.middle:.{digits}f}×", names[second.title]
    if _wins(lanes, once):
        most = "fastest" if len(lanes) > 2 else "faster"
        return f"{names[first.title]} is {most}{' in one race' if once else ''}: {own} against {its} of {rival}."
    return f"no clear winner: {names[first.title]} has {own}, {rival} {its}. {_why_unclear({'': lanes}, 1, once)}"


def _of_all(rankings: Mapping[str, Sequence[LaneResult]], names: Mapping[str, str], once: bool) -> str:
    won = _won(rankings, once)
    unclear = [kind for kind in rankings if kind not in won]
    if not won:
        return f"no clear winner on any of the {len(rankings)} kinds. {_why_unclear(rankings, len(rankings), once)}"
    (best, count), *others = Counter(won.values()).most_common()
    where = f"all {count} kinds" if count == len(rankings) else f"{count} of {len(rankings)} kinds"
    parts = [f"{names[best]} is fastest on {where}"]
    parts += [
        f"{names[title]} on {listed([kind for kind, winner in won.items() if winner == title])}" for title, _ in others
    ]
    parts += [f"{listed(unclear)} {'is' if len(unclear) == 1 else 'are'} {CLOSE}"] if unclear else []
    why = _why_unclear({kind: rankings[kind] for kind in unclear}, len(rankings), once)
    return " ".join(filter(None, (f"{'; '.join(parts)}.", why)))


def _why_unclear(kinds: Mapping[str, Sequence[LaneResult]], of: int, once: bool) -> str:
    """Why no lane clearly wins on these kinds, `of` so many; a comparison that was stopped has one race of some."""
    near = [kind for kind, lanes in kinds.items() if once or _is_clear(lanes)]
    rest = [kind for kind in kinds if kind not in near]
    single = [min(len(lane.speedups) for lane in kinds[kind][:2]) == 1 for kind in rest]
    why = OVERLAP if not any(single) else SINGLE if all(single) else MIXED
    said = [(sentence, some) for sentence, some in ((why, rest), (WITHIN, near)) if some]
    return " ".join(sentence.format(f"On {listed(some)} the" if len(some) < of else "The") for sentence, some in said)


def _of_copies(rankings: Mapping[str, Sequence[LaneResult]], once: bool) -> str:
    """Where another lane wins than the one that wins most: who wrote its text there, and where it wrote least."""
    won = _won(rankings, once)
    most = Counter(won.values()).most_common(1)
    said = ""
    for kind, title in won.items():
        lane = rankings[kind][0]
        if title == most[0][0] or not lane.guessers:
            continue
        role, share = lane.guessers[0]
        others = {
            one.kind: dict(one.guessers).get(role, 0.0)
            for lanes in rankings.values()
            for one in lanes
            if one.title == title and one.kind != kind and one.written
        }
        least = min(others, key=lambda one: others[one], default="")
        against = f", on {least} {others[least]:.0%}" if least and others[least] < share else ""
        said += f" On {kind} the {role} wrote {share:.0%} of {_phrase(title, lane.method)}'s text{against}."
    return said


def _is_near(lanes: Sequence[LaneResult]) -> bool:
    """Whether another run may bring the first two into the other order."""
    first, second = lanes[:2]
    return second.middle >= (1 - NEAR) * first.middle


def _rankings(results: Sequence[LaneResult]) -> dict[str, list[LaneResult]]:
    """The lanes of each kind on which several can be compared, the fastest first."""
    return {kind: lanes for kind in _kinds(results) if len(lanes := _ranking(results, kind)) > 1}


def _once(results: Sequence[LaneResult]) -> bool:
    return all(len(lane.speedups) == 1 for lanes in _rankings(results).values() for lane in lanes)


def _won(rankings: Mapping[str, Sequence[LaneResult]], once: bool) -> dict[str, str]:
    """The title of the lane that wins each kind where that is clear."""
    return {kind: lanes[0].title for kind, lanes in rankings.items() if _wins(lanes, once)}


def _wins(lanes: Sequence[LaneResult], once: bool) -> bool:
    """Whether the first lane is fastest by more than chance changes; of several races, whether it is so in each."""
    return not _is_near(lanes) and (once or _is_clear(lanes))


def _ranking(results: Sequence[LaneResult], kind: str) -> list[LaneResult]:
    lanes = [one for one in results if one.kind == kind and one.speedups and one.counts]
    return sorted(lanes, key=lambda one: -one.middle)


def _is_clear(lanes: Sequence[LaneResult]) -> bool:
    """Whether no race of the second was as fast as the slowest of the first."""
    first, second = lanes[:2]
    return len(first.speedups) > 1 and min(first.speedups) > max(second.speedups)


def _range(speedups: Sequence[float]) -> tuple[float, float] | None:
    return (min(speedups), max(speedups)) if len(speedups) > 1 else None


def _kinds(results: Sequence[LaneResult]) -> list[str]:
    return list(dict.fromkeys(one.kind for one in results))


def _methods(results: Sequence[LaneResult]) -> dict[str, str]:
    return {one.title: one.method for one in results}


def _again(methods: Mapping[str, str]) -> set[str]:
    """The titles of lanes whose method another one before them has."""
    titles = list(methods)
    return {title for i, title in enumerate(titles) if methods[title] in [methods[one] for one in titles[:i]]}


def _names(methods: Mapping[str, str]) -> dict[str, str]:
    """A short name for each lane's title: its method where that is enough."""
    counts = Counter(methods.values())
    return {title: method if counts[method] == 1 else title for title, method in methods.items()}


def _phrase(title: str, method: str) -> str:
    return method_phrase(method) if title.partition(",")[0] == method and "K=" not in title else title
