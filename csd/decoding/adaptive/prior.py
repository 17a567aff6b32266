"""What the adaptive cascade expects of copies and drafts before a text begins."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field

from csd.decoding.errors import Refusal
from csd.record.trace import Review

MARGINS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # edges between the kinds of a draft's own tokens
AGREED = len(MARGINS) + 1  # the kind of a token from the level below that this draft accepted
ANY = AGREED + 1  # the kind of a token of a draft about which nothing more is known
KINDS = ANY + 1


@dataclass(frozen=True)
class Prior:
    """Acceptance rates by kind of token, as `csd.tuning` counts them; the defaults are those of the embedded family.

    `copies`: Max-Gram's next token by the length of its match, a bigram's at index 0. `drafts`: by name, a draft's
    tokens by kind (bins of the margin, AGREED, ANY); drafts without an entry have `unknown`.
    """

    copies: tuple[float, ...] = (
        0.13, 0.35, 0.45, 0.45, 0.7, 0.7, 0.83, 0.88, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93,
    )  # fmt: skip
    drafts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    unknown: tuple[float, ...] = (0.4, 0.42, 0.45, 0.5, 0.6, 0.67, 0.75, 0.82, 0.91, 0.97, 0.99, 0.98, 0.95)

    def of_draft(self, name: str) -> tuple[float, ...]:
        return self.drafts.get(name, self.unknown)


GENERAL = Prior()  # measured on the embedded family, and used for every family without a tuning record


def check_prior(prior: Prior) -> None:
    """Raise Refusal for rates that nothing can be estimated from: each lies between 0 and 1, and every kind has one."""
    by_draft = (prior.unknown, *prior.drafts.values())
    if not prior.copies or any(len(rates) != KINDS for rates in by_draft):
        raise Refusal(f"The adaptive cascade's prior needs rates for copies, and {KINDS} rates for each draft.")
    if not all(0 < rate < 1 for rates in (prior.copies, *by_draft) for rate in rates):
        raise Refusal("The rates of the adaptive cascade's prior must lie between 0 and 1, both excluded.")


def kind_of_margin(margin: float | None) -> int:
    """The kind of a draft's own token, by how far its score was ahead of the second best.

    Without a second candidate (a filter left one token) it is as sure as a token that two levels agree on.
    """
    return AGREED if margin is None else bisect(MARGINS, margin)


def token_kinds(review: Review) -> list[int]:
    """The kind of each token that a draft's review emitted: those that it accepted, then its own."""
    own = [] if review.token is None else [kind_of_margin(review.margin)]
    return [AGREED] * review.accepted + own
