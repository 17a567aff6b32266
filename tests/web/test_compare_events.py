"""A comparison as a stream of updates, without Gradio."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_page import RECORDED, context, fields, run_recorded, run_stopped

from csd.decoding.errors import Refusal
from csd.web.compare import BY_KIND, TWO_PLANS
from csd.web.compare_events import (
    RECORDED as RECORDED_COMPARISON,
)
from csd.web.compare_events import (
    TOO_LITTLE,
    YOURS,
    ComparisonForm,
    plan_races,
    run_comparison,
    show_example,
    show_pair,
    show_recorded,
    time_left,
)
from csd.web.compare_recording import RecordedComparison, recorded_comparison
from csd.web.examples import examples_by_kind, plan_of_text
from csd.web.named_plans import OWN, PlanChoice, named_plans, plan_after

PLANS = PlanChoice(OWN, "[[2,4,6],[0,1,2],[0,0,1]]"), PlanChoice(OWN, "[[1,4,6],[0,1,2],[0,0,1]]")
TUNED = PlanChoice("tuned to the models", "")


def compare(page, asked: ComparisonForm) -> list:
    return list(run_comparison(page, "v", asked, fields(page.start, prompt="A fox")))


@pytest.mark.slow
def test_the_table_grows_with_each_race():
    page = context()
    kinds = examples_by_kind(page.studio.home.spec)
    updates = compare(page, ComparisonForm(BY_KIND, 1, PLANS))
    tables = [update for update in updates if update.rows]
    assert [len(update.rows) for update in tables] == [len(RECORDED) * n for n in range(1, len(kinds) + 1)]
    figures = [update.figure for update in updates if update.figure]
    assert len({tuple(re.findall(r'speeds-name">.*?</svg>(.*?)</span>', one)) for one in figures}) == 1, "no row moves"
    bars = [one.count("speeds-bar") for one in figures]
    assert bars[0] == 0 and bars == sorted(bars) and bars[-1] == figures[-1].count("<li")
    assert [one.count("data-racing") for one in figures] == [1] * len(kinds) + [0]
    assert len(Path(tables[-1].csv).read_text("utf-8").splitlines()) == 1 + len(RECORDED) * len(kinds)
    assert updates[0].status.text.startswith(f"Race 1 of {len(kinds)}, ")
    assert (updates[-1].status.text, updates[-1].status.state) == (f"Done: {len(kinds)} races.", "ended")


def test_the_tab_begins_with_a_recorded_comparison_until_one_is_started():
    page = context()
    example, kinds = show_example(page, "v"), list(examples_by_kind(page.studio.home.spec))
    assert (
        example.status.text.startswith("Recorded with the demo models on 20")
        and " 3 races of each prompt. " in example.status.text
    )
    machine = recorded_comparison().machine.partition(",")[0]
    assert f" on {machine}, " in example.status.text and "the Race tab’s included" in example.status.text
    assert list(dict.fromkeys(label.partition(":")[0] for label, *_ in example.rows)) == kinds
    assert len(example.rows) == 4 * len(kinds) and example.csv
    assert [text.lower() for text in re.findall(r"<h3[^>]*>([\w ]+)", example.figure)] == kinds
    assert not any("draft-" in words or "Max-Gram" in words for words in example.words.values())
    assert example.finding.said.endswith(".") and "race" not in example.finding.said
    updates = compare(page, ComparisonForm(TWO_PLANS, 3, PLANS))
    assert show_example(page, "v").rows == example.rows, "of another kind"
    kept = show_pair(page, "v")
    assert kept.rows and kept.status.text == updates[-1].status.text and kept.finding == updates[-1].finding
    assert show_pair(page, "another").rows == () and not show_pair(page, "another").finding.said, "the title asks"
    assert show_pair(page, "another").finding.more.startswith("Press Compare")
    told = [update for update in updates if update.progress]
    assert list(dict.fromkeys(update.progress for update in told)) == [(0, 3), (1, 3), (2, 3)]
    assert {update.finding.said for update in updates[:-1] if update.finding} == {""}, "the status says what runs"
    assert "fastest" in updates[-1].finding.said or "clear" in updates[-1].finding.said
    assert all("left." in update.status.text for update in told if update.progress == (2, 3) and not update.between)


@pytest.mark.slow
def test_the_recorded_comparison_and_the_visitors_own_lead_to_each_other():
    page = context()
    example = show_example(page, "v")
    assert example.other == "", "there is none of the visitor's own"
    updates = compare(page, ComparisonForm(BY_KIND, 1, PLANS))
    assert updates[0].other == "" and updates[-1].other == RECORDED_COMPARISON
    assert {update.other for update in updates[1:-1]} == {None}, "while it runs it stays"
    own, recorded = show_example(page, "v"), show_recorded(page, "v")
    assert (own.other, recorded.other) == (RECORDED_COMPARISON, YOURS)
    assert recorded.rows == example.rows != own.rows and recorded.finding == example.finding
    assert show_pair(page, "v").other == "" == compare(page, ComparisonForm(TWO_PLANS, 1, PLANS))[-1].other


def test_a_family_without_a_recorded_comparison_begins_with_empty_rows(monkeypatch, tmp_path):
    page = context()
    for file in (tmp_path / "missing.json", tmp_path / "damaged.json"):
        (tmp_path / "damaged.json").write_text('{"family": "embedded", "results": 3}')
        assert recorded_comparison(file) is None
    monkeypatch.setattr("csd.web.compare_events.recorded_comparison", lambda: None)
    example = show_example(page, "v")
    assert example.rows is None and example.finding.said.endswith("?")
    kinds = [text.lower() for text in re.findall(r"<h3[^>]*>([\w ]+)", example.figure)]
    assert kinds == list(examples_by_kind(page.studio.home.spec))
    lanes = len(page.studio.home.defaults.preset.fields()["lanes"]) - 1  # the autoregressive one is a line
    assert example.figure.count("<li data-empty") == lanes * len(kinds)


def test_a_recorded_comparison_is_what_was_written():
    found = recorded_comparison()
    assert RecordedComparison.from_json(found.to_json()) == found
    assert found.races > 1, "one race has no range"
    assert {one.title for one in found.results} == {row[1].partition(", K=")[0] for row in found.rows}


def test_the_time_that_is_left_is_told_once_a_race_has_ended():
    assert time_left(8.0, 0, 5) == "" == time_left(8.0, 5, 5)
    assert time_left(8.0, 2, 5) == " About 12 s left."
    assert time_left(60.0, 1, 5) == " About 4 min left."
    assert time_left(0.001, 1, 2) == " About 1 s left."


def test_a_stopped_comparison_keeps_its_table():
    updates = compare(context(run_stopped), ComparisonForm(TWO_PLANS, 3, PLANS))
    said = "Stopped during race 1 of 3; finished races are kept. The race was stopped after 3600 seconds"
    assert updates[-1].status.text.startswith(said)
    assert sum(bool(update.rows) for update in updates) == 1
    assert updates[-1].finding.said == TOO_LITTLE


def test_a_comparison_is_stopped_between_two_races_too():
    page = context()
    updates = []
    asked = ComparisonForm(TWO_PLANS, 3, PLANS)
    for update in run_comparison(page, "v", asked, fields(page.start, prompt="A fox")):
        updates.append(update)
        if update.rows and len(updates) > 1:  # the first race has ended, and the second has not begun
            assert page.studio.visitors.stop("v")
    assert updates[-1].status.text == "Stopped after 1 race of 3; finished races are kept."
    assert updates[-1].finding.said
    assert not page.studio.visitors.stop("v"), "nothing is left to be stopped"


def test_a_race_that_fails_ends_the_comparison():
    def run(family, request, stopped):
        raise Refusal("The prompt is empty.")
        yield

    updates = compare(context(run), ComparisonForm(TWO_PLANS, 3, PLANS))
    assert (updates[-1].status.text, updates[-1].status.state) == ("The prompt is empty.", "refused")
    assert not any(update.rows for update in updates)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (ComparisonForm(BY_KIND, 9, PLANS), "Repeats must be"),
        (
            ComparisonForm(TWO_PLANS, 1, (TUNED, TUNED)),
            "The plan tuned to the models and the plan tuned to the models are the same. Choose",
        ),
        (ComparisonForm(TWO_PLANS, 1, (TUNED, PlanChoice(OWN, "[["))), "could not be read"),
        (ComparisonForm(TWO_PLANS, 1, (TUNED, PlanChoice(OWN, " "))), "A plan is empty."),
    ],
)
def test_what_cannot_be_compared_is_refused(asked, sentence):
    (update,) = compare(context(), asked)
    assert sentence in update.status.text
    assert update.status.state == "refused"


def test_two_plans_run_beside_autoregressive_decoding():
    page = context(run_recorded)
    _, plan = plan_races(ComparisonForm(TWO_PLANS, 2, PLANS), fields(page.start, prompt="A fox\nran"))
    assert len(plan) == 2
    assert plan[0].label == "A fox ran"
    assert [method.name for method in plan[0].request.methods] == ["autoregressive", "cascade", "cascade"]


def test_plans_have_names_in_the_form_and_in_what_is_found():
    page = context()
    defaults = page.studio.home.defaults
    names = [plan.name for plan in named_plans(defaults)]
    assert names[0] == "tuned to the models" and {"vertical only", "horizontal only"} <= set(names)
    assert len({plan.K for plan in named_plans(defaults)}) == len(names), "no plan has two names"
    _, plan = plan_races(ComparisonForm(TWO_PLANS, 1, (TUNED, PLANS[1])), fields(page.start, prompt="A fox"))
    assert sorted(plan[0].plans.values()) == ["the plan tuned to the models", "your own plan"]
    assert plan_after(TUNED, defaults, 0).K == plan_after(PlanChoice("of another family", ""), defaults, 0).K
    assert plan_after(PLANS[0], defaults, 1) == PLANS[0], "an own plan stays"


def test_the_plan_that_an_example_was_tuned_with_is_the_first():
    page = context()
    home, start = page.studio.home, page.start
    of_text = plan_of_text(home, start.form.prompt)
    assert of_text is not None and plan_of_text(home, "A fox") is None
    first, second = (plan_after(PlanChoice("", ""), home.defaults, number, of_text) for number in (0, 1))
    assert (first.name, second.name) == ("tuned to this text", "tuned to the models")
    assert first.K == start.form.K != second.K
    _, plan = plan_races(ComparisonForm(TWO_PLANS, 1, (first, second)), start)
    assert sorted(plan[0].plans.values()) == ["the plan tuned to the models", "the plan tuned to this text"]
    assert plan_after(first, home.defaults, 0).name == "tuned to the models", "another prompt has none"
    twice = named_plans(home.defaults, home.defaults.preset.K)
    assert twice == named_plans(home.defaults), "no plan has two names"
