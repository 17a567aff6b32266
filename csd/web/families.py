"""The model families that visitors ask for: which are loaded, and the thread that loads one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from csd.models.compiling import CompileStep
from csd.models.spec import FamilySpec
from csd.request.defaults import Defaults, defaults_for
from csd.web.device import Device

if TYPE_CHECKING:
    from csd.models.family import Family

LoadFamily = Callable[[FamilySpec, str, str, Callable[[str], None]], Any]
"""Loads a family from (spec, device, dtype, progress). Raises ValueError with a sentence if it cannot."""

CompileSteps = Callable[[Any], Iterator[CompileStep]]
"""csd.models.compiling.compile_steps, or a test's steps."""

LOOK = 1.0  # seconds after which a family that waits to be compiled is looked at again: it may be gone

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FamilyChoice:
    """A family as a visitor asks for it."""

    spec: FamilySpec
    device: str = "auto"
    dtype: str = "auto"

    @property
    def defaults(self) -> Defaults:
        return defaults_for(self.spec, self.device)


@dataclass(frozen=True)
class FamilyStatus:
    """How far a family has come, with a sentence for the page; `family` is set once it is ready.

    A ready family may still be `compiling`: races run, and become faster.
    """

    state: Literal["waiting", "loading", "ready", "failed"]
    sentence: str
    family: Family | None = None
    compiling: bool = False

    @property
    def is_final(self) -> bool:
        return self.state in ("ready", "failed")

    @property
    def is_settled(self) -> bool:
        """Whether nothing about the family changes any more."""
        return self.is_final and not self.compiling


