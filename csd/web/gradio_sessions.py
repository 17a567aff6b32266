"""What Gradio keeps of each session, less what only its deep links read. All of its names for this are here."""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import Any

import gradio as gr
from gradio import state_holder


class LeanSession(state_holder.SessionState):
    """A session without a copy of every component's settings and latest value.

    That copy serves links to a session's state, which the page does not offer. It would hold a visitor's plots and the
    whole answer of each call of the endpoint for as long as the session is known.
    """

    def __init__(self, blocks: gr.Blocks):
        # Gradio's own makes the copy, so it is not called.
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600

    def __setitem__(self, key: int, value: Any) -> None:
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = (block.time_to_live, datetime.now())
            self.state_data[key] = value
        else:
            self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Nothing is kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept."""


def keep_lean_sessions() -> None:
    """From now on Gradio's sessions are lean."""
    setattr(state_holder, "SessionState", LeanSession)  # noqa: B010
