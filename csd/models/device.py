"""The device: its name and number format, how much memory is free, and a description of the machine."""

from __future__ import annotations

import gc
import os
import platform
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import psutil

from csd.models.memory import BYTES, memory_needed, size
from csd.models.spec import FamilyError, FamilySpec
from csd.sentences import counted


def resolve_device(device: str) -> str:
    """The device for a name such as "cpu", "cuda:1" or "auto". Raises FamilyError if it is not available."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind, index = torch.device(device).type, torch.device(device).index or 0
    except RuntimeError:
        kind, index = "", 0
    if kind not in ("cpu", "cuda"):
        raise FamilyError(f"There is no device called {device!r}. Choose cpu, cuda, cuda:0, split or auto.")
    if kind == "cuda" and index >= torch.cuda.device_count():
        raise FamilyError(f"PyTorch cannot find a GPU {device!r} on this machine. Choose cpu or auto.")
    return device


def resolve_dtype(dtype: str, device: str) -> str:
    """The number format for a name; "auto" is float32 on a CPU and bfloat16 on a GPU. Raises FamilyError."""
    if dtype == "auto":
        return "bfloat16" if device.startswith("cuda") else "float32"
    if dtype not in BYTES:
        raise FamilyError(f"There is no number format called {dtype!r}. Choose one of: auto, {', '.join(BYTES)}.")
    return dtype


def memory_free(device: str) -> int:
    """Free memory of a device in bytes; on a CPU at most what the container's limit leaves.

    What PyTorch keeps of a family that is gone counts as free; as much of it as possible is given back to the device.
    """
    if device.startswith("cuda"):
        return _gpu_memory_free(device)
    available, container = psutil.virtual_memory().available, _container_memory_free()
    return available if container is None else min(available, container)


def _gpu_memory_free(device: str) -> int:
    import torch

    from csd.models.backends.capture import CAPTURING

    gc.collect()  # models are parts of reference cycles
    with CAPTURING:  # giving memory back waits for the whole device
        torch.cuda.empty_cache()
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + unused


def _container_memory_free(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes left under the control group's limit, file caches counted as free; None without a limit."""
    try:
        limit, used = int((root / "memory.max").read_text()), int((root / "memory.current").read_text())
        stat = dict(line.split() for line in (root / "memory.stat").read_text().splitlines())
        return limit - used + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):  # "max" means no limit
        return None


def check_memory(spec: FamilySpec, dtype: str, device: str) -> None:
    """Raises FamilyError if the family needs more memory than the device has free. Unknown sizes pass."""
    needed, free = memory_needed(spec, dtype), memory_free(device)
    if needed is not None and needed > free:
        raise FamilyError(
            f"{spec.name} needs about {size(needed)} in {dtype}, and {device} has {size(free)} free. "
            "Choose a smaller family or number format, or free some memory."
        )


def memory_notes(spec: FamilySpec, dtype: str) -> tuple[str, ...]:
    """A sentence for the user if `check_memory` could not check anything."""
    if memory_needed(spec, dtype) is None:
        return ("The size of this family is unknown, so it was loaded without checking the memory first.",)
    return ()


def describe_machine(device: str, dtype: str, placed: str = "") -> str:
    """The device by name, its threads, the number format, and the versions of PyTorch and transformers.

    `placed` is a split family's `Placement.words`.
    """
    import torch

    if device.startswith("cuda"):
        name = torch.cuda.get_device_name(device)
    else:
        threads = torch.get_num_threads()
        name = f"{processor_name()}, {counted(threads, 'thread')} of {os.cpu_count()}"
    where = f"{name}; {placed}" if placed else name
    return f"{where}; {dtype}; torch {torch.__version__}, transformers {version('transformers')}"


def processor_name() -> str:
    """The processor's name according to the operating system."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
