"""The transformers forward over static tensors, captured as CUDA graphs: a pass costs one launch instead of hundreds.

A pass has one of a few fixed widths. Ids are padded up to the next width; what the padding writes lies after the text,
where the mask hides it and the next pass overwrites it. Without a GPU the same passes run uncaptured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel

from csd.decoding.choice import top_two
from csd.models.backends.eager import InPlaceLayer

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 80)  # the last one for drafts of 64 tokens and the tokens before them


class StaticForward(Protocol):
    """`forward` below, plain or compiled."""

    def __call__(
        self,
        model: PreTrainedModel,
        fed: Tensor,
        keys: list[Tensor],
        values: list[Tensor],
        last_position: int,
        rows: int = 0,
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
    model: PreTrainedModel, fed: Tensor, keys: list[Tensor], values: list[Tensor], last_position: int, rows: int = 0
) -> Tensor:
    """One pass that reads nothing but its tensors. Logits of the last `rows` ids, [rows, V]; 0: of all ids.

    `fed` is [1 + width]: how many cached tokens to keep, then the ids. The buffers of each layer are
    [1, heads, slots, head_dim]. `last_position` is the last position that the model knows.
    """
    keep, ids = fed[0], fed[1:]
    positions = keep + torch.arange(len(ids), device=fed.device)
    mask = torch.arange(keys[0].shape[2], device=fed.device) <= positions[:, None]
    cache = Cache(layers=[StaticLayer(key, value, positions) for key, value in zip(keys, values, strict=True)])
    return model(
        input_ids=ids[None],
        attention_mask=mask[None, None],
        position_ids=positions.clamp(max=last_position)[None],  # padding may lie beyond what the model knows
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=rows,
    ).logits[0]


class GraphLane:
    """A model with the buffers of one lane, and a captured graph for each width that reads and writes them.

    `slots` is the length of the buffers, `forwards` the forward for each width. `stream` is where graphs are captured;
    None, without a GPU: passes run uncaptured.
    """

    @torch.inference_mode()
    def __init__(
        self,
        model: PreTrainedModel,
        slots: int,
        last_position: int,
        forwards: Mapping[int, StaticForward],
        stream: torch.cuda.Stream | None,
    ):
        self._model, self._last_position, cuda = model, last_position, model.device.type == "cuda"
        # Zeros, because a hidden slot gets weight 0, and 0 x NaN would still be NaN.
        self._keys, self._values = (
            [one.new_zeros(1, one.shape[1], slots, one.shape[3]) for one in layers] for layers in _sample_cache(model)
        )
        self._fed = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, device=model.device)
        self._host_fed = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, pin_memory=cuda)
        self._host_numbers = self._host_fed.numpy()
        self._copied = torch.cuda.Event() if cuda else None
        self._forwards = dict(sorted(forwards.items()))
        self._graphs = self._capture_all(stream) if stream else {}
        self.choice: Tensor | None = None
        self._end = 0  # where the next token goes if `follow` feeds it

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        count = len(ids)
        self.choice, self._end = None, keep + count
        width = next((width for width in self._forwards if width >= count), None)
        if width is None:
            fed = torch.tensor([keep, *ids], device=self._fed.device)
            return forward(self._model, fed, self._keys, self._values, self._last_position, rows)[-rows:]
        if self._copied:
            self._copied.synchronize()  # the copy before this one may still be waiting for the device
        self._host_numbers[: 1 + count] = (keep, *ids)
        self._fed.copy_(self._host_fed, non_blocking=True)
        if self._copied:
            self._copied.record(torch.cuda.current_stream(self._fed.device))
        return self._pass(width, count - rows, count)

    @torch.inference_mode()
    def follow(self, token: Tensor) -> Tensor:
        """Feed one token, a tensor of one number on the device, after those fed last. [1, V]"""
        self._fed[0].fill_(self._end)
        self._fed[1:2].copy_(token)
        self._end += 1
        return self._pass(min(self._forwards), 0, 1)

    def _pass(self, width: int, first: int, last: int) -> Tensor:
        """One pass over what `_fed` contains, and its rows from `first` up to `last`."""
        graph = self._graphs.get(width)
        logits, choice = graph.replay() if graph else self._choosing_pass(width)
        self.choice = choice[first:last]
        return logits[first:last]

    def _choosing_pass(self, width: int) -> tuple[Tensor, Tensor]:
        """The logits of a pass, [width, V], and what greedy decoding chooses from them, [width, 3]."""
        logits = self.forward_at(width, self._forwards[width])
        return logits, top_two(logits)

    def forward_at(self, width: int, static_forward: StaticForward) -> Tensor:
        """One pass over the buffers at this width. [width, V]"""
        return static_forward(self._model, self._fed[: 1 + width], self._keys, self._values, self._last_position)

    @torch.inference_mode()
    def clear(self) -> None:
        """Forget the text."""
        for buffer in (*self._keys, *self._values):
            buffer.zero_()

    def _capture_all(self, stream: torch.cuda.Stream) -> dict[int, CapturedPass]:
        """A graph for each width, widest first, since narrower ones fit into its memory.

        The graphs of a lane share memory: each one starts from what `_fed` and the buffers contain, never from what
        another one left behind, and its logits stay allocated. Lanes share no memory, so a lane is freed completely.
        """
        memory = torch.cuda.graph_pool_handle()
        return {width: self._capture(width, stream, memory) for width in reversed(self._forwards)}

    def _capture(self, width: int, stream: torch.cuda.Stream, memory: Any) -> CapturedPass:
        # A graph knows addresses only. All it reads lives in the lane: weights, `_fed`, buffers, the forward.
        stream.wait_stream(torch.cuda.current_stream(stream.device))
        with torch.cuda.stream(stream):  # returns to the previous stream, also if capturing fails
            for _ in range(3):  # kernels are selected, workspaces allocated
                self._choosing_pass(width)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=memory, stream=stream, capture_error_mode="thread_local"):
                logits, choice = self._choosing_pass(width)
            stream.synchronize()
        return CapturedPass(graph, logits, choice)


@dataclass(frozen=True, eq=False, repr=False)
class CapturedPass:
    """A captured graph, and the logits and choices that each replay overwrites."""

    graph: torch.cuda.CUDAGraph
    logits: Tensor
    choice: Tensor

    def replay(self) -> tuple[Tensor, Tensor]:
        self.graph.replay()
        return self.logits, self.choice


@torch.inference_mode()
def _sample_cache(model: PreTrainedModel) -> tuple[list[Tensor], list[Tensor]]:
    """Keys and values of one token, [1, heads, 1, head_dim] for each layer: they show shapes, dtype and device."""
    layers = [InPlaceLayer(1) for _ in range(model.config.get_text_config().num_hidden_layers)]
    model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=model.device), past_key_values=Cache(layers=[*layers]))
    return [layer.keys for layer in layers], [layer.values for layer in layers]
