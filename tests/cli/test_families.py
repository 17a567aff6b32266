"""`csd families`: the table of ready-made families."""

from __future__ import annotations

import io

from rich.console import Console

from csd.cli.families_table import show_families
from csd.models.catalog import READY, find
from csd.models.spec import custom


def test_families_lists_sizes(csd_without_models):
    result = csd_without_models("families")
    assert result.exit_code == 0, result.output
    for word in (*(spec.name for spec in READY), "20.0 M", "GiB", "free memory"):
        assert word in result.stdout


def table_of(spec, free) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    show_families([spec], "float32", free, "cpu", console)
    return console.export_text()


def test_what_fits_and_what_is_unknown():
    assert "yes" in table_of(find("embedded"), 2**40)
    assert "no " in table_of(find("embedded"), 1)
    unknown = table_of(find("embedded"), None)
    assert "an unknown amount of free memory" in unknown and "yes" not in unknown
    assert "?" in table_of(custom("org/model"), 2**40)
