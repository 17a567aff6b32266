"""The plan: who runs when, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench_samples import AR, BASELINE, LOOKUP, METHODS, PROMPTS, lane_family

from csd.bench.plan import Plan, check_plan, list_jobs
from csd.decoding.adaptive.prior import GENERAL
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, Refusal, Speculative, title


def test_entries_take_turns_and_the_first_rotates():
    plan = Plan(PROMPTS, METHODS, (BASELINE,), 2)
    order = [(job.prompt, job.repeat, job.entry or job.mode) for job in list_jobs(plan)]
    assert order == [
        (0, 0, AR), (0, 0, LOOKUP), (0, 0, BASELINE.id), (0, 0, "race"),
        (0, 1, LOOKUP), (0, 1, BASELINE.id), (0, 1, "race"), (0, 1, AR),
        (0, 0, AR), (0, 0, LOOKUP),
        (1, 0, AR), (1, 0, LOOKUP), (1, 0, "race"),
        (1, 1, LOOKUP), (1, 1, "race"), (1, 1, AR),
        (1, 0, AR), (1, 0, LOOKUP),
    ]  # fmt: skip
    assert [job.mode for job in list_jobs(plan)].count("watched") == 4  # the last two of each prompt


def test_cascades_of_different_drafts_are_told_apart_by_title():
    K, both = ((5, 15), (0, 10)), Cascade(("big", "small"), ((2, 4, 6), (0, 1, 2), (0, 0, 3)))
    titles = [one.title for one in Plan(PROMPTS, (Cascade(("big",), K), Cascade(("small",), K), both)).entries]
    assert [found.rsplit(", ", 1)[1] for found in titles] == ["big", "small", "big and small"]
    assert [one.title for one in Plan(PROMPTS, (both,)).entries] == [title(both)]


def test_no_race_of_one_and_none_where_it_is_switched_off():
    assert [job.mode for job in list_jobs(Plan(PROMPTS[:1], METHODS[:1], (), 1))] == ["alone", "watched"]
    modes = [job.mode for job in list_jobs(Plan(PROMPTS[:1], METHODS, (), 1, race=False))]
    assert modes == ["alone", "alone", "watched", "watched"]


def test_entries_are_told_apart_by_id_even_where_their_titles_are_equal():
    prior = replace(GENERAL, copies=tuple(0.5 for _ in GENERAL.copies))
    plan = Plan(PROMPTS, (AdaptiveCascade(("d",)), AdaptiveCascade(("d",), prior=prior)), (BASELINE,))
    ids = [entry.id for entry in plan.entries]
    assert ids == ["1-adaptive-cascade", "2-adaptive-cascade", BASELINE.id]
    assert plan.entries[0].title == plan.entries[1].title
    assert len(set(list_jobs(plan))) == len(list(list_jobs(plan)))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan((), METHODS), "No prompts are left"),
        (Plan(PROMPTS, METHODS, repeats=0), "At least one repeat"),
        (Plan(PROMPTS, (*METHODS, Autoregressive())), "listed twice"),
        (Plan(PROMPTS, ()), "at least one method"),
        (Plan(PROMPTS, (Speculative("nobody", 3),)), "nobody"),
    ],
)
def test_refusals(plan, words):
    with pytest.raises(Refusal, match=words):
        check_plan(lane_family(), plan)
