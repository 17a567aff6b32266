"""Settings of the whole process for running models: OpenMP, threads, float32 precision and garbage collection."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import CDLL

from csd.models.backends.interface import Backend

_MMAP_THRESHOLD = -3  # glibc's number of this option


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


@contextmanager
def weights_in_own_pages() -> Iterator[None]:
    """While models are loaded, each large block of memory gets pages of its own, which freeing it returns at once.

    Otherwise glibc collects blocks of a few MB in its heap and keeps the holes: 120 MB with SmolLM2 135M.
    """
    _set_malloc(_MMAP_THRESHOLD, 2**22)
    try:
        yield
    finally:
        give_back_memory()
        _set_malloc(_MMAP_THRESHOLD, 2**25)  # rows of logits come and go; new pages for each would be slow


def _set_malloc(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):  # another C library, another system
        CDLL("libc.so.6").mallopt(option, value)


def give_back_memory() -> None:
    """Call when large weights are no longer needed. Where glibc keeps freed memory, it is told to return it.

    Measured with SmolLM2 135M: of 1.66 GB resident after its weights were packed, 0.45 GB were free memory of glibc.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library, another system
        CDLL("libc.so.6").malloc_trim(0)


def freeze_loaded_objects() -> None:
    """Call after models are loaded, so that the garbage collector skips them: a scan stops a lane for milliseconds."""
    gc.collect()
    gc.freeze()
