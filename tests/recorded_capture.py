"""Captured graphs without a GPU: the operations of a function are recorded, and a replay repeats them into its tensors.

As with CUDA graphs, no Python runs at a replay. What was computed from a number of the host stays as it was recorded,
results are overwritten by the next replay, and a function that waits for a number of the device cannot be captured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from csd.models.backends.capture import CaptureError

WAITS = ("aten::_local_scalar_dense", "aten::item", "aten::nonzero", "aten::is_nonzero", "aten::equal")


class Recording(TorchDispatchMode):
    """The operations that run, with the tensors that they read and made. Views stay valid, so they are left out."""

    def __init__(self):
        super().__init__()
        self.operations: list[tuple[Callable, tuple, dict[str, Any], Any]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        if name in WAITS:
            raise RuntimeError(f"{name} waits for the device")
        result = func(*args, **(kwargs or {}))
        made, read = _tensors(result), _tensors((args, kwargs))
        is_view = all(
            any(one.untyped_storage().data_ptr() == of.untyped_storage().data_ptr() for of in read) for one in made
        )
        if func._schema.is_mutable or not is_view:
            self.operations.append((func, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        for func, args, kwargs, result in self.operations:
            again = func(*args, **kwargs)
            if not func._schema.is_mutable:
                for old, new in zip(_tensors(result), _tensors(again), strict=True):
                    old.copy_(new)


class RecordedCapture:
    """A `Capture` whose functions are replayed. `replays` counts them."""

    def __init__(self):
        self.replays = 0

    def new_memory(self) -> None:
        return None

    @torch.inference_mode()
    def __call__(self, run: Callable[[], Any], memory: Any) -> Callable[[], Any]:
        recording = Recording()
        try:
            with recording:
                result = run()
        except Exception as error:
            raise CaptureError(str(error)) from error

        def replay() -> Any:
            self.replays += 1
            recording.replay()
            return result

        return replay


def _tensors(of: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(of) if isinstance(one, torch.Tensor)]
