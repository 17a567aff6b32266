"""Where worker processes run: each on a GPU of its own, or on CPU cores of its own. Imports no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """One worker's device: `name` as users know it, `device` as the worker calls it.

    `environment` is set in the worker before it imports torch, and the worker is pinned to `cores`, unless there are
    none.
    """

    name: str
    device: str
    environment: tuple[tuple[str, str], ...] = ()
    cores: tuple[int, ...] = ()

    def enter(self) -> None:
        """Make this process the worker of this place."""
        os.environ.update(self.environment)
        if self.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, self.cores)


def choose_places(devices: str, workers: int | None, threads: int | None = None) -> tuple[Place, ...]:
    """The places for `devices` ("cuda:0,cuda:1") or for a number of CPU workers; none if neither is given.

    threads: of each CPU worker, at most its cores. Raises ValueError with a sentence.
    """
    if devices and workers:
        raise ValueError("Give --devices or --workers, not both: --devices names GPUs, --workers counts CPU workers.")
    if devices:
        return gpu_places([name.strip() for name in devices.split(",")], os.environ.get("CUDA_VISIBLE_DEVICES", ""))
    return () if workers is None else cpu_places(workers, cores_by_sibling(), threads)


def gpu_places(names: Sequence[str], visible: str = "") -> tuple[Place, ...]:
    """A place for each GPU ("cuda:0"). Its worker sees no other GPU and calls it "cuda".

    visible: CUDA_VISIBLE_DEVICES of this process, whose entries are what the numbers count.
    """
    known = [entry.strip() for entry in visible.split(",")] if visible else None
    if len(set(names)) < len(names):
        raise ValueError("A device is named twice. Name each once, because races cannot share a device.")
    places = []
    for name in names:
        kind, _, number = name.partition(":")
        if kind != "cuda" or not (number.isascii() and number.isdigit()):
            raise ValueError(f"There is no device called {name!r}. Give GPUs by number, such as cuda:0,cuda:1.")
        if known is not None and int(number) >= len(known):
            raise ValueError(f"{name} does not exist: CUDA_VISIBLE_DEVICES={visible} shows {len(known)} of the GPUs.")
        card = known[int(number)] if known is not None else str(int(number))
        places.append(Place(name, "cuda", (("CUDA_VISIBLE_DEVICES", card),)))
    return tuple(places)


def cpu_places(count: int, cores: Sequence[int], threads: int | None = None) -> tuple[Place, ...]:
    """The cores in `count` parts of about the same size, none of them shared; threads as in `choose_places`."""
    if not 1 <= count <= len(cores):
        raise ValueError(f"The number of workers must be from 1 to {len(cores)}, one core for each at least.")
    places = []
    for number in range(count):
        own = tuple(cores[number * len(cores) // count : (number + 1) * len(cores) // count])
        most = min(threads or len(own), len(own))
        places.append(Place(f"CPU worker {number + 1}", "cpu", (("OMP_NUM_THREADS", str(most)),), own))
    return tuple(places)


def cores_by_sibling() -> tuple[int, ...]:
    """The cores that this process may use; the hardware threads of one physical core stand side by side."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return tuple(sorted(usable, key=lambda core: (_first_sibling(core), core)))


def _first_sibling(core: int, root: Path = Path("/sys/devices/system/cpu")) -> int:
    with suppress(OSError, ValueError):
        siblings = (root / f"cpu{core}" / "topology" / "thread_siblings_list").read_text()
        return int(siblings.replace("-", ",").split(",")[0])
    return core
