"""The record of a run: plain numbers and strings, and JSON both ways.

Everything that people see (stage, figures, metrics, export, benchmark) reads a `Trace` and nothing else.
Times are seconds. A record's `start` is on its lane's own clock, which counts only that lane's computing.
Positions count from the first prompt token.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the cascade: 0 is statistical, then the drafts from the weakest up, the target is the highest."""

    name: str
    level: int
    model: str = ""
    parameters: int = 0
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a statistical leaf drafted; it reviews nothing."""

    by: str
    at: int
    tokens: tuple[int, ...]
    authors: tuple[str, ...]
    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Review:
    """One model run: the draft it was shown, how much of it was accepted, and the token it added.

    `seconds` is the reviewer's own work; what happened inside the draft stands in `inner` with its own times.
    `token` is a correction where `accepted < len(tokens)`, else a bonus; None where the draft ended with EOS.
    `p` and `q` (reviewer's and draft's probability of each proposed token) are there under the rule Rejection only,
    `margin` is the distance of the two best scores at the reviewer's own token.
    `skipped` says why a level did nothing.
    """

    by: str
    at: int
    tokens: tuple[int, ...]
    authors: tuple[str, ...]
    accepted: int
    token: int | None
    start: float
    seconds: float
    inner: tuple[Review | Proposal, ...] = ()
    p: tuple[float, ...] = ()
    q: tuple[float, ...] = ()
    margin: float | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Prefill:
    """One model reading a piece of the prompt before decoding starts."""

    by: str
    tokens: int
    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """One round of the root: what the text grew by. `seconds` is all of the lane's time in it, overhead included."""

    tokens: tuple[int, ...]
    authors: tuple[str, ...]
    review: Review
    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Header:
    """What ran, on what: enough to run it again."""

    method: str
    title: str
    family: str
    levels: tuple[Level, ...]
    prompt: tuple[int, ...]
    text: str
    max_new: int
    eos: tuple[int, ...]
    rule: str
    temperature: float
    top_k: int
    top_p: float
    seed: int
    lenience: float
    K: tuple[tuple[int, ...], ...]
    k: int
    draft: str
    device: str
    dtype: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Trace:
    """One lane's run. `end` is "eos", "budget" or "stopped".

    `pieces` gives the text of each id that occurs; an id that is only a part of a character has its bytes instead.
    """

    header: Header
    prefill: tuple[Prefill, ...]
    steps: tuple[Step, ...]
    end: str
    pieces: dict[int, str | tuple[int, ...]]

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(token for step in self.steps for token in step.tokens)

    @property
    def prefill_seconds(self) -> float:
        return sum(part.seconds for part in self.prefill)

    @property
    def decode_seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def answer(self) -> str:
        """The plain text that was generated."""
        return spell(self.tokens, self.pieces)

    def to_dict(self) -> dict[str, Any]:
        return {"version": VERSION, **_plain(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=True, separators=(",", ":"))

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Trace:
        """Raises ValueError where the data is no trace of this version."""
        if not isinstance(data, dict) or data.get("version") != VERSION:
            found = data.get("version") if isinstance(data, dict) else type(data).__name__
            raise ValueError(f"This is no trace of version {VERSION} (found: {found}).")
        try:
            return Trace(
                header=_header(data["header"]),
                prefill=tuple(Prefill(**part) for part in data["prefill"]),
                steps=tuple(_step(step) for step in data["steps"]),
                end=data["end"],
                pieces={
                    int(i): piece if isinstance(piece, str) else tuple(piece) for i, piece in data["pieces"].items()
                },
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"This trace is damaged: {error!r}.") from error

    @staticmethod
    def from_json(text: str) -> Trace:
        """Raises ValueError where the text is no trace of this version."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"This is no trace, it is not even JSON: {error}.") from error
        return Trace.from_dict(data)


def spell(tokens: tuple[int, ...], pieces: dict[int, str | tuple[int, ...]]) -> str:
    """The text of tokens, from their pieces; bytes that are no whole character become U+FFFD."""
    parts = (pieces[token] for token in tokens)
    return b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in parts).decode(errors="replace")


def _plain(value: Any) -> Any:
    """`asdict` leaves tuples as they are; JSON turns them into lists, and this does so at once."""
    return json.loads(json.dumps(asdict(value)))


def _tuples(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: tuple(value) if key in names else value for key, value in data.items()}


def _header(data: dict[str, Any]) -> Header:
    plain = _tuples(data, "prompt", "eos")
    levels = tuple(Level(**level) for level in data["levels"])
    return Header(**{**plain, "levels": levels, "K": tuple(map(tuple, data["K"]))})


def _record(data: dict[str, Any]) -> Review | Proposal:
    if "accepted" not in data:
        return Proposal(**_tuples(data, "tokens", "authors"))
    plain = _tuples(data, "tokens", "authors", "p", "q")
    return Review(**{**plain, "inner": tuple(map(_record, data["inner"]))})


def _step(data: dict[str, Any]) -> Step:
    return Step(**{**_tuples(data, "tokens", "authors"), "review": _record(data["review"])})
