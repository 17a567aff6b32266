"""The table of ready-made families."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from csd.cli.terminal import make_table, print_line
from csd.models.memory import memory_needed, size
from csd.models.spec import FamilySpec

COLUMNS = ("family", "target and drafts", "parameters", "memory", "fits", "description")


def show_families(specs: Sequence[FamilySpec], dtype: str, free: int | None, device: str, console: Console) -> None:
    """Print the families and what they need in `dtype`; `free` is the device's memory in bytes, None if unknown."""
    table = make_table(console, COLUMNS, left=("target and drafts", "description"), wrapped=("description",))
    for spec in specs:
        needed = memory_needed(spec, dtype)
        table.add_row(
            Text(spec.name),
            Text("\n".join(model.id for model in spec.models)),
            "\n".join(f"{model.parameters / 1e6:,.1f} M" if model.parameters else "?" for model in spec.models),
            "?" if needed is None else f"{size(needed)} ({dtype})",
            "?" if needed is None or free is None else ("yes" if needed <= free else "no"),
            Text(spec.about),
        )
    console.print(table)
    memory = "an unknown amount" if free is None else size(free)
    print_line(console, f"This machine would use {device}, with {memory} of free memory.")
