"""What the tests of the stage share: pages with nothing but a stage."""

from __future__ import annotations

import pytest
from bare import Bare

from csd.record import metrics


@pytest.fixture
def bare(chromium):
    """Opens such a page, as often as a test asks for one."""
    opened = []

    def new(*args, **kwargs) -> Bare:
        opened.append(Bare(chromium, *args, **kwargs))
        return opened[-1]

    yield new
    for one in opened:
        one.context.close()


@pytest.fixture
def any_length(monkeypatch):
    """Texts of a few tokens have a speed, so that a small race has a factor."""
    monkeypatch.setattr(metrics, "SHORT_RUN", 1)
