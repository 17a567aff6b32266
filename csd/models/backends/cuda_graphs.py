"""The transformers forward over static tensors, captured as CUDA graphs: a pass costs one launch instead of hundreds.

A pass has one of a few fixed widths. Ids are padded up to the next width; what the padding writes lies after the text,
where the mask hides it and the next pass overwrites it. More ids than the widest pass holds are fed in several passes.
Without a GPU the same passes run uncaptured.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel

from csd.decoding.choice import Chooser, top_two
from csd.models.backends.capture import Capture, CaptureError
from csd.models.backends.eager import InPlaceLayer
from csd.models.backends.graph_chains import Chains

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 80)  # the last one for drafts of 64 tokens and the tokens before them


Pass = Callable[[], tuple[Tensor, Tensor]]
"""A pass of one width over a lane's buffers: logits, [width, V], and what greedy decoding chooses, [width, 3]."""


class StaticForward(Protocol):
    """`forward` below, plain or compiled."""

    def __call__(
        self, model: PreTrainedModel, fed: Tensor, keys: list[Tensor], values: list[Tensor], last_position: int
    ) -> Tensor: ...


class StaticLayer(DynamicLayer):
    """Keys and values of one layer in buffers of fixed size, written at `positions`; attention gets all of them."""

    keys: Tensor
    values: Tensor

    def __init__(self, keys: Tensor, values: Tensor, positions: Tensor):
        super().__init__()
        self.keys, self.values, self.positions = keys, values, positions
        self.dtype, self.device, self.is_initialized = keys.dtype, keys.device, True

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        self.keys.index_copy_(2, self.positions, key_states)
        self.values.index_copy_(2, self.positions, value_states)
        return self.keys, self.values

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.keys.shape[2], 0

    def get_seq_length(self) -> Any:
        return self.positions[0]


def forward(
    model: PreTrainedModel, fed: Tensor, keys: list[Tensor], values: list[Tensor], last_position: int
) -> Tensor:
    """One pass that reads nothing but its tensors; the logits of all ids, [width, V].

    `fed` is [1 + width]: how many cached tokens to keep, then the ids. The buffers of each layer are
    [1, heads, slots, head_dim]. `last_position` is the last position that the model knows.
    """
    keep, ids = fed[0], fed[1:]
    positions = keep + torch.arange(len(ids), device=fed.device)
    seen = torch.arange(keys[0].shape[2], device=fed.device) <= positions[:, None]
    # As numbers, once: attention would convert a mask of booleans in every layer.
    mask = torch.zeros_like(seen, dtype=keys[0].dtype).masked_fill_(~seen, -torch.inf)
    cache = Cache(layers=[StaticLayer(key, value, positions) for key, value in zip(keys, values, strict=True)])
    return model(
        input_ids=ids[None],
        attention_mask=mask[None, None],
        position_ids=positions.clamp(max=last_position)[None],  # padding may lie beyond what the model knows
        past_key_values=cache,
        use_cache=True,
    ).logits[0]


