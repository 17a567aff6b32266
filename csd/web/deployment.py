"""Where the page runs, and what its visitors may ask of it: generous on a laptop, tight where strangers come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.stages import most_rounds
from csd.models import catalog
from csd.models.memory import MAX_CONTEXT
from csd.record.trace import Trace
from csd.request.form import check_lanes, in_order
from csd.request.link import read_lanes
from csd.request.request import Request
from csd.run import RaceEvent
from csd.theme import method_phrase
from csd.web.loads import FamilyChoice
from csd.web.record_size import event_size, record_size

RunRace = Callable[[Any, Request, Callable[[], bool]], Iterator[RaceEvent]]
"""csd.run.run_race, or a test's race."""

ON, OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
EVERY = "all"  # in CSD_FAMILIES: every ready-made family
CUT = "The race was stopped after {:g} seconds, the most that this page gives to one. Ask for fewer tokens or lanes."
CUT_AWAITED = (
    "The race was stopped after {:g} seconds, the most that this page gives to one while others wait. Ask for fewer "
    "tokens or lanes, or try again later."
)
CUT_COMPARISON = (
    "The race was stopped, because the {:g} seconds that this page gives to one comparison{} are over. Ask for fewer "
    "repeats or tokens."
)
WHILE_AWAITED = " while others wait"
CUT_RECORD = (
    "The race was stopped once its record had {:g} MB, the most that this page gives to one. Ask for shorter drafts, "
    "or for fewer tokens or lanes."
)


@dataclass(frozen=True)
class Deployment:
    """The limits of one running page. A number of 0 in `max_waiting` sets no limit; so do empty `families` and `hosts`.

    `max_tokens` counts new tokens over all lanes of a race, `max_prompt` characters, `max_rounds` the rounds of a lane
    for one block, between which no race can be stopped, and `max_seconds` the time on the
    device of a race or of a whole comparison. `max_record` is about how many MB the record of a race has, which very
    long drafts make large. `max_waiting` is how many races one address may have in the queue, and
    with it every session has one. `max_kept` is the memory in MB for the races that can be shown again, of all visitors
    together, and `max_linked` that on the disk for races with links. `families` are the names of those that visitors
    may load, `lanes` those that the form begins with in place of the family's, and `hosts` the names under which the
    page answers. `is_space`: it is embedded by huggingface.co, behind whose proxy all visitors are.
    """

    is_public: bool = False
    is_space: bool = False
    max_tokens: int = 20_000
    max_seconds: float = 3600.0
    max_record: float = 100.0
    max_prompt: int = 200_000
    max_rounds: int = 10**9
    max_waiting: int = 0
    max_kept: int = 400
    max_linked: int = 200
    families: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def check(self, request: Request) -> None:
        """Raise Refusal with a sentence for a race that is larger than this page allows.

        Texts that no model reads are refused with the model's own limit, once it is loaded (see csd.run)."""
        tokens, lanes = len(request.methods) * request.max_new, len(request.methods)
        if tokens > self.max_tokens and self.max_tokens < MAX_CONTEXT * lanes:
            asked, fewer = f"{tokens:,} new tokens were asked for", ""
            if lanes > 1:
                asked = f"{request.max_new:,} new tokens in each of {lanes} lanes are {tokens:,}"
                fewer = ", or race fewer lanes"
            raise Refusal(
                f"{asked}, and this page allows {self.max_tokens:,} in one race. "
                f"Ask for at most {self.max_tokens // lanes:,}{fewer}.",
                "max_new",
            )
        if len(request.prompt) > self.max_prompt:
            raise Refusal(
                f"The prompt has {len(request.prompt):,} characters, and this page allows {self.max_prompt:,}. "
                "Shorten it."
            )
        for method in request.methods:
            rounds = most_rounds(method.stages() or ())
            if rounds > self.max_rounds:
                raise Refusal(
                    f"With this plan, {method_phrase(method.name)} may take {rounds:,} rounds of guesses for one "
                    f"block, and this page allows {self.max_rounds:,}. Make its drafts shorter."
                )

    def most_seconds(self, is_awaited: bool) -> float:
        """What a race, or a whole comparison, may take: on a public page half, where others wait for the device."""
        return self.max_seconds / 2 if self.is_public and is_awaited else self.max_seconds

    def why_cut(self, traces: Sequence[Trace], is_awaited: bool, spent: float = 0.0) -> str:
        """A sentence on a race that nobody stopped, `spent` seconds after its comparison began, if it is of one."""
        if record_size(traces) >= self.max_record * 1e6:
            return CUT_RECORD.format(self.max_record)
        seconds = self.most_seconds(is_awaited)
        if spent:
            return CUT_COMPARISON.format(seconds, WHILE_AWAITED if seconds < self.max_seconds else "")
        return (CUT if seconds == self.max_seconds else CUT_AWAITED).format(seconds)

    def check_name(self, family: object) -> None:
        """Raise Refusal for a name of no family that visitors of this page may load."""
        names = map(catalog.current_name, self.families)
        if self.families and not (isinstance(family, str) and catalog.current_name(family) in names):
            raise Refusal(f"This page runs only {', '.join(self.families)}. Choose one of them.")

    def check_family(self, choice: FamilyChoice, homes: tuple[FamilyChoice, ...]) -> None:
        """Raise Refusal for a family that visitors of this page may not load.

        A family with other copies of its target would be loaded anew, and would take the device from everybody.
        """
        if not self.families:
            return
        self.check_name(choice.spec.name)
        if (choice.device, choice.dtype) != (homes[0].device, homes[0].dtype):
            raise Refusal("This page chooses device and precision itself. Leave them as they are.")
        own = catalog.find(choice.spec.name).copies
        at_home = {home.spec.copies for home in homes if home.spec.name == choice.spec.name}
        if choice.spec.copies not in {own, *at_home}:
            usual = f"with {' and '.join(own)} only" if own else "without copies of the target"
            raise Refusal(f"This page runs {catalog.title(choice.spec.name)} {usual}.")


