"""A race as a file: its traces, with the title, machine and date that they do not know themselves.

The page, `race --json` and `record` write it; the page and `export` read it. What is read may come from anybody: it is
measured, parsed and checked before anything is drawn from it.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from gzip import compress
from pathlib import Path
from typing import Any

from csd.paths import ASSETS, called
from csd.record.trace import Trace, to_compact
from csd.record.untrusted import load_json, mend_surrogates
from csd.record.validation import check_traces

VERSION = 1
FOLDER = ASSETS / "traces"
SUFFIX = ".json.gz"
LARGEST = 20 * 2**20  # bytes of a file, and of what it unpacks to
LANES = 4
ABOUT = ("title", "kind", "note", "machine", "date")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recording:
    """A race and where it comes from. `kind` is the prompt's, `note` says what to see in it, `date` is YYYY-MM-DD."""

    traces: tuple[Trace, ...]
    title: str = ""
    kind: str = ""
    note: str = ""
    machine: str = ""
    date: str = ""

    @property
    def family(self) -> str:
        """The name of the family that ran."""
        return self.traces[0].header.family

    def to_dict(self) -> dict[str, Any]:
        """The recording as plain JSON data."""
        return {**self._about, "traces": [trace.to_dict() for trace in self.traces]}

    def to_json(self) -> str:
        traces = ",".join(trace.to_json() for trace in self.traces)
        return f'{to_compact(self._about)[:-1]},"traces":[{traces}]}}'

    def to_gzip(self) -> bytes:
        """The recording as gzipped JSON; the same recording gives the same bytes."""
        return compress(self.to_json().encode(), mtime=0)

    @property
    def _about(self) -> dict[str, Any]:
        return {"version": VERSION, **{name: text for name in ABOUT if (text := getattr(self, name))}}

    @staticmethod
    def from_bytes(data: bytes) -> Recording:
        """A recording from JSON, plain or gzipped; a single trace is a race with one lane.

        Raises ValueError with a sentence for anything else.
        """
        try:
            content = load_json(_unpack(data))
        except ValueError as error:
            if data.lstrip()[:1] == b"<":
                raise ValueError("This is a web page: open it in a browser. A race to open here is JSON.") from error
            raise ValueError(f"This is not a saved race: {error}") from error
        if isinstance(content, dict) and "header" in content:
            content = {"traces": [content]}
        lanes = content.get("traces") if isinstance(content, dict) else None
        if not isinstance(lanes, list):
            raise ValueError("This is JSON, but not a saved race. Save one with “Traces as JSON” or `race --json`.")
        if not 1 <= len(lanes) <= LANES:
            raise ValueError(f"This file contains {len(lanes):,} traces; a race has 1 to {LANES}.")
        traces = tuple(map(Trace.from_dict, lanes))
        check_traces(traces)  # bounds whatever is computed from them
        return Recording(traces, **{name: _line(content.get(name)) for name in ABOUT})


def bundled_recordings(folder: Path = FOLDER, report: Callable[[str], None] = log.warning) -> dict[str, Recording]:
    """The recordings that come with the project, by name, in their order.

    A file that cannot be read is left out, and `report` is told which and why.
    """
    found = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found[file.name.removesuffix(SUFFIX)] = Recording.from_bytes(file.read_bytes())
        except (OSError, ValueError) as error:
            report(f"The recorded race {called(file)} is left out. {error}")
    return found


def title_of(prompt: str) -> str:
    """What a race without a title is called: the beginning of its prompt, on one line."""
    words = " ".join(prompt.split())
    return words[:60] + ("…" if len(words) > 60 else "") or "A race"


def file_name(number: int, recording: Recording) -> str:
    """Such as "2-story-a-fox-sets-out.json.gz"; the number gives the order. Families but the embedded one come first in
    the name, and thereby last in the order."""
    words = re.findall(r"[a-z0-9]+", f"{recording.kind} {recording.title}".lower())
    return _stem(recording.family) + "-".join((str(number), *words)) + SUFFIX


def numbered_files(family: str) -> str:
    """The pattern of the file names of a family's recordings."""
    return f"{_stem(family)}[0-9]*{SUFFIX}"


def _stem(family: str) -> str:
    return "" if family == "embedded" else f"{family}-"


def today() -> str:
    return date.today().isoformat()


def _unpack(data: bytes) -> str:
    """The text of a file, plain or gzipped. Raises ValueError that completes a sentence."""
    _check_size(data)
    if data[:2] == b"\x1f\x8b":
        packed = zlib.decompressobj(31)
        try:
            data = packed.decompress(data, LARGEST + 1)
        except zlib.error as error:
            raise ValueError("it is damaged and cannot be unpacked.") from error
        _check_size(data)
        if not packed.eof:
            raise ValueError("it is incomplete and cannot be unpacked.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeError as error:
        raise ValueError("it is not text.") from error


def _check_size(data: bytes) -> None:
    if len(data) > LARGEST:
        raise ValueError(f"it is too large; a saved race has at most {LARGEST // 2**20} MB.")


def _line(value: Any) -> str:
    """Text in one line of bounded length; anything else is left out."""
    return mend_surrogates(" ".join(value.split())[:500]) if isinstance(value, str) else ""
