"""Two workers in real processes, over families and races that take no time."""

from __future__ import annotations

import gc
import os
import signal
import time
from dataclasses import replace

import fake_workers
import pytest
from long_race import HOME, LongRace, race, until

from csd.request.request import Request
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, Finished, Refused, Waiting
from csd.web.studio import Studio
from csd.workers import keeper, pool, process
from csd.workers.places import Place
from csd.workers.pool import WorkerPool

SPEC = HOME.spec
PLACES = (Place("worker 1", "cpu"), Place("worker 2", "cpu"))


@pytest.fixture(scope="module")
def workers():
    made = WorkerPool(PLACES, fake_workers.make_worker, quiet=0)
    yield made
    made.close()
    assert not made.pids


@pytest.fixture(scope="module")
def studio(workers):
    """Its family is loaded."""
    made = Studio(HOME, workers.load_family, workers.run, (), workers.compile_steps, workers)
    assert isinstance(race(made, "short")[-1], Finished)
    return made


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(pool, "NEWS", 0.01)
    monkeypatch.setattr(keeper, "FIRST_PAUSE", 0.01)


def test_two_races_at_a_time_on_two_workers_and_the_third_waits(studio, workers):
    assert studio.races_at_a_time == 2
    assert studio.families.status(HOME).sentence == "Ready: demo models, 2 × CPU, fp32"
    notes = studio.families.status(HOME).family.notes
    assert notes == tuple(f"Loaded by {pid}." for pid in workers.pids)
    races = [LongRace(studio, name) for name in "ab"]
    until(lambda: all(one.pid for one in races))
    assert {one.pid for one in races} == set(workers.pids)
    third = studio.race("c", HOME, Request("short", ()))
    assert next(third) == Waiting("All devices are racing. This race starts when one of them is free.")
    assert studio.visitors.stop("a")
    assert isinstance(list(third)[-1], Finished)
    assert races[0].end().race.stopped and races[1].is_alive()
    assert studio.visitors.stop("b") and races[1].end().race.stopped


def test_stopping_takes_a_step(studio):
    long = LongRace(studio, "a")
    until(lambda: long.pid)
    assert studio.visitors.stop("a")
    assert long.end().race.stopped  # and did not end by itself


def test_a_stream_that_is_closed_frees_its_worker(studio, workers):
    for _ in range(3):  # more than there are workers
        stream = studio.race("gone", HOME, Request("long", ()))
        next(news for news in stream if isinstance(news, Batch) and news.events)
        stream.close()
    assert isinstance(race(studio, "short")[-1], Finished)


def test_errors_of_a_race_are_those_of_one_process(studio):
    assert race(studio, "refused")[-1] == Refused("The prompt is empty.")
    error = "The race failed: KeyError: 'a key'. Try again, or change the settings."
    assert race(studio, "breaks")[-1] == Refused(error)
    assert isinstance(race(studio, "short")[-1], Finished)


def test_a_worker_that_is_killed_in_mid_race_is_replaced_and_the_other_goes_on(studio, workers):
    races = [LongRace(studio, name) for name in "ab"]
    until(lambda: all(one.pid for one in races))
    os.kill(races[0].pid, signal.SIGKILL)
    end = races[0].end()
    assert isinstance(end, Refused)
    assert (
        "has ended (by signal 9, as when the memory is used up). The race is lost, your prompt is not." in end.sentence
    )
    assert races[1].is_alive()
    again = race(studio, "short")  # on the new worker: the other one races
    assert isinstance(again[-1], Finished)
    assert int(again[-1].race.recording.machine) not in {one.pid for one in races}
    assert races[1].is_alive() and studio.visitors.stop("b") and races[1].end().race.stopped
    assert len(workers.pids) == 2


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot halt a process")
def test_a_worker_that_hangs_is_ended_once_its_race_was_to_stop(studio, workers, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.3)
    hung, going = (LongRace(studio, name) for name in "ab")
    until(lambda: hung.pid and going.pid)
    os.kill(hung.pid, signal.SIGSTOP)
    assert studio.visitors.stop("a")
    end = hung.end()
    assert isinstance(end, Refused) and "no longer answered, and was ended. The race is lost" in end.sentence
    assert going.is_alive() and studio.visitors.stop("b") and going.end().race.stopped
    until(lambda: len(workers.pids) == 2)
    assert isinstance(race(studio, "short")[-1], Finished)


def test_a_pool_whose_workers_are_all_gone_cannot_race_until_one_is_back(studio, workers):
    assert studio.families.can_race
    for pid in workers.pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not studio.families.can_race)
    until(lambda: studio.families.can_race)
    assert isinstance(race(studio, "short")[-1], Finished)
    until(lambda: len(workers.pids) == 2)


def test_a_worker_that_dies_by_itself_says_how(studio, workers):
    assert "has ended (with exit code 3)" in race(studio, "dies")[-1].sentence
    until(lambda: len(workers.pids) == 2)


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ("refused", "demo models did not load. It needs 17 GiB."),
        ("breaks", "demo models did not load: KeyError: 'a key'."),
        ("dies", "demo models did not load. The worker process on worker "),
    ],
)
def test_a_family_that_cannot_be_loaded_leaves_the_others_as_they_are(studio, workers, about, sentence):
    choice = FamilyChoice(replace(SPEC, about=about))
    end = race(studio, "short", choice)[-1]
    assert isinstance(end, Refused) and end.sentence.startswith(sentence)
    assert isinstance(race(studio, "short")[-1], Finished)


def test_a_device_that_the_pool_does_not_have_is_refused(studio):
    assert (
        "Races run on worker 1, worker 2 here. Choose auto"
        in race(studio, "short", FamilyChoice(SPEC, "cuda"))[-1].sentence
    )


def test_workers_compile_between_races_and_forget_what_nobody_uses(studio, workers, tmp_path):
    steps = tmp_path / "steps"
    choice = FamilyChoice(replace(SPEC, about=str(steps)))
    assert isinstance(race(studio, "short", choice)[-1], Finished)
    until(lambda: studio.families.status(choice).is_settled)
    pids = sorted(workers.pids)
    assert sorted(steps.read_text().split("\n")[:-1]) == sorted(
        f"{pid} {number}" for pid in pids for number in range(2)
    )
    assert "Compiled." in studio.families.status(choice).family.notes
    held = workers._state.seats[0].families
    assert len(held) == 2
    assert isinstance(race(studio, "short", FamilyChoice(SPEC, "auto", "float64"))[-1], Finished)  # replaces it
    gc.collect()
    until(lambda: len(held) == 2 and str(steps) not in {one.spec.about for one in held.values()})


def test_no_step_is_made_while_a_race_waits(workers):
    state, seat = workers._state, workers._state.seats[0]
    loaded = {0: replace(next(iter(seat.families.values())), next_step="compiling")}
    free = replace(seat, families=loaded, user=None)
    assert keeper._to_compile(state, free, quiet=0) == 0
    assert keeper._to_compile(replace(state, waiting=1), free, quiet=0) is None
    assert keeper._to_compile(state, replace(free, user="race"), quiet=0) is None
    assert keeper._to_compile(state, replace(free, last_race=time.monotonic()), quiet=60) is None


def test_a_race_that_the_end_of_the_page_cuts_off_promises_no_new_worker():
    ending = WorkerPool(PLACES[:1], fake_workers.make_worker, quiet=0)
    studio = Studio(HOME, ending.load_family, ending.run, (), ending.compile_steps, ending)
    long = LongRace(studio, "a")
    until(lambda: long.pid)
    ending.close()
    assert long.end() == Refused("The page is being shut down.")
