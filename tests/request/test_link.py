"""Links: what stands in them, what comes back, and what is left out with a sentence."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import parse_qsl

import pytest

from csd.decoding.methods import METHODS
from csd.request import link
from csd.request.defaults import make_defaults

DRAFTS = ("mid", "small")
DEFAULTS = make_defaults(DRAFTS)
STANDARD = DEFAULTS.form(prompt="A fox", K="[[2,6,10],[0,4,8],[0,0,8]]")
OWN = {
    **asdict(STANDARD),
    "lanes": list(STANDARD.lanes),
    "family": "embedded",
    "target": "",
    "others": "",
    "copies": ["self-8bit"],
    "dtype": "auto",
    "device": "auto",
}
CHOICES = {
    "family": ["embedded", "custom…"],
    "dtype": ["auto", "float32"],
    "rule": ["coupled", "rejection"],
    "lanes": tuple(METHODS),
    "copies": ("self-8bit", "self-4bit"),
}
ODD = {
    "prompt": 'Zwei Füchse & 100% <b>\n"€" \u202e +=',
    "seed": 2**53 - 1,
    "temperature": 0.7,
    "always": True,
    "lanes": ["cascade", "autoregressive"],
    "K": "[[1,4,6],[0,2,4],[0,0,5]]",
    "family": "custom…",
    "target": "a/b@main",
    "copies": ["self-8bit", "self-4bit"],
}


def asked(query: str) -> dict[str, str]:
    return dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True))


def test_a_link_brings_back_what_differs_and_holds_nothing_else():
    query, left = link.to_query({**OWN, **ODD}, OWN)
    assert left == "" and query.isascii() and not set("<>\"' ") & set(query)
    assert asked(query).keys() == {*ODD, link.CHARACTERS}
    assert link.from_query(asked(query), OWN, CHOICES) == (ODD, [])
    assert link.to_query(OWN, OWN) == ("", "")


def test_a_link_that_was_cut_off_anywhere_says_so_and_a_longer_one_does_not():
    query, _ = link.to_query({**OWN, "max_new": 32, "prompt": "100% of Füchse & 🦊"}, OWN)
    first = query.index("prompt=") + len("prompt=")
    for end in range(first, len(query)):
        _, faults = link.from_query(asked(query[:end]), OWN, CHOICES)
        assert faults[0] == link.INCOMPLETE, query[:end]
    by_hand = ("?prompt=Short", "?prompt=Short&chars=many", f"?prompt=a&chars={'9' * 99}")
    for whole in (query, f"{query}&__theme=dark", *by_hand):
        assert link.from_query(asked(whole), OWN, CHOICES)[1] == []


def test_a_list_may_be_empty():
    query, _ = link.to_query({**OWN, "copies": []}, OWN)
    assert asked(query) == {"copies": ""}
    assert link.from_query(asked(query), OWN, CHOICES) == ({"copies": []}, [])


def test_a_cleared_field_is_no_value():
    assert link.to_query({**OWN, "seed": None}, OWN) == ("", "")


def test_a_prompt_that_is_too_long_is_left_out_and_the_rest_stays():
    query, left = link.to_query({**OWN, "prompt": "ä" * 2000, "seed": 3}, OWN)
    assert asked(query) == {"seed": "3"} and left == link.TOO_LONG


def test_lists_where_other_values_belong_are_no_initial_values():
    assert not link.same(["a"], 1.0) and not link.same([1, "a"], ["a"]) and not link.same([None], "text")
    assert link.same(["b", "a"], ("a", "b"))


def test_half_a_surrogate_pair_makes_a_link():
    assert "%EF%BF%BD" in link.to_query({**OWN, "prompt": "\ud83d"}, OWN)[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed", "many"), ("seed", "nan"), ("temperature", "inf"), ("always", "yes"), ("lanes", "magic"), ("lanes", ""),
        ("rule", "none"), ("family", "nobody"), ("dtype", "int8"), ("copies", "self-2bit"), ("prompt", "x" * 10_001), ("colour", "red"),
    ],
)  # fmt: skip
def test_nonsense_is_left_out_with_a_sentence(name, text):
    found, (fault,) = link.from_query({name: text, "k": "5"}, OWN, CHOICES)
    assert found == {"k": 5} and name in fault and len(fault) < 200


def test_unknown_fields_are_counted_not_listed():
    found, (fault,) = link.from_query({f"{i}{'x' * 10_000}": "1" for i in range(500)} | {"k": "5"}, OWN, CHOICES)
    assert found == {"k": 5} and fault.endswith("and 497 more.") and len(fault) < 200


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed", "9" * 400), ("seed", "9" * 5000), ("seed", str(2**53)), ("seed", "-1"), ("seed", "1e308"),
        ("top_k", str(2**70)), ("top_k", "1e30"), ("k", "1e308"), ("lookup", str(2**62)), ("max_new", "1" * 300),
        ("temperature", "1e308"), ("top_p", "-1e-308"), ("lenience", "1e308"), ("K", "[" * 9000), ("K", f"[[{'9' * 5000}]]"),
        ("draft", "x" * 9000), ("rule", "x" * 9000), ("lanes", "x" * 9000),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_left_out_and_the_rest_fills_in(name, text):
    found, faults = link.from_query({name: text, "k" if name != "k" else "seed": "5"}, OWN, CHOICES)
    kept, more = link.check_values({one: found[one] for one in found if one not in link.FAMILY}, DEFAULTS)
    assert list(kept.values()) == [5]
    (fault,) = (*faults, *more)
    assert name in fault and len(fault) < 400


def test_names_of_the_host_are_not_ours():
    assert link.from_query({"__theme": "dark"}, OWN, CHOICES) == ({}, [])


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({"k": 0}, "k must be"),
        ({"K": "[[1]]"}, "K must have"),
        ({"draft": "nobody"}, "no draft"),
        ({"seed": 1.5}, "whole number"),
        ({"lanes": ["cascade"] * 5}, "Choose 1 to 4"),
    ],
)
def test_the_forms_own_checks_hold_for_a_link(found, sentence):
    kept, faults = link.check_values({"temperature": 0.5, **found}, DEFAULTS)
    assert kept == {"temperature": 0.5} and sentence in faults[0]


@pytest.mark.parametrize(
    ("written", "lanes"),
    [
        ("autoregressive|speculative|cascade, adaptive", ["autoregressive", "speculative", "adaptive cascade"]),
        ("cascade, vertical only|cascade, horizontal only", ["vertical cascade", "horizontal cascade"]),
        ("prompt-lookup|adaptive|cascade, adaptive", ["prompt lookup", "adaptive cascade"]),
    ],
)
def test_links_of_earlier_versions_keep_their_lanes(written, lanes):
    found, faults = link.from_query({"lanes": written}, OWN, CHOICES)
    assert (found, faults) == ({"lanes": lanes}, [])
    assert link.check_values(found, DEFAULTS) == (found, [])


def test_lanes_of_a_family_without_drafts():
    found = {"lanes": ["autoregressive", "prompt lookup", "cascade"], "lookup": 5, "k": 3}
    assert link.check_values(found, make_defaults(())) == (found, [])
