"""The studio's own logic, with families and races that the test controls."""

from __future__ import annotations

import threading

import pytest
from fake_races import HOME, REQUEST, family, trace

from csd.decoding.errors import Refusal
from csd.models import catalog
from csd.run import LaneFinished
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, Finished, Refused, Waiting
from csd.web.studio import Studio, sleep_since
from csd.web.visitors import MAX_RACES

OTHER = FamilyChoice(catalog.find("SmolLM2 1.7B"))
THIRD = FamilyChoice(catalog.find("Qwen3"))


def short(family, request, stopped):
    yield LaneFinished(0, trace("budget"))


class Steps:
    """A race that goes on until it is stopped, one step per `tick`; remembers how it was used."""

    def __init__(self):
        self.began = threading.Semaphore(0)
        self.steps = 0
        self.running = 0
        self.most = 0
        self.over = threading.Semaphore(0)

    def __call__(self, family, request, stopped):
        self.running += 1
        self.most = max(self.most, self.running)
        self.began.release()
        while not stopped():
            self.steps += 1
            threading.Event().wait(0.001)
        self.running -= 1
        yield LaneFinished(0, trace("stopped"))
        self.over.release()


class Reader(threading.Thread):
    """Reads a race to its end."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.news, self.stream = [], stream
        self.start()

    def run(self):
        self.news.extend(self.stream)

    def end(self):
        self.join(20)
        assert not self.is_alive()
        return self.news[-1]


def test_a_race_waits_for_its_family_and_says_so():
    gate = threading.Event()

    def opener(spec, device, dtype, progress):
        progress("loading small (2 of 3)")
        assert gate.wait(20)
        return family(spec)

    studio = Studio(HOME, opener, short)
    stream = studio.race("v", HOME, REQUEST)
    seen = [next(stream)]
    while "small (2 of 3)" not in seen[-1].sentence:
        seen.append(next(stream))
    assert all(isinstance(news, Waiting) for news in seen)
    gate.set()
    assert isinstance(list(stream)[-1], Finished)
    assert studio.families.status(HOME).sentence == "Ready: demo models, CPU, fp32"


def test_a_family_is_loaded_once_for_two_visitors():
    opened = []
    studio = Studio(HOME, lambda spec, *_: opened.append(spec) or family(spec), short)
    readers = [Reader(studio.race(name, HOME, REQUEST)) for name in "ab"]
    assert all(isinstance(reader.end(), Finished) for reader in readers)
    assert len(opened) == 1


def test_a_family_that_fails_gives_its_sentence_and_can_be_tried_again():
    answers = [ValueError("Not enough memory: it needs 17 GiB."), RuntimeError("boom\nmore"), None]

    def opener(spec, *_):
        if error := answers.pop(0):
            raise error
        return family(spec)

    studio = Studio(HOME, opener, short)
    assert "Not enough memory: it needs 17 GiB." in list(studio.race("v", HOME, REQUEST))[-1].sentence
    assert list(studio.race("v", HOME, REQUEST))[-1].sentence == "demo models did not load: RuntimeError: boom."
    assert isinstance(list(studio.race("v", HOME, REQUEST))[-1], Finished)


def test_home_stays_and_of_the_others_one():
    studio = Studio(HOME, family, short)
    for choice in (HOME, OTHER, THIRD):
        assert isinstance(list(studio.race("v", choice, REQUEST))[-1], Finished)
    assert [studio.families.status(choice).state for choice in (HOME, OTHER, THIRD)] == ["ready", "waiting", "ready"]


def test_the_families_behind_home_load_one_after_another_and_stay():
    log = []

    def opener(spec, *_):
        log.append(f"{spec.name} begins")
        threading.Event().wait(0.05)
        log.append(f"{spec.name} ends")
        return family(spec)

    studio = Studio(HOME, opener, short, behind=(OTHER,))
    studio.families.preload(patience=0)
    while not studio.families.status(OTHER).is_final:
        threading.Event().wait(0.01)
    home, other = HOME.spec.name, OTHER.spec.name
    assert log == [f"{home} begins", f"{home} ends", f"{other} begins", f"{other} ends"]
    assert isinstance(list(studio.race("v", THIRD, REQUEST))[-1], Finished)
    assert [studio.families.status(choice).state for choice in (HOME, OTHER, THIRD)] == ["ready"] * 3
    assert (studio.home, studio.preferred) == (HOME, OTHER)


def test_a_family_behind_home_waits_until_no_race_runs():
    steps, began = Steps(), threading.Event()

    def opener(spec, *_):
        if spec is OTHER.spec:
            began.set()
        return family(spec)

    studio = Studio(HOME, opener, steps, behind=(OTHER,))
    reader = Reader(studio.race("v", HOME, REQUEST))
    assert steps.began.acquire(timeout=20)
    studio.families.preload(patience=0)
    assert not began.wait(0.3)
    studio.visitors.stop("v")
    assert not reader.end().race.notes
    assert began.wait(20)


@pytest.mark.parametrize("error", [Refusal("The prompt is empty."), RuntimeError("CUDA out of memory")])
def test_a_race_that_cannot_run_gives_a_sentence_and_leaves_the_device_free(error):
    def racer(family, request, stopped):
        raise error
        yield

    studio = Studio(HOME, family, racer)
    for _ in range(2):
        end = list(studio.race("v", HOME, REQUEST))[-1]
        assert isinstance(end, Refused) and str(error) in end.sentence


def test_stop_ends_the_visitors_own_run_only():
    steps = Steps()
    studio = Studio(HOME, family, steps)
    reader = Reader(studio.race("mine", HOME, REQUEST))
    assert steps.began.acquire(timeout=20)
    assert not studio.visitors.stop("somebody else")
    assert steps.running == 1
    assert studio.visitors.stop("mine")
    end = reader.end()
    assert isinstance(end, Finished) and end.race.stopped
    assert not studio.visitors.stop("mine")  # nothing of his runs any more


def test_closing_the_stream_frees_the_device_within_a_step():
    steps = Steps()
    studio = Studio(HOME, family, steps)
    stream = studio.race("gone", HOME, REQUEST)
    assert isinstance(next(news for news in stream if isinstance(news, Batch)), Batch)
    stream.close()
    assert steps.over.acquire(timeout=20)
    reader = Reader(studio.race("next", HOME, REQUEST))
    assert steps.began.acquire(timeout=20)
    assert steps.began.acquire(timeout=20)
    studio.visitors.leave("next")
    reader.end()
    assert steps.most == 1


def test_closing_stops_races_and_waits_for_their_threads_and_takes_no_more():
    steps = Steps()
    studio = Studio(HOME, family, steps)
    reader = Reader(studio.race("mine", HOME, REQUEST))
    assert steps.began.acquire(timeout=20)
    assert studio.close()
    assert steps.running == 0
    assert isinstance(reader.end(), Finished) and reader.end().race.stopped
    assert list(studio.race("late", HOME, REQUEST)) == [Refused("The page is being shut down.")]


def test_closing_does_not_wait_for_a_family_without_end():
    begun, gate = threading.Event(), threading.Event()
    studio = Studio(HOME, lambda spec, *_: begun.set() or gate.wait(20) and family(spec), short)
    reader = Reader(studio.race("v", HOME, REQUEST))
    assert begun.wait(20)
    assert not studio.close(patience=0.1)
    assert reader.end() == Refused("Stopped before it started.")
    gate.set()


def test_two_streams_never_run_at_once():
    steps = Steps()
    studio = Studio(HOME, family, steps)
    readers = {name: Reader(studio.race(name, HOME, REQUEST)) for name in "ab"}
    assert steps.began.acquire(timeout=20)
    for name in "ab":
        while not studio.visitors.stop(name):
            pass
    assert all(reader.end() for reader in readers.values())
    assert steps.most == 1


def test_stopped_while_its_family_loads():
    gate = threading.Event()
    studio = Studio(HOME, lambda spec, *_: gate.wait(20) and family(spec), short)
    stream = studio.race("v", HOME, REQUEST)
    next(stream)
    assert studio.visitors.stop("v")
    assert list(stream)[-1] == Refused("Stopped before it started.")
    gate.set()


def test_a_visit_keeps_its_last_races_and_a_family_that_loads_meanwhile_is_noted():
    gate, studio = threading.Event(), None

    def opener(spec, *_):
        assert spec is HOME.spec or gate.wait(20)
        return family(spec)

    studio = Studio(HOME, opener, short)
    ends = [list(studio.race("v", HOME, REQUEST))[-1].race for _ in range(MAX_RACES + 1)]
    assert studio.visitors.find_race("v", ends[0].id) is None
    assert studio.visitors.find_race("v", ends[-1].id) == ends[-1]
    assert studio.visitors.find_race("w", ends[-1].id) is None
    assert not ends[-1].notes
    studio.families.ensure_loading(OTHER)
    assert "timings are unreliable" in list(studio.race("v", HOME, REQUEST))[-1].race.notes[0]
    gate.set()


def test_a_race_in_which_the_machine_slept_is_marked_as_disturbed(monkeypatch):
    assert sleep_since(iter([100.0, 160.0]).__next__, iter([5.0, 6.0]).__next__)() == 59.0
    for seconds, is_marked in ((59.0, True), (0.5, False)):
        monkeypatch.setattr("csd.web.studio.sleep_since", lambda seconds=seconds: lambda: seconds)
        end = [*Studio(HOME, family, short).race("v", HOME, REQUEST)][-1]
        assert isinstance(end, Finished)
        assert any("slept" in note for note in end.race.notes) == is_marked
