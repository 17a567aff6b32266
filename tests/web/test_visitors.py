"""Finished races are kept in a bounded amount of memory, the oldest go first, and what the API races is not kept."""

from __future__ import annotations

import threading
import tracemalloc
from types import SimpleNamespace

from fake_page import HOME, RECORDED, context

from csd.record.recording import Recording
from csd.record.trace import Trace
from csd.request.request import Request
from csd.web import earlier_races, race_events
from csd.web.api import run_to_end
from csd.web.news import Finished
from csd.web.races import FinishedRace, KeptRace
from csd.web.visitors import MAX_RACES, MAX_VISITORS, RETURN, Visitor, Visitors
from csd.web.wiring import visitor_of


def race(name: str, traces=RECORDED) -> FinishedRace:
    return FinishedRace(name, name, Recording(tuple(traces)))


SIZE = len(KeptRace.of(race("race 0")).packed)  # within a few bytes the same for all names


def names(visitors: Visitors, visitor: str) -> list[str]:
    return [race.id for race in visitors.find(visitor).races]


def test_a_race_is_kept_whole_in_a_small_part_of_its_memory():
    texts = [trace.to_json() for trace in RECORDED]
    tracemalloc.start()
    made = race("one", map(Trace.from_json, texts))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    visitors = Visitors()
    visitors.keep_race("v", made)
    assert visitors.find_race("v", "one") == made and visitors.races("v") == (made,)
    assert visitors.kept_bytes < taken / 8


def test_a_visitor_keeps_the_latest_races_and_at_most_a_quarter_of_the_memory():
    visitors = Visitors(max_kept=17 * SIZE / 1e6)
    for number in range(9):
        visitors.keep_race("v", race(f"race {number}"))
        assert visitors.kept_bytes <= 4.25 * SIZE
    assert names(visitors, "v") == [f"race {number}" for number in range(5, 9)]
    assert visitors.find_race("v", "race 0") is None and visitors.find_race("w", "race 8") is None
    visitors = Visitors()
    for number in range(MAX_RACES + 1):
        visitors.keep_race("v", race(f"race {number}"))
    assert names(visitors, "v") == [f"race {number}" for number in range(1, MAX_RACES + 1)]


def test_the_oldest_race_of_all_visitors_goes_first():
    visitors = Visitors(max_kept=3.5 * SIZE / 1e6)
    for visitor in "abcd":
        visitors.keep_race(visitor, race(f"of {visitor}"))
    assert [names(visitors, visitor) for visitor in "abcd"] == [[], ["of b"], ["of c"], ["of d"]]
    assert 2.9 * SIZE < visitors.kept_bytes < 3.1 * SIZE


def test_a_race_larger_than_all_memory_is_kept_until_the_next_one():
    visitors = Visitors(max_kept=0.5 * SIZE / 1e6)
    visitors.keep_race("v", race("large"))
    assert names(visitors, "v") == ["large"]
    visitors.keep_race("w", race("another"))
    assert names(visitors, "v") == []


def test_who_leaves_or_is_forgotten_keeps_no_memory():
    now = [0.0]
    visitors = Visitors(clock=lambda: now[0])
    visitors.keep_race("v", race("one"))
    visitors.leave("v")
    visitors.keep_race("v", race("ended after that"))
    now[0] = RETURN + 1
    visitors.state("another")
    assert visitors.kept_bytes == 0
    visitors.keep_race("first", race("two"))
    for number in range(MAX_VISITORS):
        visitors.keep_race(f"visitor {number}", race(f"race {number}"))
    assert names(visitors, "first") == [] and names(visitors, "visitor 0") == ["race 0"]


def test_a_page_that_is_loaded_again_has_the_races_of_before():
    now = [0.0]
    visitors = Visitors(clock=lambda: now[0])
    first, again, late = (Visitor(name, "8.8.8.0/24") for name in ("first", "again", "late"))
    visitors.keep_race(first, race("one"))
    visitors.state(first).count = 1
    visitors.leave(first)
    visitors.come_back(Visitor("a stranger", "9.9.9.0/24"), first)
    visitors.come_back(again, first)
    assert names(visitors, again) == ["one"] and visitors.state(again).count == 1
    assert names(visitors, "a stranger") == []
    visitors.leave(again)
    now[0] = RETURN + 1
    visitors.come_back(late, again)
    assert names(visitors, late) == [] and visitors.kept_bytes == 0


def test_claiming_races_over_and_over_leaves_nothing_behind():
    """Of a session that is forgotten nothing is kept, and races of one's own stay where others are claimed."""
    now = [0.0]
    visitors = Visitors(max_kept=20 * SIZE / 1e6, clock=lambda: now[0])
    for name in ("one", "two", "claims"):
        visitors.keep_race(Visitor(name), race(f"of {name}"))
    for before in ("one", "two", "claims", "one", "nobody"):
        visitors.come_back(Visitor("claims"), before)
        visitors.come_back(Visitor("empty"), before)
    assert names(visitors, "claims") == ["of claims"] and names(visitors, "empty") == ["of one"]
    for name in ("one", "two", "claims", "empty"):
        visitors.leave(name)
    now[0] = RETURN + 1
    visitors.state("another")
    assert visitors.kept_bytes == 0
    for number in range(60):
        visitors.keep_race(Visitor(f"next {number}"), race(f"race {number}"))
    assert visitors.kept_bytes <= 20 * SIZE


