"""A fair place in the queue."""

from __future__ import annotations

import asyncio
import math
from contextvars import Context
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest
from fake_page import HOME, load_family
from gradio import queueing
from gradio.data_classes import PredictBodyInternal
from gradio.events import api
from in_a_loop import in_a_loop

from csd.web import gradio_queue
from csd.web.deployment import PUBLIC, Deployment
from csd.web.gradio_queue import (
    BUSY,
    BUSY_FOR_ALL,
    FULL,
    LONG_NAME,
    LONGEST,
    LOOKS,
    MANY_HERE,
    MANY_NEARBY,
    NEARBY,
    NO_EVENT,
    NO_SESSION,
    ONE_EACH,
    OTHERS,
    OTHERS_EACH,
    open_queue,
    open_queue_of,
    refuse_place,
)
from csd.web.paced import paid_by, pay
from csd.web.studio import Studio
from csd.web.wiring import ON_DEVICE


def test_a_visitor_waits_once_and_an_address_a_few_times():
    places = [("a", "1.2.3.4"), ("b", "1.2.3.4"), ("c", "5.6.7.8")]
    few = replace(PUBLIC, max_waiting=2)
    assert refuse_place(places, "a", "1.2.3.4", few) == ONE_EACH
    assert refuse_place(places, "d", "1.2.3.4", few) == MANY_HERE.format(2)
    assert refuse_place(places, "d", "5.6.7.8", few) == ""
    assert refuse_place(places, "a", "1.2.3.4", Deployment()) == ""


@pytest.mark.parametrize(
    ("hosts", "let_in"),
    [
        ([f"2a00:1450:4001:{one:x}::/64" for one in range(80)], NEARBY * PUBLIC.max_waiting),
        ([f"8.8.8.{one}" for one in range(80)], NEARBY * PUBLIC.max_waiting),
        ([f"192.168.1.{one}" for one in range(80)], 80),
    ],
)
def test_a_neighbourhood_has_a_larger_share_of_the_queue_and_not_all_of_it(hosts, let_in):
    places: list[tuple[str, str]] = []
    for host in hosts:
        if sentence := refuse_place(places, host, host, PUBLIC):
            assert sentence == MANY_NEARBY.format(let_in)
        else:
            places.append((host, host))
    assert len(places) == let_in
    assert refuse_place(places, "another", "9.9.9.9", PUBLIC) == ""


def test_who_joins_many_times_waits_once():
    """At Gradio's own door to the queue, all at the same time."""
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue
    (number,) = page.fns

    async def join(session, address="1.2.3.4"):
        body = PredictBodyInternal(fn_index=number, data=[], session_hash=session)
        request = SimpleNamespace(client=SimpleNamespace(host=address), headers={})
        return await queue.push(body, request, None)

    async def join_all(sessions):
        return await asyncio.gather(*map(join, sessions))

    answers = in_a_loop(join_all(["one"] * 12 + [f"of many {one}" for one in range(60)]))
    is_let_in, *_ = in_a_loop(join("another", "5.6.7.8"))
    assert [done for done, _, _ in answers].count(True) == PUBLIC.max_waiting
    assert {said for done, said, _ in answers if not done} == {ONE_EACH, MANY_HERE.format(PUBLIC.max_waiting)}
    assert is_let_in


def test_a_full_queue_lets_a_network_in_that_has_no_part_of_it(monkeypatch):
    monkeypatch.setattr(gradio_queue, "PATIENCE", math.inf)  # nobody listens
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
        api(lambda: 1, api_name="follow")
    queue = open_queue(page, PUBLIC)._queue
    race, follow = page.fns

    async def join(host: str, session: str, number: int = race):
        body = PredictBodyInternal(fn_index=number, data=[], session_hash=session)
        request = SimpleNamespace(client=SimpleNamespace(host=host), headers={})
        return await queue.push(body, request, None)

    async def join_all():
        many = [(f"2a00:{net}:1:{one:x}::1", f"{net} {one}") for one in range(24) for net in ("1", "2", "3")]
        said = [await join(*one) for one in many]
        return said, await join("5.6.7.8", "another"), await join("5.6.7.8", "opens", follow), await join(*many[-1])

    said, another, opens, again = in_a_loop(join_all())
    assert [done for done, *_ in said].count(True) == LONGEST and another[0] and opens[0]
    assert {told for done, told, _ in said if not done} == {FULL} and again[1] == FULL
    assert len(queue.event_queue_per_concurrency_id[ON_DEVICE].queue) == LONGEST


