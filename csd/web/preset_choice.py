"""Which preset the settings are: the one that they agree with, or "custom" once one of them was changed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from csd.decoding.k_matrix import parse_K
from csd.request.defaults import Preset
from csd.web.examples import is_brought
from csd.web.loads import FamilyChoice
from csd.web.preset_names import custom_from
from csd.web.updates import Choices


def preset_choices(choice: FamilyChoice, values: Mapping[str, Any] | None = None, chosen: str = "") -> Choices:
    """The presets of a family. Without values the first is selected; otherwise one that agrees with them, `chosen`
    before others, or custom."""
    defaults, names = choice.defaults, tuple(preset.name for preset in choice.defaults.presets)
    if values is None:
        return Choices(names, names[0])
    last = defaults.find_preset(chosen)
    agreeing = (preset.name for preset in (last, *defaults.presets) if _agrees(choice, preset, values))
    selected = next(agreeing, custom_from(last.name))
    return Choices(tuple(dict.fromkeys((*names, selected))), selected)


def _agrees(choice: FamilyChoice, preset: Preset, values: Mapping[str, Any]) -> bool:
    """Whether the values have all that the preset sets. More lanes may race, and an example may bring its own k
    and K."""
    wanted = preset.fields()
    lanes, K, k = wanted.pop("lanes"), wanted.pop("K"), wanted.pop("k")
    is_usual = preset.K == choice.defaults.preset.K
    return (
        set(lanes) <= set(values["lanes"])
        and (values["k"] == k or is_brought(choice.spec, "k", values["k"]))
        and (_same_plan(values["K"], K) or (is_usual and is_brought(choice.spec, "K", values["K"])))
        and all(values[name] == value for name, value in wanted.items())
    )


def _same_plan(one: Any, other: str) -> bool:
    with suppress(ValueError):
        return parse_K(str(one)) == parse_K(other)
    return False
