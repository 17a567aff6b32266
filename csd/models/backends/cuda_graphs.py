"""The transformers forward over static tensors, recorded as CUDA graphs: a pass costs one launch, not hundreds.

A pass has one of a few fixed widths: ids are padded up to the next one, and what the padding writes lies behind the text,
where the mask hides it and the next pass overwrites it. Without a GPU the same steps run unrecorded.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel

from csd.models.backends import eager
from csd.models.session import Run

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 80)  # the last for drafts of 64 and the tokens before them
FIRST = (1, 8, 80, 2, 16, 4, 32, 64)  # the order of compiling: any prefix serves every width by padding
COMPILING = 120.0  # seconds after which no further width of a model is compiled
BUCKET = 256  # slots of a lane come in multiples of this, so that lanes of like length share compiled kernels
READY = 944  # tokens of the lanes that wait for a race; longer texts get their own, without compiled kernels
TOLERANCE = {
    2: 0.2,
    4: 0.01,
    8: 0.01,
}  # of a row's size, by bytes of a number: rounding is far below, a wrong row above

log = logging.getLogger(__name__)

Step = Callable[[], Tensor]
Forward = Callable[[PreTrainedModel, Tensor, list[Tensor], list[Tensor], int], Tensor]
Record = Callable[[Step], Step]


class Slots(DynamicLayer):
    """Keys and values of one layer in buffers of fixed size, written at `places`; attention gets all of them."""

    def __init__(self, keys: Tensor, values: Tensor, places: Tensor):
        super().__init__()
        self.keys, self.values, self.places = keys, values, places
        self.dtype, self.device, self.is_initialized = keys.dtype, keys.device, True

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        self.keys.index_copy_(2, self.places, key_states)
        self.values.index_copy_(2, self.places, value_states)
        return self.keys, self.values

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.keys.shape[2], 0

    def get_seq_length(self) -> Tensor:
        return self.places[0]


def forward(
    model: PreTrainedModel, fed: Tensor, keys: list[Tensor], values: list[Tensor], last: int, rows: int = 0
) -> Tensor:
    """One pass that reads nothing but its tensors: `fed` is [1 + width], how many tokens to keep and then the ids.

    The buffers of each layer are [1, heads, slots, head_dim], `last` is the last position that the model knows. Returns the
    logits of the last `rows` ids, [rows, V]; 0: of all.
    """
    keep, ids = fed[0], fed[1:]
    places = keep + torch.arange(len(ids), device=fed.device)
    seen = torch.arange(keys[0].shape[2], device=fed.device) <= places[:, None]
    cache = Cache(layers=[Slots(key, value, places) for key, value in zip(keys, values)])
    return model(
        input_ids=ids[None],
        attention_mask=seen[None, None],
        position_ids=places.clamp(max=last)[None],  # padding may lie beyond what the model knows
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=rows,
    ).logits[0]


class Lane:
    """One lane's buffers, and a step for each width that reads and writes them. Calling it is a `Run`.

    `forwards` gives the forward of each width, narrowest first, and `record` makes a step of each call of one. Rows are
    valid until the next call.
    """

    @torch.inference_mode()
    def __init__(self, model: PreTrainedModel, slots: int, last: int, forwards: dict[int, Forward], record: Record):
        self._model, self._last, cuda = model, last, model.device.type == "cuda"
        # Zeros: a slot that is hidden gets weight 0, and 0 x NaN would still be NaN.
        self._keys, self._values = (
            [one.new_zeros(1, one.shape[1], slots, one.shape[3]) for one in layers] for layers in _samples(model)
        )
        self._fed = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, device=model.device)
        self._host = torch.zeros(1 + WIDTHS[-1], dtype=torch.long, pin_memory=cuda)
        self._numbers = self._host.numpy()
        self._copied = torch.cuda.Event() if cuda else None
        steps = {width: record(partial(*self.call(forwards[width], width))) for width in sorted(forwards, reverse=True)}
        self._steps = dict(sorted(steps.items()))  # the widest was recorded first: narrow ones fit into its memory

    def call(self, forward: Forward, width: int) -> tuple:
        """A forward and its arguments, at one width."""
        return forward, self._model, self._fed[: 1 + width], self._keys, self._values, self._last

    @torch.inference_mode()
    def __call__(self, ids: list[int], keep: int, rows: int) -> Tensor:
        count = len(ids)
        width = next((width for width in self._steps if width >= count), None)
        if width is None:
            fed = torch.tensor([keep, *ids], device=self._fed.device)
            return forward(self._model, fed, self._keys, self._values, self._last, rows)[-rows:]
        if self._copied:
            self._copied.synchronize()  # the copy before this one may still wait for the device
        self._numbers[: 1 + count] = (keep, *ids)
        self._fed.copy_(self._host, non_blocking=True)
        if self._copied:
            self._copied.record(torch.cuda.current_stream(self._fed.device))
        return self._steps[width]()[count - rows : count]

    @torch.inference_mode()
    def clear(self) -> None:
        """Forget the text."""
        for buffer in (*self._keys, *self._values):
            buffer.zero_()


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """A recorded step. A graph knows addresses only, so the step is kept, and with it every tensor that the graph reads."""

    step: Step
    graph: torch.cuda.CUDAGraph
    logits: Tensor

    def __call__(self) -> Tensor:
        self.graph.replay()
        return self.logits


def recorder(stream: torch.cuda.Stream | None) -> Record:
    """What records the steps of one lane as CUDA graphs, on this stream; None, without a GPU: steps stay as they are.

    The graphs of a lane share memory: each begins with what `fed` and the buffers hold, never with what another left
    behind, and its logits stay allocated. Lanes do not share, so that all of a lane's memory is freed with it.
    """
    if stream is None:
        return lambda step: step
    memory = torch.cuda.graph_pool_handle()
    return lambda step: _recorded(step, stream, memory)


def _recorded(step: Step, stream: torch.cuda.Stream, memory: tuple[int, int]) -> Replay:
    stream.wait_stream(torch.cuda.current_stream(stream.device))
    with torch.cuda.stream(stream):  # and back to the stream before, also where recording fails
        for _ in range(3):  # kernels are chosen, workspaces allocated
            step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=memory, stream=stream, capture_error_mode="thread_local"):
            logits = step()
        stream.synchronize()
    return Replay(step, graph, logits)


class Pool:
    """Lanes of one model, ready before a race's clocks start. A lane comes back when nobody holds its `Run` any more."""

    def __init__(self, model: PreTrainedModel, context: int):
        self._model, self._context = model, context
        self._ready = min(context, READY)
        self._forwards: dict[int, Forward] = dict.fromkeys(WIDTHS, forward)
        self._free: list[Lane] = []
        # One for all lanes: a stream keeps workspaces for ever.
        self._stream = torch.cuda.Stream(model.device) if model.device.type == "cuda" else None

    def compile(self) -> None:
        """Compile the forward of the ready lanes. Raises what the compiler raises."""
        scratch = Lane(self._model, _slots(self._ready), self._context - 1, {}, lambda step: step)
        self._forwards = compiled(scratch)

    def fill(self, count: int) -> None:
        """Make `count` lanes ready. Raises RuntimeError where one does not give the rows of the plain forward."""
        lanes = [self._made(self._ready, self._forwards) for _ in range(count)]
        for lane in lanes:
            if not agrees(self._model, lane, self._ready):
                raise RuntimeError("its rows are not those of the plain forward")
        self._free += lanes

    def lane(self, capacity: int) -> Run:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        if capacity > self._ready:
            return self._made(capacity, dict.fromkeys(WIDTHS, forward))
        try:
            lane = self._free.pop()
        except IndexError:
            lane = self._made(self._ready, self._forwards)
        lane.clear()

        def run(ids: list[int], keep: int, rows: int) -> Tensor:
            return lane(ids, keep, rows)

        weakref.finalize(run, self._free.append, lane).atexit = False
        return run

    def _made(self, capacity: int, forwards: dict[int, Forward]) -> Lane:
        return Lane(self._model, _slots(capacity), self._context - 1, forwards, recorder(self._stream))


