"""Groups of options as dataclasses, one flat parameter per field."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from csd.cli.flatten import flatten_options


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="How wide.")] = 3
    K: Annotated[str, typer.Option("--K", help="A matrix.")] = ""
    k: Annotated[int | None, typer.Option("--k")] = None


@pytest.fixture
def seen():
    return []


@pytest.fixture
def app(seen):
    @flatten_options
    def draw(name: Annotated[str, typer.Argument()], *, size: Size, loud: bool = False) -> None:
        """Draw a thing."""
        seen.append((name, size, loud))

    made = typer.Typer(rich_markup_mode=None)
    made.command()(draw)
    return made


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["box"], ("box", Size(), False)),
        (["box", "--width", "5", "--loud"], ("box", Size(5), True)),
        (["box", "--K", "[[1]]", "--k", "2"], ("box", Size(3, "[[1]]", 2), False)),
    ],
)
def test_a_command_receives_its_groups(app, seen, arguments, expected):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert seen == [expected]


def test_help_shows_the_options_in_the_order_of_the_fields(app):
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert "Draw a thing." in text and "How wide." in text
    positions = [text.index(name) for name in ("--width", "--K", "--k", "--loud")]
    assert positions == sorted(positions)


def test_parameters_keep_their_defaults(app):
    def plain(*, size: Size, last: int = 1) -> None: ...

    flat = inspect.signature(flatten_options(plain))
    assert {name: parameter.default for name, parameter in flat.parameters.items()} == {
        "width": 3, "K": "", "k": None, "last": 1,
    }  # fmt: skip
