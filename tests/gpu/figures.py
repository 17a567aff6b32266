"""Figures as a step measures them, kept in a file line by line, so that neither a limit nor a crash loses one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured value: `value` with its unit, or only `text`.

    Of a time, `bytes` is what must be read in it, from which the share of the measured bandwidth follows; `share` is a
    share of a limit that was computed elsewhere. `error` says why there is no value.
    """

    what: str
    value: float | None = None
    unit: str = ""
    text: str = ""
    bytes: int | None = None
    share: float | None = None
    error: str = ""


SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
"""The units of time."""


class Figures:
    """The figures of one step in `path`. One that is already there is not measured again, unless it failed."""

    def __init__(self, path: Path, say: Callable[[str], None] = print):
        self._path, self._say = path, say
        self._found = {figure.what: figure for figure in read_figures(path)}

    def add(self, figure: Figure) -> Figure:
        """Keep and print a figure."""
        self._found[figure.what] = figure
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(figure)) + "\n")
        self._say(f"{figure.what}: {describe(figure)}")
        return figure

    def clear(self, what: str) -> None:
        """Withdraw an error of an earlier call."""
        if what in self._found:
            self.add(Figure(what, text="passed"))

    def measure(self, what: str, run: Callable[[], Figure]) -> Figure:
        """The figure of this name: from the file, or from `run`. What `run` raises becomes the figure's error."""
        found = self._found.get(what)
        if found and not found.error:
            return found
        try:
            return self.add(run())
        except Exception as error:  # a kernel, a compiler or the driver may fail in any way; the others must still run
            lines = str(error).strip().splitlines()
            return self.add(Figure(what, error=f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]))


def read_figures(path: Path) -> list[Figure]:
    """The figures of a file, each name once, the last one counting; a line cut off by a crash is left out."""
    found: dict[str, Figure] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            figure = Figure(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[figure.what] = figure
    return list(found.values())


def seconds(what: str, taken: float, unit: str = "µs", **more: Any) -> Figure:
    """A time of `taken` seconds."""
    return Figure(what, taken / SECONDS[unit], unit, **more)


def describe(figure: Figure) -> str:
    """Its value and text in words, or its error."""
    if figure.error:
        return f"failed: {figure.error}"
    value = "" if figure.value is None else f"{figure.value:,.{digits(figure.value)}f} {figure.unit}".strip()
    return ", ".join(part for part in (value, figure.text) if part)


def digits(value: float) -> int:
    """Decimals that show three or four figures."""
    return next((count for count, below in ((3, 1), (2, 100), (1, 1000)) if abs(value) < below), 0)
