"""The fair order in Gradio's own queue."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
from gradio import queueing
from in_a_loop import in_a_loop
from race_queue import join, make_queue, take

from csd.web import fair_races
from csd.web.pace import USUAL
from csd.web.race_size import BEGINNING
from csd.web.wiring import ON_DEVICE


def end(queue) -> None:
    """The race that was taken last gives its place away."""
    queue.active_jobs.pop()


@pytest.mark.parametrize("hosts", [["1.2.3.4"] * 8, [f"{one}.2.3.4" for one in range(11, 19)]])
@pytest.mark.parametrize("run", range(8))
def test_three_short_races_do_not_wait_for_eight_full_ones(hosts, run, monkeypatch):
    """Whether these are of visitors at one address or of one each. Behind the one that runs, only the last three of them
    go first, and only once these have waited for half of the others."""
    now = [1000.0]
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    def run_one(session: str) -> str:
        now[0] += USUAL * (BEGINNING + (1200 if session.startswith("greedy") else 40))
        end(queue)
        return session

    async def crowd():
        for number, host in enumerate(hosts):
            await join(queue, f"greedy {number}", host, 600)
        order = [run_one(take(queue)) for _ in range(run)]
        order.append(take(queue))
        for number in range(3):
            await join(queue, f"short {number}", f"{number + 21}.6.7.8", 20)
        run_one(order[-1])
        return order + [run_one(take(queue)) for _ in range(10 - run)]

    order = in_a_loop(crowd())
    late = order.index("short 2") - (run + 3)
    assert late == 0 if run < 4 or len(set(hosts)) == 1 else late <= 3
    assert [one for one in order if one.startswith("greedy")] == [f"greedy {one}" for one in range(8)]


def test_who_takes_longer_than_expected_pays_in_the_next_race(monkeypatch):
    """One address asks for races that take twenty times as long as they say, again and again; another one asks for a
    short one whenever its last has ended. The device is theirs by turns of equal time, not of equal number."""
    now = [1000.0]

    async def run(self, events, *_):
        now[0] += 40.0 if events[0].session_hash.startswith("heavy") else 2.0
        self.active_jobs.remove(events)

    monkeypatch.setattr(queueing.Queue, "process_events", run)
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    async def run_next() -> str:
        session = take(queue)
        await queue.process_events(queue.active_jobs[-1])
        return session

    async def crowd() -> list[str]:
        for number in range(5):
            await join(queue, f"before {number}", "3.3.3.3", 50)
            await run_next()
        order = []
        for number in range(3):
            await join(queue, f"heavy {number}", "1.1.1.1", 50)
        for number in range(60):
            await join(queue, f"short {number}", "2.2.2.2", 50)
            while not order or order[-1] != f"short {number}":
                order.append(await run_next())
                if order[-1].startswith("heavy"):
                    await join(queue, f"heavy {len(order) + 2}", "1.1.1.1", 50)
        return order

    order = in_a_loop(crowd())
    begun = [number for number, one in enumerate(order) if one.startswith("heavy")]
    assert 2 <= len(begun) <= 5 and all(later - one > 5 for one, later in pairwise(begun))


def test_whoever_waits_is_not_overtaken_by_later_ones_of_the_same_size(monkeypatch):
    """Also where they came while a long race ran that had the device for itself when it began."""
    now = [1000.0]
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    async def crowd() -> list[str]:
        await join(queue, "long", "1.1.1.1", 600)
        take(queue)
        for number in range(3):
            await join(queue, f"first {number}", f"{number + 11}.1.1.1", 50)
        now[0] += 30.0
        end(queue)
        order = []
        for number in range(6):
            order.append(take(queue))
            now[0] += 4.0
            end(queue)
            await join(queue, f"later {number}", f"{number + 31}.1.1.1", 50)
        return order

    assert in_a_loop(crowd())[:3] == ["first 0", "first 1", "first 2"]


def test_an_address_that_races_alone_owes_nothing_to_a_later_one(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    async def crowd() -> list[str]:
        for number in range(3):
            await join(queue, f"alone {number}", "1.1.1.1", 50)
            take(queue)
            now[0] += 40.0
            end(queue)
        await join(queue, "alone", "1.1.1.1", 50)
        await join(queue, "later", "2.2.2.2", 50)
        return [take(queue), take(queue)]

    assert in_a_loop(crowd()) == ["alone", "later"]


@pytest.mark.parametrize("host", ["8.8.8.{}", "2a00:1:2:{:x}::1", "8.8.{}.8", "2a00:1:{:x}::1"])
def test_a_network_of_many_addresses_and_a_region_of_many_networks_have_the_turns_of_one(host, monkeypatch):
    """Also where each race is of an address that nobody has seen."""
    now = [1000.0]
    monkeypatch.setattr(fair_races, "time", SimpleNamespace(monotonic=lambda: now[0]))
    queue = make_queue()

    async def crowd() -> list[str]:
        for number in range(20):
            await join(queue, f"many {number}", host.format(number + 1), 600)
        order = []
        for number in range(6):
            order.append(take(queue))
            if not number % 2:
                await join(queue, f"one {number}", "9.9.9.9", 600)
                await join(queue, f"many {number + 20}", host.format(number + 21), 600)
            now[0] += 26.0
            end(queue)
        return [one.split()[0] for one in order]

    assert in_a_loop(crowd()) == ["many", "one"] * 3


def test_a_race_that_has_left_the_queue_is_forgotten():
    queue = make_queue()

    async def leave():
        await join(queue, "runs", "1.1.1.1", 600)
        take(queue)
        await join(queue, "leaves", "2.2.2.2", 600)
        queue.event_queue_per_concurrency_id[ON_DEVICE].queue.clear()
        await join(queue, "waits", "3.3.3.3", 600)
        return len(queue.event_queue_per_concurrency_id[ON_DEVICE].queue), take(queue)

    assert in_a_loop(leave()) == (1, "waits")


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
        take(queue)
        now[0] += 4.0
        await join(queue, "long", "3.3.3.3", 600)
        queue.send_message = send
        await join(queue, "short", "4.4.4.4", 50)

    in_a_loop(crowd())
    short = 10.0 * (100 + BEGINNING) / (1200 + BEGINNING)
    assert told == {
        "short": (0, 2, pytest.approx(6.0 + short)),
        "long": (1, 2, pytest.approx(6.0 + 3 * 4.0)),  # later ones of three networks go first until the clock is there
    }


def test_the_size_of_a_race_is_found_among_the_inputs_of_the_page_and_of_the_endpoint(house):
    """A comparison is known by a field of its own."""
    names = [fair_races._input_names(fn) for fn in house.page.fns.values() if fn.concurrency_id == ON_DEVICE]
    page, comparison, endpoint = sorted(names, key=lambda one: ("methods" in one, "compare-what" in one))
    assert (
        {"lanes", "max-new"} <= set(page) and "compare-what" in comparison and {"methods", "max_new"} <= set(endpoint)
    )


@pytest.mark.parametrize("name", ["race_size", "marks", "expected_ends"])
def test_a_fault_in_the_order_ends_the_queue_for_nobody(name, monkeypatch):
    """An exception in the task that takes the races out of the queue would end it."""

    def fail(*_args):
        raise IndexError("a fault that nobody thought of")

    monkeypatch.setattr(fair_races, name, fail)
    queue = make_queue()

    async def crowd():
        for number in range(3):
            await join(queue, f"race {number}", f"{number + 21}.6.7.8", 20)
        taken = []
        for _ in range(3):
            taken.append(take(queue))
            queue.broadcast_estimations(ON_DEVICE)
            end(queue)
        return taken

    assert in_a_loop(crowd()) == ["race 0", "race 1", "race 2"]
