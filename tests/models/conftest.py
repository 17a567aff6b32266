"""A family in folders that several tests load."""

from __future__ import annotations

import pytest


@pytest.fixture
def pair(tmp_path):
    """A target and a draft that pads its vocabulary less and reads less."""
    from tiny_family import byte_level, save  # the tests of graphs need none of what it imports

    target = save(tmp_path / "big", byte_level(), 320, [0, 7])
    draft = save(tmp_path / "small", byte_level(), 304, num_hidden_layers=1, max_position_embeddings=32)
    return target, draft