def test_who_comes_back_has_no_more_than_a_visitor_may():
    visitors = Visitors(max_kept=4.5 * SIZE / 1e6)
    visitors.keep_race("v", race("one"))
    for number in range(9):
        visitors.come_back(Visitor(f"page {number}"), "v" if not number else f"page {number - 1}")
        assert visitors.kept_bytes <= 4.5 * SIZE
    assert names(visitors, "page 8") == ["one"]


def test_strangers_push_out_neither_who_races_nor_who_has_raced():
    visitors = Visitors()
    visitors.keep_race("has raced", race("one"))
    visitors.state("races").stop = stop = threading.Event()
    for number in range(2 * MAX_VISITORS):
        stranger = f"stranger {number}"
        assert not visitors.stop(stranger) and visitors.races(stranger) == ()
        assert visitors.state(stranger) is visitors.find(stranger)
    assert names(visitors, "has raced") == ["one"]
    assert visitors.stop("races") and stop.is_set()
    racing = Visitors()
    for number in range(MAX_VISITORS + 5):
        racing.state(f"visitor {number}").stop = threading.Event()
    assert racing.stop("visitor 0") and racing.stop(f"visitor {MAX_VISITORS + 4}")


def test_sessions_that_one_address_makes_up_push_out_its_own_only():
    visitors = Visitors()
    visitors.keep_race(Visitor("somebody", "9.9.9.0/24"), race("one"))
    visitors.state(Visitor("has chosen", "7.7.7.0/24")).has_chosen_family = True
    for number in range(2 * MAX_VISITORS):
        visitors.keep_race(Visitor(f"made up {number}", "8.8.8.0/24"), race(f"race {number}"))
    assert names(visitors, "somebody") == ["one"] and visitors.find("has chosen").has_chosen_family
    assert names(visitors, "made up 0") == [] and names(visitors, f"made up {2 * MAX_VISITORS - 1}")
    assert len(visitors._states) == MAX_VISITORS


def test_races_of_one_address_take_the_memory_of_its_own_only():
    visitors = Visitors(max_kept=6.5 * SIZE / 1e6)
    visitors.keep_race(Visitor("somebody", "9.9.9.0/24"), race("one"))
    for number in range(20):
        visitors.keep_race(Visitor(f"made up {number}", "8.8.8.0/24"), race(f"race {number}"))
    assert names(visitors, "somebody") == ["one"]
    assert [name for number in range(20) for name in names(visitors, f"made up {number}")] == [
        f"race {number}" for number in range(15, 20)
    ]


def test_the_networks_of_one_region_push_out_their_own_only():
    visitors = Visitors(max_kept=6.5 * SIZE / 1e6)
    visitors.keep_race(Visitor("somebody", "9.9.9.0/24"), race("one"))
    for number in range(2 * MAX_VISITORS):
        visitors.keep_race(Visitor(f"made up {number}", f"2a00:1450:{number:x}::/48"), race(f"race {number}"))
    assert names(visitors, "somebody") == ["one"]


def test_a_visitor_counts_for_the_neighbourhood_that_asks():
    request = SimpleNamespace(session_hash="v", client=SimpleNamespace(host="8.8.8.8"), headers={})
    visitor = visitor_of(context(), request)
    assert (visitor, visitor.owner) == ("v", "8.8.8.0/24") and visitor_of(context(), None).owner == ""


def test_whoever_moves_to_another_address_is_the_same_visitor():
    visitors = Visitors()
    visitors.keep_race(Visitor("v", "9.9.9.0/24"), race("one"))
    visitors.keep_race(Visitor("v", "8.8.8.0/24"), race("two"))
    assert names(visitors, "v") == ["one", "two"]


def test_the_race_of_a_link_is_each_visitors_own():
    """Its name is the same for all who open the link."""
    visitors = Visitors()
    for visitor in "ab":
        visitors.keep_race(visitor, race("linked"))
    for number in range(MAX_RACES):
        visitors.keep_race("a", race(f"race {number}"))
    assert names(visitors, "a") == [f"race {number}" for number in range(MAX_RACES)]
    assert names(visitors, "b") == ["linked"]
    assert visitors.kept_bytes < 1.01 * (MAX_RACES + 1) * SIZE


def test_who_only_asks_is_not_remembered():
    page = context()
    for number in range(MAX_VISITORS):
        assert race_events.stop_race(page, f"stranger {number}")
        earlier_races.show_race(page, f"stranger {number}", "no such race", page.start)
    assert not page.studio.visitors._states


def test_races_of_the_api_are_not_kept():
    page = context()
    *_, ended = run_to_end(page, "program", "embedded", None, HOME.defaults.form(prompt="Once"))
    assert ended and ended.traces == RECORDED
    assert page.studio.visitors.kept_bytes == 0
    assert isinstance([*page.studio.race("visitor", HOME, Request("a", ()))][-1], Finished)
    assert page.studio.visitors.kept_bytes > 0.5 * SIZE
