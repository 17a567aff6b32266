"""Prompt files: formats recognized by their fields, even selection, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import toy

from csd.decoding.methods import Autoregressive, PromptLookup, Refusal
from csd.models.catalog import READY
from csd.request.prompts import Prompt, read_prompts, select_prompts, split_by_context
from csd.request.request import Request

ROOT = Path(__file__).resolve().parents[2]


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "prompts"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows) + "\n"


@pytest.mark.parametrize("file", sorted({spec.prompts for spec in READY}))
def test_the_example_prompts(file):
    """At least five kinds, titles that are unique, and a code prompt does not end with a line break."""
    prompts = read_prompts(ROOT / file)
    assert len({prompt.title for prompt in prompts}) == len({prompt.prompt for prompt in prompts}) == len(prompts)
    assert len({prompt.kind for prompt in prompts}) >= 5
    assert all(prompt.prompt.strip() and prompt.title and prompt.max_new > 0 for prompt in prompts)
    assert not any(prompt.prompt.endswith("\n") for prompt in prompts if prompt.kind == "code")
    assert any(prompt.temperature > 0 for prompt in prompts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            lines({"question": "How many?", "answer": "#### 2"}),
            [Prompt("gsm8k", "Question: How many?\nAnswer:")],
        ),
        (
            lines({"question_id": 81, "category": "writing", "turns": ["Compose.", "Rewrite."]}),
            [Prompt("writing", "Compose.")],
        ),
        (lines("one\ntwo", "three"), [Prompt("text", "one\ntwo"), Prompt("text", "three")]),
        (lines({"prompt": "Once"}), [Prompt("text", "Once")]),
        (lines({"prompt": "Once", "kind": "story", "seed": 3, "max_new": 9, "source": "mine"}),
         [Prompt("story", "Once", seed=3, max_new=9)]),
        ("Once upon a time\n\n  Two lines  \n", [Prompt("text", "Once upon a time"), Prompt("text", "  Two lines  ")]),
        (json.dumps([{"kind": "a", "prompt": "p", "temperature": 0.5}, "q"]),
         [Prompt("a", "p", temperature=0.5), Prompt("text", "q")]),
    ],
)  # fmt: skip
def test_formats(tmp_path, text, expected):
    assert read_prompts(written(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "contains no prompt"),
        ("\n \n", "contains no prompt"),
        ("[]", "contains no prompt"),
        ("[1, 2", "is not one"),
        ('{"prompt": "a"}\n{"prompt"\n', "Line 2"),
        ('{"text": "a"}', "Prompt 1"),
        ('{"prompt": "a"}\n{"prompt": 7}', "Prompt 2"),
        ('{"prompt": "   "}', "Prompt 1"),
        ('{"prompt": "a", "max_new": 0}', "Prompt 1"),
        ('{"prompt": "a", "seed": "x"}', "Prompt 1"),
        ('{"category": "a", "turns": []}', "Prompt 1"),
        ('{"prompt": "a", "temperature": NaN}', "Prompt 1 .*temperature"),
        ('{"prompt": "a", "temperature": true}', "Prompt 1 .*temperature"),
        ('{"prompt": "a", "title": 3}', "Prompt 1 .*title"),
        ('{"prompt": "a", "kind": ""}', "Prompt 1 .*kind"),
        ('{"question": 3, "answer": "a"}', "Prompt 1 .*prompt"),
        ("[" * 100_000, "not one"),
        ("[7]", "Prompt 1"),
        (b"caf\xe9", "UTF-8"),
    ],
)
def test_refused_with_a_sentence(tmp_path, text, words):
    with pytest.raises(Refusal, match=words):
        read_prompts(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(Refusal, match="cannot be read"):
        read_prompts(tmp_path / "nothing")


def test_chosen_evenly_from_each_kind():
    prompts = [Prompt("ab"[number % 2], str(number)) for number in range(12)]
    assert select_prompts(prompts) == prompts
    assert [prompt.prompt for prompt in select_prompts(prompts, 2)] == ["0", "1", "6", "7"]
    assert [prompt.prompt for prompt in select_prompts(prompts, 3, only="b")] == ["1", "5", "9"]
    assert select_prompts(prompts, 99) == prompts
    with pytest.raises(Refusal, match="Choose one of: a, b"):
        select_prompts(prompts, only="c")


def test_prompts_that_do_not_fit_the_context_are_separated():
    family = toy.family(context=20)
    short, long = Prompt("a", "x" * 10, max_new=10), Prompt("a", "x" * 11, max_new=10)
    assert split_by_context(family, [long, short]) == ([short], [long])


def test_names_are_one_line():
    assert Prompt("a", "one\n two " + "x" * 99).name == ("one two " + "x" * 99)[:60]
    assert Prompt("a", "text", "title").name == "title"


def test_a_prompt_makes_a_request():
    methods = (Autoregressive(), PromptLookup(3))
    request = Prompt("story", "Once", temperature=0.5, seed=3, max_new=9).to_request(methods)
    assert request == Request("Once", methods, 9, temperature=0.5, seed=3)
