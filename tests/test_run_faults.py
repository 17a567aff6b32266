"""A model or a device that fails in mid-race: its lane ends with a sentence, and the others go on."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from toy_races import METHODS, PLAIN, toy

from csd.decoding.methods import Refusal
from csd.models.faults import NO_MEMORY
from csd.record.trace import Trace
from csd.run import LaneFinished, run_race


def breaks(world, name: str, after: int, fail) -> None:
    """After so many calls, the sessions of this model answer with `fail(logits)`."""
    opening = world.session

    def session(which, capacity):
        opened = opening(which, capacity)
        answer, calls = opened.logits, []

        def logits(sequence, since):
            calls.append(since)
            found = answer(sequence, since)
            return fail(found) if len(calls) > after else found

        if which == name:
            opened.logits = logits
        return opened

    object.__setattr__(world, "session", session)


def out_of_memory(error):
    def fail(logits):
        raise error

    return fail


FAILURES = {
    "nan": (lambda logits: logits * float("nan"), "“draft-3” computed numbers that are not finite"),
    "inf": (lambda logits: logits + float("inf"), "“draft-3” computed numbers that are not finite"),
    "gpu": (out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")), NO_MEMORY),
    "cpu": (out_of_memory(RuntimeError("could not create a primitive")), NO_MEMORY),
    "allocator": (out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: 1 byte")), NO_MEMORY),
    "python": (out_of_memory(MemoryError()), NO_MEMORY),
}


@pytest.mark.parametrize("fail", FAILURES)
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_lane_whose_model_fails_ends_with_a_sentence_and_the_others_go_on(fail, temperature):
    world = toy()
    breaks(world, "draft-3", 6, FAILURES[fail][0])
    events = list(run_race(world, replace(PLAIN, temperature=temperature)))
    finished = {event.lane: event for event in events if isinstance(event, LaneFinished)}
    for lane in (0, 2):
        assert finished[lane].fault == "" and len(finished[lane].trace.tokens) == 30
    broken = finished[1]
    assert FAILURES[fail][1] in broken.fault and broken.fault.endswith(".")
    assert broken.trace.end == "stopped" and 0 < len(broken.trace.tokens) < 30
    assert Trace.from_json(broken.trace.to_json()) == broken.trace
    assert broken.trace.tokens == finished[0].trace.tokens[: len(broken.trace.tokens)]


@pytest.mark.parametrize("rule", ["coupled", "rejection"])
def test_a_target_that_computes_nan_is_named(rule):
    world = toy()
    breaks(world, "target", 4, FAILURES["nan"][0])
    events = list(run_race(world, replace(PLAIN, temperature=0.9, rule=rule)))
    faults = [event.fault for event in events if isinstance(event, LaneFinished)]
    assert len(faults) == len(METHODS) and all("“target” computed numbers" in fault for fault in faults)


def test_no_memory_for_the_caches_is_a_refusal_and_other_errors_are_not_swallowed():
    world = toy()
    object.__setattr__(world, "session", lambda *args: out_of_memory(MemoryError())(None))
    with pytest.raises(Refusal, match="no memory left for this race"):
        list(run_race(world, PLAIN))
    world = toy()
    breaks(world, "draft-3", 2, out_of_memory(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        list(run_race(world, PLAIN))
