"""A family and a trace without any model, for races that a test controls."""

from __future__ import annotations

from types import SimpleNamespace

from csd.models import catalog
from csd.record.trace import Header, Trace
from csd.request.request import Request
from csd.web.loads import FamilyChoice

HOME = FamilyChoice(catalog.find("embedded"))
REQUEST = Request("a prompt", ())


def family(spec, *_):
    return SimpleNamespace(spec=spec, device="cpu", placed="", dtype="torch.float32")


def trace(end: str) -> Trace:
    header = Header("autoregressive", "", {}, "", (), (1,), "a", 1, (), "greedy", 0, 0, 1, 0, "cpu", "float32", {})
    return Trace(header, (), (), end, {})
