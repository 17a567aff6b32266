"""`csd export`: one HTML file from a saved race."""

from __future__ import annotations

import json

import pytest
from cli_traces import make_trace

from csd.record.recording import SUFFIX, Recording

RECORDING = Recording((make_trace(), make_trace("cascade")), title="A fox")


def test_the_page_is_written_next_to_the_race(csd_without_models, tmp_path):
    file = tmp_path / "race.json"
    file.write_text(json.dumps(RECORDING.to_dict()))
    done = csd_without_models("export", str(file), "--title", "My <race>")
    assert done.exit_code == 0, done.output
    assert "My &lt;race&gt;" in (tmp_path / "race.html").read_text("utf-8")
    assert f"written: {tmp_path / 'race.html'}" in done.stderr


def test_a_packed_recording_and_a_chosen_file(csd_without_models, tmp_path):
    file, out = tmp_path / f"1-fox{SUFFIX}", tmp_path / "page.html"
    file.write_bytes(RECORDING.to_gzip())
    assert csd_without_models("export", str(file)).exit_code == 0
    assert csd_without_models("export", str(file), "--out", str(out)).exit_code == 0
    assert (tmp_path / "1-fox.html").read_bytes() == out.read_bytes()
    assert "A fox" in out.read_text("utf-8")


@pytest.mark.parametrize(("content", "sentence"), [(None, "Cannot read"), ("{}", "saved race"), ("hello", "JSON")])
def test_a_file_that_is_not_a_race_is_refused(csd_without_models, tmp_path, content, sentence):
    file = tmp_path / "race.json"
    if content is not None:
        file.write_text(content)
    done = csd_without_models("export", str(file))
    assert done.exit_code == 2 and sentence in done.stderr and "Traceback" not in done.output
    assert not (tmp_path / "race.html").exists()


def test_a_page_that_cannot_be_written_is_refused(csd_without_models, tmp_path):
    file = tmp_path / "race.json"
    file.write_text(json.dumps(RECORDING.to_dict()))
    done = csd_without_models("export", str(file), "--out", str(tmp_path / "no" / "page.html"))
    assert done.exit_code == 2 and "its folder does not exist" in done.stderr
