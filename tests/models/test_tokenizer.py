"""Vocabularies compared, chat turns, and the text of tokens, which joined is what the tokenizer decodes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_family import byte_fallback, byte_level, refusal, save

from csd.models.loading import load_family
from csd.models.spec import FamilyError, custom
from csd.models.tokenizer import token_texts
from csd.record.trace import detokenize

TEXTS = (
    "Once upon a time, there was a fox.\n\n\tIt said: 'No!'  Twice, 1234.5 times.",
    "na\u00efve caf\u00e9, \u20ac 5, \u4f60\u597d\uff0c\u4e16\u754c, \u0434\u0430",
    "faces \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 and a flag \U0001f1e9\U0001f1ea",
    "def f(x):\n    return x ** 2  # \u00fc\n",
)
_BYTES, _FALLBACK = byte_level(), byte_fallback()


def test_chat_template_makes_a_turn(tmp_path):
    tok = byte_level()
    tok.chat_template = (
        "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"
        "{% if add_generation_prompt %}[bot]{% endif %}"
    )
    target = save(tmp_path / "chat", tok)
    family = load_family(custom(target), "cpu")
    assert family.tokenizer.decode(family.encode("hello")) == "[user]hello[bot]"
    assert family.tokenizer.decode(family.opening) == "\n"  # in front of each token of the bigram table
    plain = load_family(custom(target, chat=False), "cpu")
    assert plain.tokenizer.decode(plain.encode("hello")) == "hello"
    assert plain.opening == ()


def test_a_turn_without_a_template(pair):
    spec = replace(custom(pair[0], chat=True), turn="USER: {} BOT:")
    family = load_family(spec, "cpu")
    assert family.tokenizer.decode(family.encode("a {} b")) == "USER: a {} b BOT:"
    with pytest.raises(FamilyError, match="no chat template"):
        load_family(custom(pair[0], chat=True), "cpu")


def test_special_tokens_as_the_tokenizer_says(tmp_path):
    family = load_family(custom(save(tmp_path / "bos", byte_fallback())), "cpu")
    assert family.encode("the fox")[0] == 1
    assert family.opening == (1,)
    chat = load_family(replace(family.spec, chat=True, turn="USER: {} BOT:"), "cpu")
    assert chat.opening == (1, *chat.encode_plain("\n"))
    assert family.pieces([0, 1, 2, 319]) == {0: "<unk>", 1: "<s>", 2: "</s>", 319: "<319>"}
    assert family.eos == {0, 2}


@pytest.mark.parametrize("text", TEXTS)
def test_spelling_equals_decoding(embedded, text):
    for tok in (embedded.tokenizer, byte_level(), byte_fallback()):
        ids = tok(text, add_special_tokens=False)["input_ids"]
        pieces = json.loads(json.dumps(token_texts(tok).texts(ids)))  # a record keeps them as JSON
        found = detokenize(tuple(ids), {int(id): piece for id, piece in pieces.items()})
        # Llama's first tokenizers drop the space of a text's first word when they decode; after a prompt it is there.
        assert found in (tok.decode(ids), " " + tok.decode(ids))
        assert found.removeprefix(" ") == text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_spelled_as_decoded(text):
    for tok in (_BYTES, _FALLBACK):
        ids = tok(text, add_special_tokens=False)["input_ids"]
        found = detokenize(tuple(ids), token_texts(tok).texts(ids))
        assert found in (tok.decode(ids), " " + tok.decode(ids))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 279), max_size=20))
def test_halves_of_characters_are_spelled_as_decoded(ids):
    assert detokenize(tuple(ids), token_texts(_BYTES).texts(ids)) == _BYTES.decode(ids)


def test_a_part_of_a_character_is_bytes(embedded):
    ids = embedded.encode("\U0001f600")
    pieces = embedded.pieces(ids)
    assert [byte for id in ids for byte in pieces[id]] == list("\U0001f600".encode())
    assert all(isinstance(piece, tuple) for piece in pieces.values())
    fallback = token_texts(byte_fallback())
    assert fallback.text(3 + 0xF0) == (0xF0,)
    assert fallback.text(3 + 0x0A) == "\n"


def test_special_tokens_give_their_name(embedded):
    assert embedded.pieces([0]) == {0: "<|endoftext|>"}


def test_every_piece_of_the_embedded_vocabulary(embedded):
    pieces = embedded.pieces(range(embedded.vocab))
    for id in range(0, embedded.vocab, 7):
        assert detokenize((id,), pieces) == embedded.tokenizer.decode([id])


def test_a_missing_tokenizer(pair):
    for file in Path(pair[0]).glob("tokenizer*"):
        file.unlink()
    assert "tokenizer of" in refusal(pair[0])


def test_different_tokenizers(pair, tmp_path):
    other = save(tmp_path / "other", byte_level(words="quite another text about ships, harbours and the sea"))
    assert "have different tokenizers" in refusal(pair[0], other)


def test_other_added_tokens_do_not_matter(pair, tmp_path):
    tok = byte_level()
    tok.add_tokens(["<|turn|>"])
    draft = save(tmp_path / "chatty", tok)
    assert load_family(custom(pair[0], [draft]), "cpu").vocab == 320


def test_a_model_smaller_than_its_tokenizer(tmp_path):
    target = save(tmp_path / "narrow", byte_level(), vocab=270)
    assert "has a vocabulary of 270 tokens, but the tokenizer has 280" in refusal(target)
