"""What the browser sends of sliders, and the picture of K. Without a browser."""

from __future__ import annotations

import pytest

from csd.decoding.errors import Refusal
from csd.web.slider_values import Slider, SliderGroup, read_sliders, sliders_value, with_reasons
from csd.web.staircase import staircase_value

GROUPS = (
    SliderGroup("How often?", "α", (Slider("a", "first", 0.5), Slider("b", "second", 0.2, high=2.0, low=0.1))),
    SliderGroup("What cost?", "c", (Slider("c", "third", 0.0),)),
)


def sent(**numbers):
    value = sliders_value(GROUPS)
    for group in value["groups"]:
        for slider in group["sliders"]:
            slider["value"] = numbers.get(slider["key"], slider["value"])
    return value


def test_numbers_come_back_by_key_and_within_their_range():
    assert read_sliders(sent(a=0.7), GROUPS) == {"a": 0.7, "b": 0.2, "c": 0.0}
    assert read_sliders(sent(a=7, b=-3), GROUPS) == {"a": 1.0, "b": 0.1, "c": 0.0}


@pytest.mark.parametrize("number", [None, "x", True, float("nan"), float("inf"), [], {}])
def test_what_is_not_a_number_is_refused_in_a_sentence(number):
    with pytest.raises(Refusal, match=r"“first” must be a number from 0 to 1\."):
        read_sliders(sent(a=number), GROUPS)


@pytest.mark.parametrize("value", [None, [], "x", {}, {"groups": 3}, {"groups": [{"sliders": [{}]}]}])
def test_anything_else_is_refused_as_well(value):
    with pytest.raises(Refusal, match="must be a number"):
        read_sliders(value, GROUPS)


def test_reasons_switch_sliders_off_and_on():
    off = with_reasons(sent(a=0.7), {"a": "nobody asks"})
    assert off is not None
    first, second = off["groups"][0]["sliders"]
    assert (first["unused"], first["value"], second["unused"]) == ("nobody asks", 0.7, "")
    assert with_reasons(off, {"a": "nobody asks"}) is None
    on = with_reasons(off, {})
    assert on is not None and on["groups"] == sent(a=0.7)["groups"]


def test_an_answer_says_which_edit_it_answers():
    """The browser may have sent another number since."""
    answer = with_reasons({**sent(a=0.7), "edit": 3}, {"a": "nobody asks"})
    assert answer is not None and (answer["edit"], answer["answers"]) == (3, 3)


def test_the_picture_names_each_level_in_its_look():
    value = staircase_value("[[1]]", ("mid", "small"))
    assert value["levels"] == [
        {"role": "small model", "look": "2"},
        {"role": "tiny model", "look": "1"},
        {"role": "copier", "look": "0"},
    ]
    assert value["target"] == "big model"
    assert staircase_value(None, ())["levels"] == [{"role": "copier", "look": "0"}]
