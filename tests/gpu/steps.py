"""What is measured, in the order of what it tells."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REHEARSAL = 5  # times the limit


@dataclass(frozen=True)
class Step:
    """A module of this package that runs in a process of its own for at most `limit` seconds on a GPU.

    `arguments` follow those that all steps get, the device and the file of its figures. `needs` are packages without
    which it is left out. `settles` says in words what its figures decide.
    """

    name: str
    module: str
    limit: int
    settles: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("torch", "transformers")

    def command(self, device: str, folder: Path) -> list[str]:
        return [sys.executable, "-m", f"gpu.{self.module}", device, str(self.path(folder)), *self.arguments]

    def longest(self, device: str) -> int:
        """Seconds. A rehearsal on a CPU, which may be slow and shared, has more time than a lent GPU."""
        return self.limit if device == "cuda" else REHEARSAL * self.limit

    def path(self, folder: Path) -> Path:
        """The file of its figures."""
        return folder / f"{self.name}.jsonl"


BENCH_NEEDS = ("torch", "transformers", "pydantic", "typer", "rich", "psutil", "tqdm")
RULE_NEEDS = ("torch", "transformers", "pydantic")
PYTEST_NEEDS = ("torch", "transformers", "pytest")

VERSIONS = Step("versions", "versions", 60, "what the figures belong to", needs=("torch",))
STEPS = (
    VERSIONS,
    Step("limits", "limits", 60, "what every share is a share of"),
    Step(
        "captures",
        "captures",
        150,
        "whether captured graphs give the logits of the plain forward",
        ("not compiled and not fails",),
        PYTEST_NEEDS,
    ),
    Step("products", "products", 150, "which products are worth fusing, or a kernel of their own"),
    Step("attention", "attention", 90, "which attention kernel to pin, and what reading padded slots costs"),
    Step("choice", "choice", 60, "what the host pays to choose a token after each pass", needs=RULE_NEEDS),
    Step("tiny", "passes", 120, "a pass by width: eager, captured, compiled", ("tiny",)),
    Step("target", "passes", 240, "a pass by width: eager, captured, compiled", ("target",)),
    Step("bench", "bench", 420, "tokens per second of every method, end to end", needs=BENCH_NEEDS),
    Step("small", "passes", 150, "a pass by width: eager, captured, compiled", ("small",)),
    Step("compiled", "captures", 150, "whether compiled graphs do too", ("compiled and not fails",), PYTEST_NEEDS),
    Step("counts", "counts", 60, "what passes, reviews and drafts launch and read: counted", needs=RULE_NEEDS),
    # In a process of its own, since a failed capture can leave the allocator and the generator in the middle of one.
    Step(
        "failed-capture",
        "captures",
        60,
        "whether a capture that fails leaves the device in order",
        ("fails",),
        PYTEST_NEEDS,
    ),
)


def missing_packages(step: Step, is_installed: Callable[[str], bool]) -> tuple[str, ...]:
    """The packages that a step needs and this Python lacks."""
    return tuple(name for name in step.needs if not is_installed(name))
