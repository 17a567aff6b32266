"""Whose address a visitor has, and whose neighbourhood it is in."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from starlette.datastructures import Headers

from csd.web.addresses import address, neighbourhood, region
from csd.web.deployment import PUBLIC


@pytest.mark.parametrize(
    ("is_space", "lines", "found"),
    [
        (True, ["9.9.9.9, 10.0.0.7"], "9.9.9.9"),
        (False, ["9.9.9.9, 10.0.0.7"], "10.0.0.1"),
        (True, ["1.1.1.1, 9.9.9.9"], "9.9.9.9"),  # a visitor wrote the first one
        (True, ["1.1.1.1, 9.9.9.9, 100.64.0.1, ::ffff:10.0.0.7"], "9.9.9.9"),
        (True, ["1.1.1.1", "9.9.9.9"], "9.9.9.9"),
        (True, ["10.0.0.7, fd00::1,"], "10.0.0.1"),
        (True, [], "10.0.0.1"),
    ],
)
def test_only_the_proxy_of_a_space_is_believed(is_space, lines, found):
    headers = Headers(raw=[(b"x-forwarded-for", line.encode()) for line in lines])
    request = SimpleNamespace(client=SimpleNamespace(host="10.0.0.1"), headers=headers)
    assert address(request, replace(PUBLIC, is_space=is_space)) == found


def test_an_ipv6_connection_counts_once():
    def counted(host):
        return address(SimpleNamespace(client=SimpleNamespace(host=host), headers={}), PUBLIC)

    assert len({counted(f"2001:db8:1:2:{one:x}::{one:x}") for one in range(1, 20)}) == 1
    assert counted("2001:db8:1:2::1") != counted("2001:db8:1:3::1")
    assert counted("::ffff:1.2.3.4") == counted("1.2.3.4") != counted("::ffff:1.2.3.5")
    assert counted("fe80::1%eth0") == counted("fe80::2")
    assert counted("a name") == "a name"


@pytest.mark.parametrize(
    ("own", "around", "wide"),
    [
        ("2a00:1450:4001:82a::/64", "2a00:1450:4001::/48", "2a00:1450::/32"),
        ("8.8.8.8", "8.8.8.0/24", "8.8.0.0/16"),
        ("192.168.1.7", "192.168.1.7", "192.168.1.7"),
        ("fd00:1:2:3::/64", "fd00:1:2:3::/64", "fd00:1:2:3::/64"),
        ("a name", "a name", "a name"),
        ("", "", ""),
    ],
)
def test_a_neighbourhood_is_what_one_customer_may_have_and_a_region_what_a_provider_has(own, around, wide):
    assert (neighbourhood(own), region(own)) == (around, wide)
