"""What an event changes on the page. None, or an empty mapping, leaves a part as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal

from csd.request.request import Request
from csd.web.compare_findings import Compared
from csd.web.downloads import RaceFiles
from csd.web.finding import Finding
from csd.web.loads import FamilyStatus
from csd.web.results import RaceResults


@dataclass(frozen=True)
class StatusLine:
    """A sentence for the visitor. "refused" is set in bold, "ended" marks the result of a race, "measured" one that
    tells its speed, which is seen once the stage has played to its end, "recorded" says what the page begins with,
    "switched" that other models run now, and "previous" that the stage shows a race of before with others; `spoken` is
    for screen readers alone, because the stage shows the same, `field` names the field of the form that a refusal is
    about, and `table` is HTML that stands below the sentence."""

    text: str
    state: Literal["", "refused", "ended", "measured", "recorded", "switched", "previous"] = ""
    spoken: bool = False
    field: str = ""
    table: str = ""


@dataclass(frozen=True)
class Choices:
    """The options of a list and the selected one."""

    options: tuple[str, ...]
    selected: str


@dataclass(frozen=True)
class StageView:
    """What the stage draws: the log of a race so far; without a race, a sentence that asks to run one."""

    race: str
    log: str


@dataclass(frozen=True)
class Landing:
    """A recorded race on the stage before anything has run, with its files."""

    stage: StageView
    files: RaceFiles


@dataclass(frozen=True)
class FormUpdate:
    """New values of fields, by name; the drafts that can be chosen, the presets, the kinds of examples, a sentence,
    what the stage shows instead, and the visitor's own prompt where it gave way to another one."""

    values: Mapping[str, Any] = field(default_factory=dict)
    drafts: tuple[str, ...] | None = None
    presets: Choices | None = None
    kinds: tuple[str, ...] | None = None
    status: StatusLine | None = None
    stage: StageView | None = None
    own_prompt: str | None = None


@dataclass(frozen=True)
class FamilyLines:
    """The line that says what the chosen family is doing, and the one that describes it; the tokens that it reads at
    most, 0 where that is unknown."""

    status: FamilyStatus
    about: str
    context: int = 0


@dataclass(frozen=True)
class RaceUpdate:
    """What a race, or showing one again, changes. `form` holds the settings of a race that is shown."""

    status: StatusLine | None = None
    family: FamilyLines | None = None
    stage: StageView | None = None
    results: RaceResults | None = None
    form: FormUpdate | None = None


@dataclass(frozen=True)
class BetweenRaces:
    """Races of others may go before the next race of a comparison; `stop` is set where its visitor stops it."""

    next: Request
    stop: Event


@dataclass(frozen=True)
class CompareUpdate:
    """The comparison so far: a sentence, how many of how many races are done, its finding and figure, the rows of the
    table with what readers call their lanes, and its path as CSV, empty where it could not be saved; `found` is what
    the page keeps of it. One that is `between` two races is shown only where others do go first. `other` names the
    comparison that can be shown in its place; empty without one."""

    status: StatusLine | None = None
    progress: tuple[int, int] | None = None
    rows: Sequence[Sequence[Any]] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    csv: str | None = None
    finding: Finding | None = None
    figure: str | None = None
    found: Compared | None = None
    between: BetweenRaces | None = None
    other: str | None = None
