"""The record of a run: plain numbers and strings, and JSON both ways.

Everything that people see (stage, figures, metrics, export, benchmark) reads a `Trace` and nothing else. Times are
seconds; a record's `start` is on its lane's own clock, which counts only that lane's computing. Positions count from
the first prompt token.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from csd.ranges import LONGEST_TEXT, LONGEST_TIME
from csd.record.levels import Level, find_drafts
from csd.record.untrusted import describe_fault, load_json
from csd.record.upgrade import VERSION, upgrade

__all__ = ["End", "Header", "Level", "Pieces", "Prefill", "Proposal", "Review", "Step", "Trace", "detokenize", "walk"]

T = TypeVar("T")
FAIL_FAST = Field(fail_fast=True)  # a hostile file gets one error per tuple, not millions
MOST_PREFILLS = 2048  # of a lane: a hundred levels read 8192 tokens in chunks of 512 with fewer
Count = Annotated[int, Field(ge=0, le=2**31)]
Tokens = Annotated[tuple[Count, ...], FAIL_FAST]
Authors = Annotated[tuple[str, ...], FAIL_FAST]
Probabilities = Annotated[tuple[Annotated[float, Field(ge=0, le=1.01)], ...], FAIL_FAST]  # rounded sums exceed 1
Seconds = Annotated[float, Field(ge=0, le=LONGEST_TIME)]
Word = Annotated[str, Field(max_length=1000)]
Prompt = Annotated[str, Field(max_length=500_000)]
Pieces = dict[Count, Word | Tokens]
"""The text of each token id; an id that is only a part of a character has its bytes instead."""
End = Literal["eos", "budget", "stopped"]
"""Why a text ended: at an end-of-text token, after as many tokens as were asked for, or because it was stopped."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a statistical leaf drafted; it reviews nothing."""

    by: str
    at: Count
    tokens: Tokens
    authors: Authors
    start: Seconds
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Review:
    """One forward pass over a draft: the tokens it was shown, how many were accepted, and the token it added.

    `seconds` is the reviewer's own work; `inner` holds what happened while the draft was made, with its own times.
    `token` is a correction where `accepted < len(tokens)`, otherwise a bonus; None where the draft ended with EOS.
    `p` and `q` (the reviewer's and the draft's probability of each proposed token) are recorded under the rejection
    rule only; `margin` is the distance of the two best scores at the reviewer's own token; `skipped` says why a level
    did nothing.
    """

    by: str
    at: Count
    tokens: Tokens
    authors: Authors
    accepted: Count
    token: Count | None
    start: Seconds
    seconds: Seconds
    inner: Annotated[tuple[Review | Proposal, ...], FAIL_FAST] = ()
    p: Probabilities = ()
    q: Probabilities = ()
    margin: Annotated[float, Field(ge=0, le=1e30)] | None = None
    skipped: Word = ""


@dataclass(frozen=True, slots=True)
class Prefill:
    """One model reading a chunk of the prompt before decoding starts."""

    by: str
    tokens: Count
    start: Seconds
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Step:
    """One round of the root: what the text grew by. `seconds` is all of the lane's time in it, overhead included."""

    tokens: Tokens
    authors: Authors
    review: Review
    start: Seconds
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Header:
    """What ran, on what: enough to run it again.

    `method` is the name of a decoding method and `settings` are its fields (`csd.decoding.methods.restore_method`
    makes the method from them); `label` puts the settings in a few words.
    """

    method: str
    label: str
    settings: dict[str, Any]
    family: Word
    levels: Annotated[tuple[Level, ...], FAIL_FAST]
    prompt: Tokens
    text: Prompt
    max_new: int
    eos: Tokens
    rule: Word
    temperature: float
    top_k: int
    top_p: float
    seed: int
    device: Word
    dtype: Word
    versions: Annotated[dict[str, Word], Field(max_length=100)]

    @property
    def title(self) -> str:
        """The method with its settings, such as "speculative, small, k=4"."""
        return f"{self.method}, {self.label}" if self.label else self.method

    @property
    def drafts(self) -> tuple[str, ...]:
        """The family's drafts, strongest first."""
        return find_drafts(self.levels)


