"""transformers' own ways to decode, with a family's weights: the baselines of a benchmark.

All of them decode greedily. Times are taken where tokens reach the host: the first block ends prefill, and decoding
lasts from there to the last block.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from transformers import CompileConfig, GenerationConfig, PreTrainedModel, StaticCache
from transformers.generation.streamers import BaseStreamer
from transformers.utils import logging

from csd.bench.plan import Entry
from csd.bench.timed_run import Decoded

if TYPE_CHECKING:
    from csd.models.family import Family

CACHE_STEP = 256  # tokens: static caches are a multiple of this, so that few shapes are compiled
LOOKUP = 10  # tokens that prompt lookup copies
ASSISTED = (5, 20)  # tokens per draft of assisted generation
COMPILED_LOOP = "transformers-compiled-loop"  # the id of the baseline that runs on request only

Decode = Callable[[Sequence[int], int, frozenset[int]], Decoded]
"""(ids of the prompt, new tokens at most, ids that end a text) to what was written."""


@dataclass(frozen=True)
class Baseline:
    """One of transformers' ways to decode.

    `compiles`: the first call for each of `cache_sizes` compiles, which must not be timed.
    """

    entry: Entry
    decode: Decode = field(compare=False)
    compiles: bool = False

    @property
    def title(self) -> str:
        return self.entry.title


def make_baselines(family: Family, compiled_loop: bool = False) -> tuple[Baseline, ...]:
    """Every baseline of a family; `compiled_loop` adds a loop like gpt-fast's, which compiles the forward pass."""
    logging.set_verbosity_error()  # `generate` warns about its own inner calls in each round
    target = family.reference("target")
    plain = Entry("transformers-eager", "transformers, eager", token_by_token=True)
    static = Entry("transformers-static-cache", "transformers, static cache, compiled", token_by_token=True)
    found = [Baseline(plain, partial(_generate, target)), Baseline(static, partial(_static, target, {}), compiles=True)]
    for draft in family.spec.without_copies().drafts:
        model = family.reference(draft.name)
        for k in ASSISTED:
            assisted = Entry(f"transformers-assisted-{draft.name}-{k}", f"transformers, assisted, {draft.name}, {k}")
            found.append(Baseline(assisted, partial(_assisted, target, model, k)))
    lookup = Entry(f"transformers-prompt-lookup-{LOOKUP}", f"transformers, prompt lookup, {LOOKUP}")
    found.append(Baseline(lookup, partial(_generate, target, prompt_lookup_num_tokens=LOOKUP)))
    if compiled_loop:
        loop = Entry(COMPILED_LOOP, "compiled loop, static cache", token_by_token=True)
        found.append(Baseline(loop, CompiledLoop(target), compiles=True))
    return tuple(found)


