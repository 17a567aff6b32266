"""`csd export`: races as HTML files, or as a static site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import refuse, say
from csd.cli.output import check_writable
from csd.own_files import FAULTS, restore
from csd.record.recording import SUFFIX, Recording, bundled_recordings


def export(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Races: from `race --json`, from the page, or recorded ones. For --site: default all recorded ones.",
            show_default=False,
        ),
    ] = None,
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
    site: Annotated[
        Path | None,
        typer.Option("--site", metavar="FOLDER", help="Write a static site of all races.", show_default=False),
    ] = None,
    upload: Annotated[
        str,
        typer.Option(
            "--upload", metavar="USER/NAME", help="Upload the site as a static Space of the Hub.", show_default=False
        ),
    ] = "",
) -> None:
    """Export races as self-contained HTML files that replay them, or as a static site.

    Neither needs a network or a server. A site has a page for each race, one that lists them, and the theory.

    \b
    Examples:
      csd race "Once upon a time" --json race.json
      csd export race.json --out race.html
      csd export --site site
      csd export --site site --upload YOUR_NAME/YOUR_SPACE
    """
    files = files or []
    if site is not None:
        if out or title:
            refuse("--site writes many pages: leave out --out and --title.")
        _export_site(files, site, upload)
        return
    if upload:
        refuse("--upload needs --site FOLDER: a site is what is uploaded.")
    if not files:
        refuse("Name a race to export, or --site FOLDER for a site of the recorded ones.")
    if out and len(files) > 1:
        refuse("--out names one file. Export one race at a time, or leave it out.")
    for file in files:
        _export_page(file, title, out or file.with_name(f"{_name(file)}.html"))


def _export_page(file: Path, title: str, path: Path) -> None:
    check_writable(path)
    recording = _read(file)
    try:
        from csd.stage.export import page

        html = page(replace(recording, title=title) if title else recording)
    except FAULTS as fault:
        refuse(f"{file.name} cannot be exported. {restore(fault)}")
    try:
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        refuse(f"Cannot write {path}: {error.strerror}.")
    say(f"written: {path}, {path.stat().st_size / 1000:.0f} KB")


def _export_site(files: Sequence[Path], folder: Path, space: str) -> None:
    try:
        from csd.site.site import safe_name, write_site
        from csd.site.upload import upload_site
    except FAULTS as fault:
        refuse(f"The site cannot be written. {restore(fault)}")

    recordings = {_name(file): _read(file) for file in files} or bundled_recordings()
    if len({safe_name(name) for name in recordings}) < max(len(files), len(recordings)):
        refuse("Two of these files have the same name. Rename one: names become addresses.")
    try:
        size = write_site(recordings, folder)
        say(f"written: {folder / 'index.html'}, {size / 1e6:.1f} MB in all")
        if space:
            say(f"uploaded: {upload_site(folder, space)}")
    except OSError as error:
        refuse(f"Cannot write {folder}: {error.strerror}.")
    except ValueError as error:
        refuse(error)


def _name(file: Path) -> str:
    return file.name.removesuffix(SUFFIX).removesuffix(".json")


def _read(file: Path) -> Recording:
    try:
        return Recording.from_bytes(file.read_bytes())
    except OSError as error:
        refuse(f"Cannot read {file}: {error.strerror}.")
    except ValueError as error:
        refuse(error)
