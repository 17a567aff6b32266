"""Files that the page offers for download, in a folder that is deleted with the page."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from csd.stage import export
from csd.web.races import FinishedRace

MAX_FILES = 100  # Gradio serves copies of its own
SPARE = 8 * 2**20  # bytes that stay free on the disk
NOT_SAVED = "It cannot be downloaded: this machine has no room for files."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RaceFiles:
    """Paths of a race as JSON traces and as a replay in one HTML file; both None where the disk is full."""

    traces: str | None = None
    replay: str | None = None

    @property
    def note(self) -> str:
        """A sentence where there are no files."""
        return "" if self.traces and self.replay else NOT_SAVED


class Downloads:
    """The latest files; the oldest ones are deleted."""

    def __init__(self) -> None:
        self._owner = tempfile.TemporaryDirectory(prefix="csd-", ignore_cleanup_errors=True)
        self.folder = Path(self._owner.name)

    def save_race(self, race: FinishedRace) -> RaceFiles:
        traces = self._write(f"race-{race.id}.json", json.dumps(race.recording.to_dict()))
        replay = self._write(f"race-{race.id}.html", export.page(race.recording))
        return RaceFiles(traces, replay) if traces and replay else RaceFiles()

    def save_table(self, csv: str) -> str | None:
        """Returns the path; None where the disk is full."""
        return self._write(f"comparison-{uuid.uuid4().hex[:8]}.csv", csv)

    def _write(self, name: str, text: str) -> str | None:
        """The path of a new file. None where it cannot be written, or where Gradio's copy of it would have no room."""
        content = text.encode(errors="replace")
        path = self.folder / name
        try:
            self.folder.mkdir(exist_ok=True)  # cleaners of temporary files may have taken it away
            by_age = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
            for old in by_age[: -MAX_FILES + 1]:
                old.unlink(missing_ok=True)
            path.write_bytes(content)
            if shutil.disk_usage(self.folder).free >= len(content) + SPARE:
                return str(path)
            log.warning("There is no room left for the page's files.")
        except OSError as error:
            log.warning("A file of the page cannot be written: %s", error.strerror)
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
