"""Sessions without a copy of what the visitor was shown, which behave as Gradio's own do."""

from __future__ import annotations

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from csd.web.gradio_sessions import LeanSession


@pytest.fixture
def blocks():
    with gr.Blocks() as blocks:
        gr.Dropdown(["a"], value="a")
        gr.State("typed")
        gr.HTML("")
    return blocks


def parts(blocks: gr.Blocks) -> list[int]:
    return [number for number, block in blocks.blocks.items() if isinstance(block, gr.Dropdown | gr.State | gr.HTML)]


def test_a_lean_session_has_all_that_gradios_own_has(blocks):
    assert vars(LeanSession(blocks)).keys() == vars(SessionState.__mro__[-2](blocks)).keys()


def test_changed_choices_and_states_are_remembered(blocks):
    dropdown, state, _ = parts(blocks)
    session = LeanSession(blocks)
    with blocks:
        session[dropdown] = gr.Dropdown(["b"], render=False)
    session[state] = "changed"
    session._update_config(dropdown)
    assert session[dropdown].choices == [("b", "b")] and session[state] == "changed"
    assert blocks.blocks[dropdown].choices == [("a", "a")], "the page itself stays as it was built"
    assert [value for _, value, expired in session.state_components if not expired] == ["changed"]


def test_values_shown_are_not_kept(blocks):
    *_, html = parts(blocks)
    session = LeanSession(blocks)
    session._update_value_in_config(html, "x" * 10_000)
    assert list(session.components) == [] and "x" * 100 not in repr(vars(session))


def test_the_page_has_lean_sessions(house):
    assert type(house.page.app.state_holder["a stranger"]) is LeanSession
