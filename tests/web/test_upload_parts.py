"""Uploads that Gradio would take and not answer for leave nothing behind."""

from __future__ import annotations

import pytest
from uploading import on_disk, upload_client

from csd.web.bodies import UPLOAD
from csd.web.uploads import GONE, MOST_PARTS, STRANGE, refuse_strange_parts


@pytest.fixture
def client(tmp_path, monkeypatch):
    return upload_client(tmp_path, monkeypatch, most_files=3)


@pytest.mark.parametrize(
    ("field", "name"),
    [("other", "a.json"), ("files", ".."), ("files", "b/.."), ("FILES", "a.json")],
)
def test_a_part_that_gradio_would_not_answer_for_leaves_nothing(client, tmp_path, field, name):
    """Of any field and name, alone, and with a good file before it or after it."""
    refuse_strange_parts()
    good, strange = ("files", ("good.json", "a" * 100)), (field, (name, "a" * 100))
    for files in ([strange], [good, strange], [strange, good]):
        answer = client.post(UPLOAD, files=files)
        assert (answer.status_code, STRANGE in answer.text) == (400, True), (files, answer.text)
        assert on_disk(tmp_path) == {}


def test_an_upload_of_many_parts_is_refused_at_the_ninth(client, tmp_path):
    """Each part makes a file, while everybody waits."""
    refuse_strange_parts()
    answer = client.post(UPLOAD, files=[("files", (f"{n}.json", b"")) for n in range(MOST_PARTS + 1)])
    assert (answer.status_code, "Too many files" in answer.text) == (400, True)
    assert on_disk(tmp_path) == {}


PART = b'--x\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\naaa\r\n'
END = b"--x--\r\n"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (PART % (b"files", b"a.json"), "utf-8"),  # which breaks off
        (PART % (b"files", b"a.json") + (PART % (b"files", b"b.json"))[:-2], "utf-8"),
        (PART % (b"files", b"+AC4ALg-") + END, "utf-7"),  # two dots
        (PART % (b"files", b"\\x2e\\x2e") + END, "unicode_escape"),
        (PART % (b"files", b"a.json") + END, "cp037"),
        (PART % (b"files", b"a.json") + END, "undefined"),
        (
            PART % (b"files", b"a.json") + b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\nb\r\n' + END,
            "utf-8",
        ),
    ],
)
def test_a_body_that_gradio_would_not_answer_for_leaves_nothing(client, tmp_path, body, charset):
    refuse_strange_parts()
    kind = {"content-type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = client.post(UPLOAD, content=body, headers=kind)
    assert (answer.status_code, answer.text in (GONE, STRANGE)) == (400, True), answer.text
    assert on_disk(tmp_path) == {}


@pytest.mark.parametrize(
    "name", ["a.json", "/", "\\", "x" * 300, "\u00e9" * 300, " ", "a\x00b", "con", "#", ".json", "\u202egpj.a", "-"]
)
def test_a_file_of_any_other_name_is_kept_and_known(client, tmp_path, name):
    refuse_strange_parts()
    answer = client.post(UPLOAD, files={"files": (name, "a" * 100)})
    kept = [str(path) for path in tmp_path.rglob("*") if path.is_file()]
    assert kept == (answer.json() if answer.status_code == 200 else []), (answer.status_code, answer.text)
