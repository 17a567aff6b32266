"""What the tests of the page share: a visitor's tab."""

from __future__ import annotations

import pytest
from browser import Tab


@pytest.fixture
def tab(chromium, house):
    """A visitor's page, opened for one test."""
    one = Tab(chromium, house)
    yield one
    one.close()
