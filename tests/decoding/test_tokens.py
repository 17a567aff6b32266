"""The text of a lane, and what drafts are made of."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from csd.decoding.draft import Draft, Nothing
from csd.decoding.tokens import TokenSequence

ids = st.lists(st.integers(0, 9), max_size=8)


@given(ids, ids, ids, st.integers(0, 30))
def test_a_sequence_is_its_committed_ids_and_its_tail(committed, tail, more, start):
    text = TokenSequence(committed, tuple(tail)) + tuple(more)
    whole = committed + tail + more
    assert len(text) == len(whole)
    assert text.since(start) == whole[start:]
    assert text.committed is committed  # shared, never copied


def test_extending_a_sequence_leaves_the_original_unchanged():
    short = TokenSequence([1], (2,), frozenset({9}))
    long = short + (3,)
    assert short.since(0) == [1, 2] and long.since(0) == [1, 2, 3] and long.eos == {9}


def test_all_sequences_of_a_lane_see_a_commit():
    text = TokenSequence([1, 2])
    guess = text + (5,)
    text.commit((3,))
    assert guess.committed == [1, 2, 3] == text.since(0)
    with pytest.raises(ValueError, match="tail"):
        guess.commit((4,))


def test_only_a_tail_can_end_a_text():
    eos = frozenset({0, 7})
    assert not TokenSequence([1, 0], (), eos).ended
    assert TokenSequence([1], (3, 7), eos).ended and TokenSequence([1], (0,), eos).ended
    assert not TokenSequence([1], (7, 3), eos).ended and not TokenSequence([1], (7,)).ended


def test_tokens_until_the_first_eos():
    text = TokenSequence([], (), frozenset({0, 7}))
    assert text.until_eos([1, 7, 2, 0]) == [1, 7]
    assert text.until_eos([1, 2]) == [1, 2] and text.until_eos([]) == []
    assert text.until_eos([0, 0]) == [0]


def test_nothing_drafts_nothing():
    assert len(Nothing().draft(TokenSequence([1]), 9)) == 0


def test_drafts_are_concatenated_with_their_distributions():
    probs = torch.tensor([[0.1, 0.9, 0.0], [0.2, 0.3, 0.5]])
    drawn, copied = Draft((1, 2), ("d", "d"), probs), Draft((0,), ("MaxGram",))
    both = drawn + copied
    assert both.tokens == (1, 2, 0) and both.authors == ("d", "d", "MaxGram")
    assert torch.equal(both.q, torch.cat([probs, torch.tensor([[1.0, 0, 0]])]))
    assert torch.equal((copied + drawn).q, torch.cat([torch.tensor([[1.0, 0, 0]]), probs]))
    assert (copied + copied).q is None
    assert torch.equal((Draft() + drawn).q, probs) and torch.equal((drawn + Draft()).q, probs)
    assert torch.equal(copied.probs(probs), torch.tensor([[1.0, 0, 0]]))
