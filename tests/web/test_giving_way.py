"""Who gives way where room is short."""

from __future__ import annotations

from csd.web.giving_way import gives_way_to, next_to_go


def test_the_oldest_of_the_owner_of_most_goes():
    assert next_to_go({"a": ("x", 1), "b": ("y", 1), "c": ("y", 1)}) == "b"
    assert next_to_go({"a": ("x", 3), "b": ("y", 1), "c": ("y", 1)}) == "a"
    assert next_to_go({"a": ("x", 1)}) == "a"


def test_the_networks_of_one_region_give_way_as_one():
    held = {f"small {net}": (f"2a00:1450:{net:x}::/48", 1.0) for net in range(5)}
    held = {"large": ("1.2.3.0/24", 2.0), **held}
    assert next_to_go(held) == "small 0"
    assert next_to_go({**held, "heavy": ("2a00:1450:9::/48", 1.5)}) == "heavy", "in the region the network of most"


def test_a_newcomer_takes_the_youngest_place_of_whoever_has_most():
    held = {"a": "x", "b": "x", "c": "y", "d": "x"}
    assert gives_way_to("z", held) == "d"
    assert gives_way_to("y", {**held, "e": "y"}) is None, "it would hold as many"
    assert gives_way_to("x", held) is None
    assert gives_way_to("z", {"a": "x", "b": "y"}) is None


def test_a_region_of_many_networks_gives_way_as_one():
    held = {"a": "xp", "b": "xq", "c": "xq", "d": "xr", "e": "yp"}
    assert gives_way_to("zp", held) == "c", "of the region with most, the network with most"
    assert gives_way_to("zp", {"a": "xp", "b": "xq", "c": "xr", "d": "yp"}) == "a"


def test_within_a_region_a_network_takes_no_more_than_another():
    held = {"a": "xp", "b": "xp", "c": "xp", "d": "yp"}
    assert gives_way_to("xq", held) == "c"
    assert gives_way_to("xp", held) is None
