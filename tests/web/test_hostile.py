"""A page under hostile requests: every answer is clear, none leaks, and the page lives.

CSD_HOSTILE is the number of requests, 150 without it.
"""

from __future__ import annotations

import os

import pytest
from hostile import Page, attacks, check_leaks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from csd.run import run_race

COUNT = int(os.environ.get("CSD_HOSTILE") or 150)


def start_only(family, request, stopped):
    """A race that is checked and begun like any other, and stops at once: requests are the test, not tokens."""
    return run_race(family, request, lambda: True)


@pytest.mark.slow
def test_hostile_requests(house, monkeypatch):
    monkeypatch.setattr(house.studio, "_run", start_only)
    page = Page(house.url)
    page.event(page.endpoints["race"].index, ["Once", ["autoregressive"]])  # the family is loaded before
    chosen = attacks(page)

    @settings(
        max_examples=COUNT,
        deadline=None,
        database=None,
        derandomize=COUNT == 150,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def attack(data):
        check_leaks(data.draw(chosen).run(page))

    attack()
    assert page.http.get("/").status_code == 200
    assert page.event(page.endpoints["race"].index, ["Once"])
