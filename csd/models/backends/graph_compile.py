"""Compiling the forward of graph lanes, one width at a time: minutes of work, for passes that take less time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from csd.models.backends.capture import CAPTURING
from csd.models.backends.cuda_graphs import GraphLane, StaticForward

ORDER = (1, 8, 16, 2, 4, 32, 80, 64)  # widths, those of decoding first
VARIANTS = 4096  # of the one forward: every width of every model is one

Compiler = Callable[[Any], StaticForward]


def inductor(plain: Any) -> StaticForward:
    """torch.compile. Settings of inductor belong in its `options`: those made elsewhere hold in one thread only."""
    return torch.compile(plain, dynamic=False, fullgraph=True, backend="inductor")


@torch.inference_mode()
def compile_width(lane: GraphLane, width: int, compiled: StaticForward) -> None:
    """Compile the forward for this width and the shapes of this lane, which takes up to half a minute.

    Raises whatever the compiler raises.
    """
    with CAPTURING, torch._dynamo.config.patch(recompile_limit=VARIANTS, accumulated_recompile_limit=VARIANTS):
        lane.run_plain(width, compiled)


@contextmanager
def compile_nothing() -> Iterator[None]:
    """A compiled forward called here raises RuntimeError where it would be compiled anew, which takes minutes."""
    with CAPTURING, torch.compiler.set_stance("fail_on_recompile"):
        yield
