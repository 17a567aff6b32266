"""What readers call a level."""

from __future__ import annotations

from csd.record.levels import Level
from csd.roles import named_with_roles, roles


def called(*names: str) -> list[str]:
    return list(roles([Level(name, level) for level, name in enumerate(names)]).values())


def test_drafts_are_called_by_their_rank_and_copies_of_the_target_by_their_bits():
    assert called("MaxGram", "one", "target") == ["copier", "small model", "big model"]
    assert called("MaxGram", "one", "two", "target") == ["copier", "tiny model", "small model", "big model"]
    assert called("MaxGram", "self-8bit", "target") == ["copier", "8-bit model", "big model"]
    assert called("MaxGram", "one", "self-4bit", "self-8bit", "target") == [
        "copier", "small model", "4-bit model", "8-bit model", "big model",
    ]  # fmt: skip
    assert called("MaxGram", "a", "b", "c", "d", "target")[1:-1] == ["draft 1", "draft 2", "draft 3", "draft 4"]


def test_a_choice_of_drafts_names_them_as_well():
    assert named_with_roles(["self-8bit", "one"]) == [
        ("8-bit model (self-8bit)", "self-8bit"),
        ("small model (one)", "one"),
    ]
