"""The sums behind `examples`: ratios, geometric means, and what is left out of them."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from csd.analysis.examples import Example, Lane, Outcome, Timing, means, measure, read
from csd.decoding.methods import autoregressive, prompt_lookup

ROOT = Path(__file__).resolve().parents[1]


def lane(method: str, alone: float, race: float, repeated: float = 0.0) -> Lane:
    return Lane(method, method, 64, Timing(alone, alone / 2), Timing(race, race / 4), 2.0, repeated, True)


def outcome(speculative: float, cascade: float, repeated: float = 0.0) -> Outcome:
    lanes = lane("autoregressive", 10, 8), lane("speculative", speculative, 16), lane("cascade", cascade, 32, repeated)
    return Outcome(Example("story", "Once"), lanes)


def test_means_are_geometric():
    spec_ar, casc_ar, casc_spec = means([outcome(20, 40), outcome(80, 40)])
    assert spec_ar.title == "speculative / autoregressive" and spec_ar.count == 2
    assert spec_ar.values == pytest.approx((4, 2, 4, 2))  # sqrt(2 x 8); the race is the same on both
    assert casc_ar.values[0] == pytest.approx(4)
    assert casc_spec.title == "cascade / speculative"
    assert casc_spec.values == pytest.approx((1, 2, 1, 2))  # sqrt(2 x 1/2)
    assert casc_spec.lowest == pytest.approx(0.5)


def test_means_also_without_texts_that_repeat_themselves():
    found = means([outcome(20, 40), outcome(20, 160, repeated=0.16)])
    assert [mean.count for mean in found] == [2, 2, 2, 1, 1, 1]
    assert found[1].values[0] == pytest.approx(8) and found[4].values[0] == pytest.approx(4)
    assert "at most 15%" in found[4].title


def test_the_project_s_prompts_can_be_read():
    """At least five kinds, and a code prompt does not end with a line break."""
    examples = read(ROOT / "assets" / "prompts.json")
    assert len({example.kind for example in examples}) >= 5
    assert all(example.prompt.strip() and example.max_new > 0 for example in examples)
    assert not any(example.prompt.endswith("\n") for example in examples if example.kind == "code")


def test_nothing_to_average():
    assert means([]) == []
    only = means([outcome(20, 40, repeated=0.5)])
    assert [mean.count for mean in only] == [1, 1, 1, 0, 0, 0]
    assert math.isnan(only[3].values[0]) and math.isnan(only[3].lowest)


def test_repeats_itself_above_the_limit():
    assert not outcome(20, 40, repeated=0.15).repeats_itself
    assert outcome(20, 40, repeated=0.151).repeats_itself


@pytest.mark.parametrize(
    ("methods", "repeats", "words"), [((prompt_lookup(4),), 1, "autoregressive"), ((autoregressive(),), 0, "repeat")]
)
def test_refusals(methods, repeats, words):
    with pytest.raises(ValueError, match=words):
        next(measure(SimpleNamespace(), [Example("story", "Once")], methods, repeats=repeats))
