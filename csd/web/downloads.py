"""Files that the page offers for download, in a folder that is deleted with the page."""

from __future__ import annotations

import json
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from csd.stage import export
from csd.web.races import FinishedRace

MAX_FILES = 100  # Gradio serves copies of its own


@dataclass(frozen=True)
class RaceFiles:
    """Paths of a race as JSON traces and as a replay in one HTML file."""

    traces: str
    replay: str


class Downloads:
    """The latest files; the oldest ones are deleted."""

    def __init__(self) -> None:
        self._owner = tempfile.TemporaryDirectory(prefix="csd-")
        self.folder = Path(self._owner.name)

    def save_race(self, race: FinishedRace) -> RaceFiles:
        traces = self._write(f"race-{race.id}.json", json.dumps(race.recording.to_dict()))
        replay = self._write(f"race-{race.id}.html", export.page(race.recording))
        return RaceFiles(traces, replay)

    def save_table(self, csv: str) -> str:
        """Returns the path."""
        return self._write(f"comparison-{uuid.uuid4().hex[:8]}.csv", csv)

    def _write(self, name: str, text: str) -> str:
        by_age = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for old in by_age[: -MAX_FILES + 1]:
            old.unlink(missing_ok=True)
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)
