"""The model families that visitors ask for: which are loaded, and the thread that loads one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from csd.models.catalog import FamilySpec
from csd.request.defaults import Defaults, defaults_for

if TYPE_CHECKING:
    from csd.models.family import Family

LoadFamily = Callable[[FamilySpec, str, str, Callable[[str], None]], Any]
"""Loads a family from (spec, device, dtype, progress). Raises ValueError with a sentence if it cannot."""

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
    """How far a family has come, with a sentence for the page; `family` is set once it is ready."""

    state: Literal["waiting", "loading", "ready", "failed"]
    sentence: str
    family: Family | None = None

    @property
    def is_final(self) -> bool:
        return self.state in ("ready", "failed")


class Families:
    """Loaded families. `home` stays loaded; of all the others, only the one that was asked for last."""

    def __init__(self, home: FamilyChoice, load: LoadFamily):
        self.home = home
        self.page_seen = threading.Event()  # set once a browser has drawn the page
        self._load_family = load
        self._lock = threading.Lock()
        self._statuses: dict[FamilyChoice, FamilyStatus] = {}

    def status(self, choice: FamilyChoice) -> FamilyStatus:
        return self._statuses.get(choice, FamilyStatus("waiting", f"{choice.spec.name}: not loaded yet"))

    @property
    def any_loading(self) -> bool:
        return any(status.state == "loading" for status in tuple(self._statuses.values()))

    def ensure_loading(self, choice: FamilyChoice) -> FamilyStatus:
        """Start loading a family unless it is ready or on its way; one that failed is tried again."""
        with self._lock:
            status = self.status(choice)
            if status.state in ("loading", "ready"):
                return status
            for other in [known for known in self._statuses if known not in (self.home, choice)]:
                del self._statuses[other]  # a race that still runs on it keeps it in memory until it ends
            status = self._statuses[choice] = FamilyStatus("loading", f"{choice.spec.name}: loading")
        threading.Thread(target=self._load, args=(choice,), name=f"load {choice.spec.name}", daemon=True).start()
        return status

    def preload(self, patience: float = 3.0) -> None:
        """Load `home` once the page has been drawn, or after `patience` seconds: importing torch slows drawing."""

        def wait_and_load() -> None:
            self.page_seen.wait(patience)
            self.ensure_loading(self.home)

        threading.Thread(target=wait_and_load, name="preload", daemon=True).start()

    def _load(self, choice: FamilyChoice) -> None:
        name = choice.spec.name

        def report(sentence: str) -> None:
            self._set(choice, FamilyStatus("loading", f"{name}: {sentence}"))

        try:
            family = self._load_family(choice.spec, choice.device, choice.dtype, report)
            self._set(choice, FamilyStatus("ready", ready_sentence(family), family))
        except ValueError as error:
            self._set(choice, FamilyStatus("failed", f"{name} did not load. {error}"))
        except Exception as error:
            log.exception("loading %s", name)
            self._set(choice, FamilyStatus("failed", f"{name} did not load: {first_line(error)}"))

    def _set(self, choice: FamilyChoice, status: FamilyStatus) -> None:
        with self._lock:
            if choice in self._statuses:  # otherwise another family has replaced it in the meantime
                self._statuses[choice] = status


def ready_sentence(family: Family) -> str:
    """Such as "embedded, CPU, fp32, ready"."""
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
    device, dtype = str(family.device), str(family.dtype).removeprefix("torch.")
    return f"{family.spec.name}, {device.upper()}, {short.get(dtype, dtype)}, ready"


def first_line(error: BaseException) -> str:
    """The type and the first line of an unexpected error, ending in a full stop."""
    text = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {text}".rstrip(".: ") + "."
