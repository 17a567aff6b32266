"""What runs of the big model cost, as a picture of the tour: why checking several tokens is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from csd.record.trace import Trace
from csd.sentences import counted


def run_costs(traces: Sequence[Trace]) -> tuple[int, float, float]:
    """The most tokens that a run of the target came to in the second lane, and the median seconds of its runs for one
    token in the first lane and for that many in the second."""
    alone, guessed = ([step.review for step in trace.steps] for trace in traces[:2])
    most = max(len(review.tokens) for review in guessed)
    blocks = [review.seconds for review in guessed if len(review.tokens) == most]
    return most + 1, median(review.seconds for review in alone), median(blocks)


def costs_html(traces: Sequence[Trace]) -> str:
    """Bars of the time that runs took: one for a token, one for a block, and one by one for as many tokens."""
    tokens, one, block = run_costs(traces)
    rows = ((1, "writes", 1, one), (1, "checks", tokens, block), (tokens, "write", tokens, one))
    longest = max(runs * seconds for runs, _, _, seconds in rows)

    def row(runs: int, does: str, count: int, seconds: float) -> str:
        bar = f'<i style="width:{100 * seconds / longest:.1f}%"></i>'
        said = f"{counted(runs, 'run')} {does} {counted(count, 'token')}"
        return f"<span>{said}</span><span>{bar * runs}</span><b>{1000 * runs * seconds:.1f} ms</b>"

    told = "".join(row(*one) for one in rows)
    return f'<div class="tour-tried tour-costs" hidden><h3>How long the big model runs</h3>{told}</div>'
