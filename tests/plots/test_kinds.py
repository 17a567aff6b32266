"""The dot plot of a comparison."""

import itertools

from csd import theme
from csd.plots.kinds import LINE, ROW, LaneDot, dots_by_kind

DOTS = (
    LaneDot("story", "speculative", "speculative", 2.0, (1.8, 2.1)),
    LaneDot("story", "cascade", "cascade", 3.0, (2.9, 3.3)),
    LaneDot("code", "speculative", "speculative", 1.5, None),
    LaneDot("code", "cascade", "cascade", 1.2, None),
    LaneDot("code", "<b>own</b>", "mine", 1.1, None, again=True),
)


def test_a_row_for_each_kind_and_whiskers_where_there_are_repeats():
    made = dots_by_kind("Found", DOTS)
    assert list(made.layout.yaxis.ticktext) == ["story", "code"]
    assert [(dot.name, dot.x[0], dot.y[0], dot.error_x.visible) for dot in made.data[:3]] == [
        ("speculative", 2.0, 0, True), ("cascade", 3.0, 0, True), ("speculative", 1.5, 1, False),
    ]  # fmt: skip
    assert list(made.data[0].error_x.arrayminus) == [2.0 - 1.8]
    assert made.data[0].marker.symbol == theme.method_look("speculative").symbol
    assert made.data[4].marker.symbol == f"{theme.OTHER_METHOD.symbol}-open"
    assert made.layout.xaxis.range == (0, 5)


def test_every_lane_is_named_once_with_a_leader_to_a_dot_of_its_own():
    notes = {note.text: note for note in dots_by_kind("Found", DOTS).layout.annotations}
    assert list(notes) == ["cascade", "speculative", "&lt;b&gt;own&lt;/b&gt;", "autoregressive"]
    assert (notes["cascade"].x, notes["cascade"].y) == (3.0, 0)
    assert (notes["&lt;b&gt;own&lt;/b&gt;"].x, notes["&lt;b&gt;own&lt;/b&gt;"].y) == (1.1, 1)
    heights = [note.ay + ROW * note.y for note in notes.values()]
    assert [one - other for one, other in itertools.pairwise(heights)] == [LINE] * 3
