"""Files that commands write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from csd.cli.exits import refuse

STDOUT = Path("-")


def check_writable(path: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done instead of after it."""
    if path is None or path == STDOUT:
        return
    if path.is_dir():
        refuse(f"Cannot write {path}: it is a folder. Name a file.")
    if not path.absolute().parent.is_dir():
        refuse(f"Cannot write {path}: its folder does not exist. Create it, or choose another.")


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write JSON data to a file, or print it to standard output for "-"."""
    text = json.dumps(data, separators=(",", ":"))
    if path == STDOUT:
        typer.echo(text)
        return
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        refuse(f"Cannot write {path}: {error.strerror}.")
