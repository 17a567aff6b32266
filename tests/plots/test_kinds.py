"""The plot of a comparison."""

from __future__ import annotations

from itertools import pairwise

from csd import theme
from csd.plots.kinds import GAP, LaneDot, rows_by_kind

DOTS = (
    LaneDot("story", "speculative", "speculative", 2.0, (1.8, 2.1)),
    LaneDot("story", "cascade", "cascade", 2.0, (1.9, 4.9), wins=True),
    LaneDot("code", "speculative", "speculative", 1.5, None),
    LaneDot("code", "cascade", "cascade", 1.2, None),
    LaneDot("code", "<b>own</b>", "mine", 1.1, None, again=True),
)
KINDS = ("story", "code", "edit")


def markers(figure) -> dict:
    return {drawn.name: drawn for drawn in figure.data if drawn.mode == "markers"}


def test_each_lane_has_a_row_of_its_own_in_each_kind():
    """Equal speeds cover one another nowhere."""
    made = rows_by_kind(KINDS, 3, DOTS, "speed-up (×)")
    drawn = markers(made)
    assert [text.strip() for text in made.layout.yaxis.ticktext] == [f"<b>{kind}</b>" for kind in KINDS]
    block = 3 + GAP
    assert list(drawn["speculative"].y) == [0, block] and list(drawn["cascade"].y) == [1, block + 1]
    places = sorted(y for one in drawn.values() for y in one.y)
    assert all(below - above >= 1 for above, below in pairwise(places))
    assert made.layout.yaxis.range[0] >= max(places) and made.layout.xaxis.range == (0, 6.5)


def test_whiskers_where_there_are_repeats_and_bold_where_a_lane_wins():
    made = rows_by_kind(KINDS, 3, DOTS, "speed-up (×)")
    bars = markers(made)["speculative"].error_x
    assert bars.visible and list(bars.arrayminus) == [2.0 - 1.8, 0]
    notes = {(note.x, note.text) for note in made.layout.annotations}
    assert notes == {(2.1, "2.0×"), (4.9, "<b>2.0×</b>"), (1.5, "1.5×"), (1.2, "1.2×"), (1.1, "1.1×")}
    large = [note.text for note in made.layout.annotations if (note.font.size or 0) > made.layout.font.size]
    assert large == ["<b>2.0×</b>"]


def test_the_line_at_1_crosses_no_number():
    made = rows_by_kind(KINDS, 1, (LaneDot("story", "cascade", "cascade", 0.8, (0.7, 0.9)),), "speed-up (×)")
    assert [(note.x, note.xshift > 0) for note in made.layout.annotations] == [(1, True)]


def test_every_lane_is_named_once_in_its_symbol_and_nothing_is_markup():
    made = rows_by_kind(KINDS, 3, DOTS, "speed-up (×)")
    named = [drawn.name for drawn in made.data if drawn.showlegend is not False]
    assert named == ["autoregressive", "speculative", "cascade", "&lt;b&gt;own&lt;/b&gt;"]
    drawn = markers(made)
    assert drawn["speculative"].marker.symbol == theme.method_look("speculative").symbol
    assert drawn["&lt;b&gt;own&lt;/b&gt;"].marker.symbol == f"{theme.OTHER_METHOD.symbol}-open"
    assert "<b>own" not in made.to_json()


def test_a_comparison_that_has_not_begun_has_its_rows():
    empty, full = rows_by_kind(KINDS, 3, (), "speed-up (×)"), rows_by_kind(KINDS, 3, DOTS, "speed-up (×)")
    assert [drawn.name for drawn in empty.data] == ["autoregressive"]
    assert empty.layout.yaxis.range == full.layout.yaxis.range
