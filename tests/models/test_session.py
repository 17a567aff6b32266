"""What a session remembers changes nothing: cached rows are those of a fresh forward over the whole text.

Tiny random models in float64, through the general forward and, where it fits, the lean one.
"""

from __future__ import annotations

import random
from functools import cache

import pytest
import torch
from tiny import CONTEXT, SMALL, VOCAB
from transformers import AutoModelForCausalLM, GPTNeoXConfig, LlamaConfig, Qwen2Config

from csd.decoding.tokens import TokenSequence
from csd.models.backends.eager import EagerLane
from csd.models.backends.llama_cpu import fuse
from csd.models.session import Session

CONFIGS = {
    "llama": lambda: LlamaConfig(**SMALL, num_key_value_heads=2, tie_word_embeddings=False),
    "llama, tied": lambda: LlamaConfig(**SMALL, num_key_value_heads=4, tie_word_embeddings=True),
    "qwen2": lambda: Qwen2Config(**SMALL, num_key_value_heads=2),
    "gpt-neox": lambda: GPTNeoXConfig(**SMALL),
}


@cache
def model(kind: str):
    torch.manual_seed(5)
    config = CONFIGS[kind]()
    config._attn_implementation = "sdpa"
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval()
    for weights in made.parameters():  # far from zero, so that every row differs
        torch.nn.init.normal_(weights, 0.2 if weights.dim() == 1 else 0.0, 0.4)
    return made


def forward(way: str, kind: str, capacity: int):
    """The model over an empty cache, through one of the two forwards."""
    if way == "lean":
        return lean(kind).open_lane(capacity).run
    return EagerLane(model(kind), capacity).run


@cache
def lean(kind: str):
    return fuse(model(kind))


WAYS = [("eager", kind) for kind in CONFIGS] + [("lean", "llama"), ("lean", "llama, tied")]
ways = pytest.mark.parametrize(("way", "kind"), WAYS)


def session(way: str, kind: str, capacity: int = CONTEXT, vocab: int = VOCAB, context: int = CONTEXT) -> Session:
    return Session("it", forward(way, kind, capacity), vocab, context)


@torch.inference_mode()
def fresh(way: str, kind: str, tokens: list[int]) -> torch.Tensor:
    """The oracle: the whole text at once, without any cache. [len(tokens), V]

    transformers' own forward for the general way. It rounds norms to float32, which the lean one does not, so that one's
    oracle is itself with an empty cache, which is held against transformers' below.
    """
    if way == "lean":
        return lean(kind).open_lane(len(tokens)).run(tokens, 0, len(tokens))
    return model(kind)(input_ids=torch.tensor([tokens]), use_cache=False).logits[0]


def check(ours: Session, way: str, kind: str, text: TokenSequence, since: int, vocab: int = VOCAB) -> None:
    rows = ours.logits(text, since)
    want = fresh(way, kind, text.since(0))[since - 1 :, :vocab]
    assert rows.shape == (len(text) - since + 1, vocab) and rows.dtype == torch.float64
    assert torch.allclose(rows, want, rtol=1e-9, atol=1e-9)


def test_the_lean_forward_takes_what_it_can():
    assert lean("llama") is not None and lean("llama, tied") is not None
    assert fuse(model("gpt-neox")) is None


@pytest.mark.parametrize("kind", ["llama", "llama, tied"])
def test_the_lean_forward_is_transformers_but_for_norms_in_float32(kind):
    tokens = [i * 7 % VOCAB for i in range(CONTEXT)]
    assert torch.allclose(fresh("lean", kind, tokens), fresh("eager", kind, tokens), rtol=0, atol=1e-5)


def test_the_rows_of_a_random_model_differ():
    """Else a row taken from the wrong place would not be seen."""
    rows = fresh("eager", "llama", [1, 2, 3, 1, 2, 3])
    assert torch.pdist(rows).min() > 1e-3


@ways
@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_calls(way, kind, seed):
    """Grow, rewind, other tails, any width, several commits between two calls, prefill in chunks."""
    r = random.Random(seed)
    ours, committed = session(way, kind), [r.randrange(VOCAB)]
    tail: tuple[int, ...] = ()
    for _ in range(r.randint(0, 3)):
        committed += [r.randrange(VOCAB) for _ in range(r.randint(1, 5))]
        ours.prefill(TokenSequence(committed))
    while len(committed) < CONTEXT - 1:
        left = CONTEXT - len(committed)
        act = r.random()
        if act < 0.35:  # commit a part of the tail, or something else; sometimes twice before the next call
            for _ in range(r.choice((1, 1, 2))):
                new = list(tail[: r.randint(0, len(tail))]) + [r.randrange(VOCAB)] * r.choice((0, 1))
                committed += new[: CONTEXT - len(committed)]
            tail = ()
        elif act < 0.7:  # the tail grows
            tail += tuple(r.randrange(VOCAB) for _ in range(r.randint(1, 4)))
        else:  # the tail goes back and takes another way
            tail = tail[: r.randint(0, len(tail))] + tuple(r.randrange(VOCAB) for _ in range(r.randint(0, 3)))
        tail = tail[: max(0, min(left, CONTEXT - len(committed)))]
        text = TokenSequence(committed, tail)
        check(ours, way, kind, text, r.randint(max(1, len(committed)), len(text)))


