"""Tokenizers from GGUF files cut text as the tokenizer.json of their models does; unknown rules are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_family import byte_fallback, refusal
from tiny_gguf import HUB_RULES, hub_tokenizer, tiny_llama, write_gguf

from csd.models.gguf_file import read_gguf
from csd.models.gguf_tokenizer import RULES, gguf_tokenizer

TEXTS = (
    "a list:\n\n1. the fox\n\n2. paid 1234 coins, 12 34 and 567",
    "don't  STOP, it'S  caf\u00e9 cafe\u0301 100%\r\n\r\n  x = 42\n\n\n\ty",
    "\u4f60\u597d\uff0c\u4e16\u754c \U0001f600 \u00bd \u0661\u0662\u0663 \u00b2",
    "<|start|>the<|end|> 7",
    "   ",
    "\n",
)


@pytest.fixture(scope="module", params=sorted(HUB_RULES))
def both(request, tmp_path_factory):
    """The tokenizer of a file, and the one on the Hub with the same vocabulary."""
    reference = hub_tokenizer(request.param)
    path = tmp_path_factory.mktemp("gguf") / "it.gguf"
    write_gguf(path, tiny_llama(), reference, request.param)
    return gguf_tokenizer(read_gguf(path)), reference


def ids(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def test_the_hubs_rules(both):
    built, reference = both
    for text in TEXTS:
        assert ids(built, text) == ids(reference, text), text
        assert built.decode(ids(built, text)) == reference.decode(ids(reference, text))
    assert built.get_vocab() == reference.get_vocab()  # without the padding of the vocabulary
    assert (built.eos_token_id, built.bos_token_id) == (reference.eos_token_id, reference.bos_token_id)


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=40) | st.text("a1 \n\r\t'.sS\u00e9\u0301", max_size=40))
def test_any_text(both, text):
    built, reference = both
    assert ids(built, text) == ids(reference, text)


def test_the_rules_differ():
    """The tests above say something only if the four rules cut their texts in different ways."""
    cuts = {pre: [[text[a:b] for _, (a, b) in pieces(pre, text)] for text in TEXTS] for pre in HUB_RULES}
    assert all(cuts[one] != cuts[other] for one in cuts for other in cuts if one < other)


def pieces(pre: str, text: str):
    return RULES[pre].split().pre_tokenize_str(text)


def test_digits_are_set_apart_before_line_breaks_are_joined():
    assert [piece for piece, _ in pieces("smollm", "\n\n1.")] == ["ĊĊ", "1", "."]
    assert [piece for piece, _ in pieces("gpt-2", "\n\n1.")] == ["Ċ", "Ċ", "1", "."]


@pytest.mark.parametrize(
    ("pre", "flag", "first"), [("smollm", True, [1]), ("smollm", None, []), ("llama-bpe", None, [1])]
)
def test_a_text_opens_with_bos_where_the_file_says_so(tmp_path, pre, flag, first):
    path = tmp_path / "it.gguf"
    write_gguf(path, tiny_llama(), hub_tokenizer(pre), pre, add_bos_token=flag)
    tokenizer = gguf_tokenizer(read_gguf(path))
    assert tokenizer("")["input_ids"] == first
    assert tokenizer("the")["input_ids"] == [*first, *ids(tokenizer, "the")]


def test_the_chat_template(tmp_path):
    path, template = tmp_path / "it.gguf", "{% for m in messages %}<|start|>{{ m['content'] }}<|end|>{% endfor %}"
    write_gguf(path, tiny_llama(), hub_tokenizer("smollm"), "smollm", **{"tokenizer.chat_template": template})
    tokenizer = gguf_tokenizer(read_gguf(path))
    turn = tokenizer.apply_chat_template([{"role": "user", "content": "the"}], tokenize=True, return_dict=False)
    assert turn == [1, *ids(tokenizer, "the"), 0]


def test_sentencepiece_as_transformers_converts_it(tmp_path):
    reference = byte_fallback()
    names = {id: token for token, id in reference.get_vocab().items()}
    size = len(names)
    entries = {
        "model": "llama",
        "pre": "default",
        "tokens": [names[id] for id in range(size)],
        "scores": [0.0 if id < 259 else float(-id) for id in range(size)],
        "token_type": [2, 3, 3, *[6] * 256, *[1] * (size - 259)],
        "merges": None,
        "unknown_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "add_bos_token": True,
    }
    path = tmp_path / "it.gguf"
    write_gguf(path, tiny_llama(vocab=size), reference, **entries)
    tokenizer = gguf_tokenizer(read_gguf(path))
    assert tokenizer("")["input_ids"] == [1]
    for text in ("the fox", "fox  the\n\nfox 12", "\u00e9\U0001f600", "the<s>"):
        assert tokenizer(text)["input_ids"] == reference(text)["input_ids"], text
    write_gguf(path, tiny_llama(vocab=size), reference, **entries, add_space_prefix=False)
    assert "without a space before the first word" in refusal(str(path))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"pre": "tekken"}, "the pre-tokenizer 'tekken', whose rules are not known here"),
        ({"pre": None}, "names no pre-tokenizer"),
        ({"model": "bert"}, "a tokenizer of the kind 'bert', which is not supported"),
        ({"merges": None}, "tokenizer of it.gguf cannot be read"),
        ({"token_type": [1, 2]}, "tokenizer of it.gguf cannot be read"),
    ],
)
def test_what_is_not_known_is_refused(tmp_path, entries, said):
    path = write_gguf(tmp_path / "it.gguf", tiny_llama(), hub_tokenizer("smollm"), **{"pre": "smollm", **entries})
    assert said in refusal(path)
