"""Small numbers between host and device without a wait: through pinned memory, with an event for whoever needs them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def to_device(numbers: Tensor, device: torch.device) -> Tensor:
    """A tensor of the host on a device; the copy is enqueued behind what the device is doing."""
    if device.type == "cpu" or not len(numbers):
        return numbers.to(device)
    return numbers.pin_memory().to(device, non_blocking=True)


def to_host(values: Tensor) -> Callable[[], list[float]]:
    """Start to fetch [n] numbers, and return what waits for them."""
    if values.device.type == "cpu":
        return values.tolist
    fetched = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    fetched.copy_(values, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record(torch.cuda.current_stream(values.device))

    def wait() -> list[float]:
        arrived.synchronize()
        return fetched.tolist()

    return wait
