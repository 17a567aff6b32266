"""Who gives way where room is short."""

from __future__ import annotations

from csd.web.giving_way import next_to_go


def test_the_oldest_of_the_owner_of_most_goes():
    assert next_to_go({"a": ("x", 1), "b": ("y", 1), "c": ("y", 1)}) == "b"
    assert next_to_go({"a": ("x", 3), "b": ("y", 1), "c": ("y", 1)}) == "a"
    assert next_to_go({"a": ("x", 1)}) == "a"
