"""Pools of graph lanes for tests, and what records or disturbs their captures."""

from __future__ import annotations

import torch
from graph_models import CONTEXT, model

from csd.models.backends.capture import CudaCapture, Uncaptured
from csd.models.backends.cuda_graphs import forward
from csd.models.backends.graph_pool import GraphPool


class Recorder(Uncaptured):
    """Notes the width of each pass that is captured; captures fail while `fails` says so of a width."""

    def __init__(self, fails=lambda width: False, error=None):
        self.widths, self.fails = [], fails
        self.error = error or RuntimeError("operation not permitted when stream is capturing\nmore")

    def __call__(self, run, memory):
        width = len(run.args[2]) - 1
        self.widths.append(width)
        if self.fails(width):
            raise self.error
        return run


def ready_pool(count: int, device: str = "cpu", capture=None) -> GraphPool:
    of_device = CudaCapture(torch.device(device)) if device == "cuda" else Uncaptured()
    pool = GraphPool(model("llama", device), CONTEXT, count, capture or of_device)
    for _ in range(count):
        assert pool.add_lane() == {}
    return pool


def off_by_one(model, fed, *buffers):
    return forward(model, torch.cat([fed[:1] + 1, fed[1:]]), *buffers)
