"""Files that visitors upload: how large one may be, and how many are kept. Gradio alone keeps all for hours."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradio import route_utils
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from csd.decoding.errors import Refusal
from csd.record import recording as recordings
from csd.web.addresses import neighbourhood
from csd.web.bodies import App, Message, Receive, Send, at_most, declared_size, is_upload, until
from csd.web.giving_way import next_to_go
from csd.web.upload_room import TOO_MANY, Upload, UploadRoom

LARGEST = 2 * recordings.LARGEST  # bytes of a file; those between one and two times the limit get a sentence of ours
REQUEST = LARGEST + 64 * 2**10  # bytes with what a form adds
MOST = 5 * LARGEST  # bytes of all files that are kept or on their way
COMING = MOST // 2  # bytes of those on their way, which push no more than as many of the kept ones out
SHARE = 2 * LARGEST  # bytes on their way from one neighbourhood
MOST_FILES = 200
SECONDS = 120.0  # for one upload
SPARE = 8 * 2**20  # bytes that stay free on the disk

TOO_LARGE = f"The file is too large. A saved race has at most {recordings.LARGEST // 2**20} MB."
NO_ROOM = "The file cannot be opened: this machine has no room for files."
MOST_PARTS = 8  # of one upload; the page sends one file
GONE = "The file did not arrive."  # nobody reads it
SLOW = "This file arrived more slowly than those of others, who needed its room. Try again in a minute."
FIELD = "files"  # of the form
STRANGE = "The file cannot be taken: give it a plain name, in the field “files”."


class Uploads:
    """ASGI middleware: uploads have a limit each, for a neighbourhood and in all. Of the kept files, the oldest of the
    neighbourhood that has most goes first, by number or by bytes, and before what is on its way, which has at most
    `coming` of the room. A file that several have sent counts for each of them, and stays for as long as it is
    anybody's. `address` says whom a request counts for."""

    def __init__(
        self,
        app: App,
        most: int = MOST,
        most_files: int = MOST_FILES,
        seconds: float = SECONDS,
        share: int = SHARE,
        coming: int = COMING,
        address: Callable[[Request], str] = lambda request: "",
    ):
        self._app = app
        self._address = address
        self._room = UploadRoom(min(most, coming), share)
        self._most, self._most_files, self._seconds = most, most_files, seconds
        # Bytes by path and owner, oldest first: a file is its content, so several may have sent the same one.
        self._kept: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._announced = 0  # bytes of files on their way, as they say

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not is_upload(scope):
            await self._app(scope, receive, send)
            return
        size = declared_size(scope) or REQUEST
        if sentence := self._fault(size, scope):
            await PlainTextResponse(sentence, 413 if size > REQUEST else 507)(scope, receive, send)
            return
        owner = neighbourhood(self._address(Request(scope)))
        upload = self._room.begin(owner)
        self._announced += size
        try:
            # Gradio deletes what has come of a file only if its parser of forms raises, so that ends an upload.
            gone = MultiPartException(GONE)
            arriving = until(unbroken(self._counted(upload, scope, receive), gone), self._seconds, gone)
            arriving = at_most(arriving, size, MultiPartException(TOO_LARGE))
            answer = _Answer(send)
            await self._app(scope, arriving, answer.pass_on)
            self._keep(answer.paths, owner)
        finally:
            self._announced -= size
            self._room.end(upload)
            self._make_room(scope)

    def _counted(self, upload: Upload, scope: Message, receive: Receive) -> Receive:
        """The same body, which raises the error where its room is needed, or there is none."""

        async def counted() -> Message:
            upload.next_part = part = asyncio.ensure_future(receive())
            if upload.has_given_way:  # between two parts
                part.cancel()
            try:
                await asyncio.wait({part})
            finally:
                part.cancel()
            if upload.has_given_way:
                raise MultiPartException(SLOW)
            message = part.result()
            try:
                self._room.take(upload, len(message.get("body", b"")), not message.get("more_body", False))
            except Refusal as refusal:
                raise MultiPartException(str(refusal)) from refusal
            self._make_room(scope)
            return message

        return counted

    def _fault(self, size: int, scope: Message) -> str:
        """Why a file of this size is not taken now; empty if it is. One that comes slowly keeps none from coming."""
        if size > REQUEST:
            return TOO_LARGE
        if size > self._most:
            return TOO_MANY
        folder = Path(scope["app"].uploaded_file_dir)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
        except OSError:
            return NO_ROOM
        coming = min(self._announced - self._room.arrived + size, self._most)  # what is announced may never come
        return NO_ROOM if free < coming + SPARE else ""

    def _keep(self, paths: list[str], owner: str) -> None:
        """A file that others have sent before is this owner's as well, so that none of them can push it out for all."""
        for path in paths:
            with suppress(OSError):
                self._kept[path, owner] = Path(path).stat().st_size
                self._kept.move_to_end((path, owner))

    def _make_room(self, scope: Message) -> None:
        while self._kept:
            if len(self._kept) > self._most_files:
                gone = next_to_go({one: (one[1], 1) for one in self._kept})
            elif sum(self._kept.values()) + self._room.arrived > self._most:
                gone = next_to_go({one: (one[1], size) for one, size in self._kept.items()})
            else:
                return
            del self._kept[gone]
            path, _ = gone
            if any(path == other for other, _ in self._kept):
                continue
            with suppress(OSError):
                Path(path).unlink(missing_ok=True)
                Path(path).parent.rmdir()
            scope["app"].get_blocks().upload_file_set.discard(path)


def unbroken(receive: Receive, error: Exception) -> Receive:
    """The same body, which raises the error where it breaks off."""

    async def arriving() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise error
        return message

    return arriving


class PlainParts(route_utils.GradioMultiPartParser):
    """Gradio's parser of uploads, which leaves no file behind that Gradio's answer will not list.

    Gradio's own does: files of other fields, of names without a letter or digit, beside text, in odd charsets, and the
    last one of a body that ends in its middle. And it makes a file for each of a thousand parts while everybody waits.
    """

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **{**named, "max_files": MOST_PARTS, "max_fields": MOST_PARTS})

    async def parse(self) -> FormData:
        is_taken = False
        try:
            form = await super().parse()
            if len(form.multi_items()) < len(self._files_to_close_on_error):
                raise MultiPartException(GONE)
            if not all(_is_plain(field, part) for field, part in form.multi_items()):
                raise MultiPartException(STRANGE)
            is_taken = True
        except (ValueError, LookupError) as error:  # by the codec of a charset
            raise MultiPartException(STRANGE) from error
        finally:
            if not is_taken:
                for file in self._files_to_close_on_error:
                    file.close()
                    Path(file.name).unlink(missing_ok=True)
        return form


def _is_plain(field: str, part: UploadFile | str) -> bool:
    """Whether Gradio will list it: it drops all signs from a name, and where none is left, the file."""
    if field != FIELD or isinstance(part, str):
        return False
    return not part.filename or any(letter.isalnum() for letter in Path(part.filename).name)


def refuse_strange_parts() -> None:
    """From now on Gradio's server takes plain parts only."""
    setattr(route_utils, "GradioMultiPartParser", PlainParts)  # noqa: B010


class _Answer:
    """Gradio's answer on its way out, which lists where the files are."""

    def __init__(self, send: Send):
        self._send = send
        self._status = 0
        self._body = b""

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        self._body += message.get("body", b"")
        await self._send(message)

    @property
    def paths(self) -> list[str]:
        return json.loads(self._body) if self._status == 200 else []
