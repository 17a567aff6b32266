"""What Gradio remembers of files that are gone."""

from __future__ import annotations

from types import SimpleNamespace

from gradio import route_utils


def test_the_names_of_files_that_are_gone_are_forgotten(house, tmp_path):
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_text("here")
    names = {str(there), str(gone)}
    blocks = SimpleNamespace(blocks={}, temp_file_sets=[names])
    route_utils.delete_files_created_by_app(blocks, 3600)
    assert names == {str(there)}
    assert there.exists()
