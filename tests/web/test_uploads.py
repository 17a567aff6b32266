"""Uploaded files are bounded while they are on their way, each and in all, over Gradio's own endpoint."""

from __future__ import annotations

import asyncio
from collections import namedtuple

import pytest
from in_a_loop import in_a_loop
from starlette.formparsers import MultiPartException
from starlette.responses import PlainTextResponse
from uploading import ROOM, by_header, on_disk, send, upload_client

from csd.web import upload_room, uploads
from csd.web.bodies import UPLOAD
from csd.web.upload_room import TOO_MANY
from csd.web.uploads import GONE, NO_ROOM, REQUEST, SLOW, TOO_LARGE, Uploads

FORM = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.json"\r\n\r\n'
END = b"\r\n--x--\r\n"


@pytest.fixture
def client(tmp_path, monkeypatch):
    return upload_client(tmp_path, monkeypatch, most_files=3)


def test_what_is_too_large_leaves_nothing(client, tmp_path, monkeypatch):
    answer = send(client, ROOM + 1)
    assert (answer.status_code, answer.text) == (507, TOO_MANY)
    assert send(client, 6_000).status_code == 413  # Gradio's own answer
    monkeypatch.setattr(uploads, "REQUEST", 2_000)
    answer = send(client, 3_000)
    assert (answer.status_code, answer.text) == (413, TOO_LARGE)
    body = FORM + b"a" * 3_000 + END
    kind = {"content-type": "multipart/form-data; boundary=x"}
    answer = client.post(UPLOAD, content=iter((body[:500], body[500:])), headers=kind)  # says nothing of its size
    assert (answer.status_code, answer.text) == (400, TOO_LARGE)
    assert on_disk(tmp_path) == {}
    assert send(client, 1_000).status_code == 200  # nothing counts as on its way any more


