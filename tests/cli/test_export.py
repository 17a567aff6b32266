"""`csd export`: one HTML file from a saved race."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from cli_traces import make_trace

from csd.paths import ASSETS, ROOT
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


WITHOUT_THE_STAGE = """
import sys
from pathlib import Path
import csd.paths
csd.paths.ASSETS = Path(sys.argv.pop(1))
from csd.cli.app import app
app()
"""


def test_without_the_stage_nothing_is_exported(tmp_path):
    assets, file = tmp_path / "assets", tmp_path / "race.json"
    shutil.copytree(ASSETS, assets, ignore=shutil.ignore_patterns("family", "traces", "stage"))
    file.write_text(json.dumps(RECORDING.to_dict()))
    for command in (["export", str(file)], ["export", str(file), "--site", str(tmp_path / "site")]):
        code = [sys.executable, "-c", WITHOUT_THE_STAGE, str(assets), *command]
        done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        assert "base.css: No such file" in done.stderr and "Restore the folder assets" in done.stderr


def test_a_site_of_the_recorded_races_and_of_named_ones(csd_without_models, tmp_path):
    done = csd_without_models("export", "--site", str(tmp_path / "all"))
    assert done.exit_code == 0 and "MB in all" in done.stderr, done.output
    assert (tmp_path / "all" / "index.html").is_file()
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(RECORDING.to_dict()))
    assert csd_without_models("export", str(file), "--site", str(tmp_path / "own")).exit_code == 0
    assert [page.name for page in (tmp_path / "own" / "races").iterdir()] == ["mine.html"]


def test_a_site_is_uploaded_where_that_is_asked(csd_without_models, tmp_path, monkeypatch):
    sent = []
    monkeypatch.setattr("csd.site.upload.upload_site", lambda folder, name: sent.append((folder, name)) or "an address")
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(RECORDING.to_dict()))
    done = csd_without_models("export", str(file), "--site", str(tmp_path / "site"), "--upload", "ada/races")
    assert done.exit_code == 0 and "uploaded: an address" in done.stderr
    assert sent == [(tmp_path / "site", "ada/races")]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name a race"),
        (["--upload", "a/b"], "--upload needs --site"),
        (["--site", "x", "--title", "T"], "leave out --out and --title"),
        (["a.json", "b.json", "--out", "c.html"], "one race at a time"),
    ],
)
def test_options_that_do_not_go_together_are_refused(csd_without_models, arguments, sentence):
    done = csd_without_models("export", *arguments)
    assert done.exit_code == 2 and sentence in done.stderr
