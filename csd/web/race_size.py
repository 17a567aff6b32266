"""How much of the device a race is expected to use, from the fields that ask for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import mean
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import check_K, parse_K, to_budgets
from csd.decoding.methods import Cascade, Speculative
from csd.decoding.stages import cascade_stages, model_rounds
from csd.request.request import Request
from csd.web.compare import BY_KIND

BEGINNING = 100  # what a race takes besides its tokens, as the prompt and the first picture, in tokens
USUAL_ROUNDS = 25  # of drafts for one block, as in the paper's K; with more of them a token costs more
MOST_WEIGHT = 20.0  # of a token: a public page refuses plans that would weigh more, so they never run
MOST_LANES, MOST_K = 16, 1000  # of a race that is measured
MOST_DRAFTS = 4  # of a plan that is measured, since a plan is a tree of as many levels


def race_size(asked: Mapping[str, Any], most: int) -> float:
    """New tokens over all lanes, each as dear as the plan makes it, and the beginning. The most that the page allows
    where that is unclear, as in a comparison of two plans. Any comparison asks for one of its races at a time."""
    lanes = asked.get("lanes", asked.get("methods"))
    tokens = asked.get("max-new", asked.get("max_new"))
    is_clear = isinstance(lanes, list) and isinstance(tokens, (int, float)) and 0 < tokens <= most
    if asked.get("compare-what", BY_KIND) != BY_KIND or not is_clear:
        return largest_size(most)
    weights = [token_weight(lane, asked) for lane in lanes[:MOST_LANES]] or [1.0]
    return min(most, max(1, len(lanes)) * tokens) * mean(weights) + BEGINNING


def request_size(request: Request, most: int) -> float:
    """The same of a race that is about to run."""
    weights = [token_weight(method.name, method.to_knobs()) for method in request.methods] or [1.0]
    return min(most, max(1, len(request.methods)) * request.max_new) * mean(weights) + BEGINNING


def largest_size(most: int) -> float:
    return most + BEGINNING


def token_weight(lane: Any, asked: Mapping[str, Any]) -> float:
    """How many times as dear a token of this lane is with these settings as with usual ones."""
    if lane == Cascade.name:
        return plan_weight(asked.get("K"))
    k = asked.get("k")
    if lane != Speculative.name or not isinstance(k, (int, float)) or not 0 < k < MOST_K:
        return 1.0
    return min(MOST_WEIGHT, max(1.0, k / USUAL_ROUNDS))


def plan_weight(K: Any) -> float:
    """The same with this K. 1 for a K that cannot be read: its race is refused, or has none."""
    try:
        text = K if isinstance(K, str) else json.dumps(K)
        matrix = parse_K(text)
        checked = check_K(matrix, max(0, min(len(matrix) - 1, MOST_DRAFTS)))
    except (Refusal, TypeError, ValueError, RecursionError):
        return 1.0
    drafts = [str(number) for number in range(len(checked) - 1)]
    rounds = model_rounds(cascade_stages(drafts, to_budgets(checked)))
    return min(MOST_WEIGHT, max(1.0, rounds / USUAL_ROUNDS))
