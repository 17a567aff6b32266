"""Capturing: a function over static tensors is recorded once, as a CUDA graph, and run again with a single launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

import torch

from csd.models.messages import first_line

T = TypeVar("T")

WARM_UPS = 2  # runs before a capture, in which kernels are selected and workspaces allocated
# CUDA allows one capture at a time, and no wait for the whole device beside it. Compilers and the allocator wait so.
CAPTURING = RLock()


class CaptureError(RuntimeError):
    """A capture was begun and failed.

    PyTorch may take it for still running: then it frees no cached memory and draws no random numbers.
    """


class Capture(Protocol):
    """Called with a function that reads and writes static tensors; returns one that does the same.

    What that returns is valid until another function of the same memory is called.
    """

    def new_memory(self) -> Any:
        """Memory that functions share which never run at the same time: those of one lane."""
        ...

    def __call__(self, run: Callable[[], T], memory: Any) -> Callable[[], T]: ...


class CudaCapture:
    """Captures CUDA graphs. One stream serves all of them, since a stream keeps workspaces forever."""

    def __init__(self, device: torch.device):
        self._stream = torch.cuda.Stream(device)

    def new_memory(self) -> Any:
        return torch.cuda.graph_pool_handle()

    @torch.inference_mode()  # always: graphs that were captured outside and inside cannot share the random generator
    def __call__(self, run: Callable[[], T], memory: Any) -> Callable[[], T]:
        """Raises CaptureError for a failure in the middle of capturing, otherwise whatever `run` raises."""
        with CAPTURING:
            self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
            with torch.cuda.stream(self._stream):  # returns to the previous stream, also if capturing fails
                for _ in range(WARM_UPS):
                    run()
                captured = self._capture(run, memory)
                self._stream.synchronize()
        return captured

    def _capture(self, run: Callable[[], T], memory: Any) -> CapturedRun[T]:
        graph, cause = torch.cuda.CUDAGraph(), None
        try:
            with torch.cuda.graph(graph, pool=memory, stream=self._stream, capture_error_mode="thread_local"):
                try:
                    result = run()
                except Exception as error:
                    cause = error  # ending the capture raises another error, which says less
                    raise
        except Exception as error:
            raise CaptureError(first_line(cause or error)) from (cause or error)
        return CapturedRun(graph, result, run)


@dataclass(frozen=True, eq=False, repr=False)
class CapturedRun(Generic[T]):
    """A graph, what each replay of it overwrites, and the function that keeps alive what the graph reads."""

    graph: torch.cuda.CUDAGraph
    result: T
    run: Callable[[], T]

    def __call__(self) -> T:
        self.graph.replay()
        return self.result


class Uncaptured:
    """Functions run as they are: for tests, where there is no GPU."""

    def new_memory(self) -> None:
        return None

    def __call__(self, run: Callable[[], T], memory: Any) -> Callable[[], T]:
        return run
