"""`csd bigram`: where the table goes, and what is refused."""

from __future__ import annotations

import pytest

import csd.models.bigram


@pytest.fixture
def written(monkeypatch) -> list:
    """Where the command asks for the table to be written; nothing is computed."""
    seen = []

    def write(model, vocab, opening, path):
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "No such file or directory")
        seen.append(path)

    monkeypatch.setattr(csd.models.bigram, "write", write)
    return seen


def test_the_table_is_written_and_its_path_printed(csd_on_toy, written, toy_family, tmp_path):
    default = csd_on_toy("bigram")
    assert default.exit_code == 0 and default.stdout == f"written: {toy_family.bigram_path}\n"
    chosen = csd_on_toy("bigram", "--out", str(tmp_path / "own.json"))
    assert chosen.exit_code == 0 and chosen.stdout == f"written: {tmp_path / 'own.json'}\n"
    assert written == [toy_family.bigram_path, tmp_path / "own.json"]


def test_refusals_are_sentences(csd_on_toy, written, tmp_path):
    absent = csd_on_toy("bigram", "--out", str(tmp_path / "no" / "own.json"))
    assert absent.exit_code == 2 and "Cannot write the table" in absent.stderr
    unknown = csd_on_toy("bigram", "--family", "nonesuch")
    assert unknown.exit_code == 2 and "Choose one of: embedded" in unknown.stderr
