"""How many bytes of uploads are on their way for a neighbourhood and in all, and which upload gives way to another."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from csd.decoding.errors import Refusal
from csd.web.giving_way import next_to_go

TOO_MANY = "Many files are being opened at the moment. Try again in a minute."
STEP = 64 * 2**10  # bytes that are progress: a byte now and then is none
STALLED = 5.0  # seconds without progress, after which an upload makes room for any other
FIRST = 1.0  # seconds that an upload counts at least


@dataclass(eq=False)
class Upload:
    """One that is on its way. `next_part` is what waits for its client, and is cancelled where it gives way."""

    owner: str
    begun: float
    moved: float  # when it last made progress
    count: int = 0  # bytes that are here
    next_step: int = STEP
    is_whole: bool = False
    has_given_way: bool = False
    next_part: asyncio.Future[Any] | None = None


class UploadRoom:
    """Where there is no room for more, the upload gives way that has made no progress for longest. Where none has
    stalled, it is one of the neighbourhood that has had most for longest, so that uploads which crawl lock nobody out
    either, whether few of them are large or many are small."""

    def __init__(self, most: int, share: int, clock: Callable[[], float] = time.monotonic):
        self._most, self._share, self._clock = most, share, clock
        self._uploads: dict[Upload, None] = {}
        self._held: Counter[str] = Counter()  # bytes by owner
        self.arrived = 0  # bytes of all uploads that are here

    def begin(self, owner: str) -> Upload:
        upload = Upload(owner, now := self._clock(), now)
        self._uploads[upload] = None
        return upload

    def take(self, upload: Upload, count: int, is_whole: bool) -> None:
        """So many more bytes of it are here. Raises Refusal with a sentence where nothing else can give way."""
        self._count(upload, upload.count + count)
        upload.is_whole = is_whole
        if upload.count >= upload.next_step:
            upload.moved, upload.next_step = self._clock(), upload.count + STEP
        while self._held[upload.owner] > self._share:
            self._make_room(upload, [one for one in self._uploads if one.owner == upload.owner])
        while self.arrived > self._most:
            self._make_room(upload, self._uploads)

    def end(self, upload: Upload) -> None:
        self._count(upload, 0)
        self._uploads.pop(upload, None)

    def _count(self, upload: Upload, count: int) -> None:
        self._held[upload.owner] += count - upload.count
        self.arrived += count - upload.count
        upload.count = count
        if not self._held[upload.owner]:
            del self._held[upload.owner]

    def _make_room(self, asking: Upload, uploads: Iterable[Upload]) -> None:
        gone = self._next_to_go(asking, uploads)
        if gone is None:
            raise Refusal(TOO_MANY)
        self.end(gone)
        gone.has_given_way = True
        if gone.next_part is not None:
            gone.next_part.cancel()

    def _next_to_go(self, asking: Upload, uploads: Iterable[Upload]) -> Upload | None:
        """None where the one that asks for room has the least right to it."""
        held = sorted((one for one in uploads if one is asking or not one.is_whole), key=lambda one: one.moved)
        slowest = next((one for one in held if one is not asking), None)
        if slowest is not None and self._clock() - slowest.moved >= STALLED:
            return slowest
        heaviest = next_to_go({one: (one.owner, self._weight(one)) for one in held})
        return heaviest if heaviest.owner != asking.owner else None

    def _weight(self, upload: Upload) -> float:
        """Byte-seconds: what comes fast weighs less than what comes slowly."""
        return upload.count * max(FIRST, self._clock() - upload.begun)
