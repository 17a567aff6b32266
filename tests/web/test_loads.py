"""Families load one at a time, whatever visitors press; the test controls each load."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from csd.models import catalog
from csd.record.trace import Header, Trace
from csd.request.request import Request
from csd.run import LaneFinished
from csd.web import families
from csd.web.loads import MOST_WAITING, FamilyChoice
from csd.web.news import Finished, Refused
from csd.web.studio import Studio

HOME, SMOLLM2, LARGE, QWEN = (
    FamilyChoice(catalog.find(name), "cpu") for name in ("embedded", "smollm2", "SmolLM2 1.7B", "Qwen3")
)
REQUEST = Request("a prompt", ())
HEADER = Header("autoregressive", "", {}, "", (), (1,), "a", 1, (), "greedy", 0, 0, 1, 0, "cpu", "float32", {})


def short(family, request, stopped):
    yield LaneFinished(0, Trace(HEADER, (), (), "budget", {}))


class Gates:
    """Loads that begin and end when the test says so."""

    def __init__(self):
        self.began: list[str] = []
        self.at_once, self.most = 0, 0
        self.allowed = threading.Semaphore(0)
        self.broken: set[str] = set()

    def __call__(self, spec, device, dtype, progress):
        self.began.append(f"{spec.name} {dtype}")
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            assert self.allowed.acquire(timeout=20)
            if f"{spec.name} {dtype}" in self.broken:
                raise RuntimeError("cannot import name 'AutoConfig'")
        finally:
            self.at_once -= 1
        return SimpleNamespace(spec=spec, device="cpu", placed="", dtype=f"torch.{dtype}")


@pytest.fixture
def gates(monkeypatch):
    monkeypatch.setattr(families, "LOOK", 0.01)
    return Gates()


def until(condition) -> None:
    for _ in range(2000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def many(count: int) -> list[FamilyChoice]:
    """Different choices, as a flood of requests makes them."""
    return [replace(LARGE, spec=replace(LARGE.spec, name=f"family {number}")) for number in range(count)]


def test_families_that_are_asked_for_at_once_load_one_after_another(gates):
    studio = Studio(HOME, gates, short)
    for visitor, choice in (("a", HOME), ("b", LARGE), ("c", replace(LARGE, dtype="bfloat16"))):
        threading.Thread(target=studio.families.ensure_loading, args=(choice, visitor)).start()
    gates.allowed.release(3)
    until(lambda: studio.families.status(HOME).is_final and len(gates.began) == 3 and not studio.families.any_loading)
    assert gates.most == 1


def test_a_flood_at_the_start_neither_delays_nor_harms_the_family_of_the_page(gates):
    studio, before = Studio(HOME, gates, short), threading.active_count()
    studio.families.preload(patience=0.2)
    loads = [studio.families.ensure_loading(choice, f"visitor {n}") for n, choice in enumerate(many(24))]
    refused = [load.status.sentence for load in loads if load.status.state == "failed"]
    assert len(refused) == 24 - MOST_WAITING
    assert "Try again in a few minutes" in refused[0]
    gates.allowed.release(24)
    until(lambda: not studio.families.any_loading)
    assert len(gates.began) == 1 + MOST_WAITING and gates.began[0] == "embedded auto"
    assert studio.families.status(HOME).state == "ready"
    assert threading.active_count() <= before + 1
    assert isinstance([*studio.race("v", HOME, REQUEST)][-1], Finished)


def test_a_load_that_was_superseded_before_it_began_is_dropped(gates):
    studio = Studio(HOME, gates, short)
    studio.families.ensure_loading(HOME)
    until(lambda: gates.began)
    for choice in (LARGE, QWEN):
        studio.families.ensure_loading(choice, "a")
    studio.families.ensure_loading(SMOLLM2, "b")
    assert studio.families.status(LARGE).state == "waiting"
    studio.families.withdraw("b")
    gates.allowed.release(4)
    until(lambda: studio.families.status(QWEN).state == "ready")
    assert gates.began == ["embedded auto", "Qwen3 auto"]


def test_a_load_that_somebody_else_wants_too_is_kept(gates):
    studio = Studio(HOME, gates, short)
    studio.families.ensure_loading(HOME)
    for visitor in "ab":
        studio.families.ensure_loading(LARGE, visitor)
    studio.families.withdraw("a")
    assert studio.families.status(LARGE).state == "queued"
    gates.allowed.release(2)
    until(lambda: studio.families.status(LARGE).state == "ready")


def test_a_load_that_fails_spoils_neither_a_later_one_nor_itself(gates):
    gates.broken = {"SmolLM2 1.7B auto"}
    gates.allowed.release(4)
    studio = Studio(HOME, gates, short)
    for _ in range(2):
        studio.families.ensure_loading(LARGE)
        until(lambda: studio.families.status(LARGE).state == "failed")
        assert "AutoConfig" in studio.families.status(LARGE).sentence
    gates.broken.clear()
    assert isinstance([*studio.race("v", HOME, REQUEST)][-1], Finished)
    studio.families.ensure_loading(LARGE)
    until(lambda: studio.families.status(LARGE).state == "ready")


def test_a_race_gets_its_family_though_another_one_pushes_it_out_at_once(gates):
    raced = []

    def run(family, request, stopped):
        raced.append(family.spec.name)
        yield from short(family, request, stopped)

    studio = Studio(HOME, gates, run)
    stream = studio.race("a", LARGE, REQUEST)
    next(stream)
    studio.families.ensure_loading(QWEN, "b")
    gates.allowed.release(2)
    until(lambda: studio.families.status(QWEN).state == "ready")
    assert studio.families.status(LARGE).state == "waiting"
    assert isinstance([*stream][-1], Finished) and raced == ["SmolLM2 1.7B"]
    assert gates.began == ["SmolLM2 1.7B auto", "Qwen3 auto"]


def test_a_race_that_cannot_be_queued_says_so(gates):
    studio = Studio(HOME, gates, short)
    studio.families.ensure_loading(HOME)
    for number, choice in enumerate(many(MOST_WAITING)):
        studio.families.ensure_loading(choice, f"visitor {number}")
    (refused,) = studio.race("v", LARGE, REQUEST)
    assert isinstance(refused, Refused) and "was not loaded, because 4 other families wait" in refused.sentence
    gates.allowed.release(9)
