"""The files of races: written once, deleted in time, and done without where the disk is full."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_page import context, race
from gradio.utils import get_upload_folder

from csd.web import downloads, earlier_races
from csd.web.downloads import Downloads, RaceFiles


@pytest.fixture
def page():
    return context()


def test_downloads_lie_where_gradio_serves_files():
    assert str(Downloads().folder.parent) == str(Path(get_upload_folder()).resolve())


def test_old_downloads_are_deleted():
    for limits, left in (({"most_files": 3}, 3), ({"most": 11}, 2)):  # the bytes of two rows
        downloads = Downloads(**limits)
        paths = [Path(downloads.save_table(f"row {i}")) for i in range(8)]
        assert sorted(downloads.folder.iterdir()) == sorted(paths[-left:])
        assert paths[-1].read_text("utf-8") == "row 7"


def test_whoever_has_most_files_loses_the_oldest_of_them():
    for limits in ({"most_files": 4}, {"most": 4 * len("row 1")}):
        downloads = Downloads(**limits)
        mine = Path(downloads.save_table("row 0", "me"))
        theirs = [Path(downloads.save_table(f"row {i}", "them")) for i in range(1, 9)]
        assert sorted(downloads.folder.iterdir()) == sorted([mine, *theirs[-3:]])


def test_a_table_is_written_once_and_pushes_out_only_its_owners_files():
    """One address that asked for the recorded table again and again pushed out the files of others."""
    downloads = Downloads(most_files=3)
    mine = downloads.save_table("my row", "me")
    for _ in range(9):
        assert len({downloads.save_table("recorded", stays=True), downloads.save_table("recorded", stays=True)}) == 1
        assert downloads.save_table("my row", "me") == mine
    theirs = [downloads.save_table(f"row {i}", "them") for i in range(9)]
    assert Path(mine).is_file() and len(set(theirs)) == 9
    assert downloads.save_table("my row", "them") != mine, "nobody's file goes with another's"


def test_a_race_has_the_same_files_when_it_is_shown_again(page):
    ended = race(page)[-1].results
    written = Path(ended.files.replay).stat().st_mtime_ns
    assert earlier_races.show_race(page, "v", ended.race_id, page.start).results.files == ended.files
    assert Path(ended.files.replay).stat().st_mtime_ns == written
    Path(ended.files.replay).unlink()  # by a cleaner of temporary files
    assert earlier_races.show_race(page, "v", ended.race_id, page.start).results.files == ended.files
    assert Path(ended.files.replay).is_file()


@pytest.mark.parametrize("full", ["write", "copy", "folder"])
def test_a_full_disk_costs_the_downloads_and_not_the_race(page, monkeypatch, full):
    def refuse(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    if full == "write":
        monkeypatch.setattr(Path, "write_bytes", refuse)
    elif full == "copy":
        monkeypatch.setattr(downloads.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    else:
        monkeypatch.setattr(Path, "mkdir", refuse)
        shutil.rmtree(page.downloads.folder)
    ended = race(page)[-1]
    assert ended.results.files == RaceFiles()
    assert ended.status.text.startswith("Done: ") and ended.status.text.endswith(downloads.NOT_SAVED)
    assert len(ended.results.figures) == 4 and ended.stage.log
    again = earlier_races.show_race(page, "v", ended.results.race_id, page.start)
    assert downloads.NOT_SAVED in again.status.text
    assert not page.downloads.folder.exists() or not list(page.downloads.folder.iterdir())
    assert page.downloads.save_table("a") is None
    monkeypatch.undo()
    assert Path(race(page)[-1].results.files.traces).is_file()
