"""Families that are compiled after they are ready, in steps between races; the test controls each step."""

from __future__ import annotations

import gc
import threading
import weakref
from types import SimpleNamespace

import pytest

from csd.models import catalog
from csd.models.compiling import CompileStep
from csd.record.trace import Header, Trace
from csd.request.request import Request
from csd.run import LaneFinished
from csd.web import families, studio
from csd.web.device import IN_A_STEP, Device
from csd.web.loads import FamilyChoice
from csd.web.news import Finished, Refused, Waiting
from csd.web.studio import Studio

HOME = FamilyChoice(catalog.find("embedded"), "cuda")
OTHER, THIRD = (FamilyChoice(catalog.find(name), "cuda") for name in ("SmolLM2 1.7B", "Qwen3"))
REQUEST = Request("a prompt", ())
HEADER = Header("autoregressive", "", {}, "", (), (1,), "a", 1, (), "greedy", 0, 0, 1, 0, "cpu", "float32", {})


class Loaded(SimpleNamespace):
    """A family, with what has been compiled of it."""


def load(spec, *_):
    return Loaded(spec=spec, device="cuda", placed="", dtype="torch.bfloat16", compiled=False)


class Steps:
    """Two steps for each family; each one runs once it is allowed to."""

    def __init__(self):
        self.began, self.allowed = threading.Semaphore(0), threading.Semaphore(0)
        self.done = []

    def __call__(self, family):
        for number in range(2):
            yield CompileStep(f"compiling, {number} of 2", family)
            self.began.release()
            assert self.allowed.acquire(timeout=20)
            self.done.append(f"{family.spec.name} {number}")
        yield CompileStep("", Loaded(**{**vars(family), "compiled": True}))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(families, "LOOK", 0.01)
    monkeypatch.setattr(studio, "LOOK", 0.01)


class Races:
    """Notes whether the family of each race was compiled."""

    def __init__(self):
        self.compiled = []

    def __call__(self, family, request, stopped):
        self.compiled.append(family.compiled)
        yield LaneFinished(0, Trace(HEADER, (), (), "budget", {}))


def make(steps, races=None) -> Studio:
    return Studio(HOME, load, races or Races(), compile_steps=steps, device=Device(quiet=0))


def until(condition) -> None:
    deadline = threading.Event()
    for _ in range(2000):
        if condition():
            return
        deadline.wait(0.01)
    raise AssertionError("it did not happen")


def test_a_family_is_ready_before_it_is_compiled_and_its_line_says_how_far_it_is():
    steps = Steps()
    studio_ = make(steps)
    studio_.families.ensure_loading(HOME)
    until(lambda: studio_.families.status(HOME).state == "ready")
    status = studio_.families.status(HOME)
    assert status.sentence == "Ready: demo models, CUDA, bf16; compiling, 0 of 2"
    assert status.is_final and not status.is_settled
    assert not status.family.compiled
    steps.allowed.release()
    until(lambda: studio_.families.status(HOME).sentence.endswith("1 of 2"))
    steps.allowed.release()
    until(lambda: studio_.families.status(HOME).is_settled)
    assert studio_.families.status(HOME).sentence == "Ready: demo models, CUDA, bf16"
    assert studio_.families.status(HOME).family.compiled


def test_no_race_runs_during_a_step_and_the_next_one_gets_the_compiled_family():
    steps, races = Steps(), Races()
    studio_ = make(steps, races)
    studio_.families.ensure_loading(HOME)
    assert steps.began.acquire(timeout=20)
    stream = studio_.race("v", HOME, REQUEST)
    news = next(stream)
    assert news == Waiting(IN_A_STEP)
    assert races.compiled == []
    steps.allowed.release()
    assert isinstance([*stream][-1], Finished)
    assert races.compiled == [False]  # its turn came before the second step
    assert not studio_.visitors.races("v")[-1].notes
    steps.allowed.release()
    until(lambda: studio_.families.status(HOME).is_settled)
    assert isinstance([*studio_.race("v", HOME, REQUEST)][-1], Finished)
    assert races.compiled == [False, True]


def test_a_race_that_waits_for_a_step_can_be_stopped():
    steps, races = Steps(), Races()
    studio_ = make(steps, races)
    studio_.families.ensure_loading(HOME)
    assert steps.began.acquire(timeout=20)
    stream = studio_.race("v", HOME, REQUEST)
    assert isinstance(next(stream), Waiting)
    assert studio_.visitors.stop("v")
    assert [*stream][-1] == Refused("Stopped before it started.")
    assert races.compiled == [] and studio_._device.step_runs
    steps.allowed.release(2)


def test_a_family_that_is_replaced_is_not_compiled_further_and_not_kept():
    """Its memory is needed by the one that replaces it, which waits for the step at work."""
    steps, loaded = Steps(), []

    def loading(spec, *_):
        gc.collect()
        assert all(one() is None for one in loaded if spec is THIRD.spec), "still in memory"
        family = load(spec)
        loaded.append(weakref.ref(family))
        return family

    studio_ = Studio(HOME, loading, Races(), compile_steps=steps, device=Device(quiet=0))
    studio_.families.ensure_loading(OTHER)
    assert steps.began.acquire(timeout=20)
    studio_.families.ensure_loading(THIRD)
    assert studio_.families.any_loading
    steps.allowed.release()
    until(lambda: studio_.families.status(THIRD).state == "ready")
    steps.allowed.release(2)
    until(lambda: studio_.families.status(THIRD).is_settled)
    assert steps.done == ["SmolLM2 1.7B 0", "Qwen3 0", "Qwen3 1"]


@pytest.mark.parametrize("steps_before", [0, 1])
def test_a_step_that_breaks_leaves_the_family_as_it_was(steps_before):
    def breaking(family):
        for _ in range(steps_before):
            yield CompileStep("compiling", family)
        raise RuntimeError("the compiler crashed")

    studio_ = make(breaking)
    studio_.families.ensure_loading(HOME)
    until(lambda: studio_.families.status(HOME).is_settled)
    status = studio_.families.status(HOME)
    assert status.sentence == "Ready: demo models, CUDA, bf16" and not status.family.compiled
    assert isinstance([*studio_.race("v", HOME, REQUEST)][-1], Finished)


def test_families_that_load_with_the_page_are_all_ready_before_one_is_compiled():
    order = []

    def loading(spec, *_):
        order.append(spec.name)
        return load(spec)

    def compiling(family):
        yield CompileStep("compiling", family)
        order.append(f"compile {family.spec.name}")

    studio_ = Studio(HOME, loading, Races(), behind=(OTHER,), compile_steps=compiling, device=Device(quiet=0))
    studio_.families.preload(patience=0)
    until(lambda: studio_.families.status(OTHER).is_settled and studio_.families.status(HOME).is_settled)
    assert order == ["embedded", "SmolLM2 1.7B", "compile embedded", "compile SmolLM2 1.7B"]
