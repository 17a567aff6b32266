"""A comparison lends its place on the device between two of its races, in Gradio's own queue."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
from in_a_loop import in_a_loop
from race_queue import join, make_queue, take

from csd.traffic.protocol import API
from csd.web import fair_races
from csd.web.deployment import PUBLIC, Deployment
from csd.web.giving_turns import Pause, giving_way
from csd.web.gradio_queue import open_queue
from csd.web.pace import USUAL
from csd.web.race_size import largest_size
from csd.web.wiring import ON_DEVICE

SIZE = 200.0  # of a race with two lanes of 50 tokens
TIME = USUAL * SIZE
SECONDS = 0.1  # of a race


@pytest.fixture
def now(monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    return clock


def places(queue):
    return queue.event_queue_per_concurrency_id[ON_DEVICE]


def event_of(queue, session: str):
    return next(event for event in queue.event_ids_to_events.values() if event.session_hash == session)


def begin(queue) -> str:
    """The next race begins, as Gradio lets it begin."""
    session = take(queue)
    places(queue).current_concurrency += 1
    return session


def end(queue, session: str) -> None:
    queue.active_jobs.remove([event_of(queue, session)])
    places(queue).current_concurrency -= 1


def lend(queue, session: str, size: float = SIZE):
    return queue.fair_races.lend(event_of(queue, session)._id, size)


def test_nobody_waits_so_it_goes_on(now):
    queue = make_queue()

    async def compare():
        await join(queue, "compares", "1.1.1.1", 50)
        begin(queue)
        for _ in range(5):
            now[0] += TIME
            assert lend(queue, "compares") is None
        return places(queue).current_concurrency, len(places(queue).queue)

    assert in_a_loop(compare()) == (1, 0)
    assert queue.fair_races._pace.seconds == pytest.approx(USUAL)


def test_comparisons_and_races_take_turns(now):
    """Three addresses compare, each for as long as there is time, and a fourth one races whenever it may."""
    queue = make_queue()
    lent = {}

    async def crowd():
        order = []
        for one in ("a", "b", "c"):
            await join(queue, one, f"{ord(one)}.1.1.1", 50)
        for turn in range(16):
            if not places(queue).current_concurrency:
                order.append(begin(queue))
                if place := lent.pop(order[-1], None):
                    assert queue.fair_races._lent.give_back([event_of(queue, order[-1])])
                    assert place.is_back.is_set()
            if turn == 3:
                await join(queue, "short", "9.9.9.9", 50)
            now[0] += TIME
            if order[-1] == "short":
                end(queue, "short")
            elif place := lend(queue, order[-1]):
                lent[order[-1]] = place
            assert places(queue).current_concurrency in (0, 1)
        return "".join(one[0] for one in order)

    order = in_a_loop(crowd())
    assert order.count("s") == 1 and order.index("s") == 6, "after a race of each that waited or ran before it"
    assert sorted(order[:3]) == ["a", "b", "c"]
    others = order.replace("s", "")
    assert all(len(set(others[turn : turn + 3])) == 3 for turn in range(len(others) - 2))


@pytest.mark.parametrize("why", ["stops", "leaves", "is taken back"])
def test_a_wait_that_ends_before_its_turn_leaves_the_count_right(why, now):
    queue = make_queue()
    stopped = threading.Event()

    async def crowd():
        await join(queue, "compares", "1.1.1.1", 50)
        begin(queue)
        now[0] += TIME
        await join(queue, "races", "2.2.2.2", 50)
        place, event = lend(queue, "compares"), event_of(queue, "compares")
        assert begin(queue) == "races" and places(queue).queue == [event]
        waiting = asyncio.create_task(place.wait(stopped.is_set))
        await asyncio.sleep(0)
        if why == "stops":
            stopped.set()
        elif why == "leaves":
            await queue.clean_events(session_hash="compares")
        else:
            waiting.cancel()
            place.take_back()
            place.take_back()
        began = time.monotonic()
        await asyncio.wait([waiting])
        assert time.monotonic() - began < 1.0
        return event.alive, places(queue).queue, places(queue).current_concurrency

    assert in_a_loop(crowd()) == (why != "leaves", [], 2), "Gradio counts one less when the event ends"


def test_with_two_places_the_first_in_line_goes_on_and_others_are_let_in(now):
    queue = make_queue(2)

    async def crowd():
        for number in range(2):
            await join(queue, f"compares {number}", f"1{number}.1.1.1", 50)
            begin(queue)
        now[0] += TIME
        await join(queue, "races", "2.2.2.2", 50)
        assert lend(queue, "compares 0") is not None
        begun = begin(queue)
        now[0] += 1.0
        return begun, lend(queue, "compares 1"), places(queue).current_concurrency

    begun, place, running = in_a_loop(crowd())
    assert begun == "races" and place is not None and running == 1


@pytest.mark.parametrize("name", ["marks", "neighbourhood"])
def test_a_fault_in_the_order_ends_the_comparison_for_nobody(name, now, monkeypatch):
    queue = make_queue()

    def fail(*_args):
        raise IndexError("a fault that nobody thought of")

    async def crowd():
        await join(queue, "compares", "1.1.1.1", 50)
        begin(queue)
        await join(queue, "races", "2.2.2.2", 50)
        monkeypatch.setattr(fair_races, name, fail)
        went_on = [lend(queue, "compares") for _ in range(3)]
        assert went_on == [None] * 3 and places(queue).current_concurrency == 1
        assert [event.session_hash for event in places(queue).queue] == ["races"]
        end(queue, "compares")
        return begin(queue)

    assert in_a_loop(crowd()) == "races"


def test_others_are_told_the_end_of_the_race_and_not_of_the_comparison(now):
    queue = make_queue()
    told = {}

    def send(event, message):
        told[event.session_hash] = message.rank_eta

    async def crowd():
        await join(queue, "compares", "1.1.1.1", 50)
        begin(queue)
        for _ in range(5):
            now[0] += TIME
            lend(queue, "compares")
        queue.send_message = send
        await join(queue, "races", "2.2.2.2", 50)

    in_a_loop(crowd())
    assert told == {"races": pytest.approx(2 * TIME)}


# ---- in a page that is served


@contextmanager
def served(deployment: Deployment, at_once: int = 1) -> Iterator[tuple[httpx.Client, list[str], gr.Blocks]]:
    """A page whose comparisons have eight races, and what has begun on it."""
    begun: list[str] = []
    size = largest_size(deployment.max_tokens)  # as which these fields count
    stop = threading.Event()

    def compare(values, request: gr.Request) -> Iterator:
        (name,) = values.values()
        for number in range(8):
            if number:
                yield Pause(f"{name} waits", size, stop.is_set)
            begun.append(name)
            time.sleep(SECONDS)
            yield f"{name} {number}"

    def race(name: str) -> str:
        begun.append(name)
        time.sleep(SECONDS)
        return name

    with gr.Blocks() as page:
        box = gr.Textbox()
        device = {"concurrency_id": ON_DEVICE, "concurrency_limit": at_once}
        gr.Button().click(giving_way(compare), {box}, [box], api_name="compare", **device)
        gr.Button().click(lambda name: name, [box], [box], api_name="quick")
        gr.Button().click(race, [box], [box], api_name="race", **device)
    _, url, _ = open_queue(page, deployment).launch(prevent_thread_lock=True, quiet=True)
    try:
        with httpx.Client(base_url=f"{url.rstrip('/')}{API}/call/", timeout=20) as http:
            yield http, begun, page
    finally:
        stop.set()
        page.close(verbose=False)


def ask(http: httpx.Client, what: str, name: str, host: str) -> str:
    """All messages until its end."""
    asked = http.post(what, json={"data": [name]}, headers={"X-Forwarded-For": host})
    return http.get(f"{what}/{asked.json()['event_id']}", headers={"X-Forwarded-For": host}).text


def until(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("deployment", [PUBLIC, Deployment()])
def test_a_race_that_comes_during_a_comparison_begins_after_at_most_one_of_its_races(deployment):
    with served(deployment) as (http, begun, page), ThreadPoolExecutor(4) as pool:
        comparing = pool.submit(ask, http, "compare", "c", "8.1.1.1")
        until(lambda: len(begun) >= 2)
        before = len(begun)
        assert "complete" in ask(http, "race", "r", "9.1.1.1")
        assert begun.index("r") - before <= 1 and begun.count("c") < 8
        said = comparing.result()
        assert begun.count("c") == 8 and "c 7" in said and "c waits" in said
        until(lambda: places(page._queue).current_concurrency == 0)
        assert not any(page._queue.active_jobs) and not any(places(page._queue).start_times_per_fn.values())


def test_two_comparisons_alternate_and_one_whose_visitor_leaves_gives_its_place_up():
    with served(PUBLIC) as (http, begun, page), ThreadPoolExecutor(4) as pool:
        first = pool.submit(ask, http, "compare", "a", "8.1.1.1")
        until(lambda: begun)
        second = pool.submit(ask, http, "compare", "b", "9.1.1.1")
        assert "a 7" in first.result() and "b 7" in second.result()
        assert "".join(begun).count("ab") >= 4
        begun.clear()
        staying = pool.submit(ask, http, "compare", "a", "8.1.1.1")
        until(lambda: begun)
        gone = http.post("compare", json={"data": ["b"]}, headers={"X-Forwarded-For": "9.1.1.1"}).json()["event_id"]
        with http.stream("GET", f"compare/{gone}") as leaves:
            next(leaves.iter_lines())
            until(lambda: "b" in begun)
        assert "a 7" in staying.result()
        until(lambda: places(page._queue).current_concurrency == 0)
        assert begun.count("b") < 8 and not places(page._queue).queue and not page._queue.fair_races._lent._lent


@pytest.mark.slow
def test_comparisons_that_wait_hold_none_of_the_threads_of_the_page(monkeypatch):
    """There are 40 of them."""
    monkeypatch.setattr(f"{__name__}.SECONDS", 0.03)
    hosts = [f"{number}.1.1.1" for number in range(20, 68)]
    with served(PUBLIC) as (http, begun, page), ThreadPoolExecutor(len(hosts)) as pool:
        for host in hosts:
            pool.submit(ask, http, "compare", host, host)
        until(lambda: len(set(begun)) == len(hosts))
        assert ask(http, "quick", "answered", "99.1.1.1").count("answered") == 1
        until(lambda: len(places(page._queue).queue) >= 40)
        page._queue.fair_races._lent._lent.clear()
