"""Files that the page offers for download, in a folder that is deleted with the page."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from csd.stage import export
from csd.web.giving_way import next_to_go
from csd.web.races import RECORDED, FinishedRace

MOST = 300 * 10**6  # bytes of all files; a race has about 0.3 MB
MOST_FILES = 2000
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


def served_folder() -> Path:
    """Where Gradio keeps the files that it serves."""
    return Path(os.environ.get("GRADIO_TEMP_DIR") or Path(tempfile.gettempdir()) / "gradio").resolve()


class Downloads:
    """The latest files. Whoever has most loses the oldest ones first.

    They lie where Gradio keeps its files: it serves them from there. Files from elsewhere it would copy, and nothing
    deletes its copies for a button that an event has changed.
    """

    def __init__(self, most: int = MOST, most_files: int = MOST_FILES) -> None:
        home = served_folder()
        home.mkdir(parents=True, exist_ok=True)
        self._owner = tempfile.TemporaryDirectory(prefix="csd-", dir=home, ignore_cleanup_errors=True)
        self.folder = Path(self._owner.name)
        self._most, self._most_files = most, most_files
        self._kept: OrderedDict[Path, tuple[str, int]] = OrderedDict()  # owners and bytes, oldest first
        self._lock = threading.Lock()

    def save_race(self, race: FinishedRace, owner: str = "") -> RaceFiles:
        """The same files whenever a race is shown. Those of recorded races stay: the page begins with one."""
        traces, replay = (self.folder / f"race-{race.id}.{kind}" for kind in ("json", "html"))
        if not self._is_kept(traces, replay):
            stays = race.id.startswith(RECORDED)
            written = self._write(traces, race.recording.to_json(), owner, stays)
            if not (written and self._write(replay, export.page(race.recording), owner, stays)):
                return RaceFiles()
        return RaceFiles(str(traces), str(replay))

    def save_table(self, csv: str, owner: str = "", stays: bool = False) -> str | None:
        """The same file whenever an owner is shown the same table. Returns its path; None where the disk is full."""
        name = hashlib.sha256(f"{owner}\n{csv}".encode(errors="replace")).hexdigest()[:20]
        path = self.folder / f"comparison-{name}.csv"
        return str(path) if self._is_kept(path) or self._write(path, csv, owner, stays) else None

    def _is_kept(self, *paths: Path) -> bool:
        """Whether all these files are still there. They are the latest ones from now on."""
        with self._lock:
            for path in self._kept.keys() & set(paths):
                self._kept.move_to_end(path)
            return all(path.is_file() for path in paths)

    def _write(self, path: Path, text: str, owner: str, stays: bool = False) -> bool:
        """Whether the file could be written."""
        content = text.encode(errors="replace")
        try:
            with self._lock:
                self.folder.mkdir(exist_ok=True)  # cleaners of temporary files may have taken it away
                self._make_room(len(content))
                if shutil.disk_usage(self.folder).free >= len(content) + SPARE:
                    path.write_bytes(content)
                    if not stays:
                        self._kept[path] = owner, len(content)
                    return True
            log.warning("There is no room left for the page's files.")
        except OSError as error:
            log.warning("A file of the page cannot be written: %s", error.strerror)
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return False

    def _make_room(self, size: int) -> None:
        while self._kept:
            is_crowded = len(self._kept) >= self._most_files  # then it is the number that counts
            if not is_crowded and sum(weight for _, weight in self._kept.values()) + size <= self._most:
                return
            path = next_to_go({path: (one, 1 if is_crowded else weight) for path, (one, weight) in self._kept.items()})
            del self._kept[path]
            path.unlink(missing_ok=True)
