"""A sentence for a file that has given way to others since it was uploaded. Gradio reads it before any function of this
project sees the event, and says nothing of its FileNotFoundError."""

from __future__ import annotations

from typing import Any

from gradio import queueing, utils
from gradio.exceptions import ComponentProcessingError

GONE = "This file is no longer on the server, because others have needed its place. Open it again."


def name_gone_files() -> None:
    """From now on Gradio says so where a file of an event is gone, queued or not."""
    payload = vars(queueing)["error_payload"]
    if getattr(payload, "__module__", "") == __name__:
        return

    def tell(error: BaseException | None, show_error: bool) -> dict[str, Any]:
        said: dict[str, Any] = payload(error, show_error)
        return {**said, "error": GONE} if _is_gone(error) else said

    for module in (queueing, utils):
        vars(module).update(error_payload=tell)


def _is_gone(error: BaseException | None) -> bool:
    """Gradio wraps what is raised while it reads the fields of an event."""
    return isinstance(error, ComponentProcessingError) and isinstance(
        error.__cause__ or error.__context__, FileNotFoundError
    )
