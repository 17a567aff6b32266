"""The files that the page is made of: reading them, and the sentence for one that is missing or damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from csd.paths import called


class BundleError(ValueError):
    """A module is missing, or is written in a way that cannot be joined."""


class Damaged(ValueError):
    """A file of the page can be read, but does not hold what the page needs."""

    def __init__(self, file: Path, fault: Exception):
        said = str(fault) if isinstance(fault, ValueError) else f"{type(fault).__name__}: {fault}"
        super().__init__(f"{called(file)}: {said}")


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raises Damaged with the file's name where its content is not what is expected. An OSError has the name itself."""
    try:
        yield
    except Damaged:  # of another file, which this one names
        raise
    except (ValueError, TypeError, LookupError, AttributeError, StopIteration) as fault:
        raise Damaged(file, fault) from fault


def own_text(file: Path) -> str:
    """The text of a file. Raises OSError, or Damaged for bytes that are no text and for an empty file."""
    with reading(file):
        text = file.read_text(encoding="utf-8")
        if not text.strip():
            raise ValueError("the file is empty")
        return text


def own_json(file: Path) -> Any:
    """What a file of JSON holds. Raises OSError or Damaged."""
    with reading(file):
        return json.loads(own_text(file))


FAULTS = (OSError, BundleError, Damaged)
"""What reading the page's own files raises."""


def restore(fault: Exception) -> str:
    """Which file is missing or damaged, and what to do, for one of FAULTS."""
    file = f"{called(Path(fault.filename))}: " if isinstance(fault, OSError) and fault.filename else ""
    said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault).removesuffix(".")
    return f"{file}{said}. Restore the folder assets, or install the project again."
