"""Opening a file that has given way to others."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from gradio import queueing
from gradio.exceptions import ComponentProcessingError

from csd.web.bodies import UPLOAD
from csd.web.gone_files import GONE


def test_opening_a_file_that_is_gone_says_what_to_do(house):
    index, event = next(
        (index, fn) for index, fn in house.page.fns.items() if any(part.elem_id == "bring" for part in fn.inputs)
    )
    with httpx.Client(base_url=house.url.rstrip("/"), timeout=60) as http:
        path = http.post(UPLOAD, files={"files": ("gone.json", b"{}")}).json()[0]
        Path(path).unlink()
        file = {"path": path, "orig_name": "gone.json", "meta": {"_type": "gradio.FileData"}}
        data = [file if part.elem_id == "bring" else getattr(part, "value", None) for part in event.inputs]
        asked = {"fn_index": index, "data": data, "session_hash": "gone"}
        answer = http.post("/gradio_api/run/predict", json=asked)
    assert (answer.status_code, answer.json()["error"]) == (400, GONE)


@pytest.mark.parametrize(("cause", "is_gone"), [(FileNotFoundError(), True), (ValueError(), False)])
def test_the_queue_says_the_same(house, cause, is_gone):
    error = ComponentProcessingError()
    error.__cause__ = cause
    assert (vars(queueing)["error_payload"](error, False)["error"] == GONE) is is_gone
