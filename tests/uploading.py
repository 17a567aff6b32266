"""A page of Gradio's that takes files within our limits, for the tests of uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.routes import App
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from csd.web.bodies import UPLOAD
from csd.web.uploads import Uploads

ROOM = 10_000  # bytes


def upload_client(folder: Path, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> TestClient:
    """Of a page that keeps its files in a folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(folder))
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    page.max_file_size = 5_000  # bytes, of Gradio's own limit
    middleware = [Middleware(Uploads, most=ROOM, **limits)]
    return TestClient(App.create_app(page, app_kwargs={"middleware": middleware}))


def by_header(request: Any) -> str:
    """The address that a test gives to a request."""
    return request.headers["x-from"]


def send(client: TestClient, size: int, letter: str = "a", **given: Any):
    return client.post(UPLOAD, files={"files": (f"{letter}.json", letter * size)}, **given)


def on_disk(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
