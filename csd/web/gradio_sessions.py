"""What Gradio keeps of each session, less what this page never reads. All of its names for this are here."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, defaultdict, deque
from datetime import datetime
from functools import partial
from typing import Any

import gradio as gr
from gradio import state_holder
from gradio.blocks import BlocksConfig
from starlette.exceptions import HTTPException

VARIANTS = 8  # of one component's settings that sessions share
MOST = 2000  # sessions whose messages are kept
LONGEST_NAME = 64  # characters of a session's name, which Gradio's own page makes 11 long and a client a uuid
LONG_NAME = f"The session's name is longer than {LONGEST_NAME} characters."

_find_session = state_holder.StateHolder.__getitem__


class SharedSettings:
    """Components as events have set them: equal ones, of whatever session, are one object.

    Gradio makes a component anew each time an event changes one, and a page that opens changes forty.
    """

    def __init__(self) -> None:
        self._known: defaultdict[int, deque[Any]] = defaultdict(lambda: deque(maxlen=VARIANTS))

    def share(self, key: int, component: Any) -> Any:
        """An equal component from before, or else this one."""
        variants = self._known[key]
        for known in variants:
            if type(known) is type(component) and known.constructor_args == component.constructor_args:
                known.temp_files.clear()  # Gradio's list of files that it served; they have limits of their own
                return known
        variants.append(component)
        return component


class LeanSession(state_holder.SessionState):
    """A session without a copy of every component's settings and latest value.

    That copy serves links to a session's state, which the page does not offer. It would hold a visitor's plots and the
    whole answer of each call of the endpoint for as long as the session is known.
    """

    def __init__(self, blocks: gr.Blocks, shared: SharedSettings):
        # Gradio's own makes the copy, so it is not called.
        # What the page is made of is the same for all; a session holds what events have changed of it.
        own: Any = BlocksConfig(blocks)
        own.blocks, own.fns = ChainMap({}, blocks.blocks), blocks.fns
        self.blocks_config: BlocksConfig = own
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600
        self._shared = shared

    def __setitem__(self, key: int, value: Any) -> None:
        """A part of the page as an event has set it.

        Gradio gives a changed component a number of its own and remembers it under that as well, where nobody looks for
        it and nothing takes it away.
        """
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = (block.time_to_live, datetime.now())
            self.state_data[key] = value
        elif block is not None and block is not value:
            self.blocks_config.blocks[key] = self._shared.share(key, value)

    def _update_config(self, key: int) -> None:
        """Nothing is kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept."""


class Messages(OrderedDict[str, Any]):
    """The messages to each session, those of the latest last. Beyond `most`, sessions without an event are forgotten.

    Gradio's own forgets the one that came first, even if it waits, and its queue ends for everybody at an event whose
    session has no messages.
    """

    def __init__(self, queue: Any, most: int = MOST):
        super().__init__()
        self._queue, self._most = queue, most

    def __getitem__(self, session: str) -> Any:
        self.move_to_end(session)
        return super().__getitem__(session)

    def __setitem__(self, session: str, messages: Any) -> None:
        super().__setitem__(session, messages)
        self.move_to_end(session)
        if len(self) > self._most:
            waiting = {event.session_hash for event in self._queue.event_ids_to_events.values()}
            if oldest := next((one for one in self if one not in waiting and one != session), None):
                del self[oldest]
                self._queue.pending_event_ids_session.pop(oldest, None)


def keep_lean_sessions() -> None:
    """From now on Gradio's sessions are lean, and have short names: Gradio keeps ten thousand of them."""
    setattr(state_holder.StateHolder, "__getitem__", _find_named)  # noqa: B010
    setattr(state_holder, "SessionState", partial(LeanSession, shared=SharedSettings()))  # noqa: B010


def _find_named(sessions: state_holder.StateHolder, name: str) -> state_holder.SessionState:
    if len(name) > LONGEST_NAME:
        raise HTTPException(422, LONG_NAME)
    return _find_session(sessions, name)
