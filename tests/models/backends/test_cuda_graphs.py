"""Graph lanes: each width gives the rows of the plain forward, whatever was there before; lanes are reused and freed.

Without a GPU the same steps run unrecorded, in float64.
"""

from __future__ import annotations

import gc
import random
from functools import cache

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPTNeoXConfig, LlamaConfig, Qwen2Config, Qwen3Config

from csd.decoding.methods import LONGEST_DRAFT
from csd.decoding.tokens import TokenSequence
from csd.models import family
from csd.models.backends import cuda_graphs as graphs
from csd.models.backends import eager
from csd.models.session import Session

VOCAB, CONTEXT = 37, 200
SMALL = {
    "vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": CONTEXT,
}  # fmt: skip
CONFIGS = {
    "llama": lambda: LlamaConfig(**SMALL, num_key_value_heads=2),
    "llama, tied": lambda: LlamaConfig(**SMALL, num_key_value_heads=4, tie_word_embeddings=True),
    "qwen2, with biases": lambda: Qwen2Config(**SMALL, num_key_value_heads=2),
    "qwen3, with norms of q and k": lambda: Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8),
    "gpt-neox": lambda: GPTNeoXConfig(**SMALL),
    "gpt2, with learned positions": lambda: GPT2Config(**SMALL),
}
TEXTS = [[(3 * i * i + 5 * i) % VOCAB for i in range(CONTEXT)], [(11 * i + i // 7) % VOCAB for i in range(CONTEXT)]]
kinds = pytest.mark.parametrize("kind", CONFIGS)
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@cache
def model(kind: str, device: str = "cpu"):
    torch.manual_seed(5)
    config = CONFIGS[kind]()
    config._attn_implementation = "sdpa"
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval().requires_grad_(False)
    for weights in made.parameters():  # far from zero, so that every row differs
        torch.nn.init.normal_(weights, 0.2 if weights.dim() == 1 else 0.0, 0.4)
    return made.to(device)


def plain(kind: str, text: list[int], device: str = "cpu") -> torch.Tensor:
    """The oracle: transformers' forward over the whole text, at once and without a cache. [len(text), V]"""
    with torch.inference_mode():
        return model(kind, device)(input_ids=torch.tensor([text], device=device), use_cache=False).logits[0]


def check(run, kind: str, text: list[int], keep: int, rows: int, device: str = "cpu") -> None:
    found = run(text[keep:], keep, rows)
    assert found.shape == (rows, VOCAB)
    # Norms round to float32, and a GPU's kernels add up in another order at another width.
    within = 1e-9 if device == "cpu" else 1e-5
    torch.testing.assert_close(found, plain(kind, text, device)[-rows:], rtol=within, atol=within)


def every_width(run, kind: str, device: str = "cpu") -> None:
    """All counts of ids around each width, over two texts, forwards and then after rewinds."""
    counts = sorted({max(1, width + off) for width in graphs.WIDTHS for off in (-1, 0, 1)})
    for text in TEXTS:
        run(text[:100], 0, 1)
        for count in (*counts, *reversed(counts)):
            check(run, kind, text[: 100 + count], 100, count, device)
        for keep, count in ((64, 8), (3, 4), (0, 2), (0, 130), (71, 1)):
            check(run, kind, text[: keep + count], keep, 1, device)
            run(text[: keep + count], 0, 1)


@kinds
def test_every_width_is_the_plain_forward_twice_and_after_rewinds(kind):
    every_width(graphs.Pool(model(kind), CONTEXT).lane(CONTEXT), kind)


@kinds
def test_a_session_in_any_order_of_calls(kind):
    r = random.Random(3)
    ours = Session("it", graphs.Pool(model(kind), CONTEXT).lane(CONTEXT), VOCAB, CONTEXT)
    text = list(TEXTS[0][:70])
    ours.prefill(TokenSequence(text))
    while len(text) < 110:
        tail = tuple(r.randrange(VOCAB) for _ in range(r.randint(0, 12)))
        since = r.randint(len(text), len(text) + len(tail))
        rows = ours.logits(TokenSequence(text, tail), since)
        torch.testing.assert_close(rows, plain(kind, [*text, *tail])[since - 1 :], rtol=1e-9, atol=1e-9)
        text += [*tail[: r.randint(0, len(tail))], r.randrange(VOCAB)]


@kinds
def test_up_to_the_last_token_that_fits(kind):
    """Where padding reaches beyond the text's end and beyond the positions that the model knows."""
    for capacity in (60, CONTEXT):
        run = graphs.Pool(model(kind), CONTEXT).lane(capacity)
        text = TEXTS[1][:capacity]
        run(text, 0, 1)
        for count in (33, 17, 5, 3, 1, 40):
            check(run, kind, text, capacity - count, count)


def test_a_forward_of_one_width_reads_nothing_but_its_tensors():
    """The number of kept tokens is a tensor: another value gives other rows without another call."""
    lane = graphs.Lane(model("llama"), 256, CONTEXT - 1, {4: graphs.forward}, lambda step: step)
    _, *arguments = lane.call(graphs.forward, 4)
    fed = arguments[1]
    for keep in (0, 4, 8, 4):
        with torch.inference_mode():
            fed.copy_(torch.tensor([keep, *TEXTS[0][keep : keep + 4]]))
            rows = graphs.forward(*arguments)
        torch.testing.assert_close(rows, plain("llama", TEXTS[0][: keep + 4])[keep:], rtol=1e-9, atol=1e-9)


def test_rows_beyond_the_widest_come_from_one_pass():
    text, run = TEXTS[0][:150], graphs.Pool(model("llama"), CONTEXT).lane(CONTEXT)
    check(run, "llama", text[:20], 0, 1)
    check(run, "llama", text, 20, 130)


def test_the_longest_draft_fits_the_widest():
    assert LONGEST_DRAFT < graphs.WIDTHS[-1]
    assert sorted(graphs.FIRST) == list(graphs.WIDTHS)


def test_room_for_the_text_and_the_padding():
    for capacity in (1, 192, 193, 194, graphs.READY, 4096):
        slots = graphs._slots(capacity)
        assert (
            slots % graphs.BUCKET == 0
            and capacity + graphs.WIDTHS[-1] - 1 <= slots < capacity + graphs.WIDTHS[-1] + graphs.BUCKET
        )
    assert graphs._slots(graphs.READY) == 1024


# --- the pool ------------------------------------------------------------------------------------------------------


def test_lanes_come_back_and_are_given_out_clean(monkeypatch):
    made = []
    monkeypatch.setattr(graphs, "recorder", lambda stream: made.append(stream) or (lambda step: step))
    pool = graphs.Pool(model("llama"), CONTEXT)
    pool.fill(2)
    assert len(made) == 2
    one, other = pool.lane(CONTEXT), pool.lane(10)
    check(one, "llama", TEXTS[0][:50], 0, 50)
    check(other, "llama", TEXTS[1][:50], 0, 50)
    check(one, "llama", TEXTS[0][:53], 50, 3)  # the other lane changed nothing
    assert len(made) == 2
    third = pool.lane(CONTEXT)  # more than were ready
    assert len(made) == 3
    del one, other, third
    again = [pool.lane(CONTEXT) for _ in range(3)]
    assert len(made) == 3
    for run in again:
        check(run, "llama", TEXTS[1][:9], 0, 9)


def test_what_is_not_a_number_does_not_outlive_its_text():
    pool = graphs.Pool(model("llama"), CONTEXT)
    pool.fill(1)
    with torch.inference_mode():
        pool._free[0]._values[0].fill_(torch.nan)
    check(pool.lane(CONTEXT), "llama", TEXTS[0][:9], 0, 9)


def test_a_longer_text_gets_a_lane_of_its_own(monkeypatch):
    monkeypatch.setattr(graphs, "READY", 40)
    pool = graphs.Pool(model("llama"), CONTEXT)
    pool.fill(1)
    long = pool.lane(CONTEXT)
    assert len(pool._free) == 1
    check(long, "llama", TEXTS[0], 0, 1)
    del long
    assert len(pool._free) == 1


# --- what does not work --------------------------------------------------------------------------------------------


def test_where_recording_fails_the_plain_forward_runs_and_a_note_says_so(monkeypatch):
    def broken(stream):
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(graphs, "recorder", broken)
    lane, notes = graphs.ready("target", model("llama"), CONTEXT, 1)
    assert notes == (
        "target runs without CUDA graphs, which makes it slower: operation not permitted when stream is capturing",
    )
    assert lane.func is eager.lane
    check(lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50)


def test_a_lane_with_wrong_rows_is_not_used(monkeypatch):
    def off_by_one(model, fed, keys, values, last, rows=0):
        return graphs_forward(model, torch.cat([fed[:1] + 1, fed[1:]]), keys, values, last, rows)

    graphs_forward = graphs.forward
    monkeypatch.setattr(graphs, "forward", off_by_one)
    lane, notes = graphs.ready("target", model("llama"), CONTEXT, 1)
    assert lane.func is eager.lane
    assert "its rows are not those of the plain forward" in notes[0]


def test_the_note_reaches_the_family(monkeypatch):
    monkeypatch.setattr(family, "_lane", lambda name, weights, context: (lambda capacity: quiet, (f"{name}: a note",)))
    lanes, notes = family.runners({"draft": None, "target": None}, {"draft": 9, "target": 9})
    assert list(lanes) == ["draft", "target"]
    assert notes == ("draft: a note", "target: a note")


def quiet(ids, keep, rows):
    return torch.zeros(rows, VOCAB)


# --- compiling -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compiled_forwards_serve_all_lanes_of_their_size(monkeypatch):
    """One trace for each width, none for a second lane; widths that time does not allow are padded or stay as they are."""
    torch._dynamo.reset()
    traced = []

    def backend(module, inputs):
        traced.append(module)
        return module.forward

    monkeypatch.setattr(graphs, "COMPILING", -1.0)
    lanes = [graphs.Lane(model("llama"), 256, CONTEXT - 1, {}, lambda step: step) for _ in range(2)]
    assert list(graphs.compiled(lanes[0], backend)) == list(graphs.WIDTHS)
    assert len(traced) == 1
    monkeypatch.setattr(graphs, "COMPILING", 1e9)
    monkeypatch.setattr(graphs, "FIRST", (1, 8))
    forwards = graphs.compiled(lanes[0], backend)
    assert list(forwards) == [1, 8, 16, 32, 64, 80] and forwards[16] is graphs.forward is not forwards[8]
    assert len(traced) == 2
    for _ in lanes:
        every_width(graphs.Lane(model("llama"), 256, CONTEXT - 1, forwards, lambda step: step), "llama")
    assert len(traced) == 2


# --- a GPU ---------------------------------------------------------------------------------------------------------


@gpu
@kinds
def test_each_recorded_width_is_the_plain_forward(kind):
    pool = graphs.Pool(model(kind, "cuda"), CONTEXT)
    pool.fill(2)
    runs = [pool.lane(CONTEXT) for _ in range(2)]
    for run in (*runs, runs[0]):
        every_width(run, kind, "cuda")


@gpu
def test_steps_are_recorded():
    lane = graphs.Pool(model("llama", "cuda"), CONTEXT)._made(CONTEXT, dict.fromkeys(graphs.WIDTHS, graphs.forward))
    assert all(isinstance(step, graphs.Replay) for step in lane._steps.values())


@gpu
def test_compiled_graphs_are_the_plain_forward():
    lane, notes = graphs.ready("target", model("llama", "cuda"), CONTEXT, 2)
    assert notes == ()
    every_width(lane(CONTEXT), "llama", "cuda")
    every_width(lane(CONTEXT), "llama", "cuda")


@gpu
def test_the_memory_of_a_lane_is_freed_with_it():
    pool = graphs.Pool(model("llama", "cuda"), CONTEXT)
    pool.fill(1)
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        long = pool.lane(100_000)
        assert torch.cuda.memory_allocated() > before + 2**24
        del long
        gc.collect()
        assert torch.cuda.memory_allocated() == before


@gpu
def test_a_copy_that_waits_is_not_overwritten():
    """Calls without a look at their rows: each text still reaches the device."""
    run, text = graphs.Pool(model("llama", "cuda"), CONTEXT).lane(CONTEXT), TEXTS[0][:40]
    for place, token in enumerate(text):
        run([token], place, 1)
    check(run, "llama", [*text, 1, 2], 40, 2, "cuda")


@gpu
def test_a_capture_that_fails_leaves_the_device_in_order(monkeypatch):
    def looks(model, fed, keys, values, last, rows=0):
        rows = graphs_forward(model, fed, keys, values, last, rows)
        rows.argmax().item()  # waits for the device, which no graph may
        return rows

    graphs_forward = graphs.forward
    monkeypatch.setattr(graphs, "forward", looks)
    monkeypatch.setattr(graphs.Pool, "compile", lambda self: None)
    lane, notes = graphs.ready("target", model("llama", "cuda"), CONTEXT, 1)
    assert "runs without CUDA graphs" in notes[0]
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    check(lane(CONTEXT), "llama", TEXTS[0][:50], 0, 50, "cuda")