@ways
def test_the_same_call_twice_and_ever_earlier(way, kind):
    ours, text = session(way, kind), TokenSequence([3, 1, 4, 1, 5], (9, 2, 6))
    for since in (8, 8, 7, 6, 5, 6, 8):
        check(ours, way, kind, text, since)


@ways
def test_reading_in_chunks_is_reading_at_once(way, kind):
    tokens = [i * 7 % VOCAB for i in range(30)]
    whole, parts, committed = session(way, kind), session(way, kind), []
    whole.prefill(TokenSequence(tokens))
    for begin in range(0, 30, 11):
        committed += tokens[begin : begin + 11]
        parts.prefill(TokenSequence(committed))
    for one in (whole, parts):
        check(one, way, kind, TokenSequence(tokens, (1, 2)), 30)


@ways
def test_two_sessions_over_one_model_do_not_disturb_each_other(way, kind):
    one, other = session(way, kind), session(way, kind)
    for step in range(1, 12):
        check(one, way, kind, TokenSequence([2] * step, (5, 6)), step)
        check(other, way, kind, TokenSequence([i % 5 for i in range(2 * step)], (step,)), 2 * step + 1)


@ways
def test_up_to_the_last_token_of_the_context_and_of_the_capacity(way, kind):
    for capacity in (20, CONTEXT):
        ours, committed = session(way, kind, capacity), [1]
        while len(committed) < capacity:
            room = min(4, capacity - len(committed))
            check(ours, way, kind, TokenSequence(committed, tuple(range(room))), len(committed))
            committed.append(len(committed) % VOCAB)
        check(ours, way, kind, TokenSequence(committed), capacity)


@ways
def test_a_text_longer_than_the_context_is_not_read(way, kind):
    ours = session(way, kind, context=6)
    ours.prefill(TokenSequence([1, 2, 3, 4]))
    ours.prefill(TokenSequence([1, 2, 3, 4, 5, 6, 7]))  # nothing happens: the level will be skipped
    check(ours, way, kind, TokenSequence([1, 2, 3, 4], (5, 6)), 4)


@ways
def test_padding_of_the_vocabulary_is_cut_off(way, kind):
    ours = session(way, kind, vocab=VOCAB - 6)
    check(ours, way, kind, TokenSequence([1, 2, 3], (4, 5)), 3, vocab=VOCAB - 6)
    check(ours, way, kind, TokenSequence([1, 2, 3, 4], ()), 4, vocab=VOCAB - 6)


def test_closing_releases_the_cache_once():
    released = []
    ours = Session("it", forward("eager", "llama", CONTEXT), VOCAB, CONTEXT, release=lambda: released.append(1))
    ours.prefill(TokenSequence([1, 2]))
    assert released == []
    ours.close()
    ours.close()
    assert released == [1]
    with pytest.raises(RuntimeError, match="closed"):
        ours.logits(TokenSequence([1, 2]), 2)
    session("eager", "llama").close()  # without a release: nothing to do


@ways
def test_only_new_tokens_are_fed(way, kind):
    """What is cached is not computed again: the widths that reach the model."""
    fed: list[tuple[int, int]] = []
    run = forward(way, kind, CONTEXT)

    def counted(ids, keep, rows):
        fed.append((len(ids), keep))
        return run(ids, keep, rows)

    ours = Session("it", counted, VOCAB, CONTEXT)
    ours.prefill(TokenSequence([1, 2, 3, 4]))
    check(ours, way, kind, TokenSequence([1, 2, 3, 4]), 4)  # the row of the last token needs that token
    check(ours, way, kind, TokenSequence([1, 2, 3, 4], (5, 6, 7)), 4)
    check(ours, way, kind, TokenSequence([1, 2, 3, 4, 5, 6], (9,)), 6)  # 5 6 were accepted, 7 was not
    check(ours, way, kind, TokenSequence([1, 2, 3, 4, 5, 6], (9, 8)), 8)
    check(ours, way, kind, TokenSequence([1, 2, 3, 4, 5, 6], (2,)), 7)
    assert fed == [(4, 0), (1, 3), (4, 3), (2, 5), (1, 7), (1, 6)]
