"""Agents over MCP, all of which come to the queue as one client of Gradio's."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import gradio as gr
import pytest
from gradio.data_classes import PredictBodyInternal
from gradio.events import api
from in_a_loop import in_a_loop

from csd.web.addresses import address
from csd.web.agent_calls import ALL, AROUND, CALL, EACH, FROM, MANY, MANY_HERE, MCP, NEARBY, OLD, AgentCalls, call_of
from csd.web.deployment import PUBLIC
from csd.web.gradio_queue import MANY_HERE as MANY_RACES
from csd.web.gradio_queue import NO_CALL, ONE_EACH, open_queue
from csd.web.wiring import ON_DEVICE

HERE = "1.2.3.4"


def made_queue():
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    (number,) = page.fns
    return open_queue(page, PUBLIC)._queue, number


def asked(headers, host=HERE):
    return SimpleNamespace(client=SimpleNamespace(host=host), headers=headers)


def test_each_call_waits_for_itself_and_a_refused_one_is_told_why():
    """Gradio's client joins for all of them under one session, and passes on the status alone of a refusal."""
    queue, number = made_queue()

    async def join(call):
        body = PredictBodyInternal(fn_index=number, data=[], session_hash="gradio's client")
        return await queue.push(body, asked({CALL: call} if call else {}), None)

    async def join_all():
        queue.agent_calls.update(["call beyond", *(f"call {i}" for i in range(PUBLIC.max_waiting))])
        calls = [await join(f"call {i}") for i in range(PUBLIC.max_waiting)]
        beyond = await join("call beyond")
        messages = queue.pending_messages_per_session["gradio's client"]
        said = [messages.get_nowait() for _ in range(messages.qsize())]
        return calls, beyond, said, await join(""), await join("a call that has ended")

    calls, beyond, said, visitor, late = in_a_loop(join_all())
    assert all(is_let_in for is_let_in, _, _ in calls) and len({event for _, event, _ in calls}) == PUBLIC.max_waiting
    told = {one.event_id: one.output for one in said if one.msg == "process_completed"}
    assert beyond[0] and told == {beyond[1]: {"error": MANY_RACES.format(PUBLIC.max_waiting)}}
    assert beyond[1] not in queue.event_ids_to_events
    assert not visitor[0] and visitor[1] in (ONE_EACH, MANY_RACES.format(PUBLIC.max_waiting)), "the form says it itself"
    assert late == (False, NO_CALL, "error"), "Gradio may pass a call on after its agent has hung up"


def test_a_call_has_the_address_that_it_comes_from_and_ends_its_own_race_alone():
    queue, number = made_queue()
    seen = []

    async def gradio(scope, receive, send):
        """What Gradio does with a call, until its agent hangs up."""
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        assert len(headers) == len(scope["headers"]), "each once"
        body = PredictBodyInternal(fn_index=number, data=[], session_hash="gradio's client")
        seen.append((headers, await queue.push(body, asked(headers), None)))
        raise ConnectionError

    async def call(path, headers, hangs_up):
        page = SimpleNamespace(get_blocks=lambda: SimpleNamespace(_queue=queue))
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": headers,
            "client": (HERE, 50000),
            "app": page,
        }
        app = AgentCalls(gradio, address=lambda request: address(request, PUBLIC))
        try:
            await app(scope, None, None)
        except ConnectionError:
            hangs_up.append(path)

    async def all_calls():
        ended = []
        other = PredictBodyInternal(fn_index=number, data=[], session_hash="a visitor")
        _, kept, _ = await queue.push(other, asked({}, "5.6.7.8"), None)
        claimed = [(CALL.encode(), b"another's"), (b"X-Forwarded-For", b"9.9.9.9"), (b"accept", b"*/*")]
        claimed += [(b"x-forwarded-host", b"</script>"), (b"x-odd", b"caf\xe9"), (b"host", b"page.example:80")]
        await call("/gradio_api/mcp/", claimed, ended)
        await call("/gradio_api/mcp", [], ended)
        await call("/gradio_api/queue/join", claimed[:1], ended)
        return ended, kept

    ended, kept = in_a_loop(all_calls())
    (first, (let_in, event, _)), (second, _), (_, strange) = seen
    assert len(ended) == 3 and let_in and event not in queue.event_ids_to_events
    assert first[FROM] == second[FROM] == HERE and first["accept"] == "*/*", "who calls a machine cannot make one up"
    assert first["host"] == "page.example:80" and not {"x-odd", "x-forwarded-host"} & set(first)
    assert first[CALL] != second[CALL] and "another's" not in (first[CALL], second[CALL])
    assert set(queue.event_ids_to_events) == {kept} and not queue.agent_calls
    assert strange == (False, NO_CALL, "error"), "a name that nobody was given"
    assert call_of(asked(first)) == first[CALL] and call_of(asked({})) == ""


async def asked_at_once(hosts, method="POST", path=MCP):
    """The answers to calls that all wait, each from its own host: a status, or None for one that Gradio has."""
    page = SimpleNamespace(
        get_blocks=lambda: SimpleNamespace(_queue=SimpleNamespace(agent_calls=set(), event_ids_to_events={}))
    )
    go_on, waiting = asyncio.Event(), []

    async def gradio(scope, receive, send):
        waiting.append(scope["client"][0])
        await go_on.wait()

    app = AgentCalls(gradio, address=lambda request: address(request, PUBLIC))

    async def call(host):
        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "headers": [], "client": (host, 50000), "app": page}
        await app(scope, None, send)
        return (sent[0]["status"], json.loads(sent[1]["body"])["error"]["message"]) if sent else None

    async def all_of(hosts):
        calls = [asyncio.create_task(call(host)) for host in hosts]
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(*calls)

    answers = await all_of(hosts)
    go_on.clear()
    assert await all_of(hosts[:1]) == answers[:1], "places are given back"
    return answers


@pytest.mark.parametrize(
    ("hosts", "let_in", "said"),
    [
        (["8.8.8.8"] * 100, EACH, MANY_HERE.format(EACH)),
        ([f"8.8.8.{i}" for i in range(100)], NEARBY, MANY_HERE.format(NEARBY)),
        ([f"8.8.{i}.8" for i in range(100)], AROUND, MANY_HERE.format(AROUND)),
        ([f"8.{i}.8.8" for i in range(100)], ALL, MANY),
    ],
)
def test_few_calls_wait_at_a_time_and_the_others_are_told(hosts, let_in, said):
    answers = in_a_loop(asked_at_once(hosts))
    assert answers[:let_in] == [None] * let_in and answers[let_in:] == [(429, said)] * (100 - let_in)


def test_listening_takes_no_place_and_the_older_transport_is_refused():
    assert in_a_loop(asked_at_once(["8.8.8.8"] * 100, method="GET")) == [None] * 100
    for path in (f"{MCP}sse", f"{MCP}messages/"):
        assert in_a_loop(asked_at_once(["8.8.8.8"], path=path)) == [(404, OLD)]
