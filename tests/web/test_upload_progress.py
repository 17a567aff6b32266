"""The stream that tells how far an upload is."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from gradio import routes
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from csd.web.upload_progress import NO_STREAM, PROGRESS, UploadProgress


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


@pytest.mark.slow
def test_a_name_without_an_upload_is_not_remembered(house):
    """Gradio waits three seconds for the upload."""
    assert httpx.get(f"{house.url.rstrip('/')}{PROGRESS}?upload_id=nobodys", timeout=20).status_code == 404
    assert "nobodys" not in routes.file_upload_statuses._signals
