"""How long a race waits for the browser to draw the empty stage."""

from __future__ import annotations

import ipaddress
import os

FEW_CORES = 4  # on more of them a browser and the lanes do not halt one another
FIRST_PAINT = 0.5  # seconds


def seconds_for(address: str, cores: int = os.cpu_count() or 1) -> float:
    """Seconds before the lanes start, for a visitor at this IP address: some for a browser on the same few cores, none
    for one on another machine."""
    return FIRST_PAINT if cores <= FEW_CORES and _is_local(address) else 0.0


def _is_local(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
