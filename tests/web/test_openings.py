"""Files of visitors: one at a time each, and few in all."""

from __future__ import annotations

import gc
from contextlib import ExitStack

import pytest

from csd.decoding.errors import Refusal
from csd.web.collecting import collecting_later
from csd.web.openings import Openings


def test_a_visitor_has_one_file_opened_and_all_of_them_few():
    openings = Openings(most=2)
    with openings.admit("one", "10.0.0.1"):
        with pytest.raises(Refusal, match="still being opened"), openings.admit("one", "10.0.0.1"):
            pass
        with (
            openings.admit("two", "10.0.0.1"),
            pytest.raises(Refusal, match="Try again in a minute"),
            openings.admit("three", "10.0.0.1"),
        ):
            pass
    with openings.admit("three", "10.0.0.1"), openings.admit("one", "10.0.0.1"):
        pass


def test_one_address_cannot_take_all_places():
    """Sessions cost nothing: one client with six of them had kept all others out."""
    openings = Openings(most=3, most_here=2)
    with openings.admit("one", "10.0.0.1"), openings.admit("two", "10.0.0.1"):
        with pytest.raises(Refusal, match="from your network"), openings.admit("three", "10.0.0.1"):
            pass
        with openings.admit("another", "10.0.0.2"):
            pass


def test_two_networks_leave_places_for_others():
    openings = Openings(most=6, most_here=3, reserved=2)
    with ExitStack() as opened:
        for visitor, network in (("a", "10.0.0.0"), ("b", "10.0.0.0"), ("c", "10.0.0.0"), ("d", "10.0.1.0")):
            opened.enter_context(openings.admit(visitor, network))
        with pytest.raises(Refusal, match="from your network"), openings.admit("e", "10.0.1.0"):
            pass
        for visitor, network in (("f", "10.0.2.0"), ("g", "10.0.3.0")):
            opened.enter_context(openings.admit(visitor, network))


def test_a_file_that_fails_gives_its_place_back():
    openings = Openings(most=1)
    with pytest.raises(ZeroDivisionError), openings.admit("one", "10.0.0.1"):
        raise ZeroDivisionError
    with openings.admit("one", "10.0.0.1"):
        pass


def test_no_garbage_is_searched_for_while_a_file_is_opened():
    with collecting_later():
        assert not gc.isenabled()
    assert gc.isenabled()
