"""SHA-256 of the weights and tables that come with the project, in the format of `sha256sum`.

CONTRIBUTING.md has the line that writes them anew after a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from csd.models.spec import FamilyError
from csd.paths import ASSETS, called

SUMS = ASSETS / "SHA256SUMS"
CHUNK = 2**20


def check_shipped(places: Iterable[Path], sums: Path | None = None) -> None:
    """Raise FamilyError for a file at or below these places that is not as it was shipped; other files are ignored."""
    sums = sums or SUMS
    for place in places:
        if damaged := find_damage(place, sums):
            raise FamilyError(
                f"{called(damaged)} is missing or damaged: its SHA-256 is not the one in {called(sums)}. Restore the "
                f"file, for example with `git checkout {called(damaged)}`, or install the project again."
            )


def find_damage(place: Path, sums: Path | None = None) -> Path | None:
    """The first listed file at or below a place that is missing or has other content."""
    place, sums = place.resolve(), sums or SUMS
    for line in _read_sums(sums).splitlines():
        digest, _, name = line.partition("  ")
        file = sums.parent.resolve() / name
        if (file == place or place in file.parents) and digest != sha256(file):
            return file
    return None


def _read_sums(sums: Path) -> str:
    try:
        return sums.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilyError(
            f"{called(sums)}, with the SHA-256 of the shipped files, is missing or damaged. Restore it, for example "
            f"with `git checkout {called(sums)}`, or install the project again."
        ) from error


def sha256(file: Path) -> str:
    """The digest of a file; empty if it cannot be read."""
    found = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                found.update(chunk)
    except OSError:
        return ""
    return found.hexdigest()
