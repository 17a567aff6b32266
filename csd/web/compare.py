"""Several races as one table: the same lanes on every kind of prompt, or two plans on one prompt."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import dropwhile
from statistics import median
from typing import Any

from csd.decoding.errors import Refusal, read_number
from csd.decoding.methods import Cascade, title
from csd.ranges import Range
from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.record.verdict import judge
from csd.request.prompts import Prompt
from csd.request.request import Request
from csd.roles import roles
from csd.sentences import capitalized
from csd.stage.glossary import glossary, term_html
from csd.stage.settings import settings_in_words
from csd.web.compare_findings import LaneResult
from csd.web.named_plans import NamedPlan

BY_KIND, TWO_PLANS = "the same lanes on every kind of prompt", "two plans on the prompt of the Race tab"
MAX_REPEATS, REPEATS = 5, 3  # at most, and unless asked otherwise
SIGNS = tuple("=+-@")  # with which a cell begins that a spreadsheet may compute; and what Unicode takes for one of them
MINUS = tuple("\u2212\u2010\u2011\u2012\u2013\u2014\u2015\u207b\u208b")  # which some read as one; NFKC keeps most
INVISIBLE = ("Cc", "Cf", "Mn", "Zl", "Zp", "Zs")  # Unicode categories of what may stand before it unseen
QUOTES = tuple("\"'")  # and what a program takes off that reads cells as quoted
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a sign without a mark, which are in none of these

COLUMNS = (
    "prompt",
    "lane",
    "repeats",
    "tokens per second",
    "slowest",
    "fastest",
    "speed-up",
    "lowest",
    "highest",
    "tokens per target pass (MAT)",
    "text",
)

SPEEDS = ("tokens per second", "slowest", "fastest")
READ_AS = {"tokens per target pass (MAT)": "tokens per run of the big model"}  # columns that the page calls otherwise


# ---- which races


@dataclass(frozen=True)
class PlannedRace:
    """One race of a comparison; `label` names its prompt, and `plans` its lanes, by title, where they have names."""

    label: str
    request: Request
    plans: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return kind_of(self.label)


def kind_of(label: str) -> str:
    """The kind of prompt in a label, such as "story" in "story: A fox sets out"."""
    return label.partition(": ")[0]


def plan_pair(request: Request, plans: Sequence[NamedPlan], label: str, repeats: Any) -> tuple[PlannedRace, ...]:
    """Two plans in the place of the request's cascade, in one race beside its other lanes. Raises Refusal."""
    (cascade,) = (method for method in request.methods if isinstance(method, Cascade))
    both = [replace(cascade, K=plan.K) for plan in plans]
    if both[0].stages() == both[1].stages():
        raise Refusal(f"{capitalized(plans[0].phrase)} and {plans[1].phrase} are the same. Choose another one.")
    others = [method for method in request.methods if method != cascade]
    names = {title(method): plan.phrase for method, plan in zip(both, plans, strict=True)}
    return (PlannedRace(label, replace(request, methods=(*others, *both)), names),) * check_repeats(repeats)


def plan_kinds(requests: Mapping[Prompt, Request], repeats: Any) -> tuple[PlannedRace, ...]:
    """The lanes of these requests, each on its example; each repeat goes through all of them. Raises Refusal."""
    once = [
        PlannedRace(
            f"{one.kind}: {one.title}",
            replace(request, prompt=one.prompt, temperature=one.temperature, seed=one.seed),
        )
        for one, request in requests.items()
    ]
    return tuple(once * check_repeats(repeats))


def check_repeats(value: Any) -> int:
    """Raises Refusal unless it is a whole number from 1 to MAX_REPEATS."""
    return read_number(Range("Repeats", 1, MAX_REPEATS), value)


def planned_lanes(plan: Sequence[PlannedRace]) -> list[LaneResult]:
    """The lanes of all kinds as they are before any has run, in the order in which they will."""
    first = {one.kind: one for one in reversed(plan)}
    kinds = {kind: first[kind] for kind in dict.fromkeys(one.kind for one in plan)}
    lanes = {kind: [(method.name, title(method)) for method in one.request.methods] for kind, one in kinds.items()}
    names = _names_of_lanes(lanes.values())
    called = {kind: {**names, **one.plans} for kind, one in kinds.items()}
    return [
        LaneResult(kind, called[kind].get(named, named), method, ())
        for kind, own in lanes.items()
        for method, named in own
    ]


# ---- their table


@dataclass(frozen=True)
class _Run:
    """A lane that ran to its end, and the autoregressive lane beside it if that one did as well."""

    trace: Trace
    reference: Trace | None
    speedup: float | None


def table_rows(races: Iterable[tuple[str, Race]]) -> list[list[Any]]:
    """One row per label and lane, in the order of the first race of each: medians and extremes over the repeats.

    None where there is nothing to count. A lane that was stopped does not count as a repeat.
    """
    return [_row(label, title, runs) for (label, title), runs in _group(races).items()]


def lane_results(races: Iterable[tuple[str, Race]], plans: Mapping[str, str] | None = None) -> list[LaneResult]:
    """What the verdict and the figure are made of, in the order of `table_rows`; `plans` name lanes by title."""
    races = tuple(races)
    lanes = [[(trace.header.method, trace.header.title) for trace in race.traces] for _, race in races]
    names = {**_names_of_lanes(lanes), **(plans or {})}
    return [
        LaneResult(
            kind_of(label),
            names.get(title, title),
            runs[0].trace.header.method,
            tuple(run.speedup for run in runs if run.speedup is not None),
            all(run.trace.lossless for run in runs),
            settings_in_words(runs[0].trace.header, roles(runs[0].trace.header.levels)),
            _written([run.trace for run in runs]),
        )
        for (label, title), runs in _group(races).items()
        if runs
    ]


