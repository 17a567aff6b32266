"""Who waits for the first paint."""

from __future__ import annotations

import pytest

from csd.web.first_paint import FEW_CORES, FIRST_PAINT, seconds_for


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_browser_on_the_same_few_cores_draws_first(address):
    assert seconds_for(address, FEW_CORES) == FIRST_PAINT
    assert seconds_for(address, FEW_CORES + 1) == 0


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::1", "testclient", ""])
def test_nobody_waits_for_a_browser_elsewhere(address):
    assert seconds_for(address, 2) == 0
