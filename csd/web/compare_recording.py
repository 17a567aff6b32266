"""The comparison that comes with the project: what the Compare tab shows before a visitor has run one."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from csd.paths import ASSETS
from csd.web.compare_findings import LaneResult

FILE = ASSETS / "comparison.json"  # written by tests/record_comparison.py

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecordedComparison:
    """The numbers of a comparison of every kind of prompt, and where they come from. `date` is YYYY-MM-DD."""

    family: str
    machine: str
    date: str
    rows: tuple[tuple[Any, ...], ...]
    results: tuple[LaneResult, ...]

    @property
    def races(self) -> int:
        """Of each prompt."""
        return max(len(one.speedups) for one in self.results)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> RecordedComparison:
        """Raises ValueError, KeyError or TypeError for anything that `to_json` has not written."""
        read = json.loads(text)
        results = tuple(LaneResult(**{**one, "speedups": tuple(one["speedups"])}) for one in read["results"])
        return RecordedComparison(**{**read, "rows": tuple(map(tuple, read["rows"])), "results": results})


@cache
def recorded_comparison(file: Path = FILE) -> RecordedComparison | None:
    """None where the file cannot be read, which the log says."""
    try:
        return RecordedComparison.from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("The recorded comparison is left out. %s", error)
        return None
