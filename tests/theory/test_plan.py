"""Plans from headers, which may come from anybody's file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import autoregressive, cascade
from plans import made_by

from csd.decoding.methods import AdaptiveCascade, Cascade, Speculative, VerticalCascade
from csd.decoding.stages import Stage
from csd.ranges import MOST_DRAFTS
from csd.record.race import Race
from csd.record.trace import Level, Trace
from csd.theory.comparison import BLOCKS, compare_with_theory
from csd.theory.plan import formula_of, method_of, plan_of
from csd.theory.what_if import settings_of_race

COPY = "MaxGram"


def test_plans_of_headers():
    alone = autoregressive()
    assert plan_of(alone) == ()
    assert plan_of(made_by(Speculative("small", 3), alone)) == (Stage("small", 3),)
    assert plan_of(made_by(Cascade(("small",), ((0, 4), (0, 0))), alone)) == (Stage(COPY, 4),)
    assert plan_of(made_by(VerticalCascade(("small",), (2, 3)), alone)) == (Stage("small", 2, (Stage(COPY, 3),)),)
    assert plan_of(made_by(AdaptiveCascade(("small",)), alone)) is None


def test_a_header_that_cannot_have_run_has_no_method():
    alone = autoregressive()
    assert method_of(made_by(Cascade(("small",), ((1, 1, 1),) * 3), alone)) is None
    assert method_of(made_by(Cascade(("other",), ((1, 1), (0, 1))), alone)) is None
    unknown = replace(alone, header=replace(alone.header, method="unknown"))
    assert method_of(unknown) is None
    assert formula_of(unknown) == "not known"


@pytest.mark.parametrize(
    "method",
    [
        method
        for k in (65, 2**62)
        for method in (
            Speculative("small", k),
            Cascade(("small",), ((0, k), (0, 0))),
            Cascade(("small",), ((1, 1), (0, k))),
            VerticalCascade(("small",), (1, k)),
        )
    ],
    ids=str,
)
def test_a_length_beyond_the_limit_is_not_evaluated(method):
    """A file may claim any length; evaluating it would never end. What the lane drafted is evaluated instead."""
    made = made_by(method, cascade())
    assert plan_of(made) is None
    assert compare_with_theory(Race((autoregressive(), made)))[1].reasons[0] == BLOCKS
    found = settings_of_race(Race((made,)))
    assert found.k is found.K is None


def cascade_of(drafts: int) -> Trace:
    """A lane with a full K over this many drafts."""
    names = tuple(f"draft-{i}" for i in range(drafts))
    levels = (Level(COPY, 0), *(Level(name, drafts - i) for i, name in enumerate(names)), Level("target", drafts + 1))
    K = tuple((0,) * r + tuple(range(r + 1, drafts + 2)) for r in range(drafts + 1))
    made = made_by(Cascade(names, K), cascade())
    return replace(made, header=replace(made.header, levels=levels))


def test_a_family_of_too_many_drafts_is_not_evaluated():
    """The tree of a cascade doubles with every draft."""
    assert len(plan_of(cascade_of(MOST_DRAFTS))) == MOST_DRAFTS + 1
    assert plan_of(cascade_of(40)) is None
