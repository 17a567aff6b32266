"""Uploaded files are bounded, each and in all, over Gradio's own endpoint."""

from __future__ import annotations

import asyncio
from collections import namedtuple
from pathlib import Path

import gradio as gr
import pytest
from gradio.routes import App
from in_a_loop import in_a_loop
from starlette.formparsers import MultiPartException
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from csd.web import uploads
from csd.web.bodies import UPLOAD
from csd.web.uploads import (
    GONE,
    MOST_PARTS,
    NO_ROOM,
    REQUEST,
    STRANGE,
    TOO_LARGE,
    TOO_MANY,
    Uploads,
    refuse_strange_parts,
)

ROOM = 10_000


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    limits = Middleware(Uploads, most=ROOM, most_files=3)
    page.max_file_size = 5_000  # bytes, of Gradio's own limit
    return TestClient(App.create_app(page, app_kwargs={"middleware": [limits]}))


def send(client: TestClient, size: int, letter: str = "a"):
    return client.post(UPLOAD, files={"files": (f"{letter}.json", letter * size)})


def on_disk(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def test_the_oldest_files_go_first(client, tmp_path):
    for letter in "abc":
        assert send(client, 4_000, letter).status_code == 200
        assert sum(on_disk(tmp_path).values()) <= ROOM
    assert on_disk(tmp_path) == {"b.json": 4_000, "c.json": 4_000}
    for letter in "defg":
        send(client, 10, letter)
    assert set(on_disk(tmp_path)) == {"e.json", "f.json", "g.json"}
    assert len([*tmp_path.iterdir()]) == 3  # no empty folders stay


def test_the_same_file_again_counts_once(client, tmp_path):
    for letter in "aba":
        send(client, 4_000, letter)
    assert set(on_disk(tmp_path)) == {"a.json", "b.json"}
    send(client, 4_000, "c")
    assert set(on_disk(tmp_path)) == {"a.json", "c.json"}


def test_files_of_one_address_push_out_its_own_only(tmp_path, monkeypatch):
    """By number and by bytes, and also where they are another's own files, sent again."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    page.max_file_size = 5_000
    limits = Middleware(Uploads, most=ROOM, most_files=4, address=lambda request: request.headers["x-from"])
    client = TestClient(App.create_app(page, app_kwargs={"middleware": [limits]}))

    def send_from(place: str, letter: str, size: int) -> None:
        files = {"files": (f"{letter}.json", letter * size)}
        assert client.post(UPLOAD, files=files, headers={"x-from": place}).status_code == 200

    send_from("9.9.9.9", "a", 100)
    for letter in "abcdefg":
        send_from("8.8.8.8", letter, 100)
    assert set(on_disk(tmp_path)) == {"a.json", "e.json", "f.json", "g.json"}
    for letter in "hij":
        send_from("8.8.8.8", letter, 4_000)
    assert set(on_disk(tmp_path)) == {"a.json", "i.json", "j.json"}


def test_a_file_that_others_have_sent_before_does_not_go_with_theirs(tmp_path, monkeypatch):
    """Its path is a hash of its content, so whoever knows that can send it first."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    limits = Middleware(Uploads, most=ROOM, most_files=4, address=lambda request: request.headers["x-from"])
    page.max_file_size = 5_000
    client = TestClient(App.create_app(page, app_kwargs={"middleware": [limits]}))
    for place, letter in [("8.8.8.8", "a"), ("9.9.9.9", "a"), *(("8.8.8.8", letter) for letter in "bcdefg")]:
        files = {"files": (f"{letter}.json", letter * 100)}
        assert client.post(UPLOAD, files=files, headers={"x-from": place}).status_code == 200
    assert set(on_disk(tmp_path)) == {"a.json", "e.json", "f.json", "g.json"}
    for letter in "hijk":
        client.post(UPLOAD, files={"files": (f"{letter}.json", letter * 100)}, headers={"x-from": "9.9.9.9"})
    assert "a.json" not in on_disk(tmp_path) and len(on_disk(tmp_path)) == 4


def test_what_is_too_large_leaves_nothing(client, tmp_path, monkeypatch):
    answer = send(client, ROOM + 1)
    assert (answer.status_code, answer.text) == (507, TOO_MANY)
    assert send(client, 6_000).status_code == 413  # Gradio's own answer
    monkeypatch.setattr(uploads, "REQUEST", 2_000)
    answer = send(client, 3_000)
    assert (answer.status_code, answer.text) == (413, TOO_LARGE)
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"a" * 3_000 + b"\r\n--x--\r\n"
    )
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
    begin = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"a" * 900
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
        assert on_disk(tmp_path) == {} and limit._announced == limit._arrived == 0


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
    assert limit._announced == limit._arrived == 0


