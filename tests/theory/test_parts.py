from itertools import combinations

import pytest

from csd.decoding.methods import Cascade, HorizontalCascade, Knobs, VerticalCascade
from csd.models import catalog
from csd.request.defaults import defaults_for
from csd.theory.parts import NO_PARTS, PARTS, lanes_of_parts, parts_in_words, whole_halves

FIXED = [
    (spec.name, preset.name)
    for spec in catalog.READY
    if spec.draft_names
    for preset in defaults_for(spec, "cpu").presets[1:]
]


@pytest.mark.parametrize(("family", "preset"), FIXED)
def test_each_shipped_plan_and_its_halves_are_three_plans_or_a_sentence_says_which_is_which(family, preset):
    defaults = defaults_for(catalog.find(family), "cpu")
    drafts, K = defaults.drafts, defaults.find_preset(preset).K
    knobs, whole = Knobs(drafts, K=K), whole_halves(drafts, K)
    plans = {one.name: one.from_knobs(knobs).stages() for one in (VerticalCascade, HorizontalCascade, Cascade)}
    same = {one for one, other in combinations(plans, 2) if plans[one] == plans[other]}
    assert same == set(whole)
    assert all(why in parts_in_words(drafts, K) for why in whole.values())
    if preset == "tuned K":
        assert not whole


def test_a_plan_without_zones_or_without_help_is_not_raced_twice():
    one_zone, alone, no_help = ((5, 5), (0, 2)), ((5, 5), (0, 0)), ((5, 9), (0, 0))
    assert lanes_of_parts(["a"], one_zone) == (PARTS[0], *PARTS[2:])
    assert parts_in_words(["a"], one_zone).startswith("horizontal only, both; vertical alone is the whole plan")
    assert lanes_of_parts(["a"], no_help) == (*PARTS[:2], PARTS[3])
    assert parts_in_words(["a"], alone) == NO_PARTS
