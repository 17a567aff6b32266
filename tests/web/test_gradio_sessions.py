"""Sessions without a copy of what the visitor was shown, which behave as Gradio's own do."""

from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from csd.web.gradio_sessions import VARIANTS, LeanSession, Messages, SharedSettings


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
    assert (
        vars(LeanSession(blocks, SharedSettings())).keys() - {"_shared"}
        == vars(SessionState.__mro__[-2](blocks)).keys()
    )


def test_changed_choices_and_states_are_remembered(blocks):
    dropdown, state, _ = parts(blocks)
    session = LeanSession(blocks, SharedSettings())
    with blocks:
        session[dropdown] = gr.Dropdown(["b"], render=False)
    session[state] = "changed"
    session._update_config(dropdown)
    assert session[dropdown].choices == [("b", "b")] and session[state] == "changed"
    assert blocks.blocks[dropdown].choices == [("a", "a")], "the page itself stays as it was built"
    assert [value for _, value, expired in session.state_components if not expired] == ["changed"]


def test_values_shown_are_not_kept(blocks):
    *_, html = parts(blocks)
    session = LeanSession(blocks, SharedSettings())
    session._update_value_in_config(html, "x" * 10_000)
    assert list(session.components) == [] and "x" * 100 not in repr(vars(session))


def test_sessions_share_equal_settings_and_no_others(blocks):
    dropdown, *_ = parts(blocks)
    shared = SharedSettings()
    one, two, other = (LeanSession(blocks, shared) for _ in range(3))
    for session, choices in ((one, ["b"]), (two, ["b"]), (other, ["c"])):
        session[dropdown] = gr.Dropdown(choices, render=False)
    assert one[dropdown] is two[dropdown] and other[dropdown].choices == [("c", "c")]
    for number in range(2 * VARIANTS):
        shared.share(dropdown, gr.Dropdown([str(number)], render=False))
    two[dropdown] = gr.Dropdown(["b"], render=False)
    assert two[dropdown] is not one[dropdown], "only so many are remembered"


def test_a_changed_part_is_not_remembered_under_a_number_of_its_own(blocks):
    dropdown, *_ = parts(blocks)
    session = LeanSession(blocks, SharedSettings())
    before = len(session.blocks_config.blocks)
    for _ in range(3):  # as Gradio does after each change
        session[dropdown] = gr.Dropdown(["b"], render=False)
        changed = session[dropdown]
        session[changed._id] = changed
    assert len(session.blocks_config.blocks) == before


def test_the_page_has_lean_sessions(house):
    assert type(house.page.app.state_holder["a stranger"]) is LeanSession


def test_sessions_that_wait_or_were_heard_lately_keep_their_messages():
    """Gradio's own forgets the first of 2,000, whatever it does."""
    queue = SimpleNamespace(
        event_ids_to_events={"1": SimpleNamespace(session_hash="waits")}, pending_event_ids_session={}
    )
    messages = Messages(queue, most=3)
    for session in ("waits", "talks", "left", *(f"passes {one}" for one in range(100))):
        queue.pending_event_ids_session[session] = set()
        messages[session] = session
        assert messages["talks"] == "talks" if "talks" in messages else session == "waits"
        assert len(messages) <= 3
    assert set(messages) == set(queue.pending_event_ids_session) == {"waits", "talks", "passes 99"}
    with pytest.raises(KeyError):
        messages["left"]
    assert messages.get("left") is None
