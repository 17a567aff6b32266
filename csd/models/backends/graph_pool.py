"""A pool of lanes with captured graphs: made and checked before a race, lent to it, and given back after it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter

import torch
from torch import Tensor
from transformers import PreTrainedModel

from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, StaticForward, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.interface import Backend, ForwardFn
from csd.models.messages import first_line

COMPILE_ORDER = (1, 8, 80, 2, 16, 4, 32, 64)  # widths; from the third on all others can be padded up to one
COMPILE_SECONDS = 120.0  # after which no further width of a model is compiled
BUCKET = 256  # slots of a lane come in multiples of this, so that lanes of similar length share compiled kernels
READY_CAPACITY = 944  # tokens of the lanes that are kept ready; longer texts get a lane of their own, not compiled
TOLERANCE = {2: 0.2, 4: 0.01, 8: 0.01}  # by bytes of a number, relative to a row: above rounding, below a wrong row

log = logging.getLogger(__name__)


class GraphPool:
    """The backend of a model on a GPU. A lane is lent by `open_lane` and comes back by its `release`.

    A lane that is never released is freed with its last reference, and the pool makes another one when it needs it.
    """

    def __init__(self, model: PreTrainedModel, context: int):
        self._model, self._context = model, context
        self._capacity = min(context, READY_CAPACITY)
        self._forwards: dict[int, StaticForward] = dict.fromkeys(WIDTHS, forward)
        self._free: list[GraphLane] = []
        # One stream for all lanes: a stream keeps workspaces forever.
        self._stream = torch.cuda.Stream(model.device) if model.device.type == "cuda" else None

    def compile(self) -> None:
        """Compile the forward for the lanes that are kept ready. Raises whatever the compiler raises."""
        scratch = GraphLane(self._model, _slots(self._capacity), self._context - 1, {}, None)
        self._forwards = compile_forwards(scratch)

    def fill(self, count: int) -> None:
        """Make `count` lanes ready. Raises RuntimeError if the logits of one differ from those of the plain forward."""
        lanes = [self._make_lane(self._capacity, self._forwards) for _ in range(count)]
        for lane in lanes:
            if not check_lane(self._model, lane.run, self._capacity):
                raise RuntimeError("its logits differ from those of the plain forward")
        self._free += lanes

    def open_lane(self, capacity: int) -> LentLane:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        if capacity > self._capacity:
            return LentLane(self._make_lane(capacity, dict.fromkeys(WIDTHS, forward)), _free_lane)
        try:
            lane = self._free.pop()
        except IndexError:
            lane = self._make_lane(self._capacity, self._forwards)
        lane.clear()
        return LentLane(lane, self._free.append)

    def _make_lane(self, capacity: int, forwards: dict[int, StaticForward]) -> GraphLane:
        return GraphLane(self._model, _slots(capacity), self._context - 1, forwards, self._stream)


class LentLane:
    """A lane of a pool, until `release`."""

    def __init__(self, lane: GraphLane, give_back: Callable[[GraphLane], None]):
        self._lane: GraphLane | None = lane
        self._give_back = give_back

    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`. Raises RuntimeError after `release`, since the lane may belong to another text by then."""
        return self._held.run(ids, keep, rows)

    @property
    def choice(self) -> Tensor | None:
        return self._held.choice

    def follow(self, token: Tensor) -> Tensor:
        """Feed one token that is still on the device, see `FollowingLane`."""
        return self._held.follow(token)

    @property
    def _held(self) -> GraphLane:
        if self._lane is None:
            raise RuntimeError("This lane was released; open another one.")
        return self._lane

    def release(self) -> None:
        """Give the lane back to its pool; a second call has no effect."""
        lane, self._lane = self._lane, None
        if lane is not None:
            self._give_back(lane)


def prepare_graphs(name: str, model: PreTrainedModel, context: int, count: int) -> tuple[Backend, tuple[str, ...]]:
    """A backend for a model on a GPU with `count` lanes ready, and sentences about what did not work.

    If compiling fails, graphs are captured without it; if capturing fails, the eager backend is used.
    """
    pool, notes = GraphPool(model, context), ()
    if model.device.type == "cuda":
        try:
            pool.compile()
        except Exception as error:  # the compiler and the tools that it calls fail in many ways
            log.warning("%s: compiling failed", name, exc_info=True)
            notes += (f"{name} runs without compiled kernels, which makes it slower: {first_line(error)}",)
    try:
        pool.fill(count)
    except Exception as error:  # a model may do what no graph can capture; driver or memory may fail
        log.warning("%s: capturing failed", name, exc_info=True)
        notes += (f"{name} runs without CUDA graphs, which makes it slower: {first_line(error)}",)
        return EagerBackend(model), notes
    return pool, notes


@torch.inference_mode()
def compile_forwards(lane: GraphLane, backend: str | Callable = "inductor") -> dict[int, StaticForward]:
    """The forward for each width, compiled for the shapes of this lane, for as many widths as time allows.

    Widths that are not compiled are left out if a wider one is, because padding up to that one is cheaper.
    """
    compiled = torch.compile(forward, dynamic=False, fullgraph=True, backend=backend)
    started, done = perf_counter(), []
    with torch._dynamo.config.patch(recompile_limit=256):  # all models and widths share the same code
        for width in COMPILE_ORDER:
            lane.forward_at(width, compiled)
            done.append(width)
            if perf_counter() - started > COMPILE_SECONDS:
                break
    forwards: dict[int, StaticForward] = {}
    for width in WIDTHS:
        if width in done:
            forwards[width] = compiled
        elif width > max(done):  # nothing to pad up to
            forwards[width] = forward
    return forwards


@torch.inference_mode()
def check_lane(model: PreTrainedModel, run: ForwardFn, capacity: int) -> bool:
    """Whether a lane's logits are those of the plain forward at each width and in one pass, also after another text."""
    vocab, length = model.config.get_text_config().vocab_size, min(capacity, sum(WIDTHS))
    return all(_check_text(model, run, [step * i % vocab for i in range(length)]) for step in (7, 11, 7))


def _check_text(model: PreTrainedModel, run: ForwardFn, ids: list[int]) -> bool:
    expected = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0]
    keep = 0
    for width in WIDTHS:
        part = ids[keep : keep + width]
        if part and not _close(run(part, keep, len(part)), expected[keep : keep + width]):
            return False
        keep += len(part)
    return _close(run(ids, 0, len(ids)), expected)


def _close(found: Tensor, expected: Tensor) -> bool:
    """Whether rows are equal except for rounding and for a constant added to a row."""
    tolerance = TOLERANCE[found.element_size()]
    found, expected = (rows.double() - rows.double().mean(-1, keepdim=True) for rows in (found, expected))
    return bool(((found - expected).norm(dim=-1) <= tolerance * expected.norm(dim=-1)).all())


def _free_lane(lane: GraphLane) -> None:
    """A lane that is longer than those of the pool goes with its last reference."""


def _slots(capacity: int) -> int:
    """Room for the text and for the padding of a pass at its end, in whole buckets."""
    return -(-(capacity + WIDTHS[-1] - 1) // BUCKET) * BUCKET
