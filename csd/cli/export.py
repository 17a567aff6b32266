"""`csd export`: a race as one HTML file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import refuse, say
from csd.cli.output import check_writable
from csd.record.recording import SUFFIX, Recording
from csd.stage.export import page


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A race: from `race --json`, from the page, or a recorded one.")
    ],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="The title of the HTML page.", show_default=False)
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the page here. Default: next to the race, as .html.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Export a race as one self-contained HTML file that replays it, without network or server.

    \b
    Example:
      csd race "Once upon a time" --json race.json
      csd export race.json --out race.html
    """
    path = out or file.with_name(file.name.removesuffix(SUFFIX).removesuffix(".json") + ".html")
    check_writable(path)
    try:
        recording = Recording.from_bytes(file.read_bytes())
        html = page(replace(recording, title=title) if title else recording)
    except OSError as error:
        refuse(f"Cannot read {file}: {error.strerror}.")
    except ValueError as error:
        refuse(error)
    try:
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        refuse(f"Cannot write {path}: {error.strerror}.")
    say(f"written: {path}, {path.stat().st_size / 1000:.0f} KB")
