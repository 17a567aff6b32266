"""The table of a comparison, from races worked out by hand, and what is asked of a comparison."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd.decoding import methods
from csd.decoding.methods import Refusal
from csd.record.race import Race
from csd.request.prompts import Prompt
from csd.request.request import Request
from csd.web import compare
from csd.web.named_plans import NamedPlan

K, OTHER = ((2, 4), (0, 2)), ((1, 4), (0, 2))


def request(plan=K) -> Request:
    return Request("A fox", (methods.Autoregressive(), methods.Cascade(("small",), plan)), 64)


def slower() -> tuple:
    """The cascade at 16 tokens a second instead of 20."""
    return autoregressive(), replace(cascade(), steps=tuple(replace(step, seconds=0.125) for step in cascade().steps))


def table(races) -> list[dict]:
    rows = compare.table_rows((label, Race(traces)) for label, traces in races)
    return [dict(zip(compare.COLUMNS, row, strict=True)) for row in rows]


def test_medians_and_extremes_of_the_repeats():
    alone, lane = table([("story", RACE), ("story", slower())])
    assert alone["text"] == "reference" and alone["speed-up"] == 1
    assert (lane["repeats"], lane["tokens per second"], lane["slowest"], lane["fastest"]) == (2, 18, 16, 20)
    assert (lane["speed-up"], lane["lowest"], lane["highest"], lane["tokens per target pass (MAT)"]) == (1.8, 1.6, 2, 2)
    assert lane["text"] == "identical"


def test_prompts_and_lanes_keep_apart_and_in_order():
    found = table([("story", RACE), ("code", RACE), ("story", RACE)])
    assert [(row["prompt"], row["lane"], row["repeats"]) for row in found] == [
        ("story", "autoregressive", 2), ("story", "cascade", 2), ("code", "autoregressive", 1), ("code", "cascade", 1),
    ]  # fmt: skip


def test_a_lane_with_a_plan_for_each_kind_is_one_lane_and_two_plans_in_a_race_are_two():
    one, other = (replace(cascade(), header=replace(cascade().header, label=f"K={plan}")) for plan in (K, OTHER))
    kinds = compare.lane_results([(kind, Race((autoregressive(), lane))) for kind, lane in (("a", one), ("b", other))])
    assert [result.title for result in kinds] == ["autoregressive", "cascade"] * 2
    pair = compare.lane_results([("a", Race((autoregressive(), one, other)))])
    assert [result.title for result in pair] == ["autoregressive", one.header.title, other.header.title]


def test_a_stopped_lane_does_not_count():
    halted = (autoregressive(), replace(cascade(), end="stopped"))
    lane = table([("story", RACE), ("story", halted)])[1]
    assert (lane["repeats"], lane["tokens per second"]) == (1, 20)
    (_, alone) = table([("story", halted)])
    assert (alone["repeats"], alone["tokens per second"], alone["text"]) == (0, None, "stopped")


def test_another_text_is_said():
    other = cascade()
    first = replace(other.steps[0], tokens=(2, 3, 7))
    other = replace(other, steps=(first, *other.steps[1:]))
    assert table([("story", RACE), ("story", (autoregressive(), other))])[1]["text"] == "identical in 1 of 2"
    own = replace(cascade(), header=replace(cascade().header, rule="rejection"))
    assert table([("story", (autoregressive(), own))])[1]["text"] == "same distribution"
    assert table([("story", (cascade(),))])[0]["text"] == "not checked"


@pytest.mark.parametrize(
    "cell",
    [
        "=1",
        "+1",
        "-1",
        "@a",
        " =1",
        "\n=1",
        "\r\n =1",
        "\t=1",
        "\u00a0=1",
        "\ufeff=1",
        "\0=1",
        "＝1",
        "\tx",
        "\u200b=1",
        "\u200d\u2060 \u200e@a",
        "\u00ad-1",
        "\u202e+1",
        "\ufe0f=1",
        "\u2800\u3164=1",
        "\x1f\u2028=1",
        '"=1',
        "'\"+1",
        "\u22121",
        "\ufe63a",
        "\ufe62a",
        "\ufe66a",
        "\ufe6ba",
        "\u2013a",
    ],
)
def test_no_cell_is_a_formula(cell):
    assert "'" + cell.replace('"', '""') in compare.csv_text([[cell]])
    assert "'" not in compare.csv_text([["a =1", " x", "1-2", 'say "x"', "½", -1.5, "", "\u200b", "\u200bx=1"]])


def test_csv_has_a_head_and_no_formulas():
    text = compare.csv_text([["=1+1", "a, b", 1, 2.5, None, None, None, None, None, None, 'say "x"']])
    head, row = csv.reader(io.StringIO(text))
    assert head == list(compare.COLUMNS)
    assert row[:5] == ["'=1+1", "a, b", "1", "2.5", ""] and row[-1] == 'say "x"'
    assert '"a;=1",1,2.5' in compare.csv_text([["a;=1", 1, 2.5]]) and '"a\r=2"' in compare.csv_text([["a\r=2"]])


def test_two_plans_share_one_race():
    one, other = NamedPlan("tuned", "the tuned plan", K), NamedPlan("own", "your own plan", OTHER)
    plan = compare.plan_pair(request(), (one, other), "mine", 3)
    assert len(plan) == 3 and {planned.label for planned in plan} == {"mine"}
    assert [methods.title(method) for method in plan[0].request.methods] == [
        "autoregressive", "cascade, K=[[2,4],[0,2]]", "cascade, K=[[1,4],[0,2]]",
    ]  # fmt: skip
    assert list(plan[0].plans.values()) == ["the tuned plan", "your own plan"]
    with pytest.raises(Refusal, match="The tuned plan and your own plan are the same"):
        compare.plan_pair(request(), (one, replace(other, K=one.K)), "mine", 1)


def test_kinds_take_turns():
    story, code = (Prompt(kind, f"p {kind}", "T", temperature=0.5, seed=3) for kind in ("story", "code"))
    plan = compare.plan_kinds({story: request(), code: request()}, 2)
    assert [planned.label for planned in plan] == ["story: T", "code: T"] * 2
    assert plan[1].request == replace(request(), prompt="p code", temperature=0.5, seed=3)
    other = request(((1, 4), (0, 2)))
    assert compare.plan_kinds({story: request(), code: other}, 1)[1].request.methods == other.methods


@pytest.mark.parametrize("repeats", [0, 6, 1.5, None, True, "2"])
def test_repeats_are_one_to_five(repeats):
    with pytest.raises(Refusal, match="whole number from 1 to 5"):
        compare.plan_kinds({}, repeats)


def test_the_table_on_the_page_is_escaped():
    row = ["<b>x", "cascade, K=[[2]]", 1, 2.5, 2.5, 2.5, 1.5, None, None, 2.0, "identical"]
    html = compare.table_html([row, row], {"cascade, K=[[2]]": "cascade, 1 draft & a copier"})
    assert "<td>&lt;b&gt;x</td><td>cascade, 1 draft &amp; a copier</td><td>1</td><td>2.5</td>" in html
    assert "<td>1.50</td><td>–</td>" in html and html.count("<tr data-first>") == 1
    assert "target" not in html.replace('data-term="tokens per target pass (MAT)"', "")
    assert html.count('scope="col"') == len(compare.COLUMNS)


def test_results_of_a_comparison():
    halted = (autoregressive(), replace(cascade(), end="stopped"))
    races = [("story: T", Race(RACE)), ("story: T", Race(slower())), ("code: U", Race(halted))]
    results = compare.lane_results(races)
    assert results[1].written == {"copier": 4, "small model": 2, "big model": 2}, "in both repeats"
    found = [(one.kind, one.method, one.speedups) for one in results]
    assert found == [
        ("story", "autoregressive", (1.0, 1.0)),
        ("story", "cascade", (pytest.approx(2.0), pytest.approx(1.6))),
        ("code", "autoregressive", (1.0,)),
    ]
