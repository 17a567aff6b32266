"""Max-Gram against a naive search, with commits, guesses and rollbacks in any order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import Watched

from csd.decoding.maxgram import MaxGram
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence


def naive_match(text: list[int], longest: int) -> tuple[int, int]:
    """The length of the longest suffix that occurred earlier, and the position after its last such occurrence."""
    for n in range(min(longest, len(text) - 1), 0, -1):
        suffix = text[-n:]
        ends = [end for end in range(n, len(text)) if text[end - n : end] == suffix]
        if ends:
            return n, max(ends)
    return 0, 0


def naive_copy(text: list[int], position: int, count: int) -> list[int]:
    """Copied token by token, reading what was just written."""
    text = list(text)
    start = len(text)
    for i in range(count):
        text.append(text[position + i])
    return text[start:]


tokens = st.integers(0, 2)
tails = st.lists(tokens, max_size=8)
moves = st.lists(st.tuples(st.booleans(), tails, st.integers(0, 8)), min_size=1, max_size=25)


@settings(max_examples=200, deadline=None)
@given(moves, st.sampled_from((1, 2, 4, 16)))
def test_index_is_a_naive_search(moves, longest):
    """Each move guesses a tail, often with a prefix of the last one, and may commit a part of it."""
    index, committed, tail = SuffixIndex(longest), [0], []
    for commits, fresh, keep in moves:
        tail = tail[:keep] + fresh
        if commits:
            committed.extend(tail[: keep or None])
            tail = []
        index.sync(TokenSequence(committed, tuple(tail)))
        text = committed + tail
        assert index.tokens == text and len(index._changes) == len(tail)
        found = index.match()
        assert found == naive_match(text, longest)
        if found[0]:
            assert index.copy(found[1], 9) == naive_copy(text, found[1], 9)


@settings(max_examples=50, deadline=None)
@given(st.lists(tokens, min_size=1, max_size=20), tails, tails)
def test_a_rollback_leaves_no_trace(text, guess, other):
    """After a guess was indexed and dropped, the index equals one that never saw it."""
    index, plain = SuffixIndex(4), SuffixIndex(4)
    for tail in (guess, other, [], guess, []):
        index.sync(TokenSequence(text, tuple(tail)))
    plain.sync(TokenSequence(text))
    assert (index.tokens, index.matched) == (plain.tokens, plain.matched)
    assert shape(index._contexts) == shape(plain._contexts)


def shape(contexts) -> dict | None:
    """A trie as plain data."""
    return contexts and {last: (node.position, shape(node.longer)) for last, node in contexts.items()}


@settings(max_examples=100, deadline=None)
@given(moves, st.sampled_from((1, 3, 16)))
def test_the_index_knows_whether_a_copy_would_have_been_right(moves, longest):
    """For every token: the length of the match before it, and whether copying there would have given it."""
    index, committed = SuffixIndex(longest), [0]
    for commits, tail, _ in moves:
        committed.extend(tail if commits else [])
        index.sync(TokenSequence(committed, () if commits else tuple(tail)))
        text = committed + ([] if commits else tail)
        for position, (length, right) in enumerate(index.matched):
            found, follows = naive_match(text[:position], longest)
            assert (length, right) == (found, bool(found) and text[follows] == text[position])


def drafted(text, k, room=99, bigram=None, eos=frozenset(), **options):
    return MaxGram(SuffixIndex(**options), k, bigram).draft(TokenSequence(list(text), eos=eos), room)


def test_the_most_recent_occurrence_is_copied():
    text = (1, 2, 7, 1, 2, 8, 1, 2)
    assert drafted(text, 1).tokens == (8,)


def test_the_longest_suffix_wins_over_a_more_recent_short_one():
    text = (5, 1, 2, 7, 9, 2, 8, 5, 1, 2)
    assert drafted(text, 1).tokens == (7,)
    assert drafted(text, 1, longest=1).tokens == (8,)


def test_a_periodic_text_is_continued():
    """The code of the paper gives 1 2 and then wrong tokens here."""
    assert drafted((1, 2, 3, 1, 2, 3), 8).tokens == (1, 2, 3, 1, 2, 3, 1, 2)
    assert drafted((4, 7, 7), 5).tokens == (7,) * 5
    assert drafted((1, 2, 3, 1), 7).tokens == (2, 3, 1, 2, 3, 1, 2)


def test_at_most_k_and_at_most_room():
    text = (1, 2, 3, 1, 2, 3)
    for k in (1, 4):
        for room in (0, 1, 3, 9):
            assert len(drafted(text, k, room).tokens) == min(k, room)


def test_bigrams_draft_at_most_two_tokens_and_only_where_nothing_matches():
    table = (1, 2, 3, 0)
    draft = drafted((3, 2, 0), 9, bigram=table)
    assert (draft.tokens, draft.authors) == ((1, 2), ("Bigram",) * 2)
    assert drafted((3, 2, 0), 1, bigram=table).tokens == (1,)
    assert drafted((3, 2, 0), 9, room=1, bigram=table).tokens == (1,)
    assert drafted((0, 2, 0), 9, bigram=table).authors == ("MaxGram",) * 9
    assert drafted((3, 2, 0), 9).tokens == ()
    assert drafted((1, 9), 9, bigram=table).tokens == ()  # an id outside the table


def test_a_draft_ends_with_its_first_eos():
    assert drafted((1, 2, 3, 4, 1), 9, eos=frozenset({3, 4})).tokens == (2, 3)
    assert drafted((0,), 9, bigram=(1, 2, 3), eos=frozenset({1})).tokens == (1,)


def test_the_record_says_who_drafted():
    draft = drafted((1, 2, 1), 2)
    (record,) = draft.reviews
    assert (record.by, record.at, record.tokens, record.authors) == ("MaxGram", 3, (2, 1), ("MaxGram",) * 2)
    assert draft.q is None and record.seconds >= 0


@pytest.mark.parametrize("longest", [4, 16])
def test_the_cost_of_a_draft_does_not_grow_with_the_text(longest):
    """Tokens read per draft, each with a rejected guess, at 100 and at 20,000 tokens of text."""

    def cost(length: int) -> tuple[int, int]:
        text, own = Watched(i * i % 97 for i in range(length)), Watched()
        index = SuffixIndex(longest)
        index.tokens = own
        index.sync(TokenSequence(text))
        drafter = MaxGram(index, 8)
        own.read = text.read = 0
        for step in range(20):
            drafter.draft(TokenSequence(text, (step % 3, 96, step % 5)), 9)
            text.append(step % 97)
        return own.read, text.read

    (small_own, small_read), (large_own, large_read) = cost(100), cost(20_000)
    assert large_own <= 1.3 * small_own and large_own < 20 * 12 * longest
    assert large_read == small_read <= 20 * 2
