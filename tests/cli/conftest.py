"""The command line in this process, over families that are loaded once or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from toy import ToyFamily, blurred, table
from typer.testing import CliRunner

import csd.models.loading
from csd.cli.app import app
from csd.models.catalog import READY
from csd.models.spec import FamilySpec

NAMES = ("tiny", "small", "target")  # those of the embedded family


@dataclass(frozen=True)
class NamedToy(ToyFamily):
    """A toy family that passes for the embedded one; it is an ordinary family for every command that only races."""

    notes: tuple[str, ...] = ("A note on the toy family.",)
    spec: FamilySpec = READY[0]
    bigram_path: Path = Path("bigram.json")
    opening: tuple[int, ...] = ()

    def reference(self, name: str) -> Any:
        """What its sessions run."""
        return self.tables[name]


@pytest.fixture
def toy_family() -> NamedToy:
    target = table(7, seed=3)
    tables = {"tiny": blurred(target, 1, 0.9), "small": blurred(target, 2, 0.4), "target": target}
    return NamedToy(tables, dict.fromkeys(NAMES, 400))


@pytest.fixture
def csd_on_toy(toy_family, monkeypatch) -> Callable:
    """Runs a command; every family that it loads is the toy one."""
    monkeypatch.setattr(csd.models.loading, "load_family", lambda *_, **__: toy_family)
    return lambda *arguments, **more: CliRunner().invoke(app, list(arguments), **more)


@pytest.fixture
def csd_on_embedded(embedded_once) -> Callable:
    """Runs a command; the embedded family is loaded once for all tests, any other one for real."""
    return lambda *arguments, **more: CliRunner().invoke(app, list(arguments), **more)


@pytest.fixture
def csd_without_models(monkeypatch) -> Callable:
    """Runs a command that must not load a family."""
    monkeypatch.setattr(csd.models.loading, "load_family", lambda *_, **__: pytest.fail("a family was loaded"))
    return lambda *arguments, **more: CliRunner().invoke(app, list(arguments), **more)