def ready(name: str, model: PreTrainedModel, context: int, count: int) -> tuple[Callable[[int], Run], tuple[str, ...]]:
    """What gives lanes of a model, `count` of them ready, and sentences about what did not work.

    Where compiling fails the graphs are recorded without it, where recording fails the plain forward runs.
    """
    pool, notes = Pool(model, context), ()
    if model.device.type == "cuda":
        try:
            pool.compile()
        except Exception as error:  # the compiler and the tools that it calls fail in many ways
            log.warning("%s: compiling failed", name, exc_info=True)
            notes += (f"{name} runs without compiled kernels, which makes it slower: {_line(error)}",)
    try:
        pool.fill(count)
    except Exception as error:  # a model may do what no graph can hold, a driver or the memory may fail
        log.warning("%s: recording failed", name, exc_info=True)
        notes += (f"{name} runs without CUDA graphs, which makes it slower: {_line(error)}",)
        return partial(eager.lane, model), notes
    return pool.lane, notes


@torch.inference_mode()
def compiled(lane: Lane, backend: str = "inductor") -> dict[int, Forward]:
    """The forward of each width, compiled for the shapes of this lane: of as many widths as the time allows.

    Narrower widths than the widest compiled one that are not compiled are left out, for padding up to one is cheaper.
    """
    quick = torch.compile(forward, dynamic=False, fullgraph=True, backend=backend)
    started, done = perf_counter(), []
    with torch._dynamo.config.patch(recompile_limit=256):  # all models and widths go through the same code
        for width in FIRST:
            function, *arguments = lane.call(quick, width)
            function(*arguments)
            done.append(width)
            if perf_counter() - started > COMPILING:
                break
    return {width: quick if width in done else forward for width in WIDTHS if width in done or width > max(done)}


