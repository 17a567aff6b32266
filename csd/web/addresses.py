"""Whom a request counts for, where a limit is one per address."""

from __future__ import annotations

import ipaddress
from typing import Any

from csd.web.deployment import Deployment


def address(request: Any, deployment: Deployment) -> str:
    """Where a request comes from, as limits count it; on a Space, what the Hub's proxy says."""
    client = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "") if deployment.is_space else ""
    return network(forwarded.split(",")[0].strip() or client)


def network(place: str) -> str:
    """Whom an address counts for: an IPv6 connection has 2^64 addresses, which are all one visitor's."""
    try:
        found = ipaddress.ip_address(place)
    except ValueError:  # some proxies write names
        return place
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), 64), strict=False))
