"""The stream that tells how far an upload is."""

from __future__ import annotations

import asyncio
from time import sleep

import httpx
import pytest
from gradio import routes
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from csd.web.bodies import UPLOAD
from csd.web.upload_progress import LONG_NAME, NO_STREAM, PROGRESS, UploadProgress


def test_an_upload_has_one_stream_at_a_time():
    async def ask_all():
        gate, reached = asyncio.Event(), []

        async def answer(request):
            reached.append(request.query_params["upload_id"])
            await gate.wait()
            return PlainTextResponse("told")

        app = UploadProgress(Starlette(routes=[Route(PROGRESS, answer)]))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            asked = [asyncio.create_task(client.get(f"{PROGRESS}?upload_id={name}")) for name in ["a"] * 20 + ["b"]]
            while len(reached) < 2:
                await asyncio.sleep(0)
            gate.set()
            answers = await asyncio.gather(*asked)
            again = await client.get(f"{PROGRESS}?upload_id=a")
        return reached, [answer.status_code for answer in answers], again.status_code

    reached, codes, again = in_a_loop(ask_all())
    assert sorted(reached) == ["a", "a", "b"] and again == 200
    assert (codes.count(200), codes.count(404)) == (2, 19)


def test_a_long_name_is_refused(house):
    answer = httpx.get(f"{house.url.rstrip('/')}{PROGRESS}?upload_id={'a' * 65}")
    assert (answer.status_code, answer.json()["error"]) == (404, NO_STREAM)


def names(kind: str) -> set[str]:
    return {name for name in getattr(routes.file_upload_statuses, kind) if name.startswith("test-")}


def is_forgotten(name: str) -> bool:
    """The answer is here a moment before the server has done with it."""
    for _ in range(200):
        if name not in names("_statuses") | names("_signals"):
            return True
        sleep(0.05)
    return False


def test_uploads_that_nobody_follows_are_forgotten_and_those_of_another_address_are_not():
    async def upload(request):
        routes.file_upload_statuses.track(request.query_params["upload_id"])
        await request.body()
        return PlainTextResponse("[]")

    async def upload_all():
        app = Starlette(routes=[Route(UPLOAD, upload, methods=["POST"])])
        app = UploadProgress(app, address=lambda request: request.headers["x-from"], most=5)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as client:
            for number, place in enumerate(["9.9.9.9", *["8.8.8.8"] * 20]):
                await client.post(f"{UPLOAD}?upload_id=test-{number}", headers={"x-from": place})
            return app

    app = in_a_loop(upload_all())
    assert names("_statuses") == names("_signals") == {f"test-{number}" for number in (0, 17, 18, 19, 20)}
    assert all(routes.file_upload_statuses.is_done(name) for name in names("_statuses")) and not app._arriving


def test_a_long_name_of_an_upload_is_refused_and_not_remembered(house):
    name = "a" * 65
    answer = httpx.post(
        f"{house.url.rstrip('/')}{UPLOAD}?upload_id=short&upload_id={name}", files={"files": ("a.json", "{}")}
    )
    assert (answer.status_code, answer.text) == (422, LONG_NAME)
    assert name not in routes.file_upload_statuses._statuses


def test_progress_is_told_after_the_upload_too_and_then_forgotten(house):
    url = house.url.rstrip("/")
    answer = httpx.post(f"{url}{UPLOAD}?upload_id=test-told", files={"files": ("a.json", "{}")})
    assert answer.status_code == 200 and "test-told" in names("_statuses")
    told = httpx.get(f"{url}{PROGRESS}?upload_id=test-told", timeout=20)
    assert told.status_code == 200 and '"done"' in told.text
    assert is_forgotten("test-told")


def test_the_stream_of_an_upload_that_breaks_off_ends(house):
    url = house.url.rstrip("/")
    head = {"content-type": "multipart/form-data; boundary=x"}
    answer = httpx.post(f"{url}{UPLOAD}?upload_id=test-broken", content=b"--x\r\nno part", headers=head)
    assert answer.is_client_error
    assert '"done"' in httpx.get(f"{url}{PROGRESS}?upload_id=test-broken", timeout=20).text


@pytest.mark.slow
def test_a_name_without_an_upload_is_not_remembered(house):
    """Gradio waits three seconds for the upload."""
    assert httpx.get(f"{house.url.rstrip('/')}{PROGRESS}?upload_id=test-nobodys", timeout=20).status_code == 404
    assert is_forgotten("test-nobodys")
