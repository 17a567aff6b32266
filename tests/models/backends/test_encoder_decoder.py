"""An encoder-decoder's lane gives the rows of one pass over the whole text, whatever was read and rewound before."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
import torch
from tiny_t5 import ROWS, make_t5
from variants import variants

from csd.decoding.tokens import TokenSequence
from csd.models.backends.costs import WIDEST, best_threads, measure_costs
from csd.models.backends.encoder_decoder import EncoderDecoderBackend, prompt_length, take_apart
from csd.models.session import Session

KINDS = {
    "T5 1.1": {"num_layers": 1},
    "T5, tied": {"tie_word_embeddings": True, "num_layers": 3},
    "mT5": {"kind": "mt5"},
}
kinds = pytest.mark.parametrize("kind", KINDS)
START, CAPACITY = 0, 60
PROMPT = [7, 5, 9, 5, 11, 1]


@cache
def model(kind: str):
    return make_t5(5, **KINDS[kind])


@cache
def backend(kind: str) -> EncoderDecoderBackend:
    return take_apart(make_t5(5, **KINDS[kind]), START)  # a model of its own, since packing changes it


def session(kind: str, capacity: int = CAPACITY) -> Session:
    return Session("it", backend(kind).open_lane(capacity).run, ROWS, capacity)


@torch.inference_mode()
def fresh(kind: str, text: list[int], prompt: int) -> torch.Tensor:
    """The oracle: transformers' own forward, without any cache. [len(text) - prompt, V]"""
    ids = torch.tensor([text])
    return model(kind)(input_ids=ids[:, :prompt], decoder_input_ids=ids[:, prompt:], use_cache=False).logits[0]


def check(ours: Session, kind: str, prompt: int, text: TokenSequence, since: int) -> None:
    rows = ours.logits(text, since)
    want = fresh(kind, text.since(0), prompt)[since - 1 - prompt :]
    assert rows.shape == (len(text) - since + 1, ROWS)
    assert torch.allclose(rows, want, rtol=1e-9, atol=1e-9)


def test_where_the_decoder_begins():
    assert prompt_length([*PROMPT, START, 4, START], START) == len(PROMPT)
    assert prompt_length(PROMPT, START) is None and prompt_length([], START) is None
    assert prompt_length([START] * 4, START) == 1  # the dummy text of the costs


@kinds
@variants("seed", range(4), fast=2)
def test_any_order_of_calls(kind, seed):
    """Grow, rewind, other tails, any width, after a prompt that comes in pieces."""
    r = random.Random(seed)
    ours, committed = session(kind), []
    prompt = [r.randrange(2, ROWS) for _ in range(r.randint(1, 12))]
    for token in [*prompt, START]:
        committed.append(token)
        if r.random() < 0.3 or token == START:
            ours.prefill(TokenSequence(committed))
    tail: tuple[int, ...] = ()
    while len(committed) < CAPACITY - 6:
        act = r.random()
        if act < 0.35:
            committed += [*tail[: r.randint(0, len(tail))], r.randrange(ROWS)]
            tail = ()
        elif act < 0.7:
            tail += tuple(r.randrange(ROWS) for _ in range(r.randint(1, 3)))
        else:
            tail = tail[: r.randint(0, len(tail))] + tuple(r.randrange(ROWS) for _ in range(r.randint(0, 2)))
        tail = tail[: CAPACITY - len(committed)]
        text = TokenSequence(committed, tail)
        check(ours, kind, len(prompt), text, r.randint(max(len(prompt) + 1, len(committed)), len(text)))


def test_the_rows_of_a_random_model_differ():
    """Else a row taken from the wrong place would not be seen."""
    rows = fresh("T5 1.1", [*PROMPT, START, 4, 4, 6], len(PROMPT))
    other = fresh("T5 1.1", [*PROMPT[1:], START, 4, 4, 6], len(PROMPT) - 1)
    assert torch.pdist(torch.cat([rows, other])).min() > 1e-3


@kinds
def test_going_back_into_the_prompt_reads_another_one(kind):
    ours = session(kind)
    check(ours, kind, 6, TokenSequence([*PROMPT, START, 4]), 7)
    run = ours._forward
    rows = run([8, 1, START, 4, 6], 4, 2)  # after the first four tokens of the prompt
    assert torch.allclose(rows, fresh(kind, [*PROMPT[:4], 8, 1, START, 4, 6], 6)[-2:], rtol=1e-9, atol=1e-9)


def test_inside_the_prompt_nothing_is_predicted():
    run = backend("mT5").open_lane(CAPACITY).run
    assert run(PROMPT[:3], 0, 2).isnan().all()
    rows = run([*PROMPT[3:], START, 4], 3, 4)
    assert rows.isnan().all(-1).tolist() == [True, True, False, False]


def test_two_lanes_over_one_model_do_not_disturb_each_other():
    one, other = session("T5 1.1"), session("T5 1.1")
    for step in range(1, 8):
        check(one, "T5 1.1", 6, TokenSequence([*PROMPT, START, *[2] * step], (5, 6)), 7)
        check(other, "T5 1.1", 3, TokenSequence([9, 8, 1, START, *range(2, 2 + step)], (step,)), 4)


def test_the_prompt_is_read_once_and_only_rows_that_are_asked_for_reach_the_head():
    whole, calls = backend("T5 1.1"), []

    def watch(module: torch.nn.Module, name: str):
        return module.register_forward_hook(lambda *_: calls.append((name, 1)))

    def head(hidden: torch.Tensor) -> torch.Tensor:
        calls.append(("head", len(hidden)))
        return whole.head(hidden)

    cross = [block.layer[1].EncDecAttention.k for block in whole.decoder.block]
    hooks = [watch(whole.encoder, "encoder"), *(watch(keys, "cross") for keys in cross)]
    try:
        ours = Session("it", replace(whole, head=head).open_lane(CAPACITY).run, ROWS, CAPACITY)
        ours.prefill(TokenSequence([*PROMPT, START]))
        ours.logits(TokenSequence([*PROMPT, START], (3, 4, 5)), 10)
        ours.logits(TokenSequence([*PROMPT, START], (3, 8)), 8)
    finally:
        for hook in hooks:
            hook.remove()
    assert calls == [("encoder", 1), ("cross", 1), ("cross", 1), ("head", 1), ("head", 1), ("head", 2)]


def test_what_a_pass_costs_can_be_measured():
    costs = measure_costs({"it": backend("T5 1.1")}, {"it": 2048})["it"]
    assert len(costs) == WIDEST and min(costs) > 0
    threads = torch.get_num_threads()
    try:
        assert best_threads(backend("T5 1.1"), 2048, 1) == 1
    finally:
        torch.set_num_threads(threads)


def test_packed_weights_give_the_same_logits():
    """In float32 on a CPU oneDNN's layout; the model is then not transformers' any more, and the backend says so."""
    packed = take_apart(make_t5(5, dtype=torch.float32), START)
    plain = make_t5(5, dtype=torch.float32)
    ids = torch.tensor([[*PROMPT, START, 4, 6]])
    with torch.inference_mode():
        want = plain(input_ids=ids[:, :6], decoder_input_ids=ids[:, 6:]).logits[0]
    found = packed.open_lane(CAPACITY).run(ids[0].tolist(), 0, 3)
    assert torch.allclose(found, want, rtol=0, atol=1e-4 * float(want.abs().max()))
    assert packed.model is None and not any(isinstance(one, torch.nn.Linear) for one in packed.decoder.modules())
    half = take_apart(made := make_t5(5, dtype=torch.bfloat16), START)
    assert half.model is made and half.decoder is made.decoder
