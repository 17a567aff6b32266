"""The order of races and their expected ends, as numbers."""

from __future__ import annotations

from csd.web.fair_order import Asked, expected_ends, marks, overtaken_end


def arrange(*asked: tuple) -> list[tuple]:
    """Races (network, address, seconds), perhaps with a region, in their order; nobody has had the device before."""
    races = [Asked(*one) for one in asked]
    found = marks(races, {owner: 0.0 for race in races for owner in race.owners})
    return [asked[turn] for turn in sorted(range(len(asked)), key=lambda turn: found[turn])]


def test_short_races_go_before_long_ones():
    greedy = [(f"greedy {one}", "", 26.0) for one in range(8)]
    short = [(f"short {one}", "", 6.0) for one in range(3)]
    assert arrange(*greedy, *short)[:3] == short


def test_networks_take_turns_and_so_do_the_addresses_of_each():
    crowded = [("crowded", address, 10.0) for address in "aaabbc"]
    order = arrange(*crowded, *[("quiet", "q", 10.0)] * 3)
    assert [network for network, _, _ in order] == ["crowded", "quiet"] * 3 + ["crowded"] * 3
    assert [address for network, address, _ in order if network == "crowded"] == ["a", "b", "c", "a", "b", "a"]


def test_regions_take_turns_before_their_networks_do():
    many = [(f"network {one}", "a", 10.0, "many") for one in range(4)]
    order = arrange(*many, *[("quiet", "q", 10.0, "other")] * 2)
    assert [region for _, _, _, region in order] == ["many", "other", "many", "other", "many", "many"]
    assert [race for race in order if race in many] == many


def test_races_of_an_address_stay_in_the_order_in_which_they_came():
    assert arrange(("n", "a", 9.0), ("n", "a", 1.0)) == [("n", "a", 9.0), ("n", "a", 1.0)]


def test_the_expected_end_on_several_devices():
    assert expected_ends([3.0, 5.0], [10.0, 1.0, 1.0], 2) == [13.0, 6.0, 7.0]
    assert expected_ends([], [2.0, 3.0, 4.0], 2) == [2.0, 3.0, 6.0]
    assert expected_ends([-4.0], [2.0], 1) == [2.0]
    assert expected_ends([-4.0, 6.0], [2.0], 1) == [8.0], "one of them is about to be forgotten"


def test_a_race_that_others_overtake_ends_when_the_clock_has_come_so_far():
    assert overtaken_end(2.0, regions=40, at_once=1) == 80.0
    assert overtaken_end(2.0, regions=40, at_once=4) == 20.0
    assert overtaken_end(-1.0, regions=40, at_once=1) == 0.0