class Families:
    """Loaded families. Those of `homes` stay loaded; of all the others, only the one that was asked for last.

    A family that has something to compile is ready before; its steps take turns with races on the device.
    """

    def __init__(
        self,
        homes: tuple[FamilyChoice, ...],
        load: LoadFamily,
        device: Device,
        compile_steps: CompileSteps = lambda family: iter(()),
    ):
        self.homes = homes
        self.page_seen = threading.Event()  # set once a browser has drawn the page
        self._load_family = load
        self._compile_steps = compile_steps
        self._device = device
        self._lock = threading.Lock()
        self._statuses: dict[FamilyChoice, FamilyStatus] = {}
        # Here and in no thread's variables, so that nothing keeps a family that is replaced.
        self._to_compile: dict[FamilyChoice, Iterator[CompileStep]] = {}

    def status(self, choice: FamilyChoice) -> FamilyStatus:
        return self._statuses.get(choice, FamilyStatus("waiting", f"{choice.spec.name}: not loaded yet"))

    def as_loaded(self, choice: FamilyChoice) -> FamilyChoice:
        """Once a family is ready: the choice with only those copies of the target that this machine runs."""
        family = self.status(choice).family
        if family is None:
            return choice
        return replace(choice, spec=choice.spec.without_copies().with_copies(*family.spec.copies))

    @property
    def any_loading(self) -> bool:
        return any(status.state == "loading" for status in tuple(self._statuses.values()))

    def ensure_loading(self, choice: FamilyChoice) -> FamilyStatus:
        """Start loading a family unless it is ready or on its way; one that failed is tried again."""
        claimed, status = self._claim(choice), self.status(choice)
        if claimed:
            threading.Thread(target=self._prepare, args=(choice,), name=f"load {choice.spec.name}", daemon=True).start()
        return status

    def preload(self, patience: float = 3.0) -> None:
        """Load the families of `homes` one after another, without waiting for them.

        The first begins once the page has been drawn, or after `patience` seconds, because importing torch slows
        drawing; each of the others once no race runs.
        """
        threading.Thread(target=self._preload, args=(patience,), name="preload", daemon=True).start()

    def _preload(self, patience: float) -> None:
        self.page_seen.wait(patience)
        for choice in self.homes:
            self._device.wait_for_races()
            if self._claim(choice):
                self._load(choice)
        for choice in self.homes:
            self._compile(choice)

    def _prepare(self, choice: FamilyChoice) -> None:
        self._load(choice)
        self._compile(choice)

    def _claim(self, choice: FamilyChoice) -> bool:
        """Whether the caller shall load this family: nobody else does, and it is not ready."""
        with self._lock:
            if self.status(choice).state in ("loading", "ready"):
                return False
            if choice not in self.homes:
                kept = {choice, *self.homes, *map(self.as_loaded, self.homes)}
                # A race that still runs on another one keeps it in memory until it ends.
                self._statuses = {known: status for known, status in self._statuses.items() if known in kept}
                self._to_compile = {known: steps for known, steps in self._to_compile.items() if known in kept}
            self._statuses[choice] = FamilyStatus("loading", f"{choice.spec.name}: loading")
        return True

    def _load(self, choice: FamilyChoice) -> None:
        name = choice.spec.name

        def report(sentence: str) -> None:
            self._set(choice, FamilyStatus("loading", f"{name}: {sentence}"))

        try:
            self._device.wait_for_step()  # the family that it compiles may be one that this family replaces
            family = self._load_family(choice.spec, choice.device, choice.dtype, report)
            steps = self._compile_steps(family)
            self._show(choice, _next_step(steps, family), steps)
        except ValueError as error:
            log.warning("%s did not load. %s", name, error)
            self._set(choice, FamilyStatus("failed", f"{name} did not load. {error}"))
        except Exception as error:
            log.exception("loading %s", name)
            self._set(choice, FamilyStatus("failed", f"{name} did not load: {first_line(error)}"))

    def _compile(self, choice: FamilyChoice) -> None:
        """Compile what a loaded family has to compile, in the turns that races leave."""
        while choice in self._to_compile:
            if self.any_loading:
                time.sleep(LOOK)
            with self._device.step(LOOK) as granted:
                if granted and not self.any_loading:  # a family that begins to load now waits for this step
                    self._compile_next(choice)

    def _compile_next(self, choice: FamilyChoice) -> None:
        steps, family = self._to_compile.get(choice), self.status(choice).family
        if steps is not None and family is not None:
            self._show(choice, _next_step(steps, family), steps)

    def _show(self, choice: FamilyChoice, step: CompileStep, steps: Iterator[CompileStep]) -> None:
        """The family is ready; the sentence of a step says what is left to do."""
        sentence = "; ".join(filter(None, (ready_sentence(step.family), step.sentence)))
        with self._lock:
            if choice not in self._statuses:  # another family has replaced it in the meantime
                return
            self._to_compile.pop(choice, None)
            if step.sentence:
                self._to_compile[choice] = steps
        self._set(choice, FamilyStatus("ready", sentence, step.family, bool(step.sentence)))
        self._know_as_loaded(choice)

    def _set(self, choice: FamilyChoice, status: FamilyStatus) -> None:
        with self._lock:
            if choice in self._statuses:  # otherwise another family has replaced it in the meantime
                self._statuses[choice] = status

    def _know_as_loaded(self, choice: FamilyChoice) -> None:
        """A family is not loaded again for a visitor who leaves out the copies that it could not have."""
        with self._lock:
            if choice in self._statuses:
                self._statuses[self.as_loaded(choice)] = self._statuses[choice]


def _next_step(steps: Iterator[CompileStep], family: Family) -> CompileStep:
    """The next step; after an error none is left, and the family runs as it did before."""
    try:
        return next(steps, None) or CompileStep("", family)
    except Exception:
        log.exception("compiling %s", family.spec.name)
        return CompileStep("", family)


def ready_sentence(family: Family) -> str:
    """Such as "embedded, CPU, fp32, ready"."""
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
    device, dtype = str(family.device), str(family.dtype).removeprefix("torch.")
    return f"{family.spec.name}, {device.upper()}, {short.get(dtype, dtype)}, ready"


def first_line(error: BaseException) -> str:
    """The type and the first line of an unexpected error, ending in a full stop."""
    text = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {text}".rstrip(".: ") + "."
