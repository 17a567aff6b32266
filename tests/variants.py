"""Tests that run with several values of a parameter, of which the later ones take long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def variants(name: str, values: Sequence[Any], fast: int = 1) -> pytest.MarkDecorator:
    """Parametrizes a test. All but the first `fast` values are slow."""
    later = [pytest.param(value, marks=pytest.mark.slow) for value in values[fast:]]
    return pytest.mark.parametrize(name, [*values[:fast], *later])
