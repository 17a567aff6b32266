"""What the tests of graph lanes share."""

from __future__ import annotations

import pytest

from csd.models.backends import graph_pool
from csd.models.backends.cuda_graphs import GraphLane


@pytest.fixture
def made(monkeypatch) -> list[GraphLane]:
    """Every lane that is made."""
    lanes = []

    class Counted(GraphLane):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            lanes.append(self)

    monkeypatch.setattr(graph_pool, "GraphLane", Counted)
    return lanes
