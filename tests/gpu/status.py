"""How each step ended, kept in the output folder: what a second call does not repeat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

DONE, FAILED, OUT_OF_TIME, LEFT_OUT, NOT_RUN = "done", "failed", "out of time", "left out", "not run"


@dataclass(frozen=True)
class Status:
    """`kind` is one of the words above, `text` says why, `seconds` is what the step took."""

    kind: str
    text: str = ""
    seconds: float = 0.0


def read_statuses(folder: Path) -> dict[str, Status]:
    """How the steps of earlier calls ended, by name; empty where there was none or the file is damaged."""
    try:
        found = json.loads((folder / "status.json").read_text(encoding="utf-8"))
        return {name: Status(**fields) for name, fields in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_statuses(folder: Path, statuses: Mapping[str, Status]) -> None:
    text = json.dumps({name: asdict(status) for name, status in statuses.items()}, indent=1)
    new = folder / "status.json.new"
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(folder / "status.json")
