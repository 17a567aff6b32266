"""The fair order in Gradio's own queue."""

from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest
from gradio import queueing
from gradio.data_classes import PredictBodyInternal
from gradio.events import api
from in_a_loop import in_a_loop

from csd.web import fair_races
from csd.web.deployment import PUBLIC
from csd.web.fair_order import BEGINNING
from csd.web.gradio_queue import open_queue
from csd.web.wiring import ON_DEVICE


def make_queue():
    def race(prompt: str, methods: list[str], max_new: int, request: gr.Request | None = None) -> int:
        return 1

    with gr.Blocks() as page:
        api(race, api_name="race", concurrency_id=ON_DEVICE, concurrency_limit=1)
    return open_queue(page, PUBLIC)._queue


async def join(queue, session: str, host: str, tokens: int) -> None:
    body = PredictBodyInternal(fn_index=0, data=["", ["a", "b"], tokens], session_hash=session)
    pushed = await queue.push(body, SimpleNamespace(client=SimpleNamespace(host=host), headers={}), None)
    assert pushed[0]


def take(queue) -> str:
    events, _, _ = queue.get_events()
    return events[0].session_hash


@pytest.mark.parametrize("hosts", [["1.2.3.4"] * 8, [f"{one}.2.3.4" for one in range(11, 19)]])
@pytest.mark.parametrize("run", range(8))
def test_three_short_races_do_not_wait_for_eight_full_ones(hosts, run):
    """Whether these are of visitors at one address or of one each. Behind the one that runs, only the last two of them go
    first, and only once these have waited for most of the others."""
    queue = make_queue()

    async def crowd():
        for number, host in enumerate(hosts):
            await join(queue, f"greedy {number}", host, 600)
        order = [take(queue) for _ in range(run + 1)]
        for number in range(3):
            await join(queue, f"short {number}", f"{number + 21}.6.7.8", 20)
        return order + [take(queue) for _ in range(10 - run)]

    order = in_a_loop(crowd())
    late = order.index("short 2") - (run + 3)
    assert late == 0 if run < 5 or len(set(hosts)) == 1 else late <= 2
    assert [one for one in order if one.startswith("greedy")] == [f"greedy {one}" for one in range(8)]


def test_all_who_wait_are_told_their_new_places_and_the_end_of_their_races(monkeypatch):
    now, told = [1000.0], {}

    async def run_for_ten_seconds(*_):
        now[0] += 10.0

    monkeypatch.setattr(queueing.Queue, "process_events", run_for_ten_seconds)
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    def send(event, message):
        told[event.session_hash] = (message.rank, message.queue_size, message.rank_eta)

    async def crowd():
        await join(queue, "first", "1.1.1.1", 600)
        await queue.process_events(*queue.get_events())
        await join(queue, "runs", "2.2.2.2", 600)
        queue.get_events()
        now[0] += 4.0
        await join(queue, "long", "3.3.3.3", 600)
        queue.send_message = send
        await join(queue, "short", "4.4.4.4", 50)

    in_a_loop(crowd())
    short = 10.0 * (100 + BEGINNING) / (1200 + BEGINNING)
    assert told == {
        "short": (0, 2, pytest.approx(6.0 + short)),
        "long": (1, 2, pytest.approx(6.0 + short + 10.0)),
    }


def test_the_size_of_a_race_is_found_among_the_inputs_of_the_page_and_of_the_endpoint(house):
    """A comparison is known by a field of its own."""
    names = [fair_races._input_names(fn) for fn in house.page.fns.values() if fn.concurrency_id == ON_DEVICE]
    page, comparison, endpoint = sorted(names, key=lambda one: ("methods" in one, "compare-what" in one))
    assert (
        {"lanes", "max-new"} <= set(page) and "compare-what" in comparison and {"methods", "max_new"} <= set(endpoint)
    )
