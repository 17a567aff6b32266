from __future__ import annotations

import pytest

import csd.models.family


@pytest.fixture(scope="session")
def embedded():
    return csd.models.family.open_family(csd.models.family.find("embedded"))
