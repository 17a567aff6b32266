"""The model families that visitors ask for: which are loaded, and the one thread that loads them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from csd.models import catalog
from csd.models.compiling import CompileStep
from csd.models.spec import FamilySpec
from csd.web.device import Turns
from csd.web.loads import FamilyChoice, FamilyStatus, Load, Loads, not_loaded

if TYPE_CHECKING:
    from csd.models.family import Family

LoadFamily = Callable[[FamilySpec, str, str, Callable[[str], None]], Any]
"""Loads a family from (spec, device, dtype, progress). Raises ValueError with a sentence if it cannot."""

CompileSteps = Callable[[Any], Iterator[CompileStep]]
"""csd.models.compiling.compile_steps, or a test's steps."""

LOOK = 1.0  # seconds after which the thread looks again at whether races leave it a turn

log = logging.getLogger(__name__)


class Families:
    """Loaded families. Those of `homes` stay loaded; of all the others, only the one that was loaded last.

    One thread loads them one after another, because transformers and PyTorch do not load models in several threads. In
    the turns that races leave on the device, it then compiles what a family has to compile.
    """

    def __init__(
        self,
        homes: tuple[FamilyChoice, ...],
        load: LoadFamily,
        device: Turns,
        compile_steps: CompileSteps = lambda family: iter(()),
        check: Callable[[FamilyChoice, tuple[FamilyChoice, ...]], None] = lambda choice, homes: None,
    ):
        self.homes = homes
        self.page_seen = threading.Event()  # set once a browser has drawn the page
        self._load_family = load
        self._compile_steps = compile_steps
        self._device = device
        self._check = check
        self._changed = threading.Condition()
        self._loads = Loads(homes)
        self._thread: threading.Thread | None = None
        self._closed = False

    def status(self, choice: FamilyChoice) -> FamilyStatus:
        load = self._loads.find(choice)
        return load.status if load else not_loaded(choice)

    @property
    def can_race(self) -> bool:
        """Whether at least one device can run races of the families that are ready."""
        return self._device.can_race

    def as_loaded(self, choice: FamilyChoice) -> FamilyChoice:
        """Once a family is ready: the choice with only those copies of the target that this machine runs."""
        family = self.status(choice).family
        if family is None:
            return choice
        return replace(choice, spec=choice.spec.without_copies().with_copies(*family.spec.copies))

    @property
    def any_loading(self) -> bool:
        """Whether a family loads, or will as soon as the thread comes to it."""
        with self._changed:
            return any(
                load.status.state == "loading" or (load.status.state == "queued" and not load.patient)
                for load in self._loads
            )

    def ensure_loading(self, choice: FamilyChoice, visitor: str = "") -> Load:
        """Queue a family unless it is ready or on its way; one that failed is tried again.

        What the same visitor asked for before, and nobody else, is no longer loaded unless it has begun. Where `check`
        refuses a family that is not ready, the load has failed.
        """
        try:
            if self.status(choice).family is None:
                self._check(choice, self.homes)
        except ValueError as refusal:
            return Load(choice, FamilyStatus("failed", str(refusal)))
        with self._changed:
            load = self._loads.ask(choice, visitor)
            self._run_thread()
        return load

    def withdraw(self, visitor: str) -> None:
        """This visitor waits for no family any more."""
        with self._changed:
            self._loads.withdraw(visitor)

    def preload(self, patience: float = 3.0) -> None:
        """Load the families of `homes` one after another, without waiting for them.

        The first begins once the page has been drawn, or after `patience` seconds, because importing torch slows
        drawing; each of the others once no race runs.
        """
        with self._changed:
            for choice in self.homes:
                self._loads.ask(choice, "", patient=choice != self.homes[0])
            self._run_thread(patience)

    def close(self) -> None:
        """Load and compile nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.page_seen.set()

    def wait(self, patience: float) -> bool:
        """After `close`: until the thread has ended; False if it is still at work after `patience` seconds."""
        if self._thread is not None:
            self._thread.join(patience)
        return self._thread is None or not self._thread.is_alive()

    def _run_thread(self, patience: float = 0) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, args=(patience,), name="families", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self, patience: float) -> None:
        self.page_seen.wait(patience)
        while not self._closed:
            self._turn()

    def _turn(self) -> None:
        """Load or compile one thing, or wait for one. No variable outlives it: a family that is pushed out is gone."""
        with self._changed:
            if self._closed:
                return
            load = self._loads.take(is_idle=not self._device.has_races)
            if load is None and self._loads.to_compile() is None:
                waits = any(one.status.state == "queued" for one in self._loads)
                self._changed.wait(LOOK if waits else None)
                return
        if load is not None:
            self._load(load)
        else:
            self._compile()

    def _load(self, load: Load) -> None:
        choice, name = load.choice, catalog.title(load.choice.spec.name)

        def report(sentence: str) -> None:
            load.status = FamilyStatus("loading", f"{name}: {sentence}")

        try:
            family = self._load_family(choice.spec, choice.device, choice.dtype, report)
            load.steps = self._compile_steps(family)
            self._advance(load, family)
        except ValueError as error:
            log.warning("%s did not load. %s", name, error)
            load.status = FamilyStatus("failed", f"{name} did not load. {error}")
        except Exception as error:
            log.exception("loading %s", name)
            load.status = FamilyStatus("failed", f"{name} did not load: {describe_error(error)}")

    def _compile(self) -> None:
        """One step, if races leave a turn and nothing is to be loaded instead."""
        with self._device.step(LOOK) as granted:
            load = self._loads.to_compile()
            if granted and not self.any_loading and load is not None and load.status.family is not None:
                self._advance(load, load.status.family)

    def _advance(self, load: Load, family: Family) -> None:
        """The family is ready; the sentence of the next step says what is left to do."""
        step = _next_step(load.steps or iter(()), family)
        sentence = "; ".join(filter(None, (ready_sentence(step.family), step.sentence)))
        load.steps = load.steps if step.sentence else None
        load.status = FamilyStatus("ready", sentence, step.family, bool(step.sentence))
        with self._changed:
            # A family is not loaded again for a visitor who leaves out the copies that it could not have.
            spec = load.choice.spec.without_copies().with_copies(*step.family.spec.copies)
            self._loads.alias(replace(load.choice, spec=spec), load)


def _next_step(steps: Iterator[CompileStep], family: Family) -> CompileStep:
    """The next step; after an error none is left, and the family runs as it did before."""
    try:
        return next(steps, None) or CompileStep("", family)
    except Exception:
        log.exception("compiling %s", family.spec.name)
        return CompileStep("", family)


def ready_sentence(family: Family) -> str:
    """Such as "Ready: demo models, CPU, fp32"; a split family's line says where its models are."""
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
    device, dtype = str(family.device), str(family.dtype).removeprefix("torch.")
    return f"Ready: {catalog.title(family.spec.name)}, {family.placed or device.upper()}, {short.get(dtype, dtype)}"


def describe_error(error: BaseException) -> str:
    """The type and the first line of an unexpected error, ending in a full stop."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)  # without the file's path
    text = said.strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {text}".rstrip(".: ") + "."
