"""Tuning: what is counted on tapes, what a tape predicts, the search, and the record in its file."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import toy
from toy import DRAFTS

from csd.decoding.adaptive.prior import ANY, Prior
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative, title
from csd.models import catalog
from csd.record.trace import Review
from csd.request import tuned
from csd.request.prompts import Prompt
from csd.request.tuned import Tuned
from csd.run import LaneFinished, Request, run_race
from csd.tuning import search as tune

PROMPTS = [Prompt("a", "abcabcab", max_new=40), Prompt("b", "badcafe", temperature=0.8, seed=3, max_new=40)]


@pytest.fixture(scope="module")
def family():
    return toy.family(9, seed=2, noises=(0.5, 0.9, 1.6), bigram=True)


@pytest.fixture(scope="module")
def tapes(family):
    return [tune.taped(family, prompt, DRAFTS) for prompt in PROMPTS]


def trace_of(family, prompt, method):
    settings = Request(prompt.prompt, (method,), prompt.max_new, temperature=prompt.temperature, seed=prompt.seed)
    return next(event.trace for event in run_race(family, settings) if isinstance(event, LaneFinished))


def test_a_tape_holds_the_targets_text_and_its_own_choices_are_that_text(family, tapes):
    for prompt, tape in zip(PROMPTS, tapes):
        assert tape.tokens == trace_of(family, prompt, Autoregressive()).tokens
        assert tuple(ids[0] for ids, _ in tape.rows["target"][: len(tape.tokens)]) == tape.tokens
        assert set(tape.rows) == {"target", *DRAFTS}
        for rows in tape.rows.values():
            assert all(gaps[0] == 0 and list(gaps) == sorted(gaps) for _, gaps in rows)


@pytest.mark.parametrize(
    "method",
    [Autoregressive(), PromptLookup(6), Speculative("draft-3", 1), Speculative("draft-1", 1)],
    ids=title,
)
def test_a_tape_predicts_the_runs_exactly_where_no_draft_goes_on_after_an_error(family, tapes, method):
    """Each run is charged what it costs: the sum over the reviews of the real lane is the tape's prediction."""
    for prompt, tape in zip(PROMPTS, tapes):
        steps = trace_of(family, prompt, method).steps
        reviews = [r for step in steps for r in toy.records_of(step.review) if isinstance(r, Review)]
        if method.name != "speculative":
            real = sum(family.costs[review.by][len(review.tokens)] for review in reviews)
            assert tune.seconds(method, tape, family) == pytest.approx(real)
        assert tune.seconds(method, tape, family) > 0


def test_priors_are_counts_never_falling_with_the_evidence(family, tapes):
    prior = tune.counted(tapes, DRAFTS, family.bigram)
    assert list(prior.copies) == sorted(prior.copies)
    for draft in DRAFTS:
        rates = prior.of_draft(draft)
        assert len(rates) == ANY + 1 and all(0 < rate < 1 for rate in rates)
        assert list(rates[: ANY - 1]) == sorted(rates[: ANY - 1])
    assert prior.of_draft("draft-3")[ANY] > prior.of_draft("draft-1")[ANY]  # the better draft is believed more


def test_neighbours_that_would_fall_are_counted_together():
    count = tune._Count((0.5, 0.5, 0.5))
    for kept in (1, 1, 1, 1):
        count.saw(0, bool(kept))
    for kept in (0, 0, 0, 0):
        count.saw(1, bool(kept))
    assert count.rates(0, 3) == pytest.approx([0.5, 0.5, 0.5])  # (2 + 4 + 2 + 0) / 16 and 2 / 4


def test_alpha_is_the_share_of_right_tokens_given_those_before():
    right = tune.Tape((1,), (5, 6, 7, 8), {"d": tuple(((token, 0), (0.0, 1.0)) for token in (5, 6, 0, 8))})
    # From each start: right, right, wrong | right, wrong | wrong | right.
    assert tune.alpha([right], "d") == (0.75, 0.5, 0.0)
    assert tune.alpha([right], "unknown") == ()


def test_neighbours_of_K_are_Ks_of_the_paper():
    found = list(tune._neighbours(((4, 6, 10), (0, 2, 4), (0, 0, 3))))
    assert ((5, 7, 11), (0, 2, 4), (0, 0, 3)) in found and ((0, 2, 6), (0, 2, 4), (0, 0, 3)) in found
    for K in found:
        Cascade(("draft-3", "draft-2"), K).check(DRAFTS)