def _names_of_lanes(races: Iterable[Sequence[tuple[str, str]]]) -> dict[str, str]:
    """By title, from the (method, title) of the lanes of each race: a method that each race has once is one lane,
    called by its method where its settings differ between races."""
    races = list(races)
    titles: dict[str, dict[str, int]] = {method: {} for lanes in races for method, _ in lanes}
    for lanes in races:
        counts = Counter(method for method, _ in lanes)
        for method, named in lanes:
            titles[method][named] = counts[method]
    merged = {method: found for method, found in titles.items() if len(found) > 1 and set(found.values()) == {1}}
    return {title: method for method, found in merged.items() for title in found}


def _written(traces: Sequence[Trace]) -> dict[str, int]:
    """How many tokens each level wrote in all, by role."""
    total: Counter[str] = Counter()
    for trace in traces:
        called = roles(trace.header.levels)
        for name, count in metrics.shares(trace).items():
            total[called[name]] += count
    return dict(total)


def _group(races: Iterable[tuple[str, Race]]) -> dict[tuple[str, str], list[_Run]]:
    """The complete runs of each label and lane."""
    groups: dict[tuple[str, str], list[_Run]] = {}
    for label, race in races:
        reference = race.reference if race.reference and _is_complete(race.reference) else None
        for trace in race.traces:
            runs = groups.setdefault((label, trace.header.title), [])
            if _is_complete(trace):
                runs.append(_Run(trace, reference, race.speedup(trace) if reference else None))
    return groups


def _is_complete(trace: Trace) -> bool:
    return bool(trace.tokens and trace.decode_seconds) and trace.end != "stopped"


def _row(label: str, title: str, runs: Sequence[_Run]) -> list[Any]:
    speeds = _spread([metrics.speed(run.trace) for run in runs], 1)
    speedups = _spread([run.speedup for run in runs if run.speedup is not None], 2)
    per_pass, _, _ = _spread([metrics.mat(run.trace) for run in runs], 2)
    return [label, title, len(runs), *speeds, *speedups, per_pass, _verdict(runs)]


def _spread(values: Sequence[float], digits: int) -> tuple[float | None, float | None, float | None]:
    """Median, minimum and maximum."""
    if not values or not all(map(math.isfinite, values)):
        return None, None, None
    return round(median(values), digits), round(min(values), digits), round(max(values), digits)


def _verdict(runs: Sequence[_Run]) -> str:
    """Whether a lane generated the autoregressive lane's text, in all of its repeats."""
    if not runs:
        return "stopped"
    kinds = [judge(run.trace, run.reference).kind for run in runs if run.reference is not None]
    if not kinds:
        return "not checked"
    if set(kinds) == {"reference"}:
        return "reference"
    if "not lossless" in kinds:
        return "not lossless"
    if "same distribution" in kinds:
        return "same distribution"
    same = kinds.count("identical")
    return "identical" if same == len(kinds) else f"identical in {same} of {len(kinds)}"


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """The table as CSV with a header. An apostrophe precedes cells that a spreadsheet would read as formulas; words are
    quoted, so that no sign in them ends a cell where semicolons separate."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(["" if cell is None else _escape(cell) for cell in row])
    return out.getvalue()


def table_html(rows: Iterable[Sequence[Any]], words: Mapping[str, str]) -> str:
    """The table for the page, with what readers call each lane by its title; everything is escaped."""
    heads = "".join(f'<th scope="col">{_heading(name)}</th>' for name in COLUMNS)
    read = [[label, words.get(title, title), *cells] for label, title, *cells in rows]
    firsts = [i == 0 or row[0] != read[i - 1][0] for i, row in enumerate(read)]
    lines = ("".join(f"<td>{escape(_read(*cell))}</td>" for cell in zip(COLUMNS, row, strict=True)) for row in read)
    return (
        '<div class="compare-table" tabindex="0" role="region" aria-label="All numbers"><table>'
        "<caption>Medians over the repeats, with minimum and maximum</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(map(_line, firsts, lines))}</tbody></table></div>"
    )


def _line(is_first: bool, cells: str) -> str:
    """A row; the first of each prompt stands apart from those above."""
    return f"<tr{' data-first' if is_first else ''}>{cells}</tr>"


def _read(column: str, cell: Any) -> str:
    """A cell as it is read: speeds with one decimal, ratios with two."""
    if not isinstance(cell, float):
        return "–" if cell is None else str(cell)
    return f"{cell:.1f}" if column in SPEEDS else f"{cell:.2f}"


def _heading(column: str) -> str:
    return term_html(column, READ_AS.get(column, column)) if column in dict(glossary()) else escape(column)


def _escape(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and _may_be_formula(cell) else cell


def _may_be_formula(cell: str) -> bool:
    # Spreadsheets skip blanks and line breaks before a formula, as a program that cleans a table skips what is
    # invisible; some read full-width and small signs as well.
    begins = next(dropwhile(lambda sign: sign in QUOTES or _is_invisible(sign), cell), "")
    plain = unicodedata.normalize("NFKC", begins)[:1]
    return plain in (*SIGNS, *MINUS) or cell.startswith(("\t", "\r", "\n"))


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE or character in FILLERS
