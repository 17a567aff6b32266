"""The races behind links: whoever has a race's unguessable id can see it, for as long as there is room for it."""

from __future__ import annotations

import logging
import os
import re
import secrets
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from csd.record.recording import LARGEST, SUFFIX, Recording
from csd.web.giving_way import next_to_go
from csd.web.races import FinishedRace, linked_race
from csd.web.visitors import SHARE

MOST = 1000  # races
NAME = re.compile(r"[0-9a-f]{32}")
PART = re.compile(r"[0-9a-f]{1,31}")

log = logging.getLogger(__name__)


class LinkedRaces:
    """At most `most` MB and MOST races, as files in a folder; those that nobody has opened for longest go first.

    Without a folder there is a temporary one, which is deleted with the page. With `is_fair`, one owner has at most a
    quarter of the bytes and of the races.
    """

    def __init__(self, most: float, folder: Path | None = None, is_fair: bool = False) -> None:
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="csd-", ignore_cleanup_errors=True)
        self._folder = folder or Path(self._temporary.name if self._temporary else "")
        self._most = most * 1e6
        self._of_one = SHARE * self._most if is_fair else self._most
        self._count_of_one = SHARE * MOST if is_fair else MOST
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}  # by the id that a race has in its visitor's session
        self._owners: dict[str, str] = {}  # by name

    def share(self, race: FinishedRace, owner: str) -> str | None:
        """The id for links to this race, always the same; None where it is too large or cannot be written."""
        with self._lock:
            name = self._names.get(race.id) or secrets.token_hex(16)
            if self._touch(name):
                return name
            data = race.recording.to_gzip()
            unpacked = int.from_bytes(data[-4:], "little")  # as the format has it
            if unpacked > LARGEST or len(data) > self._of_one:
                return None
            try:
                self._make_room(owner, len(data))
                self._write(name, data)
            except OSError as error:
                log.warning("A race cannot be kept for its link: %s", error.strerror)
                return None
            self._names[race.id], self._owners[name] = name, owner
            return name

    def find(self, name: str) -> FinishedRace | None:
        """The race of this id; None where it is no longer kept, or never was."""
        if not is_link(name) or not self._touch(name):
            return None
        try:
            return linked_race(name, Recording.from_bytes(self._path(name).read_bytes()))
        except (OSError, ValueError) as error:
            log.warning("The race of a link cannot be read: %s", error)
            return None

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _touch(self, name: str) -> bool:
        with suppress(OSError):
            os.utime(self._path(name))
            return True
        return False

    def _write(self, name: str, data: bytes) -> None:
        beside = self._path(name).with_suffix(".part")
        try:
            beside.write_bytes(data)
            beside.replace(self._path(name))
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def _make_room(self, owner: str, size: int) -> None:
        """Delete what was opened longest ago, of whoever has most, until there is room for a race of this size. Raises
        OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = {file: file.stat() for file in self._folder.glob(f"*{SUFFIX}")}
        sizes = {file: files[file].st_size for file in sorted(files, key=lambda file: files[file].st_mtime_ns)}
        own = [file for file in sizes if self._owners.get(_name_of(file)) == owner]
        while own and (len(own) >= self._count_of_one or sum(sizes[file] for file in own) + size > self._of_one):
            del sizes[self._delete(own.pop(0))]
        while sizes and (len(sizes) >= MOST or sum(sizes.values()) + size > self._most):
            is_crowded = len(sizes) >= MOST  # then it is the number that counts
            held = {
                file: (self._owners.get(_name_of(file), ""), 1 if is_crowded else count)
                for file, count in sizes.items()
            }
            del sizes[self._delete(next_to_go(held))]

    def _delete(self, file: Path) -> Path:
        file.unlink(missing_ok=True)
        self._owners.pop(_name_of(file), None)
        self._names = {race: name for race, name in self._names.items() if name != _name_of(file)}
        return file


def is_link(name: str) -> bool:
    """Whether a race's name in an address is of the kind that `share` makes up."""
    return NAME.fullmatch(name) is not None


def is_part_of_link(name: str) -> bool:
    """Whether a name may be what is left of one after a link was cut off."""
    return PART.fullmatch(name) is not None


def _name_of(file: Path) -> str:
    return file.name.removesuffix(SUFFIX)
