"""How a race over a toy family ends: at EOS, at the budget, stopped, dropped, or because of a careless method."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from toy_races import METHODS, PLAIN, ended, toy

from csd.decoding.combinators import Vertical
from csd.decoding.draft import Drafter, statistical_draft
from csd.decoding.generate import CHUNK
from csd.decoding.methods import (
    Method,
    Refusal,
)
from csd.record.trace import Prefill, Trace
from csd.record.verdict import judge
from csd.run import LaneAdvanced, LaneFinished, run_race


def test_eos_ends_a_lane_unless_it_is_switched_off():
    free = ended(run_race(toy(), PLAIN))[0].tokens
    for trace in ended(run_race(toy(eos=(free[9], free[4])), PLAIN)):
        first = min(free.index(free[9]), free.index(free[4]))
        assert trace.end == "eos" and trace.tokens == free[: first + 1]
    for trace in ended(run_race(toy(eos=(free[9],)), replace(PLAIN, stop_at_eos=False))):
        assert trace.end == "budget" and trace.tokens == free
    last = max(free.index(token) for token in free)  # an EOS that is also the last token of the budget
    for trace in ended(run_race(toy(eos=(free[last],)), replace(PLAIN, max_new=last + 1))):
        assert trace.end == "eos" and trace.tokens == free[: last + 1]


def test_a_long_prompt_is_read_in_chunks_by_every_model_that_runs():
    prompt = "abcdefg" * 200
    world = toy(context=2000)
    for method, trace in zip(METHODS, ended(run_race(world, replace(PLAIN, prompt=prompt, max_new=4)))):
        names = (["MaxGram"] if "MaxGram" in method.leaves else []) + list(method.models())
        sizes = [CHUNK, CHUNK, len(prompt) - 2 * CHUNK]
        assert [(part.by, part.tokens) for part in trace.prefill] == [(name, size) for size in sizes for name in names]


@pytest.mark.parametrize("moves", range(0, 46, 3))
def test_stopped_anywhere_every_lane_gives_what_it_has(moves):
    """After any number of moves, in prefill or later: one end for each lane, its own text so far, and the traces hold."""
    prompt = "abcdefg" * 100
    whole = ended(run_race(toy(context=2000), replace(PLAIN, prompt=prompt)))
    seen = itertools.count()
    events = list(run_race(toy(context=2000), replace(PLAIN, prompt=prompt), stopped=lambda: next(seen) >= moves))
    through = [trace for trace in ended(events) if trace.end != "stopped"]
    moved = sum(isinstance(event, LaneAdvanced) for event in events)
    assert moved <= moves <= moved + len(through)  # a lane may be through before it was asked again
    for trace, full in zip(ended(events), whole):
        assert trace.tokens == (full.tokens if trace in through else full.tokens[: len(trace.tokens)])
        if trace.tokens:
            found = judge(trace, full)
            assert found.kind == "identical" and found.whole == (trace in through)
        assert Trace.from_json(trace.to_json()) == trace
        assert isinstance(trace.answer, str)
    if moves < 2:
        assert not any(trace.steps for trace in ended(events))


def test_stopped_mid_race_some_lanes_have_text():
    seen = itertools.count()
    traces = ended(run_race(toy(), PLAIN, stopped=lambda: next(seen) >= 40))
    assert any(trace.steps for trace in traces) and any(trace.end == "stopped" for trace in traces)


def test_what_was_through_before_the_stop_is_not_called_stopped():
    done = []
    for event in run_race(toy(), PLAIN, stopped=lambda: bool(done)):
        if isinstance(event, LaneFinished):
            done.append(event.trace)
    assert done[0].end == "budget"
    assert any(trace.end == "stopped" for trace in done)
    for trace in done:  # a lane may have written its last token without having been asked again
        assert trace.end == ("budget" if len(trace.tokens) == PLAIN.max_new else "stopped")


def test_closing_a_race_closes_its_lanes():
    """A visitor who leaves: the generator is dropped between two events, and nothing runs on."""
    world = toy()
    events = run_race(world, PLAIN)
    for event in events:
        if isinstance(event, LaneAdvanced) and not isinstance(event.record, Prefill):
            break
    calls = sum(session.calls for session in world.opened)
    events.close()
    assert sum(session.calls for session in world.opened) == calls


@dataclass(frozen=True)
class Careless(Method):
    """A method that lets Max-Gram write and does not say so, or a drafter that ignores its room."""

    name: ClassVar[str] = "careless"
    greedy: bool = False

    def build(self, lane):
        return Vertical(lane.target, TooLong() if self.greedy else Unnamed(), lane.rule)


class Unnamed(Drafter):
    def draft(self, sequence, room):
        return statistical_draft("nobody", sequence, [0][:room], 0.0)


class TooLong(Drafter):
    def draft(self, sequence, room):
        return statistical_draft("MaxGram", sequence, [0] * (room + 1), 0.0)


def test_an_author_that_is_not_a_level_is_refused_by_name():
    with pytest.raises(Refusal, match="“nobody” wrote a token but is not in `leaves` of the method “careless”"):
        list(run_race(toy(), replace(PLAIN, methods=(Careless(),))))


def test_a_drafter_that_ignores_its_room_is_named():
    with pytest.raises(ValueError, match="TooLong drafted 30 tokens where there is room for 29"):
        list(run_race(toy(), replace(PLAIN, methods=(Careless(greedy=True),))))
