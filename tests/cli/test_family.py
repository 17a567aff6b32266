"""Which commands wait until the kernels of a family are compiled: those that measure."""

from __future__ import annotations

from dataclasses import replace

import pytest

import csd.models.compiling
import csd.models.loading
from csd.cli import benchmark
from csd.cli.family import load, load_compiled
from csd.cli.options import DeviceOptions
from csd.models.catalog import READY


@pytest.fixture
def compiling(toy_family, monkeypatch):
    """Compiling adds a note, and has something to say."""

    def compile_kernels(family, progress):
        progress("compiling kernels")
        return replace(family, notes=("compiled",))

    monkeypatch.setattr(csd.models.loading, "load_family", lambda *_, **__: toy_family)
    monkeypatch.setattr(csd.models.compiling, "compile_kernels", compile_kernels)


def test_a_race_begins_before_anything_is_compiled(compiling, toy_family):
    assert load(READY[0], DeviceOptions()) is toy_family


def test_a_measurement_waits_for_compiled_kernels(compiling, toy_family, monkeypatch, capsys):
    assert load_compiled(READY[0], DeviceOptions()).notes == ("compiled",)
    said = capsys.readouterr().err
    assert "compiling kernels" in said and said.rstrip().endswith("compiled")
    from csd.bench import scale

    monkeypatch.setattr(scale, "load_scaled", lambda *_: toy_family)
    assert benchmark.load_scaled(READY[0], "1B", DeviceOptions()).notes == ("compiled",)


@pytest.mark.parametrize("command", ["bench", "tune", "record"])
def test_commands_that_measure_wait(command, monkeypatch):
    from importlib import import_module

    module = import_module(f"csd.cli.{command}")
    assert module.load_compiled is load_compiled and not hasattr(module, "load")