PUBLIC = Deployment(
    is_public=True,
    max_tokens=1_200,
    max_seconds=60.0,
    max_record=4.0,
    max_prompt=4_000,
    max_rounds=500,
    max_waiting=8,
    max_kept=200,
    max_linked=100,
)
VARIABLES = {  # of the environment, by field
    "max_tokens": "CSD_MAX_TOKENS",
    "max_seconds": "CSD_MAX_SECONDS",
    "max_record": "CSD_MAX_RECORD_MB",
    "max_prompt": "CSD_MAX_PROMPT",
    "max_rounds": "CSD_MAX_ROUNDS",
    "max_waiting": "CSD_MAX_WAITING",
    "max_kept": "CSD_MAX_KEPT_MB",
    "max_linked": "CSD_MAX_LINKED_MB",
}


def within(
    run: RunRace, seconds: Callable[[], float], clock: Callable[[], float] = time.monotonic, most: float = math.inf
) -> RunRace:
    """The same race, which stops after so many seconds, as they are then, or bytes of its record, as if its visitor had
    stopped it."""

    def race(family: Any, request: Request, stopped: Callable[[], bool]) -> Iterator[RaceEvent]:
        begun, size = clock(), 0

        def is_over() -> bool:
            return stopped() or clock() - begun >= seconds() or size >= most

        for event in run(family, request, is_over):
            size += event_size(event)
            yield event

    return race


def make_deployment(
    environment: Mapping[str, str], host: str, public: bool | None, homes: tuple[FamilyChoice, ...]
) -> Deployment:
    """From the environment, the address to listen on, and what the command line says about public mode, if anything.

    Without `CSD_FAMILIES`, a public page runs the families that it loads by itself. Raises ValueError with a sentence.
    """
    is_space = "SPACE_ID" in environment
    is_public = public if public is not None else _switch(environment, is_space or not is_local(host))
    base = PUBLIC if is_public else Deployment()
    numbers = {name: _number(environment, variable, base, name) for name, variable in VARIABLES.items()}
    own = tuple(dict.fromkeys(choice.spec.name for choice in homes))
    named = _names(environment.get("CSD_HOSTS", "") or environment.get("SPACE_HOST", ""))
    has_names = named or (is_local(host) and not is_public)
    return replace(
        base,
        is_space=is_space,
        lanes=_lanes(environment.get("CSD_LANES", "").strip(), homes[0]),
        families=_families(environment.get("CSD_FAMILIES", "").strip(), own, is_public),
        hosts=(*named, *LOCAL_HOSTS, host) if has_names else (),  # Gradio calls the page by a local one at the start
        **numbers,
    )


def is_local(host: str) -> bool:
    return host.strip("[]") in LOCAL_HOSTS or host.startswith("127.")


def _switch(environment: Mapping[str, str], usual: bool) -> bool:
    text = environment.get("CSD_PUBLIC", "").strip().lower()
    if text in ON or text in OFF:
        return text in ON
    if text:
        raise ValueError(f"CSD_PUBLIC must be 1 or 0, not {text[:40]!r}.")
    return usual


def _number(environment: Mapping[str, str], variable: str, base: Deployment, name: str) -> Any:
    text = environment.get(variable, "").strip()
    usual = getattr(base, name)
    if not text:
        return usual
    least = 0 if name in ("max_waiting", "max_linked") else 1
    try:
        value = type(usual)(text)
    except ValueError:
        value = -1
    if not least <= value <= 10**9:
        raise ValueError(f"{variable} must be a number from {least} to 1000000000, not {text[:40]!r}.")
    return value


def _families(text: str, own: tuple[str, ...], is_public: bool) -> tuple[str, ...]:
    if not text:
        return own if is_public else ()
    named = [spec.name for spec in catalog.READY] if text == EVERY else map(_ready_name, _names(text))
    return tuple(dict.fromkeys((*own, *named)))


def _lanes(text: str, home: FamilyChoice) -> tuple[str, ...]:
    """Lanes as a link spells them, which the family that the page begins with can run."""
    if not text:
        return ()
    try:
        lanes = in_order(read_lanes(text))
        check_lanes(lanes, home.defaults)
    except ValueError as error:
        raise ValueError(f"CSD_LANES={text[:80]} cannot be used. {error} Names are separated by |.") from error
    return tuple(lanes)


def _ready_name(name: str) -> str:
    return catalog.find(name).name


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
