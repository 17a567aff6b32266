"""The names in the list of presets: those of a family, and "custom" once a setting was changed."""

from __future__ import annotations

from collections.abc import Sequence

CUSTOM_FROM = "custom, from "  # before the preset that was chosen last: the value of "custom" in the list
PLANS = {"tuned K": "tuned to these models", "short drafts": "short guesses"}


def custom_from(preset: str) -> str:
    return f"{CUSTOM_FROM}{preset}"


def is_custom(name: str) -> bool:
    return name.startswith(CUSTOM_FROM)


def preset_of(name: str) -> str:
    """The preset that was chosen last, whatever was changed since."""
    return name.removeprefix(CUSTOM_FROM)


def labelled(names: Sequence[str]) -> list[tuple[str, str]]:
    """Names with what is read in the list in front: a preset's says what it races, "cascade, tuned plan"."""
    return [(_label(name), name) for name in names]


def _label(name: str) -> str:
    if is_custom(name):
        return "custom"
    if name == "adaptive":
        return f"{name} cascade"
    return f"cascade, {'tuned plan' if name == 'tuned K' else plan_in_words(name)}"


def plan_in_words(preset: str) -> str:
    """The plan of a preset, such as "tuned to these models" or "the paper's, costs by size"."""
    return PLANS.get(preset, preset.replace("paper's K", "the paper's"))
