"""The paper's comparison: which methods run with which K, and its wording of the questions."""

from __future__ import annotations

import json

import pytest

from csd.decoding.methods import Autoregressive, Cascade, Refusal, Speculative
from csd.models.catalog import find
from csd.models.spec import custom
from csd.request.paper import PAPER, K_of_one, paper_methods
from csd.request.prompts import Prompt, read_prompts

BASE, SMALL = "flan-t5-base", "flan-t5-small"


def test_the_rows_of_the_papers_table():
    assert paper_methods(find("FLAN-T5 XXL")) == (
        Autoregressive(),
        Speculative(BASE, 5),
        Speculative(BASE, 10),
        Speculative(SMALL, 5),
        Speculative(SMALL, 10),
        Cascade((BASE,), ((5, 15), (0, 10)), 2.0),
        Cascade((SMALL,), ((14, 24), (0, 10)), 2.0),
        Cascade((BASE, SMALL), ((5, 19, 29), (0, 1, 11), (0, 0, 10)), 2.0),
        Cascade((BASE, SMALL), ((5, 13, 23), (0, 1, 11), (0, 0, 10)), 5.0),
    )


@pytest.mark.parametrize("drafts", [1, 2])
def test_other_families_run_it_with_the_papers_example(drafts):
    spec = custom("a/target", ["a/big", "a/small"][:drafts])
    methods = paper_methods(spec)
    for method in methods:
        method.check(spec.draft_names)
    assert len(set(methods)) == len(methods) == (4, 8)[drafts - 1]


def test_more_drafts_are_refused():
    with pytest.raises(Refusal, match="one or two drafts"):
        paper_methods(custom("a/target", ["a/1", "a/2", "a/3"]))


def test_K_without_the_other_drafts():
    K = ((2, 6, 7, 10), (0, 4, 5, 8), (0, 0, 3, 9), (0, 0, 0, 8))
    assert [K_of_one(K, draft) for draft in range(3)] == [((2, 5), (0, 3)), ((4, 7), (0, 6)), ((1, 4), (0, 8))]


def test_its_wording(tmp_path):
    file = tmp_path / "questions"
    rows = {"question": "How many?", "answer": "2"}, {"question": "Which?", "choices": [1, 2, 3, 4], "answer": 0}
    file.write_text("\n".join(map(json.dumps, rows)))
    sums, choice = read_prompts(file, PAPER)
    asked = "Reason the math question below step by step. Question: How many?.\n Answer: "
    assert sums == Prompt("gsm8k", asked, max_new=200)
    asked = "Question: Which?\n(A) 1 (B) 2 (C) 3 (D) 4\n Answer: \n Let's think step by step. "
    assert choice == Prompt("mmlu", asked, max_new=200)
