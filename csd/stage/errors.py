"""Files of the page that are missing or damaged: the exception for its scripts, and the sentence for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path

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


FAULTS = (OSError, UnicodeError, JSONDecodeError, BundleError, Damaged)
"""What reading the page's own files raises."""


def restore(fault: Exception) -> str:
    """Which file is missing or damaged, and what to do, for one of FAULTS."""
    file = f"{called(Path(fault.filename))}: " if isinstance(fault, OSError) and fault.filename else ""
    said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault).removesuffix(".")
    return f"{file}{said}. Restore the folder assets, or install the project again."
