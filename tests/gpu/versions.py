"""The device and the versions that the other figures belong to. Exits with 3 and a sentence where there is no GPU."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from csd.models.device import processor_name
from csd.paths import ROOT
from gpu.figures import Figure, Figures
from gpu.size import size_here

NO_GPU = 3  # the exit code
PACKAGES = ("transformers", "triton", "accelerate")
QUERIES = ("driver_version", "power.limit", "clocks.max.sm", "clocks.max.mem")


def main(device: str, path: Path) -> int:
    if device == "cuda" and not torch.cuda.is_available():
        print(no_gpu())
        return NO_GPU
    figures = Figures(path)
    for what, text in (*(_gpu() if device == "cuda" else _cpu()), *_software()):
        figures.add(Figure(what, text=text))
    return 0


def no_gpu() -> str:
    """Why there is nothing to measure, and what to do."""
    if not torch.backends.cuda.is_built():
        return (
            f"PyTorch {torch.__version__} is built without CUDA, so it cannot use an NVIDIA GPU. Install the CUDA "
            "build, or name another Python: PYTHON=/path/to/python bash tests/gpu.sh"
        )
    return (
        "PyTorch finds no NVIDIA GPU on this machine. Check that nvidia-smi lists one and that its driver is new "
        "enough for this PyTorch."
    )


def _gpu() -> Iterator[tuple[str, str]]:
    found = torch.cuda.get_device_properties(0)
    yield "device", found.name
    yield "memory", f"{found.total_memory / 2**30:.1f} GiB"
    yield "multiprocessors", str(found.multi_processor_count)
    yield "L2 cache", f"{found.L2_cache_size / 2**20:.0f} MiB"
    yield "compute capability", f"{found.major}.{found.minor}"
    yield "size of the models", size_here()
    told = _output("nvidia-smi", "--id=0", f"--query-gpu={','.join(QUERIES)}", "--format=csv,noheader")
    yield from zip(QUERIES, (part.strip() for part in told.split(",")))


def _cpu() -> Iterator[tuple[str, str]]:
    yield "device", f"CPU: {processor_name()}"


def _software() -> Iterator[tuple[str, str]]:
    yield "torch", torch.__version__
    if torch.version.cuda:
        yield "CUDA", torch.version.cuda
        yield "cuDNN", str(torch.backends.cudnn.version())
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "Python", platform.python_version()
    yield "csd", _output("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12")


def _output(*command: str) -> str:
    """What a command prints, or that there is nothing to be had."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "not known"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
