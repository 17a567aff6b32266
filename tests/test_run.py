"""From a prompt to traces, over a toy family: what is announced, and what the lanes of a race share."""

from __future__ import annotations

from dataclasses import replace

from toy import records_of
from toy_races import METHODS, PLAIN, ended, toy

from csd.decoding.methods import (
    restore_method,
    title,
)
from csd.record.trace import Step
from csd.record.verdict import judge
from csd.run import LaneAdvanced, LaneFinished, RaceStarted, run_race


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
