"""What a replica does: a worker that is told which family a race needs, and loads it if it does not hold it yet.

Like the worker, it knows nothing of processes or machines.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

from csd.models.messages import ignore
from csd.models.spec import FamilySpec
from csd.request.request import Request
from csd.workers.worker import LoadedFamily, RaceWorker, Send

FamilyName = tuple[FamilySpec, str, str]
"""The family, device and precision that somebody asked for."""

log = logging.getLogger(__name__)


class Replica:
    """Loads the families of `homes` at once and keeps them; of all others it keeps the last one.

    Its calls come one after another. A family is compiled while it is loaded, so a race never waits for a step.
    """

    def __init__(self, homes: Sequence[FamilyName], worker: RaceWorker):
        self._homes, self._worker = frozenset(homes), worker
        self._held: dict[FamilyName, tuple[int, LoadedFamily]] = {}
        self._numbers = itertools.count()
        for home in homes:
            try:
                self._hold(ignore, home)
            except Exception:  # whoever asks for it is told why: it is tried again then
                log.exception("loading %s", home[0].name)

    def load(self, send: Send, stopped: Callable[[], bool], family: FamilyName) -> None:
        """Sends sentences about what is happening, then a LoadedFamily. Raises Refusal if it cannot be loaded."""
        send(self._hold(send, family)[1])

    def race(self, send: Send, stopped: Callable[[], bool], family: FamilyName, request: Request) -> None:
        """Sends the events of a race. Raises Refusal for a request that the family cannot run."""
        number, _ = self._hold(ignore, family)
        self._worker.race(send, stopped, number, request)

    def _hold(self, send: Send, family: FamilyName) -> tuple[int, LoadedFamily]:
        if family not in self._held:
            for other in self._held.keys() - self._homes:
                self._worker.drop(ignore, bool, self._held.pop(other)[0])
            number = next(self._numbers)
            self._held[family] = number, self._load(send, number, family)
        return self._held[family]

    def _load(self, send: Send, number: int, family: FamilyName) -> LoadedFamily:
        loaded: list[LoadedFamily] = []

        def take(told: Any) -> None:
            loaded.append(told) if isinstance(told, LoadedFamily) else send(told)

        self._worker.load(take, bool, number, *family)
        while loaded[-1].next_step:
            send(loaded[-1].next_step)
            self._worker.step(take, bool, number)
        return loaded[-1]
