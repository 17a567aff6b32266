"""A neighbourhood that keeps the server busy has a part of it while others use it, and all of it otherwise."""

from __future__ import annotations

import pytest

from csd.web import meter as metering
from csd.web.meter import Meter


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def served(meter: Meter, clock: Clock, seconds: float, each: float = 0.01, other: str = "") -> float:
    """Seconds of work that one owner has done, who always wants more, beside another who asks now and then."""
    done, end = 0.0, clock.now + seconds
    while clock.now < end:
        if other:
            meter.see(other)
        if wait := meter.wait("busy"):
            clock.now += wait
        else:
            meter.charge("busy", each)
            done, clock.now = done + each, clock.now + each
    return done


def test_beside_others_a_busy_owner_has_a_part_of_the_time():
    clock = Clock()
    meter = Meter(part=0.25, spare=2.0, clock=clock)
    assert served(meter, clock, 100.0, other="other") == pytest.approx(0.25 * 100 + 2.0, rel=0.02)
    assert meter.wait("other") == 0


def test_alone_nobody_waits_and_what_was_done_alone_is_no_debt_later():
    clock = Clock()
    meter = Meter(part=0.25, spare=2.0, clock=clock)
    assert served(meter, clock, 100.0) == pytest.approx(100.0, rel=0.02)
    meter.see("other")
    assert meter.wait("busy") == 0


def test_whoever_has_the_page_open_and_does_nothing_holds_nobody_back():
    clock = Clock()
    meter = Meter(part=0.25, spare=0.0, clock=clock)
    meter.see("other")
    meter.charge("busy", 10.0)
    assert meter.wait("busy") > 0
    clock.now += metering.RECENT + 0.1
    meter.charge("busy", 1.0)
    assert meter.wait("busy") == 0
    meter.see("other")
    assert meter.wait("busy") > 0


def test_a_debt_ends():
    clock = Clock()
    meter = Meter(part=0.25, spare=2.0, clock=clock)
    meter.see("other")
    meter.charge("busy", 5.0)
    assert meter.wait("busy") == pytest.approx(12.0)
    clock.now += 12.0
    meter.see("other")
    assert meter.wait("busy") == 0


def test_a_burst_that_is_spare_does_not_wait():
    meter = Meter(part=0.25, spare=2.0, clock=Clock())
    meter.see("other")
    meter.charge("busy", 2.0)
    assert meter.wait("busy") == 0
    meter.charge("busy", 0.1)
    assert meter.wait("busy") > 0


def test_what_was_charged_too_much_comes_back():
    meter = Meter(part=0.25, spare=0.0, clock=Clock())
    meter.see("other")
    meter.charge("busy", 1.0)
    meter.charge("busy", -1.0)
    assert meter.wait("busy") == 0


def test_nobody_waits_for_long_however_late_the_bill_comes():
    clock = Clock()
    meter = Meter(part=0.25, spare=2.0, clock=clock)
    meter.see("other")
    for _ in range(600):
        meter.charge("busy", 0.5)
    assert meter.wait("busy") == pytest.approx(metering.LONGEST)


def test_few_debts_are_known(monkeypatch):
    monkeypatch.setattr(metering, "MOST", 10)
    meter = Meter()
    for owner in range(100):
        meter.charge(str(owner), 1.0)
    assert len(meter._ends) == 10
    assert len(meter._seen) == 2
