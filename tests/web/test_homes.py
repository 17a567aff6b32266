"""Which families the page loads by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from csd.models import catalog
from csd.models.spec import FamilyError
from csd.web.homes import FIRST, PREFERRED, home_families

SMALL = replace(catalog.find("Qwen3"), name=PREFERRED)


@pytest.fixture(autouse=True)
def with_the_preferred_family(monkeypatch):
    others = [spec for spec in catalog.READY if spec.name != PREFERRED]
    monkeypatch.setattr(catalog, "READY", (*others, SMALL))


def names(named: str, present: bool) -> list[str]:
    return [choice.spec.name for choice in home_families(named, "cpu", lambda spec: present)]


def test_the_preferred_family_follows_the_embedded_one_where_it_is_present():
    assert names("", present=True) == [FIRST, PREFERRED]
    assert names("", present=False) == [FIRST]


def test_a_family_that_is_named_is_the_only_one():
    for present in (True, False):
        assert names("Qwen3", present) == ["Qwen3"]
        assert names(PREFERRED, present) == [PREFERRED]


def test_an_unknown_name_is_answered_with_the_choices():
    with pytest.raises(FamilyError, match="Choose one of: embedded"):
        home_families("nobody", "cpu", lambda spec: True)