def test_tuning_a_family_gives_a_record_that_runs(family, monkeypatch):
    monkeypatch.setattr(tune, "TURNS", 6)
    monkeypatch.setattr(tune, "KS", (1, 3))
    monkeypatch.setattr(tune, "LOOKUPS", (4,))
    said = []
    record, ran = tune.tune(family, PROMPTS, repeats=1, progress=said.append)
    assert ran[0].method == Autoregressive() and ran[0].measured == 1.0
    assert all(found.measured > 0 for found in ran) and said
    assert record.draft in DRAFTS and record.k in (1, 3) and record.lookup == 4 and len(record.K) == 4
    Cascade(DRAFTS, record.K, record.lenience).check(DRAFTS)
    best = max((found for found in ran if found.method.name == "cascade"), key=lambda found: found.measured)
    assert (best.method.K, best.method.lenience) == (record.K, record.lenience)
    text = trace_of(family, PROMPTS[0], Autoregressive()).tokens
    assert trace_of(family, PROMPTS[0], AdaptiveCascade(DRAFTS, record.prior)).tokens == text
    assert Tuned.from_json(record.to_json()) == record


def test_a_family_without_drafts_can_be_tuned(monkeypatch):
    monkeypatch.setattr(tune, "LOOKUPS", (4, 8))
    record, _ = tune.tune(toy.family(9, noises=()), PROMPTS[:1], repeats=1)
    assert (record.draft, record.k) == ("", 0) and len(record.K) == 1 and record.lookup in (4, 8)


def record(**changes) -> Tuned:
    own = Tuned(
        "embedded", "cpu", "float32", "a machine", "2026-11-20", 3, "draft-mid", 7, 8,
        ((1, 2, 3), (0, 1, 2), (0, 0, 1)), 1.0, Prior(drafts={"draft-mid": (0.5,) * (ANY + 1)}),
        {"draft-mid": (0.9, 0.8)}, {"cascade": 2.0},
    )  # fmt: skip
    return replace(own, **changes)


def test_the_record_of_this_machine_comes_before_the_shipped_one(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("embedded")
    assert tuned.find_tuned(spec).k != 7  # the shipped one
    tuned.save_tuned(record(), tuned.tuned_path(spec, "cpu"))
    assert tuned.find_tuned(spec, "cpu") == tuned.find_tuned(spec) == record()
    assert tuned.find_tuned(spec, "cuda:1").k != 7  # that was another device
    assert tuned.find_tuned(catalog.find("Qwen3")) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"prior": 3}', json.dumps({**json.loads(record().to_json()), "K": [[1, 2], [3, 4]]}),
     json.dumps({**json.loads(record().to_json()), "prior": {"copies": [0.1], "drafts": {"d": [0.5]}, "unknown": [0.5]}})],
)  # fmt: skip
def test_a_damaged_record_is_passed_over(monkeypatch, tmp_path, text):
    with pytest.raises(ValueError, match="not a tuning record"):
        Tuned.from_json(text)
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("Qwen3")
    place = tuned.tuned_path(spec, "cpu")
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert tuned.find_tuned(spec, "cpu") is None


def test_a_record_for_other_drafts_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    spec = catalog.find("embedded")
    tuned.save_tuned(record(draft="somebody"), tuned.tuned_path(spec, "cpu"))
    assert tuned.find_tuned(spec, "cpu").draft == "draft-mid" and tuned.find_tuned(spec, "cpu").k != 7


def test_the_shipped_record_suits_the_embedded_family():
    spec = catalog.find("embedded")
    shipped = Tuned.from_json(tuned.SHIPPED.read_text(encoding="utf-8"))
    drafts = tuple(draft.name for draft in spec.drafts)
    Speculative(shipped.draft, shipped.k).check(drafts)
    Cascade(drafts, shipped.K, shipped.lenience).check(drafts)
    AdaptiveCascade(drafts, shipped.prior).check(drafts)
    assert set(shipped.prior.drafts) == set(drafts) and shipped.machine and shipped.speedups["cascade"] > 1


def test_a_place_is_told_by_the_models(monkeypatch, tmp_path):
    monkeypatch.setenv("CSD_HOME", str(tmp_path))
    one, other = (SimpleNamespace(models=(catalog.ModelSpec("target", id),)) for id in ("a", "b"))
    assert len({tuned.tuned_path(one, "cpu"), tuned.tuned_path(other, "cpu"), tuned.tuned_path(one, "cuda")}) == 3