@torch.inference_mode()
def agrees(model: PreTrainedModel, run: Run, capacity: int) -> bool:
    """Whether a lane gives the rows of the plain forward: at each width, twice with another text between, and at once."""
    vocab, length = model.get_input_embeddings().num_embeddings, min(capacity, sum(WIDTHS))
    return all(_agrees(model, run, [step * i % vocab for i in range(length)]) for step in (7, 11, 7))


def _agrees(model: PreTrainedModel, run: Run, ids: list[int]) -> bool:
    expected = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0]
    keep = 0
    for width in WIDTHS:
        part = ids[keep : keep + width]
        if part and not _near(run(part, keep, len(part)), expected[keep : keep + width]):
            return False
        keep += len(part)
    return _near(run(ids, 0, len(ids)), expected)


def _near(found: Tensor, expected: Tensor) -> bool:
    """Whether rows are equal but for rounding, whatever they have in common."""
    tolerance = TOLERANCE[found.element_size()]
    found, expected = (rows.double() - rows.double().mean(-1, keepdim=True) for rows in (found, expected))
    return bool(((found - expected).norm(dim=-1) <= tolerance * expected.norm(dim=-1)).all())


@torch.inference_mode()
def _samples(model: PreTrainedModel) -> tuple[list[Tensor], list[Tensor]]:
    """Keys and values of one token, [1, heads, 1, head_dim] for each layer: their shapes, type and place."""
    layers = [eager.Layer(1) for _ in range(model.config.get_text_config().num_hidden_layers)]
    model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=model.device), past_key_values=Cache(layers=layers))
    return [layer.keys for layer in layers], [layer.values for layer in layers]


def _slots(capacity: int) -> int:
    """Room for the text and for the padding of a pass at its end, in whole buckets."""
    return -(-(capacity + WIDTHS[-1] - 1) // BUCKET) * BUCKET


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__)[:300]
