"""What a change of the stage restyles, sixty times a second in a replay."""

from __future__ import annotations

import re

import pytest

from csd.paths import ASSETS

SHEETS = sorted(str(sheet.relative_to(ASSETS)) for sheet in ASSETS.rglob("*.css"))
COMMENT, RULE, ARGUMENTS = re.compile(r"/\*.*?\*/", re.S), re.compile(r"([^{}@;]+)\{"), re.compile(r"\([^()]*\)")


def subjects(text: str) -> list[str]:
    """The last part of each selector with :has(), which says what is restyled, without the arguments of pseudo-classes."""
    found = []
    for rule in RULE.findall(COMMENT.sub("", text)):
        bare = rule
        while ARGUMENTS.search(bare):
            bare = ARGUMENTS.sub(lambda match: "\0" * len(match.group()), bare)
        starts = [0, *(match.end() for match in re.finditer(",", bare))]
        for start, end in zip(starts, [*starts[1:], len(bare) + 1], strict=True):
            if ":has(" in rule[start : end - 1]:
                found.append(re.split(r"[\s>+~]+", bare[start : end - 1].strip())[-1].replace("\0", ""))
    return found


def test_subjects_are_found():
    text = "a:has(p, b c) .x > :not(.y), i { } /* q:has(r) * */ @media (w) { .z:has(~ b > c) { } d:has(e) > * { } }"
    assert subjects(text) == [":not", ".z:has", "*"]


@pytest.mark.parametrize("sheet", SHEETS)
def test_no_rule_with_has_is_for_elements_of_any_name(sheet):
    """A browser restyles what all such rules may concern whenever one of them may: one without a name is the whole page."""
    for subject in subjects((ASSETS / sheet).read_text(encoding="utf-8")):
        assert re.match(r"[a-z]|[^:]*[.#\[]", subject), subject
