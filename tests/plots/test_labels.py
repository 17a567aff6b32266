"""Direct labels: where they are placed."""

import itertools

import pytest

from csd.plots.labels import place_beside, spread


def test_labels_that_are_apart_stay_where_they_are():
    assert spread([10, 50, 90], 19, 0, 200) == [10, 50, 90]


def test_labels_that_are_close_move_as_little_as_possible():
    assert spread([100, 100], 20, 0, 200) == [90, 110]
    assert spread([100, 90, 10], 20, 0, 200) == pytest.approx([105, 85, 10])


def test_labels_stay_within_the_plot():
    assert spread([0, 1], 20, 0, 200) == [0, 20]
    assert spread([199, 200], 20, 0, 200) == [180, 200]


@pytest.mark.parametrize("places", [[5, 5, 5, 5, 5], [3, 40, 41, 42, 199], [0, 0, 200, 200]])
def test_labels_keep_their_order_and_their_distance(places):
    found = spread(places, 19, 0, 200)
    ranks = sorted(range(len(places)), key=lambda i: (places[i], i))
    for below, above in itertools.pairwise(ranks):
        assert found[above] - found[below] >= 19 - 1e-9
    assert min(found) >= 0 and max(found) <= 200


def test_names_inside_a_plot_avoid_the_other_curve():
    high = [(x, 0.9) for x in range(1, 20)]
    low = [(x, 0.85) for x in range(1, 20)]
    (_, _, up), (_, _, low_up) = place_beside([("high", high), ("low", low)], 20, 1.0)
    assert up and not low_up
