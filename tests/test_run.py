"""From a prompt to traces, over a toy family: what is refused, what is announced, and how a race ends."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from toy import DRAFTS, family, records_of

from csd.decoding.combinators import Vertical
from csd.decoding.draft import Drafter, statistical_draft
from csd.decoding.generate import CHUNK
from csd.decoding.methods import (
    Autoregressive,
    Cascade,
    Method,
    PromptLookup,
    Refusal,
    Speculative,
    restore_method,
    title,
)
from csd.record.trace import Prefill, Step, Trace
from csd.record.verdict import judge
from csd.request.request import Request
from csd.run import LaneAdvanced, LaneFinished, RaceStarted, run_race

METHODS = (
    Autoregressive(),
    Speculative("draft-3", 4),
    PromptLookup(6),
    Cascade(DRAFTS[:2], ((2, 5, 8), (0, 2, 4), (0, 0, 6)), lenience=3.0),
)
PLAIN = Request("abcabd", METHODS, max_new=30)


def toy(**options):
    return family(7, seed=3, noises=(0.3, 0.6), **options)


def ended(events) -> list[Trace]:
    found = [event for event in events if isinstance(event, LaneFinished)]
    assert sorted(event.lane for event in found) == list(range(len(found)))
    return [event.trace for event in sorted(found, key=lambda event: event.lane)]


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prompt": ""}, "The prompt is empty"),
        ({"prompt": " \n\t "}, "The prompt is empty"),
        ({"prompt": None}, "The prompt is empty"),
        ({"prompt": 5}, "The prompt must be text, not 5"),
        ({"prompt": "a \ud83d"}, "half of a surrogate pair"),
        ({"methods": ()}, "at least one method"),
        (
            {"methods": (Autoregressive(), Speculative("draft-9", 2))},
            "no draft “draft-9”. Its drafts are: draft-3, draft-2",
        ),
        ({"methods": (Speculative("MaxGram", 2),)}, "no draft “MaxGram”"),
        ({"methods": (Cascade(DRAFTS[:2], ((1, 2), (0, 1))),)}, "3 rows of 3"),
        *[
            ({"temperature": value}, "Temperature (must be 0|is empty)")
            for value in (
                -0.1,
                10.1,
                None,
                True,
                False,
                "1",
                float("nan"),
                float("inf"),
                -float("inf"),
                1e-9,
                1e-320,
                [1],
            )
        ],
        *[
            ({"top_p": value}, "Top-p (must be|is empty)")
            for value in (0, -1, 1.01, None, True, "0.9", float("nan"), float("inf"))
        ],
        *[
            ({"top_k": value}, "Top-k (must be|is empty)")
            for value in (-1, None, True, 2.0, "4", float("nan"), float("inf"), 2**31)
        ],
        *[
            ({"seed": value}, "The seed (must be|is empty)")
            for value in (-1, None, True, 0.5, "7", float("nan"), 2**53, 10**400)
        ],
        *[
            ({"max_new": value}, "New tokens (must be|is empty)")
            for value in (0, -5, None, True, 3.0, "8", float("inf"), 10**9)
        ],
        *[
            ({"rule": value}, "The acceptance rule must be one of coupled, rejection")
            for value in ("", "greedy", None, 3)
        ],
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(change, words):
    world = toy()
    with pytest.raises(Refusal, match=words) as refusal:
        next(run_race(world, replace(PLAIN, **change)))
    assert str(refusal.value).endswith(".") and world.opened == []


def test_an_over_long_prompt_is_refused_with_its_length_and_the_limit():
    world = toy(context=50)
    for length, words in (
        (
            21,
            "takes 21 tokens; with 30 new tokens it exceeds the target's context of 50. Ask for at most 29 new tokens",
        ),
        (50, "takes 50 tokens.* context of 50. Shorten it"),
        (1_234, "takes 1,234 tokens.*Shorten it"),
    ):
        with pytest.raises(Refusal, match=words):
            next(run_race(world, replace(PLAIN, prompt="a" * length)))
    with pytest.raises(Refusal, match="from 1 to 49"):
        next(run_race(world, replace(PLAIN, prompt="a", max_new=50)))
    assert world.opened == []
    assert all(len(trace.tokens) == 30 for trace in ended(run_race(world, replace(PLAIN, prompt="a" * 20))))


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0},
        {"temperature": 0.001},
        {"temperature": 10, "seed": 2**53 - 1},
        {"temperature": 1, "top_k": 2**31 - 1, "top_p": 1e-12},
        {"temperature": 1.0, "top_k": 1},
        {"temperature": 1.0, "rule": "rejection", "top_p": 0.01},
        {"max_new": 1},
        {"prompt": "\x00\u2028 '\"</script>"},
    ],
)
def test_the_edges_of_what_can_be_run(change):
    for trace in ended(run_race(toy(), replace(PLAIN, **change))):
        assert len(trace.tokens) == trace.header.max_new and trace.end == "budget"
        text = trace.to_json()
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert Trace.from_json(text) == trace


# --- what is announced -------------------------------------------------------------------------------------------------


def test_the_header_says_all_that_is_needed_to_run_it_again():
    settings = replace(PLAIN, temperature=0.9, top_k=5, top_p=0.95, seed=11, max_new=12)
    world = toy(eos=(6, 2), context=99)
    opened = next(run_race(world, settings))
    assert isinstance(opened, RaceStarted) and len(opened.headers) == 4
    assert opened.pieces == world.pieces(world.encode("abcabd"))
    for header, method in zip(opened.headers, METHODS):
        assert (header.method, header.title) == (method.name, title(method))
        assert restore_method(header.method, header.settings) == method
        assert (header.prompt, header.text, header.max_new, header.eos) == (
            world.encode("abcabd"),
            "abcabd",
            12,
            (2, 6),
        )
        assert (header.rule, header.temperature, header.top_k, header.top_p, header.seed) == (
            "coupled",
            0.9,
            5,
            0.95,
            11,
        )
        assert (header.family, header.device, header.dtype) == ("toy", "cpu", "float64")
        assert [(level.name, level.level) for level in header.levels] == [
            ("MaxGram", 0), ("Bigram", 0), ("draft-2", 1), ("draft-3", 2), ("target", 3),
        ]  # fmt: skip
        assert set(header.versions) == {"python", "torch", "transformers"} and all(header.versions.values())
    greedy = next(run_race(world, replace(settings, temperature=0.0, rule="rejection", stop_at_eos=False))).headers[0]
    assert greedy.rule == "greedy" and greedy.eos == ()
    assert next(run_race(world, replace(settings, rule="rejection"))).headers[0].rule == "rejection"


def test_events_tell_the_whole_story_and_each_piece_once():
    world = toy(bigram=True)
    events = list(run_race(world, PLAIN))
    assert isinstance(events[0], RaceStarted) and not any(isinstance(event, RaceStarted) for event in events[1:])
    known = dict(events[0].pieces)
    lanes: list[list] = [[] for _ in METHODS]
    done = set()
    for event in events[1:]:
        assert event.lane not in done
        if isinstance(event, LaneFinished):
            done.add(event.lane)
            trace = event.trace
            assert [*trace.prefill, *trace.steps] == lanes[event.lane]
            assert trace.header == events[0].headers[event.lane]
            named = {token for step in trace.steps for record in records_of(step.review) for token in record.tokens}
            assert set(trace.pieces) == named | set(trace.tokens) | set(trace.header.prompt)
            assert all(known[token] == piece for token, piece in trace.pieces.items())
        else:
            assert isinstance(event, LaneAdvanced) and not set(event.pieces) & set(known)
            known |= event.pieces
            lanes[event.lane].append(event.record)
            if isinstance(event.record, Step):
                for record in records_of(event.record.review):
                    assert set(record.tokens) <= set(known)
    assert done == set(range(len(METHODS)))
    assert ended(events)[0].answer == "".join(chr(97 + token) for token in ended(events)[0].tokens)


def test_all_lanes_write_the_same_greedy_and_coupled():
    for settings in (PLAIN, replace(PLAIN, temperature=0.8, seed=4), replace(PLAIN, temperature=1.5, top_k=3, seed=9)):
        reference, *others = ended(run_race(toy(bigram=True), settings))
        assert len(reference.steps) == 30
        for trace in others:
            assert judge(trace, reference).kind == "identical" and len(trace.steps) < 30


def test_a_race_can_be_run_again_and_another_seed_is_another_text():
    for rule in ("coupled", "rejection"):
        settings = replace(PLAIN, temperature=1.0, rule=rule, seed=1)
        first, again, other = (
            [trace.tokens for trace in ended(run_race(toy(), s))]
            for s in (settings, settings, replace(settings, seed=2))
        )
        assert first == again and first[0] != other[0]


def test_lanes_are_the_same_alone_and_in_a_race():
    """Lanes share weights and nothing else."""
    together = ended(run_race(toy(), replace(PLAIN, temperature=1.0, rule="rejection")))
    for method, trace in zip(METHODS, together):
        (alone,) = ended(run_race(toy(), replace(PLAIN, methods=(method,), temperature=1.0, rule="rejection")))
        assert alone.tokens == trace.tokens
        assert [step.authors for step in alone.steps] == [step.authors for step in trace.steps]


def test_every_race_starts_with_sessions_of_its_own():
    world = toy()
    for _ in run_race(world, PLAIN):
        pass
    used = [session.name for session in world.opened]
    assert sorted(used) == sorted(name for method in METHODS for name in method.models())
    assert len({id(session) for session in world.opened}) == len(used)


# --- how a race ends ---------------------------------------------------------------------------------------------------


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