class GraphLane:
    """A model with the buffers of one lane, and passes that read and write them.

    `slots` is the length of the buffers, `passes` holds what was recorded, by width. A lane shares no memory with
    others, so that it can be freed by itself.
    """

    @torch.inference_mode()
    def __init__(self, model: PreTrainedModel, slots: int, last_position: int, capture: Capture):
        self.slots, self._model, self._last_position, self._capture = slots, model, last_position, capture
        cuda = model.device.type == "cuda"
        # Zeros, because a hidden slot gets weight 0, and 0 x NaN would still be NaN.
        self._keys, self._values = (
            [one.new_zeros(1, one.shape[1], slots, one.shape[3]) for one in layers] for layers in _sample_cache(model)
        )
        self._fed = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, device=model.device)
        self._host_fed = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, pin_memory=cuda)
        self._host_numbers = self._host_fed.numpy()
        self._copied = torch.cuda.Event() if cuda else None
        self._memory = capture.new_memory()
        self.passes: dict[int, Pass] = {}
        self.chains: Chains | None = None
        self.choice: Tensor | None = None
        self._end = 0  # where the next token goes if `follow` feeds it

    @torch.inference_mode()
    def record(self, width: int, static_forward: StaticForward) -> None:
        """Record the pass of this width. Raises whatever goes wrong; then the lane keeps the one that it has."""
        try:
            self.passes[width] = self._capture(partial(_pass, static_forward, *self._arguments(width)), self._memory)
        except CaptureError:
            self._memory = self._capture.new_memory()  # the other one may be taken for in use
            raise

    @torch.inference_mode()
    def record_chains(self, static_forward: StaticForward) -> None:
        """Record chains of the narrowest pass. Raises whatever goes wrong; then the lane keeps what it has."""
        width = min(self.passes)
        self._fed.zero_()  # recording runs passes: they write at the beginning of the buffers
        step = partial(static_forward, *self._arguments(width))
        try:
            self.chains = Chains(step, self._fed[:2], self._capture, self._memory)
        except CaptureError:
            self._memory = self._capture.new_memory()
            raise

    @torch.inference_mode()
    def run_plain(self, width: int, static_forward: StaticForward) -> Tensor:
        """One pass of this width over the buffers as they are, not captured. [width, V]"""
        return static_forward(*self._arguments(width))

    def _arguments(self, width: int) -> tuple[PreTrainedModel, Tensor, list[Tensor], list[Tensor], int]:
        """Those of `forward`: what a pass of this width reads. A captured graph, which knows addresses, keeps them."""
        return self._model, self._fed[: 1 + width], self._keys, self._values, self._last_position

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`. Of several passes the last one is full, so that up to a full pass of rows needs no copy."""
        widest, first, found = max(self.passes), len(ids) - rows, []
        ends = range(len(ids) % widest or widest, len(ids) + 1, widest) if len(ids) > widest else (len(ids),)
        start = 0
        for end in ends:
            width = min(width for width in self.passes if width >= end - start)
            logits, choice = self._run_pass(width, ids[start:end], keep + start)
            if end > first:
                wanted = slice(max(0, first - start), end - start)
                part = logits[wanted], choice[wanted]
                found.append(part if end == len(ids) else tuple(rows.clone() for rows in part))  # overwritten next
            start = end
        self._end = keep + len(ids)
        logits, self.choice = found[0] if len(found) == 1 else (torch.cat(parts) for parts in zip(*found))
        return logits

    @torch.inference_mode()
    def follow(self, token: Tensor) -> Tensor:
        """Feed one token, a tensor of one number on the device, after those fed last. [1, V]"""
        self._place(token)
        self._end += 1
        logits, choice = self.passes[min(self.passes)]()
        self.choice = choice[:1]
        return logits[:1]

    @torch.inference_mode()
    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        """Feed one token like `follow`, and up to `most` - 1 tokens that the device chooses, see `FollowingLane`."""
        if not self.chains:
            return None
        self._place(token)
        written, self.choice = self.chains.run(most, chooser, self._end + 1), None
        self._end += len(written)
        return written

    def _place(self, token: Tensor) -> None:
        """Make this token, which is on the device, the one that the next pass feeds."""
        self._fed[0].fill_(self._end)
        self._fed[1:2].copy_(token)

    @torch.inference_mode()
    def run_at(self, width: int, ids: list[int], keep: int) -> Tensor:
        """The pass of this width over up to so many ids. [width, V], overwritten by the next pass."""
        return self._run_pass(width, ids, keep)[0]

    def _run_pass(self, width: int, ids: list[int], keep: int) -> tuple[Tensor, Tensor]:
        if self._copied:
            self._copied.synchronize()  # the copy before this one may still be waiting for the device
        self._host_numbers[: 1 + len(ids)] = (keep, *ids)
        self._fed.copy_(self._host_fed, non_blocking=True)
        if self._copied:
            self._copied.record(torch.cuda.current_stream(self._fed.device))
        return self.passes[width]()

    @torch.inference_mode()
    def clear(self) -> None:
        """Forget the text."""
        for buffer in (*self._keys, *self._values):
            buffer.zero_()


def _pass(static_forward: StaticForward, *arguments: Any) -> tuple[Tensor, Tensor]:
    """A `Pass`, uncaptured; the arguments are those of `forward`."""
    logits = static_forward(*arguments)
    return logits, top_two(logits)


@torch.inference_mode()
def _sample_cache(model: PreTrainedModel) -> tuple[list[Tensor], list[Tensor]]:
    """Keys and values of one token, [1, heads, 1, head_dim] for each layer: they show shapes, dtype and device."""
    layers = [InPlaceLayer(1) for _ in range(model.config.get_text_config().num_hidden_layers)]
    model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=model.device), past_key_values=Cache(layers=[*layers]))
    return [layer.keys for layer in layers], [layer.values for layer in layers]
