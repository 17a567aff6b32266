"""A race as a file: its traces, and the title, machine and date that they do not know themselves.

The page, `race --json` and `record` write it; the page, the export and `export` read it. What is read may come from
anybody: it is measured, parsed and checked field by field before anything is drawn from it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from gzip import compress
from pathlib import Path
from typing import Any

from csd.paths import ASSETS
from csd.record.trace import Proposal, Review, Trace

VERSION = 1
FOLDER = ASSETS / "traces"
SUFFIX = ".json.gz"
LARGEST = 20 * 2**20  # bytes of a file, and of what it unpacks to
LANES = 4
DEEPEST = 16  # reviews within reviews
LONGEST = 4096  # tokens of a block
ENDS = ("eos", "budget", "stopped")
PLAIN = re.compile(r"[^<>&\x00-\x1f\x7f-\x9f]{1,200}")  # a name that may stand in a figure, where tags have a meaning


@dataclass(frozen=True)
class Recording:
    """A race and where it comes from. `kind` is the prompt's, `note` says what to see in it, `date` is YYYY-MM-DD."""

    traces: tuple[Trace, ...]
    title: str = ""
    kind: str = ""
    note: str = ""
    machine: str = ""
    date: str = ""


def today() -> str:
    return date.today().isoformat()


# ---- files


def document(recording: Recording) -> dict[str, Any]:
    """The recording as plain JSON data."""
    about = {name: getattr(recording, name) for name in ("title", "kind", "note", "machine", "date")}
    kept = {name: text for name, text in about.items() if text}
    return {"version": VERSION, **kept, "traces": [trace.to_dict() for trace in recording.traces]}


def packed(recording: Recording) -> bytes:
    """The recording as gzipped JSON; the same recording gives the same bytes."""
    return compress(json.dumps(document(recording), separators=(",", ":")).encode(), mtime=0)


def parsed(data: bytes) -> Recording:
    """A recording from JSON, plain or gzipped. Raises ValueError with a sentence for whatever else the bytes are."""
    text = _text(data)
    try:
        found = json.loads(text)
        found = json.loads(_mended(found)) if _broken(text) else found
    except (ValueError, RecursionError) as error:
        raise ValueError("This is no saved race: it is not even JSON.") from error
    if isinstance(found, dict) and "header" in found:  # a single trace
        found = {"traces": [found]}
    lanes = found.get("traces") if isinstance(found, dict) else None
    if not isinstance(lanes, list):
        raise ValueError(  # noqa: TRY004  whoever reads a file awaits one kind of error
            "This is JSON, but no saved race. Save one with “Traces as JSON” or `race --json`."
        )
    if not 1 <= len(lanes) <= LANES:
        raise ValueError(f"This file holds {len(lanes)} traces; a race has 1 to {LANES}.")
    try:
        traces = tuple(map(Trace.from_dict, lanes))
    except RecursionError as error:
        raise ValueError("This trace is damaged: its reviews are nested without end.") from error
    if fault := _fault(traces):
        raise ValueError(f"This trace is damaged: {fault}.")
    about = {name: _line(found.get(name)) for name in ("title", "kind", "note", "machine", "date")}
    return Recording(traces, **about)


