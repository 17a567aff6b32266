"""A pool of graph lanes: made and checked before a race, lent to it, and kept for the next one.

Each width of a lane stands as high on a ladder as it got: compiled, captured as it is, or left out. A model of which no
width can be captured gets the eager backend.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import partial

from transformers import PreTrainedModel

from csd.models.backends.capture import Capture, CaptureError, CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, StaticForward, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.graph_check import PlainLogits
from csd.models.backends.graph_compile import compile_nothing
from csd.models.backends.interface import Backend
from csd.models.backends.lent_lane import LentLane
from csd.models.memory import SHORT_TEXT
from csd.models.messages import first_line, without_frames

BUCKET = 256  # slots of a lane come in multiples of this
SIZES = (SHORT_TEXT, 2 * SHORT_TEXT)  # slots of lanes; one more size holds all that the model reads
DIFFERS = "its logits differ from those of the plain forward"
CHAINS_DIFFER = "its tokens differ from those of one pass for each"
# What a lower step costs, measured on an H200 with an earlier version of this backend: a token of a 7B model took
# 4.9 ms compiled, 6.8 ms captured as it is, and 57 ms eager.
UNCOMPILED_COST = "takes about 1.4 times as long (7B on an H200)"
EAGER_COST = "takes about 8 times as long (7B on an H200)"
RESTART = "A capture failed halfway, which can leave PyTorch unable to free memory: restart the program."

Failures = dict[int, Exception]
"""What went wrong, by width."""

log = logging.getLogger(__name__)


class GraphPool:
    """The backend of a model on a GPU. A lane is lent by `open_lane` and comes back by its `release`.

    `count` lanes of the smallest size are kept ready. Lanes for longer texts are made when they are needed, and up to
    `count` of the size that was asked for last are kept. One that is never released is freed with its last reference.
    """

    def __init__(self, model: PreTrainedModel, context: int, count: int, capture: Capture):
        self._model, self._context, self._count, self._capture = model, context, count, capture
        self._sizes = lane_sizes(context)
        self._free: dict[int, list[GraphLane]] = {size: [] for size in self._sizes}
        self._compiled: dict[int, StaticForward] = {}  # by width, for lanes of the smallest size
        self._chained = False  # whether lanes of the smallest size have chains
        self.widths = WIDTHS

    def add_lane(self) -> Failures:
        """Make one more lane that is kept ready; returns the widths that are left out, in all lanes.

        Raises RuntimeError if no width can be captured, or if the lane reads wrongly.
        """
        lane, failures = self._make_lane(self._sizes[0])
        self._free[lane.slots].append(lane)
        self.leave_out(failures)
        if not self.widths:
            raise RuntimeError("no width can be captured in all lanes")
        return failures

    def open_lane(self, capacity: int) -> LentLane:
        """The model over an empty cache for texts of up to `capacity` tokens, as far as the model reads them."""
        needed = slots_for(min(capacity, self._context))
        size = next(size for size in self._sizes if size >= needed)
        for other in self._sizes[1:]:
            if self._sizes[0] != size != other:
                self._free[other].clear()
        lane = self._free[size].pop() if self._free[size] else self._make_lane(size)[0]
        lane.clear()
        return LentLane(lane, partial(self._take_back, self._compiled))

    def open_scratch(self) -> GraphLane:
        """A lane of the smallest size without passes: the forward is compiled for its shapes."""
        return GraphLane(self._model, self._sizes[0], self._context - 1, self._capture)

    def use_compiled(self, compiled: Mapping[int, StaticForward]) -> Failures:
        """From now on use compiled forwards, at the widths where they are right in all lanes; returns the others.

        Call while no lane is lent: one that is stays as it was, and is not taken back.
        """
        failures, lanes, plain = Failures(), self._free[self._sizes[0]], PlainLogits(self._model, self._context)
        self._compiled = {}
        for width in sorted(set(compiled) & set(self.widths), reverse=True):
            before = [dict(lane.passes) for lane in lanes]
            errors = (self._try(lane, width, compiled[width], plain) for lane in lanes)
            error = next(filter(None, errors), None)
            if error is None:
                self._compiled[width] = compiled[width]
                continue
            failures[width] = error
            for lane, passes in zip(lanes, before, strict=True):  # lanes that race are all alike
                lane.passes = passes
        return failures

    def leave_out(self, widths: Iterable[int]) -> None:
        """Pad ids up to wider passes instead of using these widths."""
        self.widths = tuple(width for width in self.widths if width not in set(widths))
        for lane in (lane for lanes in self._free.values() for lane in lanes):
            lane.passes = {width: run for width, run in lane.passes.items() if width in self.widths}

    def record_chains(self) -> Exception | None:
        """From now on tokens that follow each other are written by one graph; returns why that does not work.

        Call after `use_compiled` and `leave_out`, while no lane is lent. Lanes for longer texts have no chains.
        """
        lanes, plain = self._free[self._sizes[0]], PlainLogits(self._model, self._context)
        error = next(filter(None, (self._try_chains(lane, plain) for lane in lanes)), None)
        self._chained = error is None
        if error:
            for lane in lanes:  # lanes that race are all alike
                lane.chains = None
        return error

    def _make_lane(self, size: int) -> tuple[GraphLane, Failures]:
        """A lane with a pass for each width, compiled where that is possible, and the widths that it lacks."""
        lane = GraphLane(self._model, size, self._context - 1, self._capture)
        plain, failures = PlainLogits(self._model, self._context), Failures()
        for width in reversed(self.widths):  # widest first: narrower passes fit into the memory of wider ones
            compiled = self._compiled.get(width, forward) if size == self._sizes[0] else forward
            error = self._try(lane, width, compiled, plain)
            if error and compiled is not forward:
                error = self._try(lane, width, forward, plain)
            if error:
                failures[width] = error
        if not lane.passes:
            raise failures[self.widths[0]]
        if not plain.agree(lane.run):
            raise RuntimeError(DIFFERS)
        if self._chained and size == self._sizes[0]:
            self._try_chains(lane, plain)
        return lane, failures

    def _try(self, lane: GraphLane, width: int, static_forward: StaticForward, plain: PlainLogits) -> Exception | None:
        """Record this width of a lane. What goes wrong is returned; then the lane is as it was."""
        before = dict(lane.passes)
        try:
            with nullcontext() if static_forward is forward else compile_nothing():
                lane.record(width, static_forward)
                if not plain.agree_at(lane, width):
                    raise RuntimeError(DIFFERS)
        except Exception as error:  # a model may do what no graph can capture; driver, compiler or memory may fail
            log.warning("recording width %d failed", width, exc_info=True)
            lane.passes = before
            return without_frames(error)
        return None

    def _try_chains(self, lane: GraphLane, plain: PlainLogits) -> Exception | None:
        """Record the chains of a lane of the smallest size. What goes wrong is returned; then the lane has none."""
        static_forward = self._compiled.get(min(lane.passes), forward)
        try:
            with nullcontext() if static_forward is forward else compile_nothing():
                lane.record_chains(static_forward)
                if not plain.chains_agree(lane):
                    raise RuntimeError(CHAINS_DIFFER)
        except Exception as error:  # as in `_try`
            log.warning("recording chains failed", exc_info=True)
            lane.chains = None
            return without_frames(error)
        return None

    def _take_back(self, compiled: Mapping[int, StaticForward], lane: GraphLane) -> None:
        """Keep a lane for the next race, unless it was made before the kernels were compiled, or there are enough."""
        if compiled is self._compiled and len(self._free[lane.slots]) < self._count:
            self._free[lane.slots].append(lane)


def prepare_graphs(name: str, model: PreTrainedModel, context: int, count: int) -> tuple[Backend, tuple[str, ...]]:
    """A backend for a model on a GPU with `count` lanes ready, and sentences about what did not work.

    Nothing is compiled here, which takes minutes (see `models.compiling`). Without a GPU passes run uncaptured.
    """
    capture = CudaCapture(model.device) if model.device.type == "cuda" else Uncaptured()
    pool, failures, errors, notes = GraphPool(model, context, count, capture), Failures(), [], []
    for made in range(count):
        try:
            failures |= pool.add_lane()
        except Exception as error:
            log.warning("%s: no CUDA graphs for lane %d", name, made + 1, exc_info=True)
            errors, why = [error], first_line(error)
            if not made:
                note = f"{name} runs without CUDA graphs, so a pass {EAGER_COST}: {why}"
                return EagerBackend(model), (note, *restart_notes(errors))
            notes = [f"{name} has CUDA graphs for {made} of {count} lanes, so a race with more may fail: {why}"]
            break
    if failures:
        which = widths_text(failures)
        notes += [f"{name} has no CUDA graph for {which}, which go through its other graphs: {reason(failures)}"]
    return pool, (*notes, *restart_notes([*failures.values(), *errors]))


def restart_notes(errors: Iterable[Exception]) -> tuple[str, ...]:
    """A sentence for the user if one of the errors interrupted a capture."""
    return (RESTART,) if any(isinstance(error, CaptureError) for error in errors) else ()


def widths_text(widths: Iterable[int]) -> str:
    """Such as "1, 8 or 64 tokens"."""
    *most, last = map(str, sorted(widths))
    return f"{', '.join(most)} or {last} tokens" if most else f"{last} tokens"


def reason(failures: Failures) -> str:
    """Why the narrowest of them failed, in one line."""
    return first_line(failures[min(failures)])


def lane_sizes(context: int) -> tuple[int, ...]:
    """The slots of lanes for a model that reads `context` tokens, from the shortest to the longest."""
    full = slots_for(context)
    return (*(size for size in SIZES if 3 * size < 2 * full), full)


def slots_for(capacity: int) -> int:
    """Room for a text and for the padding of a pass at its end, in whole buckets."""
    return -(-(capacity + WIDTHS[-1] - 1) // BUCKET) * BUCKET
