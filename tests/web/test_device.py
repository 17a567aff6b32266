"""Turns on the device: races before steps, one at a time."""

from __future__ import annotations

import threading

from csd.web.device import Device


def take(turn, began: threading.Event, end: threading.Event) -> threading.Thread:
    """Holds a turn in another thread until `end`."""

    def hold():
        with turn as granted:
            assert granted
            began.set()
            assert end.wait(20)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    return thread


def test_a_step_needs_an_idle_device():
    device, began, end = Device(quiet=0), threading.Event(), threading.Event()
    racing = take(device.race(), began, end)
    assert began.wait(20)
    with device.step(0.05) as granted:
        assert not granted and not device.step_runs
    end.set()
    racing.join()
    with device.step(0.05) as granted:
        assert granted and device.step_runs
        with device.step(0.05) as another:
            assert not another
    assert not device.step_runs


def test_a_race_that_waits_for_a_step_runs_before_the_next_step():
    device, began, end = Device(quiet=0), threading.Event(), threading.Event()
    with device.step(1) as granted:
        assert granted
        racing = take(device.race(), began, end)
        while not device._waiting:
            pass
        assert not began.is_set()
    with device.step(0.05) as granted:
        assert not granted
    assert began.wait(20)
    end.set()
    racing.join()


def test_a_race_that_is_stopped_while_it_waits_gets_no_turn():
    device, stop = Device(quiet=0), threading.Event()
    with device.step(1):
        stop.set()
        with device.race(stop.is_set) as granted:
            assert not granted
        assert device.step_runs
    with device.race(stop.is_set) as granted:
        assert granted  # a free device is not waited for


def test_after_a_race_steps_wait_until_the_visitor_is_gone():
    device = Device(quiet=60)
    with device.step(0) as granted:
        assert granted
    with device.race():
        pass
    with device.step(0.05) as granted:
        assert not granted
    with device.race() as granted:
        assert granted


def test_a_race_counts_while_it_waits_and_while_it_runs():
    device, began, end = Device(quiet=0), threading.Event(), threading.Event()
    with device.step(1):
        assert not device.has_races
        racing = take(device.race(), began, end)
        while not device.has_races:
            pass
    assert began.wait(20) and device.has_races
    end.set()
    racing.join()
    assert not device.has_races


def test_a_turn_ends_with_an_error():
    device = Device(quiet=0)
    for turn in (device.race, lambda: device.step(1)):
        try:
            with turn():
                raise RuntimeError
        except RuntimeError:
            pass
    with device.step(0.05) as granted:
        assert granted
