"""`csd bigram`: the table that Max-Gram falls back to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import refusals, refuse
from csd.cli.family import find_spec, load
from csd.cli.flatten import flatten_options
from csd.cli.options import DeviceOptions, FamilyName, FamilyOptions


@flatten_options
def bigram(
    *,
    family: FamilyName = "embedded",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the table here instead of where the family looks for it."),
    ] = None,
    device: DeviceOptions,
) -> None:
    """Build a family's bigram table: the target's most likely token after each token alone."""
    from csd.models.bigram import write

    with refusals():
        models = load(find_spec(FamilyOptions(family)), device)
    try:
        path = out or models.bigram_path
        write(models.reference("target"), models.vocab, models.opening, path)
    except OSError as error:
        refuse(f"Cannot write the table: {error}.")
    typer.echo(f"written: {path}")
