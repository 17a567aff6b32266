"""Races of a visitor over fake workers (fake_workers.py): a short one, and one that goes on until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from csd.models import catalog
from csd.request.request import Request
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, News
from csd.web.studio import Studio

HOME = FamilyChoice(catalog.find("embedded"))


def until(condition: Callable[[], object], patience: float = 30) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def race(studio: Studio, prompt: str, choice: FamilyChoice = HOME) -> list[News]:
    return list(studio.race("a visitor", choice, Request(prompt, ())))


class LongRace(threading.Thread):
    """A race of a visitor, which goes on until it is stopped or its worker dies."""

    def __init__(self, studio: Studio, visitor: str):
        super().__init__(daemon=True)
        self.news, self._stream = [], studio.race(visitor, HOME, Request("long", ()))
        self.start()

    def run(self) -> None:
        self.news.extend(self._stream)

    @property
    def pid(self) -> int:
        """Of the worker that runs the race; 0 before it has begun."""
        batches = tuple(news for news in self.news if isinstance(news, Batch))
        return next((int(event.machine) for batch in batches for event in batch.events), 0)

    def end(self) -> News:
        self.join(20)
        assert not self.is_alive()
        return self.news[-1]
