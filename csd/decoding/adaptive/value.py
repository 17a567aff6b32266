"""What more drafted tokens are worth to a reviewer.

    value = expected accepted tokens - tokens_per_second x (seconds to draft them + seconds that the review gets longer)

`tokens_per_second` is what the reviewer's time is worth. `costs[w - 1]` are the seconds of its pass over w tokens: with
d tokens drafted, a pass takes costs[d], since it also reads the token before them. `p_alive` is the probability that
all tokens drafted so far are accepted.

Copies and drafts are valued in two ways because different things are known about them. A copy costs nothing to make and
all of its tokens are known, with an acceptance rate for each, so every length is tried. A draft model writes one token
after another, and the margins of the next ones are not known yet, so they share one rate and one price per token, for
which the best length has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

HOPELESS = 0.05  # p_alive below which longer copies are not considered
STRIDE = 8  # tokens over which the growing seconds of a review are averaged


@dataclass(frozen=True, slots=True)
class Copying:
    """The number of copied tokens with the highest value, and `p_alive` after them; 0 tokens where none pays."""

    value: float
    count: int
    p_alive: float


def best_copy(
    rates: Sequence[float], costs: Sequence[float], drafted: int, p_alive: float, tokens_per_second: float
) -> Copying:
    """The best number of copied tokens after `drafted` ones; `rates` are their acceptance rates in order."""
    best, count, p_after = 0.0, 0, p_alive
    expected, seconds_now, width = 0.0, costs[drafted], drafted
    for rate in rates:
        p_alive *= rate
        expected += p_alive
        width += 1
        value = expected - tokens_per_second * (costs[width] - seconds_now)
        if value > best:
            best, count, p_after = value, width - drafted, p_alive
        if p_alive < HOPELESS:
            break
    return Copying(best, count, p_after)


def value_of_draft(
    rate: float,
    drafting_speed: float,
    room: int,
    costs: Sequence[float],
    drafted: int,
    p_alive: float,
    tokens_per_second: float,
) -> float:
    """The value of as many tokens of a draft model as pay, after `drafted` ones.

    `rate` is their acceptance rate, `drafting_speed` the draft model's own tokens per second. With `price` tokens for
    each drafted token, n tokens are worth p_alive (rate + rate^2 + ... + rate^n) - n price, and the n-th one pays as
    long as p_alive rate^n > price. Where a longer review was measured as the faster one, by more than drafting takes,
    the price is negative and every token pays.
    """
    ahead = min(room, STRIDE)
    review_seconds = (costs[drafted + ahead] - costs[drafted]) / ahead
    price = tokens_per_second * (1 / drafting_speed + review_seconds)
    if p_alive * rate <= price:
        return 0.0
    pays = int(log(price / p_alive) / log(rate)) if price > 0 else room  # the largest n with p_alive rate^n > price
    count = min(room, pays)
    return p_alive * rate * (1 - rate**count) / (1 - rate) - count * price