def test_a_full_disk_is_called_so(client, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(uploads.shutil, "disk_usage", lambda _: usage(uploads.SPARE + 100))
    answer = send(client, 1_000)
    assert (answer.status_code, answer.text) == (507, NO_ROOM)


def test_an_upload_that_stalls_or_breaks_off_leaves_nothing(client, tmp_path):
    begin = FORM + b"a" * 900
    limit = Uploads(client.app.build_middleware_stack(), seconds=0.05)
    headers = [(b"content-type", b"multipart/form-data; boundary=x"), (b"content-length", b"2000")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": UPLOAD,
        "headers": headers,
        "query_string": b"",
        "app": client.app,
    }
    for after in ("stalls", "breaks off"):
        told, left = [], [{"type": "http.request", "body": begin, "more_body": True}]

        async def receive(after=after, left=left):
            if left:
                return left.pop()
            await asyncio.sleep(60 if after == "stalls" else 0)
            return {"type": "http.disconnect"}

        async def note(message, told=told):
            told.append(message)

        in_a_loop(limit({**scope, "root_path": ""}, receive, note))
        assert (told[0]["status"], told[1]["body"]) == (400, GONE.encode())
        assert on_disk(tmp_path) == {} and limit._announced == limit._room.arrived == 0


def test_what_is_announced_and_does_not_come_keeps_no_other_from_coming(client):
    async def read(scope, receive, send):
        while (await receive())["more_body"]:
            pass
        await PlainTextResponse("[]")(scope, receive, send)

    limit = Uploads(read, most=ROOM)

    async def upload(announced: int, pieces: list[bytes], goes_on: asyncio.Event) -> str:
        told: list[bytes] = []

        async def receive():
            if len(pieces) == 1:
                await goes_on.wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def note(message):
            told.append(message.get("body", b""))

        headers = [(b"content-length", str(announced).encode())]
        scope = {"type": "http", "method": "POST", "path": UPLOAD, "headers": headers, "app": client.app}
        try:
            await limit(scope, receive, note)
        except MultiPartException as error:
            return error.message
        return b"".join(told).decode()

    async def both() -> list[str]:
        end, now = asyncio.Event(), asyncio.Event()
        now.set()
        slow = [asyncio.create_task(upload(9_000, [b"a", b"a" * 8_999], end)) for _ in range(2)]
        await asyncio.sleep(0)
        said = [await upload(9_000, [b"b" * 9_000], now)]
        end.set()
        return said + list(await asyncio.gather(*slow))

    assert in_a_loop(both()) == ["[]", "[]", TOO_MANY]  # what has come is counted
    assert limit._announced == limit._room.arrived == 0


def test_uploads_that_stall_take_the_share_of_their_own_network_only(client):
    """Bytes that have come and lie unfinished, from one network, leave room for another's file."""

    async def read(scope, receive, send):
        while (await receive())["more_body"]:
            pass
        await PlainTextResponse("[]")(scope, receive, send)

    limit = Uploads(read, most=ROOM, share=ROOM // 2, address=by_header)
    piece = ROOM // 4

    async def upload(place: bytes, goes_on: asyncio.Event) -> str:
        told, pieces = [], [b"a" * piece, b"a"]

        async def receive():
            if len(pieces) == 1:
                await goes_on.wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def note(message):
            told.append(message.get("body", b""))

        headers = [(b"content-length", str(piece + 1).encode()), (b"x-from", place)]
        scope = {"type": "http", "method": "POST", "path": UPLOAD, "headers": headers, "app": client.app}
        try:
            await limit(scope, receive, note)
        except MultiPartException as error:
            return error.message
        return b"".join(told).decode()

    async def all_of_them() -> list[str]:
        never, now = asyncio.Event(), asyncio.Event()
        now.set()
        stalled = [asyncio.create_task(upload(b"1.1.1.1", never)) for _ in range(2)]
        await asyncio.sleep(0)
        said = [await upload(host, now) for host in (b"1.1.1.1", b"1.1.1.2", b"2.2.2.2")]
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)
        return said

    assert in_a_loop(all_of_them()) == [TOO_MANY, TOO_MANY, "[]"]
    assert limit._announced == limit._room.arrived == 0 and not limit._room._held


def test_announcements_alone_do_not_fill_the_disk(client, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(uploads.shutil, "disk_usage", lambda _: usage(uploads.SPARE + ROOM))
    limit = Uploads(client.app, most=ROOM)
    limit._announced = 100 * ROOM
    assert limit._fault(ROOM, {"app": client.app}) == ""


def test_a_stalled_upload_leaves_its_room_and_no_file_to_another_network(client, tmp_path, monkeypatch):
    monkeypatch.setattr(upload_room, "STALLED", 0.0)
    limit = Uploads(client.app.build_middleware_stack(), most=ROOM, share=ROOM, address=by_header)

    async def upload(place: bytes, size: int, goes_on: asyncio.Event) -> tuple[int, str]:
        body = FORM + place[-1:] * size + END
        pieces, told = [body[:-20], body[-20:]], []

        async def receive():
            if len(pieces) == 1:
                await goes_on.wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def note(message):
            told.append(message)

        kind = (b"content-type", b"multipart/form-data; boundary=x")
        headers = [kind, (b"content-length", str(len(body)).encode()), (b"x-from", place)]
        named = {"method": "POST", "path": UPLOAD, "query_string": b"", "root_path": ""}
        scope = {"type": "http", **named, "headers": headers, "app": client.app}
        await limit(scope, receive, note)
        return told[0]["status"], told[1]["body"].decode()

    async def all_of_them():
        later, now = asyncio.Event(), asyncio.Event()
        now.set()
        stalled = []
        for place in (b"1.1.1.1", b"2.2.2.2"):
            stalled.append(asyncio.create_task(upload(place, 4_000, later)))
            while limit._room.arrived < 4_000 * len(stalled):
                await asyncio.sleep(0)
        last = await upload(b"3.3.3.3", 4_000, now)
        first = await stalled[0]
        later.set()
        return first, (await stalled[1])[0], last[0]

    assert in_a_loop(all_of_them()) == ((400, SLOW), 200, 200)
    assert {path.read_bytes()[:1] for path in tmp_path.rglob("*") if path.is_file()} == {b"2", b"3"}


def test_uploads_on_their_way_push_no_file_out_that_is_small_enough(tmp_path, monkeypatch):
    """Of however many networks."""
    client = upload_client(tmp_path, monkeypatch, coming=ROOM // 2, address=by_header)
    served = client.app.build_middleware_stack()
    kind = (b"content-type", b"multipart/form-data; boundary=x")
    named = {"type": "http", "method": "POST", "path": UPLOAD, "query_string": b"", "root_path": "", "app": client.app}

    async def upload(place: bytes, size: int, stalls: bool) -> None:
        body = FORM + b"a" * size + END
        pieces = [body[:-20], body[-20:]]

        async def receive():
            if stalls and len(pieces) == 1:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def note(message):
            pass

        headers = [kind, (b"content-length", str(len(body)).encode()), (b"x-from", place)]
        await served({**named, "headers": headers}, receive, note)

    async def all_of_them() -> None:
        await upload(b"9.9.9.9", 4_000, False)
        stalled = [asyncio.create_task(upload(b"%d.1.1.1" % net, 1_000, True)) for net in range(11, 41)]
        await asyncio.wait(stalled, return_when=asyncio.FIRST_COMPLETED)  # one of them has no room
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)

    in_a_loop(all_of_them())
    assert 4_000 in {path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}, "all have one name"


def test_the_limits_agree():
    assert uploads.LARGEST < REQUEST < uploads.COMING < uploads.MOST and uploads.SHARE <= uploads.COMING
