"""How often a race that runs is looked at, and that nobody waits for a look after its end."""

from __future__ import annotations

import time

import pytest
from fake_races import HOME, REQUEST, family, trace

from csd.run import LaneFinished, RaceStarted
from csd.web import race_thread
from csd.web.news import Finished
from csd.web.race_thread import LIVE_TICK, TICK, pause_after
from csd.web.studio import Studio

pytestmark = pytest.mark.slow


def test_a_race_that_the_eye_can_follow_is_drawn_more_often():
    assert pause_after(7, 0.2) == pause_after(0, 0.5) == LIVE_TICK <= TICK
    assert pause_after(60, 0.2) == pause_after(90, 0.5) == TICK


def test_a_race_takes_no_longer_than_its_lanes_and_the_first_paint(monkeypatch):
    """No look is waited for after the last event: a race of no time is over long before a look of 20 seconds."""
    for name in ("TICK", "LIVE_TICK"):
        monkeypatch.setattr(race_thread, name, 20.0)
    studio = Studio(HOME, family, opened_and_short)
    list(studio.race("v", HOME, REQUEST))  # loads the family
    assert timed(studio.race("v", HOME, REQUEST)) < 20
    assert 0.2 <= timed(studio.race("v", HOME, REQUEST, first_paint=0.2)) < 20


def timed(stream) -> float:
    begin = time.monotonic()
    assert isinstance(list(stream)[-1], Finished)
    return time.monotonic() - begin


def opened_and_short(family, request, stopped):
    yield RaceStarted((trace("budget").header,), {})
    yield LaneFinished(0, trace("budget"))