def queue_of_races():
    """A public page's queue, and what joins it with a race of a session that is named like its host."""
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue

    async def join(host: str):
        body = PredictBodyInternal(fn_index=0, data=[], session_hash=host)
        return await queue.push(body, SimpleNamespace(client=SimpleNamespace(host=host), headers={}), None)

    return queue, join


def test_a_full_queue_of_many_networks_of_one_region_lets_another_in(monkeypatch):
    monkeypatch.setattr(gradio_queue, "PATIENCE", math.inf)  # nobody listens
    queue, join = queue_of_races()

    async def join_all(crowd: list[str]):
        return [await join(host) for host in crowd]

    said = in_a_loop(join_all([f"2a00:1450:{net:x}::1" for net in range(LONGEST + 1)]))
    assert [done for done, *_ in said] == [True] * LONGEST + [False]
    others = in_a_loop(join_all([f"{net}.6.7.8" for net in range(11, 15)]))
    assert all(done for done, *_ in others)
    assert len(queue.event_queue_per_concurrency_id[ON_DEVICE].queue) == LONGEST


def test_of_a_full_queue_a_race_gives_way_to_which_nobody_listens(monkeypatch):
    """However many regions they are from. A message that has just come does not mean that nobody listens."""
    monkeypatch.setattr(gradio_queue, "LOOK", 0.01)
    monkeypatch.setattr(gradio_queue, "LOOKS", math.inf)
    queue, join = queue_of_races()

    async def join_all():
        for net in range(LONGEST):
            await join(f"{net + 11}.1.1.1")
        at_once = await join("199.1.1.1")
        for _ in range(50):
            for host in ("11.1.1.1", "12.1.1.1"):  # they listen
                while not queue.pending_messages_per_session[host].empty():
                    queue.pending_messages_per_session[host].get_nowait()
            queue.broadcast_estimations(ON_DEVICE)  # which they have not read yet
            await asyncio.sleep(0.005)
        return at_once, await join("200.1.1.1")

    at_once, later = in_a_loop(join_all())
    assert not at_once[0] and at_once[1] == FULL and later[0]
    waiting = [race.session_hash for race in queue.event_queue_per_concurrency_id[ON_DEVICE].queue]
    assert len(waiting) == LONGEST and {"11.1.1.1", "12.1.1.1", "200.1.1.1"} <= {*waiting} and "13.1.1.1" not in waiting


