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


def test_one_may_wait_for_the_end_of_races_and_steps():
    for kind in ("race", "step"):
        device, began, end, waited = Device(quiet=0), *(threading.Event() for _ in range(3))
        turn = device.race() if kind == "race" else device.step(1)
        wait = device.wait_for_races if kind == "race" else device.wait_for_step
        holding = take(turn, began, end)
        assert began.wait(20)
        threading.Thread(target=lambda wait=wait, waited=waited: wait() or waited.set(), daemon=True).start()
        assert not waited.wait(0.1)
        end.set()
        assert waited.wait(20)
        holding.join()


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
