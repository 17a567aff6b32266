"""The tables of `csd tune`: what a forward pass costs, how often drafts are accepted, and what was run and chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from csd.cli.terminal import make_table
from csd.decoding.methods import Method, title
from csd.request.tuned import Tuned
from csd.tuning.tune import Candidate

WIDTHS = (1, 2, 4, 8, 16, 32, 64)  # tokens of a forward pass
POSITIONS = (1, 2, 4, 8, 16)  # of a token in a block


def show_tuned(
    tuned: Tuned, candidates: Sequence[Candidate[Method]], costs: Mapping[str, Sequence[float]], console: Console
) -> None:
    """Print the tables. `costs`: for each model, the seconds of a forward pass over 1, 2, ... tokens."""
    _show_costs(costs, console)
    if tuned.alpha:
        _show_acceptance(tuned.alpha, console)
    _show_candidates(candidates, console)


def _show_costs(costs: Mapping[str, Sequence[float]], console: Console) -> None:
    widths = [width for width in WIDTHS if width <= min(map(len, costs.values()))]
    table = make_table(console, ("ms for a pass over", *map(str, widths), "tokens"))
    for name, cost in costs.items():
        table.add_row(name, *(f"{1e3 * cost[width - 1]:.2f}" for width in widths), "")
    console.print(table)


def _show_acceptance(alpha: Mapping[str, Sequence[float]], console: Console) -> None:
    positions = [position for position in POSITIONS if position <= min(map(len, alpha.values()))]
    table = make_table(console, ("alpha at position", *map(str, positions)))
    for name, rates in alpha.items():
        table.add_row(name, *(f"{rates[position - 1]:.3f}" for position in positions))
    console.print(table)


def _show_candidates(candidates: Sequence[Candidate[Method]], console: Console) -> None:
    """The methods that ran; the fastest with each name is marked as chosen."""
    fastest: dict[str, float] = {}
    for candidate in candidates:
        name, measured = candidate.method.name, candidate.measured or 0.0
        fastest[name] = max(measured, fastest.get(name, 0.0))
    table = make_table(console, ("x autoregressive", "predicted", "measured"))
    for candidate in candidates:
        measured = candidate.measured or 0.0
        chosen = measured == fastest[candidate.method.name]
        table.add_row(
            Text(title(candidate.method), style="bold" if chosen else ""),
            f"{candidate.simulated:.2f}",
            f"{measured:.2f}" + (" chosen" if chosen else ""),
        )
    console.print(table)
