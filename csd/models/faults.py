"""What a device that has run out of memory, and a model that computes nonsense, are called in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from csd.decoding.errors import NotFinite
from csd.models.spec import FamilyError

# How PyTorch and oneDNN say on a CPU, and CUDA's libraries on a GPU, that an allocation has failed.
OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "could not create a primitive",
    "could not create a memory",
    "_ALLOC_FAILED",
)
NO_MEMORY = "The device has no memory left for this"
SMALLER_RACE = "Choose fewer lanes, fewer new tokens or a shorter prompt, or free some memory."
SMALLER_FAMILY = "Choose a smaller family or number format, or free some memory."


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be allocated, on a GPU (torch.OutOfMemoryError) or on a CPU."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in OUT_OF_MEMORY)


def explain_race(error: BaseException) -> str:
    """Why a lane ended before its time; empty for an error that is none of the device or the model."""
    if isinstance(error, NotFinite):
        return str(error)
    return f"{NO_MEMORY} race. {SMALLER_RACE}" if is_out_of_memory(error) else ""


@contextmanager
def memory_for_family() -> Iterator[None]:
    """Turns an allocation that fails while a family loads into a FamilyError."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise FamilyError(f"{NO_MEMORY} family. {SMALLER_FAMILY}") from error
        raise
