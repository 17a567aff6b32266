"""`csd families`: the ready-made families and the memory they need."""

from __future__ import annotations

from csd.cli.families_table import show_families
from csd.cli.terminal import make_console
from csd.models.catalog import READY


def families() -> None:
    """List the ready-made families, the memory they need, and what this machine has."""
    import torch

    from csd.models.device import memory_free

    device, dtype = ("cuda", "bfloat16") if torch.cuda.is_available() else ("cpu", "float32")
    show_families(READY, dtype, memory_free(device), device, make_console())