def bundled(folder: Path = FOLDER) -> dict[str, Recording]:
    """The recordings that come with the project, by name, in their order."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return {file.name.removesuffix(SUFFIX): parsed(file.read_bytes()) for file in files}


def file_name(number: int, recording: Recording) -> str:
    """Such as "2-story-a-fox-sets-out.json.gz"; the number gives the order."""
    words = re.findall(r"[a-z0-9]+", f"{recording.kind} {recording.title}".lower())
    return "-".join((str(number), *words)) + SUFFIX


def _text(data: bytes) -> str:
    too_large = ValueError(f"This file is too large: a saved race has at most {LARGEST // 2**20} MB.")
    if len(data) > LARGEST:
        raise too_large
    if data[:2] == b"\x1f\x8b":
        unpacking = zlib.decompressobj(31)
        try:
            data = unpacking.decompress(data, LARGEST + 1)
        except zlib.error as error:
            raise ValueError("This file is damaged: it cannot be unpacked.") from error
        if len(data) > LARGEST:
            raise too_large
    try:
        return data.decode("utf-8-sig")
    except UnicodeError as error:
        raise ValueError("This is no saved race: it is not even text.") from error


def _broken(text: str) -> bool:
    """Half a surrogate pair may be written as an escape; it is no text and can be sent nowhere."""
    return re.search(r"\\u[dD][89a-fA-F]", text) is not None


def _mended(found: Any) -> bytes:
    return json.dumps(found, ensure_ascii=False).encode(errors="replace")


def _line(value: Any) -> str:
    return " ".join(value.split())[:500] if isinstance(value, str) else ""


# ---- what can be wrong with a trace that has all its fields


def _fault(traces: Sequence[Trace]) -> str:
    """The first thing that keeps these traces from being shown as one race; empty where all is well."""
    first = traces[0].header
    for trace in traces:
        if fault := _odd_header(trace) or _odd_steps(trace):
            return fault
        if (trace.header.prompt, trace.header.text, trace.header.levels) != (first.prompt, first.text, first.levels):
            return "its lanes ran on different prompts or models"
    return ""


def _odd_header(trace: Trace) -> str:
    header, pieces = trace.header, trace.pieces
    names = [level.name for level in header.levels]
    if not names or len(set(names)) < len(names) or not all(0 <= level.level < 100 for level in header.levels):
        return "its levels are none, or not told apart"
    if not all(PLAIN.fullmatch(name) for name in (header.method, *names)):
        return "a method or level has a name that is none"
    if not 0 < header.max_new < 2**31 or trace.end not in ENDS:
        return "it says neither how long it could be nor how it ended"
    if any(isinstance(piece, tuple) and not all(0 <= byte < 256 for byte in piece) for piece in pieces.values()):
        return "a piece of text has bytes that are none"
    if not set(header.prompt) <= pieces.keys():
        return "a token has no text"
    return ""


def _odd_steps(trace: Trace) -> str:
    names = {level.name for level in trace.header.levels}
    at, clock = len(trace.header.prompt), 0.0
    for part in trace.prefill:
        if part.by not in names or part.start < 0 or part.seconds < 0 or part.tokens < 0:
            return "its reading of the prompt makes no sense"
    for step in trace.steps:
        review = step.review
        own = () if review.token is None else (review.token,)
        whole = review.tokens[: review.accepted] + own
        if not step.tokens or step.tokens != whole[: len(step.tokens)] or len(step.authors) != len(step.tokens):
            return "a step's text is not what its review made of the draft"
        if review.at != at or step.start < clock or step.seconds < 0:
            return "its steps do not follow one another"
        at, clock = at + len(step.tokens), step.start
        for record_, depth in _records(review):
            if fault := _odd_record(record_, depth, review.at, names, trace.pieces):
                return fault
        if not set(step.authors) <= names:
            return "a token was written by nobody"
    return ""


def _records(record_: Review | Proposal, depth: int = 0) -> Iterator[tuple[Review | Proposal, int]]:
    yield record_, depth
    for inner in getattr(record_, "inner", ()):
        yield from _records(inner, depth + 1)


def _odd_record(one: Review | Proposal, depth: int, root: int, names: set[str], pieces: dict) -> str:
    if depth > DEEPEST:
        return "its reviews are nested too deeply"
    if one.by not in names or not set(one.authors) <= names or len(one.authors) != len(one.tokens):
        return "a token was written by nobody"
    if not root <= one.at <= root + LONGEST or len(one.tokens) > LONGEST or one.start < 0 or one.seconds < 0:
        return "a review stands at no place or time"
    ids = set(one.tokens)
    if isinstance(one, Review):
        ids |= set() if one.token is None else {one.token}
        if not 0 <= one.accepted <= len(one.tokens) or max(len(one.p), len(one.q)) > len(one.tokens):
            return "a review accepted more than it was shown"
    return "" if ids <= pieces.keys() else "a token has no text"
