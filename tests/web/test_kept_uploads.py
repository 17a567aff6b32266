"""Which uploaded files stay on the disk, and for how long."""

from __future__ import annotations

import pytest
from uploading import ROOM, by_header, on_disk, send, upload_client


@pytest.fixture
def client(tmp_path, monkeypatch):
    return upload_client(tmp_path, monkeypatch, most_files=3)


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
    client = upload_client(tmp_path, monkeypatch, most_files=4, address=by_header)

    def send_from(place: str, letter: str, size: int) -> None:
        assert send(client, size, letter, headers={"x-from": place}).status_code == 200

    send_from("9.9.9.9", "a", 100)
    for letter in "abcdefg":
        send_from("8.8.8.8", letter, 100)
    assert set(on_disk(tmp_path)) == {"a.json", "e.json", "f.json", "g.json"}
    for letter in "hij":
        send_from("8.8.8.8", letter, 4_000)
    assert set(on_disk(tmp_path)) == {"a.json", "i.json", "j.json"}


def test_a_file_that_others_have_sent_before_does_not_go_with_theirs(tmp_path, monkeypatch):
    """Its path is a hash of its content, so whoever knows that can send it first."""
    client = upload_client(tmp_path, monkeypatch, most_files=4, address=by_header)
    for place, letter in [("8.8.8.8", "a"), ("9.9.9.9", "a"), *(("8.8.8.8", letter) for letter in "bcdefg")]:
        assert send(client, 100, letter, headers={"x-from": place}).status_code == 200
    assert set(on_disk(tmp_path)) == {"a.json", "e.json", "f.json", "g.json"}
    for letter in "hijk":
        send(client, 100, letter, headers={"x-from": "9.9.9.9"})
    assert "a.json" not in on_disk(tmp_path) and len(on_disk(tmp_path)) == 4
