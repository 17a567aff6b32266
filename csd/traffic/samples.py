"""What is measured: one sample per visitor's action, and one of the server per second."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["ok", "refused", "lost", "mixed", "differs", "hung"]
"""`refused` is answered with a sentence; `lost` is not answered, or without one; `mixed` is an answer to somebody else;
`differs` has lanes of different texts; `hung` has no answer within the visitor's patience."""
FAULTS: tuple[Outcome, ...] = ("lost", "mixed", "differs", "hung")
RACES = ("page race", "API race")
PAGE = "GET /"


class Failed(Exception):
    """An action went wrong: what became of it, and what was seen."""

    def __init__(self, outcome: Outcome, sentence: str):
        super().__init__(sentence)
        self.outcome: Outcome = outcome


@dataclass(frozen=True)
class Sample:
    """One action: when it began (seconds since the beginning) and how long it took.

    `queued` are the seconds until a race started, and `estimate` those that Gradio promised at first until its end,
    where it did. `off` is by how many seconds the page's line was wrong about the rest, the median of all that it said
    while the race waited. `sentence` is the refusal, or what was wrong.
    """

    kind: str
    start: float
    seconds: float
    outcome: Outcome = "ok"
    queued: float | None = None
    estimate: float | None = None
    off: float | None = None
    sentence: str = ""


@dataclass(frozen=True)
class ServerSample:
    """The server's processes together: resident memory in bytes, threads and open files; CPU in cores."""

    time: float
    memory: int
    threads: int
    files: int
    cpu: float


@dataclass(frozen=True)
class LoadRun:
    """A whole run. `server` is empty where the server is on another machine or behind a proxy; `watched` says which
    process it is of, or why it is of none."""

    url: str
    visitors: int
    seconds: float
    machine: str
    samples: tuple[Sample, ...]
    server: tuple[ServerSample, ...] = ()
    watched: str = ""

    @property
    def faults(self) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.outcome in FAULTS)

    @property
    def has_raced(self) -> bool:
        """Whether any race ended well: a page that refuses all of them has no other fault."""
        return any(sample.outcome == "ok" for sample in self.of_kind(*RACES))

    def of_kind(self, *kinds: str) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.kind in kinds)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