def test_events_that_are_no_races_cannot_fill_the_queue_from_one_address():
    with gr.Blocks() as page:
        api(lambda: 1, api_name="leave", concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue

    async def join(host: str, session: str):
        body = PredictBodyInternal(fn_index=0, data=[], session_hash=session)
        return await queue.push(body, SimpleNamespace(client=SimpleNamespace(host=host), headers={}), None)

    async def join_all():
        said = [await join("1.2.3.4", f"of many {one}") for one in range(60)]
        return said, await join("5.6.7.8", "another")

    async def join_nearby():
        return [(await join(f"1.2.3.{one}", f"near {one}"))[0] for one in range(10, 60)]

    said, another = in_a_loop(join_all())
    nearby = in_a_loop(join_nearby())
    assert nearby.count(True) == NEARBY * OTHERS_EACH - OTHERS_EACH
    assert [done for done, *_ in said] == [True] * OTHERS_EACH + [False] * (60 - OTHERS_EACH)
    assert said[-1][1] == BUSY and another[0]


def test_events_that_are_no_races_take_no_place_of_races_and_the_oldest_unheard_gives_way():
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
        api(lambda: 1, api_name="follow", concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue
    race, follow = page.fns

    async def join(number: int, net: int):
        body = PredictBodyInternal(fn_index=number, data=[], session_hash=f"{number} {net}")
        request = SimpleNamespace(client=SimpleNamespace(host=f"11.{net % 250}.{net // 250}.1"), headers={})
        return await queue.push(body, request, None)

    async def join_all():
        return [await join(follow, net) for net in range(2 * OTHERS)], [await join(race, net) for net in range(LONGEST)]

    others, races = in_a_loop(join_all())
    assert all(done for done, *_ in (*others, *races))
    waiting = {name: [one.session_hash for one in held.queue] for name, held in _waiting(queue).items()}
    assert len(waiting.pop(ON_DEVICE)) == LONGEST
    assert [*waiting.values()] == [[f"{follow} {net}" for net in range(OTHERS, 2 * OTHERS)]]
    for messages in queue.pending_messages_per_session.values():  # all listen
        while not messages.empty():
            messages.get_nowait()
    assert in_a_loop(join(follow, 3 * OTHERS)) == (False, BUSY_FOR_ALL, "queue_full")


def _waiting(queue):
    return queue.event_queue_per_concurrency_id


def test_nobody_listens_to_an_event_that_is_no_race_for_long(monkeypatch):
    monkeypatch.setattr(gradio_queue, "LOOK", 0.0)
    with gr.Blocks() as page:
        api(lambda: 1, api_name="follow", concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue

    async def join_and_wait():
        body = PredictBodyInternal(fn_index=0, data=[], session_hash="one")
        await queue.push(body, SimpleNamespace(client=SimpleNamespace(host="1.2.3.4"), headers={}), None)
        for _ in range(10 * LOOKS):
            await asyncio.sleep(0)

    in_a_loop(join_and_wait())
    assert not queue.event_ids_to_events


def test_whoever_joins_pays_for_the_work_of_an_event_that_is_no_race(monkeypatch):
    charged: list[float] = []

    async def process(self, events, *others):
        pay(7.0)

    monkeypatch.setattr(queueing.Queue, "process_events", process)
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
        api(lambda: 1, api_name="follow", concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue

    async def join(number: int):
        body = PredictBodyInternal(fn_index=number, data=[], session_hash=f"of {number}")
        await queue.push(body, SimpleNamespace(client=SimpleNamespace(host="1.2.3.4"), headers={}), None)

    async def join_and_process(number: int):
        await paid_by(charged.append, join(number))
        joined = len(charged)
        (event,) = queue.event_ids_to_events.values()
        await Context().run(asyncio.create_task, queue.process_events([event], False, 0.0, None))
        queue.event_ids_to_events.clear()
        return 7.0 in charged[joined:]

    race, follow = page.fns
    assert in_a_loop(join_and_process(follow)) and not in_a_loop(join_and_process(race))


@pytest.mark.parametrize(
    ("number", "session", "said"),
    [
        (-1, "one", NO_EVENT),
        (10**30, "one", NO_EVENT),
        (None, "one", NO_EVENT),
        (0, "a" * 65, LONG_NAME),
        (0, "", NO_SESSION),
    ],
)
def test_an_unknown_event_and_a_session_without_a_proper_name_are_refused(number, session, said):
    """Gradio raises for the first, keeps a long name for as long as the page runs, and its queue ends at an empty one."""
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue
    body = PredictBodyInternal(fn_index=number, data=[], session_hash=session)
    request = SimpleNamespace(client=SimpleNamespace(host="1.2.3.4"), headers={})
    assert in_a_loop(queue.push(body, request, None)) == (False, said, "error")
    assert not queue.pending_messages_per_session


def test_a_session_that_has_gone_does_not_end_the_queue():
    """Gradio raises KeyError where it tells those who wait, as whatever removes a session's messages early would make it."""
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    queue = open_queue(page, PUBLIC)._queue

    async def join_and_lose() -> None:
        request = SimpleNamespace(client=SimpleNamespace(host="1.2.3.4"), headers={})
        for session in ("gone", "here"):
            body = PredictBodyInternal(fn_index=0, data=[], session_hash=session)
            assert (await queue.push(body, request, None))[0]
        del queue.pending_messages_per_session["gone"]
        queue.broadcast_estimations(ON_DEVICE)

    in_a_loop(join_and_lose())
    assert not queue.stopped and not queue.pending_messages_per_session["here"].empty()


def test_races_have_less_time_while_another_waits():
    with gr.Blocks() as page:
        api(lambda: 1, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    studio = Studio(HOME, load_family, deployment=PUBLIC)
    queue = open_queue_of(studio, page)._queue

    async def join():
        body = PredictBodyInternal(fn_index=0, data=[], session_hash="waits")
        await queue.push(body, SimpleNamespace(client=SimpleNamespace(host="1.2.3.4"), headers={}), None)

    assert studio.most_seconds() == PUBLIC.max_seconds
    in_a_loop(join())
    assert studio.most_seconds() < PUBLIC.max_seconds
