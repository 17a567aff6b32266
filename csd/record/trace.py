"""The record of a run: plain numbers and strings, and JSON both ways.

Everything that people see (stage, figures, metrics, export, benchmark) reads a `Trace` and nothing else. Times are seconds;
a record's `start` is on its lane's own clock, which counts only that lane's computing. Positions count from the first prompt
token.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from csd.record.upgrade import VERSION, upgrade


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the cascade: 0 is statistical, then come the drafts from the weakest up, the target is the highest."""

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
    """One forward pass over a draft: the tokens it was shown, how many were accepted, and the token it added.

    `seconds` is the reviewer's own work; `inner` holds what happened while the draft was made, with its own times.
    `token` is a correction where `accepted < len(tokens)`, otherwise a bonus; None where the draft ended with EOS.
    `p` and `q` (the reviewer's and the draft's probability of each proposed token) are recorded under the rejection rule
    only; `margin` is the distance of the two best scores at the reviewer's own token; `skipped` says why a level did nothing.
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
    """One model reading a chunk of the prompt before decoding starts."""

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
    """What ran, on what: enough to run it again.

    `method` is the name of a decoding method and `settings` are its fields (`csd.decoding.methods.restore_method` makes the
    method from them); `label` puts the settings in a few words.
    """

    method: str
    label: str
    settings: dict[str, Any]
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
    device: str
    dtype: str
    versions: dict[str, str]

    @property
    def title(self) -> str:
        """The method with its settings, such as "speculative, draft-mid, k=4"."""
        return f"{self.method}, {self.label}" if self.label else self.method

    @property
    def drafts(self) -> tuple[str, ...]:
        """The family's drafts, strongest first."""
        top = max((level.level for level in self.levels), default=0)
        between = [level for level in self.levels if 0 < level.level < top]
        return tuple(level.name for level in sorted(between, key=lambda level: -level.level))


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
        """The generated text."""
        return detokenize(self.tokens, self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data: lists instead of tuples, text as keys."""
        return {"version": VERSION, **json.loads(json.dumps(asdict(self)))}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=True, separators=(",", ":"))

    @staticmethod
    def from_dict(data: Any) -> Trace:
        """Raises ValueError with a sentence where the data is not a trace. Traces of version 1 are upgraded."""
        from pydantic import ValidationError

        try:
            return _adapter().validate_json(json.dumps(upgrade(data)))
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            raise ValueError(f"This trace is damaged: {place}: {wrong['msg']}.") from error

    @staticmethod
    def from_json(text: str) -> Trace:
        """Raises ValueError with a sentence where the text is not a trace."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"Not a trace: invalid JSON ({error}).") from error
        return Trace.from_dict(data)


def detokenize(tokens: tuple[int, ...], pieces: dict[int, str | tuple[int, ...]]) -> str:
    """The text of tokens, from their pieces; bytes that are not a whole character become U+FFFD."""
    parts = (pieces[token] for token in tokens)
    return b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in parts).decode(errors="replace")


@cache
def _adapter() -> Any:
    """Validates JSON strictly: no conversions, no unknown fields, finite numbers of at most 64 bits."""
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    for kind in (Level, Proposal, Review, Prefill, Step, Header, Trace):
        kind.__pydantic_config__ = config  # type: ignore[attr-defined]
    return TypeAdapter(Trace)
