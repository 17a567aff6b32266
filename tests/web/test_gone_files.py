"""Opening a file that has given way to others."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

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
        assert http.post("/gradio_api/queue/join", json=asked).status_code == 200
        with http.stream("GET", "/gradio_api/queue/data", params={"session_hash": "gone"}) as stream:
            told = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
        at_once = http.post("/gradio_api/run/predict", json=asked)
    assert at_once.status_code == 400 and at_once.json()["error"] == GONE
    ended = next(one for one in told if one["msg"] == "process_completed")
    assert not ended["success"] and ended["output"]["error"] == GONE