@dataclass(frozen=True, slots=True)
class Trace:
    """One lane's run: how the prompt was read, every step, why it ended, and the text of each id that occurs."""

    header: Header
    prefill: Annotated[tuple[Prefill, ...], Field(fail_fast=True, max_length=MOST_PREFILLS)]
    steps: Annotated[tuple[Step, ...], FAIL_FAST]
    end: End
    pieces: Pieces

    @property
    def tokens(self) -> tuple[int, ...]:
        """The generated tokens."""
        return tuple(token for step in self.steps for token in step.tokens)

    @property
    def lossless(self) -> bool:
        """Whether the target had the last word on every token; False for the lane of a draft by itself."""
        top = max(self.header.levels, key=lambda level: level.level, default=None)
        return top is None or all(step.review.by == top.name for step in self.steps[:1])

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
        whole = _adapter(Trace).dump_python(replace(self, steps=()), mode="json")
        steps = [_adapter(Step).dump_python(step, mode="json") for step in self.steps]
        return {"version": VERSION, **whole, "steps": steps}

    def to_json(self) -> str:
        """A step at a time, and so is a trace read: while pydantic and json work, no other thread can run."""
        data = self.to_dict()
        steps = ",".join(map(to_compact, data.pop("steps")))
        return f'{to_compact(data)[:-1]},"steps":[{steps}]}}'

    @staticmethod
    def from_dict(data: Any) -> Trace:
        """Raises ValueError with a sentence where the data is not a trace. Traces of version 1 are upgraded."""
        fields = upgrade(data)
        steps = fields.get("steps")
        if not isinstance(steps, list):
            return _read(Trace, fields)
        if len(steps) > LONGEST_TEXT:  # each adds a token at least
            raise ValueError(f"This trace is damaged: it has {len(steps):,} steps; at most {LONGEST_TEXT:,} are read.")
        whole = _read(Trace, {**fields, "steps": []})
        return replace(whole, steps=tuple(_read(Step, step, f"steps.{number}.") for number, step in enumerate(steps)))

    @staticmethod
    def from_json(text: str) -> Trace:
        """Raises ValueError with a sentence where the text is not a trace."""
        try:
            data = load_json(text)
        except ValueError as error:
            raise ValueError(f"This is not a trace: {error}") from error
        return Trace.from_dict(data)


def walk(record: Review | Proposal) -> Iterator[Review | Proposal]:
    """The record and everything inside it, inner records first."""
    if isinstance(record, Review):
        for inner in record.inner:
            yield from walk(inner)
    yield record


def detokenize(tokens: tuple[int, ...], pieces: Pieces) -> str:
    """The text of tokens, from their pieces. Bytes that are not a whole character become U+FFFD, as do halves of
    surrogate pairs, which a file may hold."""
    parts = (pieces[token] for token in tokens)
    encoded = (part.encode(errors="surrogatepass") if isinstance(part, str) else bytes(part) for part in parts)
    return b"".join(encoded).decode(errors="replace")


def to_compact(data: Any) -> str:
    """JSON without spaces."""
    return json.dumps(data, separators=(",", ":"))


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Of `Trace` or `Step`. Validates JSON strictly: no conversions, no unknown fields, finite numbers."""
    config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    for part in (Level, Proposal, Review, Prefill, Step, Header, Trace):
        with_config(config)(part)
    return TypeAdapter(kind)


def _read(kind: type[T], data: Any, where: str = "") -> T:
    """Raises ValueError with a sentence; `where` is in front of the names of its fields."""
    try:
        # JSON once more, because only there can strict types be lists and numbers as keys. Half a surrogate pair
        # is not a character and becomes a question mark.
        return _adapter(kind).validate_json(json.dumps(data, ensure_ascii=False).encode(errors="replace"))
    except RecursionError as error:
        raise ValueError("This trace is damaged: it is nested too deeply.") from error
    except ValidationError as error:
        raise ValueError(f"This trace is damaged: {where}{_first_fault(error)}.") from error


def _first_fault(error: ValidationError) -> str:
    """Where the first wrong value is and what is wrong with it. Only a hostile file has very many."""
    if error.error_count() > 1000:
        return f"{error.error_count():,} of its values are wrong"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return describe_fault(first)
