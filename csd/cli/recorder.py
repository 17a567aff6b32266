"""The example races that `csd record` records, and the note on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Refusal, Speculative
from csd.record.trace import Trace
from csd.request.request import Request
from csd.run import finished_traces, run_race

if TYPE_CHECKING:
    from csd.models.family import Family

FOUR = (Autoregressive.name, Speculative.name, PromptLookup.name, Cascade.name)
BOTH = (Autoregressive.name, Speculative.name, Cascade.name, AdaptiveCascade.name)
FITTED = "Its plan was tuned to this text."
WARM_UP = 32  # new tokens of the race before the recorded one


@dataclass(frozen=True)
class Take:
    """An example prompt to record. `k`, `K` (cumulative), `lanes` and `max_new` replace those of the prompt and of the
    default preset if they are given."""

    kind: str
    title: str
    k: int | None = None
    K: str = ""
    lanes: tuple[str, ...] = ()
    max_new: int | None = None

    def fields(self) -> dict[str, Any]:
        """The form fields that it sets, by name."""
        return {name: value for name, value in (("k", self.k), ("K", self.K)) if value}


# The page begins with the first one: a text in which the cascade is fastest and copying alone gains little. The last
# one shows a cascade that loses: the paper's K was tuned for other models.
EMBEDDED = (
    Take("story", "An otter makes a boat", lanes=FOUR, max_new=64),
    Take("edit", "Rename the fox"),
    Take("word problem", "Stickers"),
    Take("code", "Rename a parameter"),
    Take("list", "People to JSON"),
    Take("story", "A mouse on an island, sampled", lanes=BOTH),
    Take("story", "A robot and the thunder", 5, "[[5,19,29],[0,1,11],[0,0,10]]"),
)
SMOLLM2 = (
    Take("rewrite", "Another name", lanes=FOUR),
    Take("explain", "Why the sky is blue"),
    Take("story", "A baker and his guest, sampled"),
)
TAKES: Mapping[str, tuple[Take, ...]] = {"embedded": EMBEDDED, "smollm2": SMOLLM2}


def takes_of(family: str) -> tuple[Take, ...]:
    """Raises Refusal for a family without takes."""
    if family not in TAKES:
        raise Refusal(f"No races are chosen for the family {family!r}. Choose one of: {', '.join(TAKES)}.")
    return TAKES[family]


def record_race(family: Family, request: Request, stopped: Callable[[], bool] = lambda: False) -> tuple[Trace, ...]:
    """The traces of one race, run after a short one that warms the models up. Raises Refusal."""
    for _ in run_race(family, replace(request, max_new=min(WARM_UP, request.max_new)), stopped):
        pass
    return finished_traces(run_race(family, request, stopped))
