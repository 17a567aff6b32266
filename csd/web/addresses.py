"""Whom a request counts for, where a limit is one per address."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

from csd.web.deployment import Deployment

REMEMBERED = 2**12  # addresses: every event that comes is compared with all that wait
LAST = 1000  # characters of the proxies' header that are read: a visitor may write any number before them


def address(request: Any, deployment: Deployment) -> str:
    """Where a request comes from, as limits count it; on a Space, what the Hub's proxy says.

    Each proxy adds the address of whoever has called it at the end, and what a visitor writes stands before that. So
    the last one counts that is not inside the Hub's network.
    """
    client = request.client.host if request.client else ""
    lines = request.headers.getlist("x-forwarded-for") if deployment.is_space else []
    return _outermost(",".join(lines)[-LAST:], client)


@lru_cache(REMEMBERED)
def _outermost(forwarded: str, client: str) -> str:
    entries = [entry.strip() for entry in forwarded.split(",")]
    return network(next((entry for entry in reversed(entries) if entry and not _is_inner(entry)), client))


def _is_inner(place: str) -> bool:
    """Whether an address is none of the public internet, as those of proxies behind one another."""
    try:
        found = ipaddress.ip_address(place)
    except ValueError:
        return False
    return not (getattr(found, "ipv4_mapped", None) or found).is_global


def network(place: str) -> str:
    """Whom an address counts for: an IPv6 connection has 2^64 addresses, which are all one visitor's."""
    try:
        found = ipaddress.ip_address(place)
    except ValueError:  # some proxies write names
        return place
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), 64), strict=False))


def neighbourhood(own: str) -> str:
    """The network around an address that counts: a provider gives a customer up to an IPv6 /48, and rents IPv4
    addresses out in rows. In a private network, such as that of a lecture hall, each address stands for itself."""
    return _around(own, 48, 24)


def region(own: str) -> str:
    """The larger network around that: all of a provider's, or a part of it, from which one customer may have many."""
    return _around(own, 32, 16)


@lru_cache(3 * REMEMBERED)
def _around(own: str, six: int, four: int) -> str:
    """The public network with a prefix of so many bits, of IPv6 or IPv4."""
    try:
        found = ipaddress.ip_network(own)
    except ValueError:
        return own
    return str(found.supernet(new_prefix=six if found.version == 6 else four)) if found.is_global else own
