"""Who gets the device over time, on a clock that the test moves."""

from __future__ import annotations

from collections import Counter

import pytest

from csd.web.fair_order import Asked, marks
from csd.web.turns import Turns


class Device:
    """Runs one race after the other, as the order has it."""

    def __init__(self):
        self.turns = Turns()
        self.now = 0.0
        self.waiting: list[Asked] = []
        self.had: Counter[str] = Counter()  # seconds by address

    def ask(self, network: str, address: str, seconds: float, region: str = "") -> Asked:
        race = Asked(network, address, seconds, region)
        self.turns.come(race, self.waiting)
        self.waiting.append(race)
        return race

    def leave(self, race: Asked) -> None:
        self.waiting = [other for other in self.waiting if other is not race]
        self.turns.leave(race, self.waiting)

    def run(self, takes: float | None = None) -> Asked:
        """The next race, which takes as long as it was expected to, or so many seconds."""
        found = marks(self.waiting, self.turns.places)
        race = self.waiting[found.index(min(found))]
        seconds = race.seconds if takes is None else takes
        self.turns.pay(race, seconds)
        self.turns.go_on(race, seconds, self.waiting)
        self.waiting = [other for other in self.waiting if other is not race]
        self.turns.forget(self.waiting)
        self.now += seconds
        self.had[race.address] += seconds
        return race

    def wait_for(self, race: Asked, then) -> float:
        """Seconds until a race begins; `then` is called with each race before it that has ended."""
        asked = self.now
        while (ended := self.run()) is not race:
            then(ended)
        return self.now - race.seconds - asked


@pytest.mark.parametrize("is_fresh", [False, True])
@pytest.mark.parametrize("before", range(0, 60, 7))
@pytest.mark.parametrize("seconds", [1.0, 5.0, 26.0])
def test_24_addresses_of_a_network_delay_another_by_a_race_or_two(is_fresh, before, seconds):
    """However long they have been there, and also where each of their races comes from an address of its own."""
    device, fresh = Device(), iter(range(24, 10_000))

    def ask_again(race: Asked) -> None:
        device.ask("many", f"m{next(fresh)}" if is_fresh else race.address, 26.0)

    for number in range(24):
        device.ask("many", f"m{number}", 26.0)
    for _ in range(before):
        ask_again(device.run())
    for _ in range(10):
        assert device.wait_for(device.ask("one", "o", seconds), ask_again) <= 2 * 26.0
        ask_again(device.run())


@pytest.mark.parametrize("before", range(0, 60, 7))
def test_the_networks_of_a_region_delay_one_of_another_by_a_race_or_two(before):
    """Also where each race comes from a network of its own, which has had nothing yet."""
    device, fresh = Device(), iter(range(10_000))

    def ask_again(_: Asked | None = None) -> None:
        device.ask(f"n{next(fresh)}", "a", 5.0, "many")

    for _ in range(40):
        ask_again()
    for _ in range(before):
        ask_again(device.run())
    for _ in range(10):
        assert device.wait_for(device.ask("one", "o", 5.0, "other"), ask_again) <= 2 * 5.0
        ask_again(device.run())


def test_the_addresses_of_a_network_share_its_part_equally():
    """Five who ask for races of different lengths, beside one of another network who has as much as all of them."""
    device = Device()
    lengths = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0, "e": 16.0}
    for address, seconds in lengths.items():
        device.ask("five", address, seconds)
    device.ask("one", "o", 5.0)
    while device.now < 4000.0:
        race = device.run()
        device.ask(race.network, race.address, race.seconds)
    assert all(device.had[address] == pytest.approx(400.0, abs=20.0) for address in lengths)
    assert device.had["o"] == pytest.approx(2000.0, abs=40.0)


@pytest.mark.parametrize("networks", [1, 40])
def test_a_long_race_is_overtaken_by_no_more_than_its_own_time(networks):
    """However many short ones come while it waits, of one network or of a new one each."""
    device = Device()
    long = device.ask("patient", "p", 26.0)
    for number in range(1000):
        device.ask(f"n{number % networks}" if networks == 1 else f"n{number}", "a", 1.0)
        if device.run() is long:
            break
    assert long not in device.waiting and device.now <= 2 * 26.0


def test_nobody_starves_among_short_races_of_many():
    device = Device()
    long = device.ask("patient", "p", 26.0)
    for number in range(30):
        device.ask(f"n{number}", "a", 1.0)
    assert device.wait_for(long, lambda race: device.ask(race.network, race.address, 1.0)) <= 31 * 26.0


def test_a_debt_is_the_network_s_too_and_fades_with_the_clock():
    """A fresh address of a network that has had more begins behind others, for as long as they have had less."""
    device = Device()
    device.ask("heavy", "h", 1.0)
    device.ask("other", "o", 10.0)
    device.run(takes=40.0)
    device.ask("heavy", "fresh", 1.0)
    overtaking = 0
    while device.run().network == "other":
        overtaking += 1
        device.ask("other", "o", 10.0)
    assert 3 <= overtaking <= 5


@pytest.mark.parametrize("keeps", [0, 1])
def test_turns_cannot_be_saved_up_by_leaving_before_each(keeps):
    """Who has asked for an hour and left before each turn, with all races or all but one, gets one turn at once, and not
    an hour of them."""
    device = Device()
    for number in range(720):
        for address in "ab":
            if address not in [race.address for race in device.waiting]:
                device.ask(address, address, 5.0)
        sly = [race for race in device.waiting if race.network == "sly"]
        sly += [device.ask("sly", "s", 5.0) for _ in range(2 - len(sly))]
        honest = next(race for race in device.waiting if race.address == "ab"[number % 2])
        device.turns.pay(honest, 5.0)
        device.turns.go_on(honest, 5.0, device.waiting)
        device.waiting.remove(honest)
        device.turns.forget(device.waiting)
        for race in sly[keeps:]:
            device.leave(race)
    for _ in range(8):
        device.ask("sly", "s", 5.0)
    honest = device.ask("a", "a", 5.0)
    assert device.wait_for(honest, lambda _: None) <= 4 * 5.0


def test_debts_are_over_when_nobody_wants_the_device():
    device = Device()
    device.ask("heavy", "h", 1.0)
    device.ask("other", "o", 1.0)
    device.run(takes=40.0)
    device.run()
    assert not device.turns.places
    device.ask("heavy", "h", 1.0)
    device.ask("other", "o", 1.0)
    assert device.run().network == "heavy"


def test_what_is_remembered_of_those_who_are_gone_has_a_bound():
    device = Device()
    device.turns._most = 3
    device.ask("other", "o", 1e6)
    for number in range(10):
        device.ask(f"n{number}", "a", 1.0)
        device.run(takes=float(10 * (number + 1)))
    assert len(device.turns.places) <= 3 + 3 and ("", "n9") in device.turns.places
    assert set(device.turns._clocks) <= {(), *(owner[:-1] for owner in device.turns.places)}
