"""The chart of a comparison."""

from __future__ import annotations

import re

from csd.theme import method_look
from csd.web.compare_chart import ALONE, CLOSE, FASTEST, MISSING, KindRows, LaneRow, chart_html
from csd.web.finding import shapes

STORY = KindRows(
    "story",
    (
        LaneRow("speculative", "speculative", 2.0, (1.8, 2.1)),
        LaneRow("cascade", "cascade", 2.0, (1.9, 4.9), wins=True),
    ),
    "22% repeated words",
)
CODE = KindRows("code", (LaneRow("cascade", "cascade", 0.8), LaneRow("<b>own</b>", "mine", again=True)), racing=True)


def rows(html: str) -> list[str]:
    return re.findall(r"<li.*?</li>", html)


def test_each_lane_of_each_kind_has_a_row_with_its_name_and_its_symbol():
    html = chart_html((STORY, CODE), "speed-up (×)")
    named = [re.search(r'speeds-name">.*?</svg>(.*?)</span>', row) for row in rows(html)]
    assert [name.group(1) for name in named if name] == ["speculative", "cascade", "cascade", "&lt;b&gt;own&lt;/b&gt;"]
    assert "<b>own" not in html
    assert shapes()[method_look("speculative").symbol] in rows(html)[0]
    assert re.findall(r"<h3[^>]*>(\w+)", html) == ["Story", "Code"] and "22% repeated words" in html
    assert html.count("data-racing") == 1 and html.index("data-racing") > html.index("Story")


def test_a_lane_that_has_not_run_is_named_and_has_no_bar():
    *run, waiting = rows(chart_html((STORY, CODE), ""))
    assert all("speeds-bar" in row for row in run) and "speeds-bar" not in waiting
    assert f">{MISSING}</b>" in waiting and " data-empty" in waiting and " data-again" in waiting


def test_the_number_stands_behind_the_range_and_never_on_the_line_at_1():
    spread, _, slow, _ = rows(chart_html((STORY, CODE), ""))
    assert '<i class="speeds-range" style="--at:1.8;--to:2.1;--inside:67%"></i><b style="--at:2.1">2.0×</b>' in spread
    assert "speeds-range" not in slow and '<b style="--at:1">0.8×</b>' in slow
    assert "story, speculative: 2.00×, 1.80 to 2.10" in spread


def test_a_clear_win_is_marked_and_said_and_so_is_that_there_is_none():
    html = chart_html((STORY, CODE), "")
    assert [" data-wins" in row for row in rows(html)] == [False, True, False, False]
    assert [FASTEST in row for row in rows(html)] == [False, True, False, False]
    assert CLOSE not in html, "a kind of which a lane has not run yet has no end"

    def said(*values: float) -> list[bool]:
        lanes = tuple(LaneRow(str(value), "cascade", value) for value in values)
        return [CLOSE in row for row in rows(chart_html((KindRows("a", lanes),), ""))]

    assert said(2.1, 3.1, 3.0) == [False, True, False]
    assert said(0.8, 0.9) == [False, False], "the big model alone was faster"
    assert said(2.0) == [False]


def test_the_axis_begins_at_0_names_the_line_at_1_and_ends_behind_every_range():
    def marks(*kinds: KindRows) -> list[float]:
        return [float(at) for at in re.findall(r'<i style="--at:(\d+)"', chart_html(kinds, ""))]

    html = chart_html((STORY,), "speed-up (×)")
    assert html.count(ALONE) == 1 and "speed-up (×)" in html
    end = re.search(r"--end:([\d.]+)", html)
    assert end and float(end.group(1)) > 4.9
    assert marks(CODE) == [0, 1, 2, 3, 4, 5]
    far = marks(KindRows("a", (LaneRow("cascade", "cascade", 90.0),)))
    assert far[:2] == [0, 1] and far[-1] >= 80 and len(far) < 10


def test_the_heading_of_a_kind_says_who_is_fastest_where_a_phone_has_no_room_for_it():
    sure = KindRows("list", (LaneRow("speculative", "speculative", 2.0), LaneRow("a & b", "cascade", 3.0, wins=True)))
    open_ = KindRows("edit", (LaneRow("speculative", "speculative", 2.0), LaneRow("cascade", "cascade", 2.1)))
    waiting = KindRows("code", (LaneRow("speculative", "speculative", 2.0), LaneRow("cascade", "cascade")))
    html = chart_html((sure, open_, waiting), "")
    assert re.findall(r"<h3([^>]*)>", html) == [
        ' data-verdict="a &amp; b is fastest"',
        ' data-verdict="too close to call"',
        "",
    ]


def test_a_single_kind_has_no_heading():
    assert "<h3" not in chart_html((STORY,), "") and "data-single" in chart_html((STORY,), "")
