"""The tour's texts, and the small races that they are about."""

from __future__ import annotations

from csd.models import catalog
from csd.record.metrics import forward_passes
from csd.record.trace import Review
from csd.stage import tour
from csd.stage.run_costs import run_costs
from csd.web.loads import FamilyChoice


def test_every_act_has_few_short_sentences_a_question_and_lanes_of_a_small_race():
    assert len(tour.ACTS) == 8
    for act in tour.ACTS:
        assert act.title and act.question.endswith("?") and act.answer.endswith(".")
        assert 2 <= len(act.choices) <= 3 and 0 <= act.right < len(act.choices)
        assert act.text.endswith(".") and len(act.text) <= 270
        assert max(len(sentence.split()) for sentence in act.text.split(". ")) <= 28, "one idea in a sentence"
        assert [trace.header.method for trace in act.traces]
    words = " ".join(part for act in tour.ACTS for part in (act.title, act.text, act.question, act.answer))
    for term in (
        "big model",
        "small model",
        "copier",
        "vertical cascade",
        "horizontal cascade",
        "adaptive cascade",
        "one by one",
    ):
        assert term in words.lower()
    for name in ("Max-Gram", "Bigram", "target", "draft-"):
        assert name not in words, "levels are called by their roles"


def test_the_small_races_show_what_the_acts_say():
    """A review that keeps some guesses and drops others, one that reviews another's guesses, a block of several writers,
    and a block of several that review one another, all of them with the same tokens; and a race that a cascade loses."""
    one_by_one, speculative = tour.ACTS[1].traces
    _, vertical = tour.ACTS[2].traces
    _, horizontal = tour.ACTS[3].traces
    _, cascade = tour.ACTS[4].traces
    together = (one_by_one, speculative, vertical, horizontal, cascade)
    assert len({trace.tokens for trace in together}) == 1
    runs = [len(trace.steps) for trace in together]
    assert runs[0] == len(one_by_one.tokens) and runs == sorted(runs, reverse=True) and runs[1] < runs[0]
    assert f"{runs[1]} runs of the big model instead of {runs[0]}" in tour.ACTS[1].text
    needs = f"the big model runs {runs[3]} times; speculative decoding needs {runs[1]}."
    assert needs in tour.ACTS[3].text and runs[3] == runs[1] - 1
    small = [forward_passes(trace)["small"] for trace in (horizontal, cascade)]
    assert small[1] < small[0] and f"runs {small[1]} times instead of {small[0]}" in tour.ACTS[4].text
    assert f"guesses {speculative.header.settings['k']} tokens" in tour.ACTS[1].text
    inner = [one for one in vertical.steps[0].review.inner if isinstance(one, Review)]
    assert len(inner) < len(speculative.steps[0].review.inner), "the small model runs less often"
    assert any(one.accepted for one in inner) and any(one.accepted < len(one.tokens) for one in inner)
    assert inner[0].by == "small" and 0 < inner[0].accepted < len(inner[0].tokens), "it mends the copier's guess"
    drafted = [one for one in horizontal.steps[0].review.inner if isinstance(one, Review)]
    assert not any(one.inner for one in drafted), "every level writes by itself"
    assert horizontal.steps[0].review.accepted > horizontal.header.settings["ks"][0], "some of the tail is kept"
    for trace in (horizontal, cascade):
        assert len({one.by for one in trace.steps[0].review.inner}) == 3
    *_, exact, losing, following = tour.ACTS
    fixed, adaptive = following.traces
    assert fixed.tokens == adaptive.tokens and len(adaptive.steps) < len(fixed.steps)
    assert f"takes {len(adaptive.steps)} runs of the big model; the fixed plan takes {len(fixed.steps)}" in (
        following.text
    )
    assert adaptive.decode_seconds < fixed.decode_seconds
    alone, guessed = exact.traces
    review = guessed.steps[exact.step - 1].review
    kept, struck = review.tokens[: review.accepted], review.tokens[review.accepted :]
    told = [guessed.pieces[token] for token in (*kept, review.token)]
    assert alone.tokens == guessed.tokens and kept and len(struck) == 2, "the wrong guess, and one after it"
    assert f"keeps “{''.join(told[:-1]).strip()}”" in exact.text
    assert told[-1] == '."' and "ends the sentence itself" in exact.text
    assert f"“{guessed.pieces[struck[1]].strip()}” followed a wrong token" in exact.text
    lost = {trace.header.method: trace for trace in losing.traces}
    assert lost["cascade"].decode_seconds > lost["autoregressive"].decode_seconds
    assert len(lost["cascade"].steps) < len(lost["autoregressive"].steps)
    assert lost["cascade"].header.temperature == tour.LOSE.temperature
    assert f"temperature {tour.LOSE.temperature}" in losing.text
    presets = FamilyChoice(catalog.find("embedded")).defaults
    assert lost["cascade"].header.settings["K"] == [list(row) for row in presets.find_preset(tour.LOSE.preset).K]


def test_a_boundary_too_early_costs_runs_and_one_too_late_costs_time():
    """The races between which the reader of the horizontal cascade chooses, and its question about them."""
    act = tour.ACTS[3]
    by_count = dict(act.choices_of_boundary)
    seconds = {count: lanes[-1].decode_seconds for count, lanes in by_count.items()}
    runs = [len(lanes[-1].steps) for lanes in by_count.values()]
    best = min(seconds, key=lambda count: seconds[count])
    assert list(by_count) == sorted(by_count) and runs == sorted(runs, reverse=True) and runs[0] > runs[-1]
    assert by_count[best] == act.traces, "the act begins with the best"
    asked = by_count[act.asked][-1]
    assert act.asked == min(by_count) and asked.steps[0].review.accepted == act.asked, (
        "the first guess behind it is wrong"
    )
    assert min(by_count) < best < max(by_count) and runs[list(by_count).index(best)] == runs[-1]
    assert len({trace.tokens for lanes in by_count.values() for trace in lanes}) == 1
    assert seconds[act.asked] > seconds[best] and act.choices[act.right].startswith("No")


def test_one_run_for_a_block_costs_less_than_runs_one_by_one():
    """What the picture of the first act shows, and its question asks."""
    act = tour.ACTS[0]
    tokens, one, block = run_costs(tour.ACTS[0].traces + tour.ACTS[1].traces[1:])
    assert act.costs and tokens == 5 and "five tokens" in act.question
    assert one < block < tokens * one / 2
    assert f"<b>{1000 * block:.1f} ms</b>" in tour.template() and tour.template().count("<i style=") == 1 + 1 + tokens
