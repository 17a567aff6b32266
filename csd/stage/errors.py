"""Files of the page that are missing or damaged: the exception for its scripts, and the sentence for all of them."""

from __future__ import annotations

from json import JSONDecodeError
from pathlib import Path

from csd.paths import called


class BundleError(ValueError):
    """A module is missing, or is written in a way that cannot be joined."""


FAULTS = (OSError, UnicodeError, JSONDecodeError, BundleError)
"""What reading the page's own files raises."""


def restore(fault: Exception) -> str:
    """Which file is missing or damaged, and what to do, for one of FAULTS."""
    file = f"{called(Path(fault.filename))}: " if isinstance(fault, OSError) and fault.filename else ""
    said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault).removesuffix(".")
    return f"{file}{said}. Restore the folder assets, or install the project again."
