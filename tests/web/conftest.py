"""What the tests of the page share: a visitor's tab."""

from __future__ import annotations

import pytest
from browser import Tab


@pytest.fixture
def open_tab(chromium, house):
    """Opens a visitor's page, at an address or at its start, as often as a test asks for one."""
    opened = []

    def new(address: str = "") -> Tab:
        opened.append(Tab(chromium, house, address))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


@pytest.fixture
def tab(chromium, house):
    """A visitor's page, opened for one test."""
    one = Tab(chromium, house)
    yield one
    one.close()
