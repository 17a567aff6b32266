"""Tuning as a whole: from prompts to a record that runs."""

from __future__ import annotations

import pytest
import toy
from toy import DRAFTS

from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative
from csd.request.prompts import Prompt
from csd.request.tuned import Tuned
from csd.tuning import search, tune
from csd.tuning.transcripts import run_method

PROMPTS = [Prompt("a", "abcabcab", max_new=40), Prompt("b", "badcafe", temperature=0.8, seed=3, max_new=40)]


@pytest.fixture(autouse=True)
def small_search(monkeypatch):
    monkeypatch.setattr(search, "MOST_SCORED", 6)
    monkeypatch.setattr(tune, "DRAFT_LENGTHS", (1, 3))
    monkeypatch.setattr(tune, "LOOKUPS", (4,))


def test_tuning_a_family_gives_a_record_that_runs():
    family = toy.family(9, seed=2, noises=(0.5, 0.9, 1.6), bigram=True)
    said = []
    record, timed = tune.tune(family, PROMPTS, repeats=1, progress=said.append)
    assert timed[0].method == Autoregressive() and timed[0].measured == 1.0
    assert all(candidate.measured > 0 for candidate in timed) and said
    assert record.draft in DRAFTS and record.k in (1, 3) and record.lookup == 4 and len(record.K) == 4
    Cascade(DRAFTS, record.K, record.lenience).check(DRAFTS)
    best = tune.fastest(timed, Cascade)
    assert (best.method.K, best.method.lenience) == (record.K, record.lenience)
    assert list(record.speedups) == [kind.name for kind in (Speculative, PromptLookup, Cascade, AdaptiveCascade)]
    text = run_method(family, PROMPTS[0], Autoregressive()).tokens
    assert run_method(family, PROMPTS[0], AdaptiveCascade(DRAFTS, prior=record.prior)).tokens == text
    assert Tuned.from_json(record.to_json()) == record


def test_a_family_without_drafts_can_be_tuned(monkeypatch):
    monkeypatch.setattr(tune, "LOOKUPS", (4, 8))
    record, _ = tune.tune(toy.family(9, noises=()), PROMPTS[:1], repeats=1)
    assert (record.draft, record.k) == ("", 0) and len(record.K) == 1 and record.lookup in (4, 8)
    assert Speculative.name not in record.speedups


def test_a_family_with_a_draft_that_reads_less_than_the_texts_can_be_tuned():
    family = toy.family(9, seed=2, noises=(0.5, 0.9), contexts={"draft-2": 20})
    record, _ = tune.tune(family, PROMPTS[:1], repeats=1)
    assert set(record.alpha) == {"draft-3", "draft-2"}
