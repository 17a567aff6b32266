"""The few rules of grammar that sentences with numbers and names need."""

from csd.sentences import capitalized, counted, listed


def test_a_sentence_begins_with_a_capital_and_keeps_the_others():
    assert [capitalized(text) for text in ("", "k", "the GPU", "Race")] == ["", "K", "The GPU", "Race"]


def test_the_last_of_a_list_follows_an_and():
    assert [listed("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_a_noun_agrees_with_its_number():
    assert [counted(n, "race") for n in (0, 1, 2, 1000)] == ["0 races", "1 race", "2 races", "1,000 races"]