def test_uploads_that_stall_take_the_share_of_their_own_address_only(client):
    """Bytes that have come and lie unfinished, from one address, leave room for another's file."""

    async def read(scope, receive, send):
        while (await receive())["more_body"]:
            pass
        await PlainTextResponse("[]")(scope, receive, send)

    limit = Uploads(read, most=ROOM, share=ROOM // 2, address=lambda request: request.headers["x-from"])
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
        said = [await upload(b"1.1.1.1", now), await upload(b"2.2.2.2", now)]
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)
        return said

    assert in_a_loop(all_of_them()) == [TOO_MANY, "[]"]
    assert limit._announced == limit._arrived == 0 and not limit._arrived_from


@pytest.mark.parametrize(
    ("field", "name"),
    [("other", "a.json"), ("files", ".."), ("files", "b/.."), ("FILES", "a.json")],
)
def test_a_part_that_gradio_would_not_answer_for_leaves_nothing(client, tmp_path, field, name):
    """Of any field and name, alone, and with a good file before it or after it."""
    refuse_strange_parts()
    good, strange = ("files", ("good.json", "a" * 100)), (field, (name, "a" * 100))
    for files in ([strange], [good, strange], [strange, good]):
        answer = client.post(UPLOAD, files=files)
        assert (answer.status_code, STRANGE in answer.text) == (400, True), (files, answer.text)
        assert on_disk(tmp_path) == {}


def test_an_upload_of_many_parts_is_refused_at_the_ninth(client, tmp_path):
    """Each part makes a file, while everybody waits."""
    refuse_strange_parts()
    answer = client.post(UPLOAD, files=[("files", (f"{n}.json", b"")) for n in range(MOST_PARTS + 1)])
    assert (answer.status_code, "Too many files" in answer.text) == (400, True)
    assert on_disk(tmp_path) == {}


PART = b'--x\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\naaa\r\n'
END = b"--x--\r\n"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (PART % (b"files", b"a.json"), "utf-8"),  # which breaks off
        (PART % (b"files", b"a.json") + (PART % (b"files", b"b.json"))[:-2], "utf-8"),
        (PART % (b"files", b"+AC4ALg-") + END, "utf-7"),  # two dots
        (PART % (b"files", b"\\x2e\\x2e") + END, "unicode_escape"),
        (PART % (b"files", b"a.json") + END, "cp037"),
        (PART % (b"files", b"a.json") + END, "undefined"),
        (
            PART % (b"files", b"a.json") + b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\nb\r\n' + END,
            "utf-8",
        ),
    ],
)
def test_a_body_that_gradio_would_not_answer_for_leaves_nothing(client, tmp_path, body, charset):
    refuse_strange_parts()
    kind = {"content-type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = client.post(UPLOAD, content=body, headers=kind)
    assert (answer.status_code, answer.text in (GONE, STRANGE)) == (400, True), answer.text
    assert on_disk(tmp_path) == {}


@pytest.mark.parametrize(
    "name", ["a.json", "/", "\\", "x" * 300, "\u00e9" * 300, " ", "a\x00b", "con", "#", ".json", "\u202egpj.a", "-"]
)
def test_a_file_of_any_other_name_is_kept_and_known(client, tmp_path, name):
    refuse_strange_parts()
    answer = client.post(UPLOAD, files={"files": (name, "a" * 100)})
    kept = [str(path) for path in tmp_path.rglob("*") if path.is_file()]
    assert kept == (answer.json() if answer.status_code == 200 else []), (answer.status_code, answer.text)


def test_the_limits_agree():
    assert uploads.LARGEST < REQUEST < uploads.MOST
