"""What is shown of a race while it runs: each lane's text so far, styled by the level that proposed each token."""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass, field

from rich.text import Text

from csd.record.trace import Header, Step, Trace
from csd.run import LaneAdvanced, LaneFinished, Pieces, RaceEvent, RaceStarted
from csd.theme import look

# Colour must not be the only difference: each level also has an attribute, and the target has none.
ATTRIBUTES = ("underline", "italic", "bold", "underline2")


def _make_decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


@dataclass
class LaneView:
    """One lane as it grows: its styled text and its numbers so far. Times are seconds."""

    header: Header
    text: Text = field(default_factory=Text)
    tokens: int = 0
    seconds: float = 0.0
    prefill: float = 0.0
    end: str = ""
    _decoder: codecs.IncrementalDecoder = field(default_factory=_make_decoder)

    def advance(self, event: LaneAdvanced, pieces: Pieces) -> None:
        """`pieces` are all that the race has announced so far."""
        record = event.record
        if not isinstance(record, Step):
            self.prefill += record.seconds
            return
        self.tokens += len(record.tokens)
        self.seconds += record.seconds
        for token, author in zip(record.tokens, record.authors, strict=True):
            piece = pieces[token]
            part = self._decoder.decode(piece.encode() if isinstance(piece, str) else bytes(piece))
            self.text.append(replace_controls(part), level_style(*_levels_of(self.header, author)))

    def finish(self, trace: Trace) -> None:
        """Take over how the lane ended, and the bytes of a character that was never completed."""
        self.end = trace.end
        self.text.append(replace_controls(self._decoder.decode(b"", final=True)))

    @property
    def status(self) -> str:
        """How far the lane is, in a few words."""
        if not self.tokens:
            return f"reading the prompt, {self.prefill * 1000:.0f} ms" if self.prefill else "waiting"
        rate = f"{self.tokens / self.seconds:.0f} tok/s" if self.seconds else ""
        return "  ".join(filter(None, (f"{self.tokens} tokens", rate, f"{self.seconds:.2f} s", self.end)))


@dataclass
class RaceView:
    """The lanes of a race, the text of every token id that it announced, and the traces of finished lanes."""

    lanes: list[LaneView] = field(default_factory=list)
    pieces: Pieces = field(default_factory=dict)
    finished: dict[int, Trace] = field(default_factory=dict)

    def add(self, event: RaceEvent) -> None:
        if isinstance(event, RaceStarted):
            self.lanes = [LaneView(header) for header in event.headers]
            self.pieces.update(event.pieces)
        elif isinstance(event, LaneAdvanced):
            self.pieces.update(event.pieces)
            self.lanes[event.lane].advance(event, self.pieces)
        elif isinstance(event, LaneFinished):
            self.finished[event.lane] = event.trace
            self.lanes[event.lane].finish(event.trace)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of the finished lanes, in lane order."""
        return tuple(self.finished[lane] for lane in sorted(self.finished))


def level_style(level: int, target: int) -> str:
    """The rich style of tokens from a level, in a family whose target has level `target`."""
    if level >= target:
        return "default"
    return f"{look(level, target).terminal} {ATTRIBUTES[level % len(ATTRIBUTES)]}"


def replace_controls(text: str) -> str:
    """Model text that is safe to print: control characters other than line break and tab become U+FFFD."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" and c not in "\n\t" else c for c in text)


def _levels_of(header: Header, author: str) -> tuple[int, int]:
    """(the author's level, the target's level); an author that is not a model has level 0."""
    levels = {level.name: level.level for level in header.levels}
    return levels.get(author, 0), max(levels.values())
