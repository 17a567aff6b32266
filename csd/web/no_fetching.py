"""The server fetches nothing from an address that a visitor names.

Gradio would: it passes on what `/file=http://...` leads to, under the page's own origin and with the type that the
other server claims, and it downloads, whole and without a limit, a file that an event names by its address.
"""

from __future__ import annotations

from typing import NoReturn

import gradio as gr
from gradio import processing_utils, routes
from starlette.exceptions import HTTPException
from starlette.requests import Request

NO_ADDRESS = "This page fetches nothing from other addresses. Save the file, and open it from your computer."


def fetch_nothing() -> None:
    """From now on Gradio's server refuses addresses with a sentence."""
    setattr(routes, "secure_url_stream_response", _refuse_to_stream)  # noqa: B010
    setattr(processing_utils, "async_ssrf_protected_download", _refuse_to_download)  # noqa: B010


async def _refuse_to_stream(url: str, request: Request) -> NoReturn:
    raise HTTPException(403, NO_ADDRESS)


async def _refuse_to_download(url: str, cache_dir: str) -> NoReturn:
    raise gr.Error(NO_ADDRESS, print_exception=False)
