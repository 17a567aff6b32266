"""What groups of sliders hold: the numbers, the questions that they answer, and why some of them have no effect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from csd.decoding.errors import Refusal


@dataclass(frozen=True)
class Slider:
    """A number from `low` to `high`; `unused` says why moving it would change nothing, `origin`, if it is told, where
    the number comes from until it is moved."""

    key: str
    label: str
    value: float
    high: float = 1.0
    low: float = 0.0
    step: float = 0.001
    unused: str = ""
    origin: Literal["", "measured", "usual"] = ""


@dataclass(frozen=True)
class SliderGroup:
    """The question that its sliders answer, and what their numbers mean. Of those that have an effect the first `shown`
    are seen at once and the others are folded away; None shows all."""

    question: str
    about: str
    sliders: tuple[Slider, ...]
    shown: int | None = None


def sliders_value(groups: Sequence[SliderGroup]) -> dict[str, Any]:
    """The groups as the component's value."""
    return {
        "groups": [
            {
                "question": group.question,
                "about": group.about,
                "shown": group.shown,
                "sliders": [{**asdict(slider), "began": slider.value} for slider in group.sliders],
            }
            for group in groups
        ]
    }


def read_sliders(value: Any, groups: Sequence[SliderGroup]) -> dict[str, float]:
    """The numbers that the browser sent for these sliders, each moved into its range. Raises Refusal where one is
    missing or not a number: what a browser sends may be anything."""
    sent = _numbers(value)
    found = {}
    for slider in (slider for group in groups for slider in group.sliders):
        number = sent.get(slider.key)
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise Refusal(f"“{slider.label}” must be a number from {slider.low:g} to {slider.high:g}.")
        found[slider.key] = min(slider.high, max(slider.low, float(number)))
    return found


def moved_sliders(value: Any) -> frozenset[str]:
    """The sliders that do not stand where they began, by key."""
    began = _numbers(value, "began")
    return frozenset(key for key, number in _numbers(value).items() if key in began and number != began[key])


def _numbers(value: Any, which: Literal["value", "began"] = "value") -> Mapping[str, Any]:
    """What was sent, by key; nothing where it is not a value of this component."""
    try:
        return {slider["key"]: slider[which] for group in value["groups"] for slider in group["sliders"]}
    except (TypeError, KeyError):
        return {}


def with_reasons(value: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any] | None:
    """What the browser sent, with exactly those sliders switched off that have a reason; None where it is so. It says
    which numbers it `answers`, so that the browser keeps those typed since."""
    groups = [
        {**group, "sliders": [{**slider, "unused": reasons.get(slider["key"], "")} for slider in group["sliders"]]}
        for group in value["groups"]
    ]
    edit = value.get("edit", 0)
    return None if groups == value["groups"] else {"groups": groups, "edit": edit, "answers": edit}
