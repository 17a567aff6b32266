"""The names of files that Gradio has served. It looks for old ones every hour, and keeps those of the gone for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradio import route_utils

_delete = route_utils.delete_files_created_by_app


def forget_gone_names() -> None:
    """From now on Gradio forgets the names of files that are gone when it deletes old ones."""
    setattr(route_utils, "delete_files_created_by_app", _delete_and_forget)  # noqa: B010


def _delete_and_forget(blocks: Any, age: int | None) -> None:
    _delete(blocks, age)
    for names in blocks.temp_file_sets:
        names.difference_update([name for name in [*names] if not Path(name).exists()])
