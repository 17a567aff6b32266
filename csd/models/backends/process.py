"""Settings of the whole process for running models: OpenMP, threads, float32 precision and garbage collection."""

from __future__ import annotations

import gc
import os

from csd.models.backends.interface import Backend


def prepare_process() -> None:
    """Call before models are loaded. OpenMP reads its settings when torch is imported for the first time."""
    gc.unfreeze()  # a family loaded before may be gone
    # Threads that wait for each other soon sleep instead of spinning. Where a browser draws on the same cores, spinning
    # threads starve each other (measured: a tenth of the speed).
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    import torch
    from transformers.utils import logging

    torch.set_float32_matmul_precision("highest")  # no TF32: float32 means float32
    logging.disable_progress_bar()


def set_best_threads(target: Backend, context: int) -> None:
    """Run with the number of threads that is fastest for this model, at most OMP_NUM_THREADS if that is set."""
    import torch

    from csd.models.backends.costs import best_threads

    allowed = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    most = int(allowed) if allowed.isdigit() and int(allowed) else os.cpu_count() or 1
    torch.set_num_threads(best_threads(target, context, most))


def collect_garbage() -> None:
    """Call when large weights are no longer needed: transformers' models refer to themselves."""
    gc.collect()


def freeze_loaded_objects() -> None:
    """Call after models are loaded, so that the garbage collector skips them: a scan stops a lane for milliseconds."""
    gc.collect()
    gc.freeze()
