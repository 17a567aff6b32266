"""transformers' own ways to decode, over a family's weights: what the project's methods are measured against.

All of them decode greedily. The time of a peer is taken where its tokens reach the host: the first block ends prefill,
and decoding runs from there to the last block.
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

if TYPE_CHECKING:
    from csd.models.family import Family

BUCKET = 256  # tokens: static caches are a multiple of it, so that few shapes are compiled
LOOKUP = 10
ASSISTED = (5, 20)
LOOP = "compiled loop, static cache"  # runs on request only


@dataclass(frozen=True)
class Decoded:
    """What a peer wrote: the tokens, and for each block that came how many tokens it had and when, in seconds.

    Times count from the call; the first block is the end of prefill (in assisted generation it is already reviewed).
    """

    tokens: tuple[int, ...]
    blocks: tuple[tuple[int, float], ...]

    @property
    def prefill(self) -> float:
        return self.blocks[0][1]

    @property
    def counted(self) -> int:
        """The tokens behind the first block: those that `seconds` is the time of."""
        return len(self.tokens) - self.blocks[0][0]

    @property
    def seconds(self) -> float:
        """Seconds from the first block to the last."""
        return self.blocks[-1][1] - self.blocks[0][1]


@dataclass(frozen=True)
class Peer:
    """One of transformers' ways: `decode(ids, new tokens, eos)`. `plain`: it decodes one token at a time.

    `compiles`: the first call in each of `buckets` compiles, so it belongs before anything is timed.
    """

    title: str
    plain: bool
    compiles: bool
    decode: Callable[[Sequence[int], int, frozenset[int]], Decoded] = field(compare=False)


def peers(family: Family, compiled: bool = False) -> tuple[Peer, ...]:
    """Every peer of a family; `compiled` adds a loop like gpt-fast's, over the compiled forward and a static cache."""
    logging.set_verbosity_error()  # `generate` warns about its own inner calls at each round
    target = family.models["target"]
    found = [
        Peer("transformers, eager", True, False, partial(_generate, target)),
        Peer("transformers, static cache, compiled", True, True, partial(_static, target, {})),
    ]
    for draft in family.draft_names:
        for count in ASSISTED:
            decode = partial(_assisted, target, family.models[draft], count)
            found.append(Peer(f"transformers, assisted, {draft}, {count}", False, False, decode))
    lookup = partial(_generate, target, prompt_lookup_num_tokens=LOOKUP)
    found.append(Peer(f"transformers, prompt lookup, {LOOKUP}", False, False, lookup))
    if compiled:
        found.append(Peer(LOOP, True, True, Loop(target)))
    return tuple(found)


class Clock(BaseStreamer):
    """Takes down when each block of tokens reaches the host. `generate` hands over the prompt first."""

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


def _generate(model: PreTrainedModel, ids: Sequence[int], max_new: int, eos: frozenset[int], **more: Any) -> Decoded:
    """`generate`, greedy, with whatever else a peer sets."""
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
    fed = torch.tensor([list(ids)], device=model.device)
    with torch.inference_mode(), _own_defaults(model), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clock = Clock()
        model.generate(fed, attention_mask=torch.ones_like(fed), generation_config=config, streamer=clock, **more)
    return clock.decoded


def _static(
    model: PreTrainedModel, caches: dict[int, StaticCache], ids: Sequence[int], max_new: int, eos: frozenset[int]
) -> Decoded:
    """A static cache and the compiled forward; on a CPU `generate` compiles only when it is told to."""
    config = CompileConfig(dynamic=False, mode=_mode(model))
    config._compile_all_devices = True
    cache = _cache(model, caches, len(ids) + max_new)
    return _generate(model, ids, max_new, eos, past_key_values=cache, compile_config=config)


def _assisted(
    model: PreTrainedModel, draft: PreTrainedModel, count: int, ids: Sequence[int], max_new: int, eos: frozenset[int]
) -> Decoded:
    """Assisted generation with a constant number of drafted tokens; the draft's own settings are put back."""
    plain = GenerationConfig(
        num_assistant_tokens=count, num_assistant_tokens_schedule="constant", assistant_confidence_threshold=0.0
    )
    with _own_defaults(draft, plain):
        return _generate(model, ids, max_new, eos, assistant_model=draft)


class Loop:
    """The compiled forward over a static cache in a loop of its own, as in gpt-fast; prefill is not compiled."""

    def __init__(self, model: PreTrainedModel):
        self.model = model
        self.caches: dict[int, StaticCache] = {}
        self.forward = torch.compile(self._next, dynamic=False, mode=_mode(model))

    @torch.inference_mode()
    def __call__(self, ids: Sequence[int], max_new: int, eos: frozenset[int]) -> Decoded:
        started = time.perf_counter()
        cache = _cache(self.model, self.caches, len(ids) + max_new)
        place = torch.arange(len(ids), device=self.model.device)[None]
        token = self._next(torch.tensor([list(ids)], device=self.model.device), place, cache)
        place = place[:, -1:].clone()
        tokens, blocks = [], []
        while True:
            tokens.append(int(token))
            blocks.append((1, time.perf_counter() - started))
            if len(tokens) == max_new or tokens[-1] in eos:
                return Decoded(tuple(tokens), tuple(blocks))
            place += 1
            token = self.forward(token, place, cache).clone()  # a captured graph overwrites what it returned

    def _next(self, ids: torch.Tensor, place: torch.Tensor, cache: StaticCache) -> torch.Tensor:
        """The most likely next token, [1, 1]."""
        out = self.model(input_ids=ids, position_ids=place, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1:].argmax(-1)


def _mode(model: PreTrainedModel) -> str:
    """CUDA graphs where there is a GPU."""
    return "reduce-overhead" if model.device.type == "cuda" else "default"


@torch.inference_mode()
def _cache(model: PreTrainedModel, caches: dict[int, StaticCache], tokens: int) -> StaticCache:
    """An empty static cache with room for `tokens`, one for each bucket: its address stays, so nothing is compiled anew."""
    size = -(-tokens // BUCKET) * BUCKET
    if size not in caches:
        caches[size] = StaticCache(config=model.config, max_cache_len=size)
    caches[size].reset()
    return caches[size]


@contextmanager
def _own_defaults(model: PreTrainedModel, config: GenerationConfig | None = None) -> Iterator[None]:
    """Sets a model's generation config aside: what its authors chose (penalties, sampling) is not to be measured."""
    before = model.generation_config
    model.generation_config = config or GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = before


def buckets(lengths: Sequence[int]) -> dict[int, int]:
    """For each size of static cache that texts of these lengths need, the place of one such text."""
    return {-(-length // BUCKET): place for place, length in reversed(list(enumerate(lengths)))}