def cache_sizes(lengths: Sequence[int]) -> dict[int, int]:
    """The sizes of static cache, in steps, that texts of these lengths need; for each the index of one such text."""
    return {-(-length // CACHE_STEP): i for i, length in reversed(list(enumerate(lengths)))}


class Clock(BaseStreamer):
    """Records when each block of tokens reaches the host. `generate` passes the prompt first."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.prompt_seen = False
        self.tokens: list[int] = []
        self.blocks: list[tuple[int, float]] = []

    def put(self, value: torch.Tensor) -> None:
        if not self.prompt_seen:
            self.prompt_seen = True
            return
        new = value.flatten().tolist()
        self.blocks.append((len(new), time.perf_counter() - self.started))
        self.tokens += new

    def end(self) -> None:
        pass

    @property
    def decoded(self) -> Decoded:
        return Decoded(tuple(self.tokens), tuple(self.blocks))


def _generate(model: Any, ids: Sequence[int], max_new: int, eos: frozenset[int], **more: Any) -> Decoded:
    """`generate`, greedy, with further options of one baseline."""
    ends = sorted(eos)
    options = {name: more.pop(name) for name in ("prompt_lookup_num_tokens", "compile_config") if name in more}
    config = GenerationConfig(
        do_sample=False,
        max_new_tokens=max_new,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
        repetition_penalty=1.0,
        **options,
    )
    if model.config.is_encoder_decoder:  # the last id is the decoder's first
        ids, config.decoder_start_token_id = ids[:-1], ids[-1]
    fed = torch.tensor([list(ids)], device=model.device)
    with torch.inference_mode(), _own_defaults(model), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clock = Clock()
        model.generate(fed, attention_mask=torch.ones_like(fed), generation_config=config, streamer=clock, **more)
    return clock.decoded


def _static(
    model: PreTrainedModel, caches: dict[int, StaticCache], ids: Sequence[int], max_new: int, eos: frozenset[int]
) -> Decoded:
    """A static cache and the compiled forward pass; on a CPU `generate` compiles only when it is told to."""
    config = CompileConfig(dynamic=False, mode=_mode(model))
    config._compile_all_devices = True  # pyright: ignore[reportAttributeAccessIssue]
    cache = _cache(model, caches, len(ids) + max_new)
    return _generate(model, ids, max_new, eos, past_key_values=cache, compile_config=config)


def _assisted(
    model: PreTrainedModel, draft: PreTrainedModel, k: int, ids: Sequence[int], max_new: int, eos: frozenset[int]
) -> Decoded:
    """Assisted generation with a constant number of drafted tokens; the draft's own settings are restored."""
    plain = GenerationConfig(
        num_assistant_tokens=k, num_assistant_tokens_schedule="constant", assistant_confidence_threshold=0.0
    )
    with _own_defaults(draft, plain):
        return _generate(model, ids, max_new, eos, assistant_model=draft)


class CompiledLoop:
    """A loop over the compiled forward pass and a static cache, as in gpt-fast; prefill is not compiled."""

    def __init__(self, model: PreTrainedModel):
        self.model = model
        self.caches: dict[int, StaticCache] = {}
        self.forward = torch.compile(self._next, dynamic=False, mode=_mode(model))

    @torch.inference_mode()
    def __call__(self, ids: Sequence[int], max_new: int, eos: frozenset[int]) -> Decoded:
        started = time.perf_counter()
        cache = _cache(self.model, self.caches, len(ids) + max_new)
        position = torch.arange(len(ids), device=self.model.device)[None]
        token = self._next(torch.tensor([list(ids)], device=self.model.device), position, cache)
        position = position[:, -1:].clone()
        tokens, blocks = [], []
        while True:
            tokens.append(int(token))
            blocks.append((1, time.perf_counter() - started))
            if len(tokens) == max_new or tokens[-1] in eos:
                return Decoded(tuple(tokens), tuple(blocks))
            position += 1
            token = self.forward(token, position, cache).clone()  # a captured graph overwrites what it returned

    def _next(self, ids: torch.Tensor, position: torch.Tensor, cache: StaticCache) -> torch.Tensor:
        """The most likely next token, [1, 1]."""
        out = self.model(input_ids=ids, position_ids=position, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1:].argmax(-1)


def _mode(model: PreTrainedModel) -> str:
    """How torch.compile works: with CUDA graphs on a GPU."""
    return "reduce-overhead" if model.device.type == "cuda" else "default"


@torch.inference_mode()
def _cache(model: PreTrainedModel, caches: dict[int, StaticCache], tokens: int) -> StaticCache:
    """An empty static cache with room for `tokens`, one per size: its address stays, so nothing is compiled again.

    Raises ValueError for an encoder-decoder, whose prompts would each need a cache of their own length.
    """
    if model.config.is_encoder_decoder:
        raise ValueError("static caches are for decoder-only models.")
    size = -(-tokens // CACHE_STEP) * CACHE_STEP
    if size not in caches:
        caches[size] = StaticCache(config=model.config, max_cache_len=size)
    caches[size].reset()
    return caches[size]


@contextmanager
def _own_defaults(model: PreTrainedModel, config: GenerationConfig | None = None) -> Iterator[None]:
    """Set a model's generation config aside: what its authors chose (penalties, sampling) must not be measured."""
    before = model.generation_config
    model.generation_config = config or GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = before
