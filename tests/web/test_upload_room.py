"""Which upload gives way where there is no room for all."""

from __future__ import annotations

import pytest

from csd.decoding.errors import Refusal
from csd.web.upload_room import STALLED, STEP, TOO_MANY, Upload, UploadRoom


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def room(clock):
    return UploadRoom(10 * STEP, 8 * STEP, clock)


def begin(room: UploadRoom, owner: str, count: int) -> Upload:
    upload = room.begin(owner)
    room.take(upload, count, False)
    return upload


def test_the_upload_that_has_made_no_progress_for_longest_goes_first(room, clock):
    first = begin(room, "a", 3 * STEP)
    clock.now = 1.0
    second = begin(room, "b", 6 * STEP)
    clock.now = STALLED + 1
    begin(room, "c", 4 * STEP)
    assert first.has_given_way and not second.has_given_way
    assert room.arrived == 10 * STEP
    begin(room, "c", STEP)
    assert second.has_given_way and room.arrived == 5 * STEP


def test_a_byte_now_and_then_is_no_progress(room, clock):
    crawling = begin(room, "a", 4 * STEP)
    for second in range(10):
        clock.now = float(second)
        room.take(crawling, 1, False)
    moving = begin(room, "b", 5 * STEP)
    begin(room, "b", 2 * STEP)
    assert crawling.has_given_way and not moving.has_given_way


def test_where_none_has_stalled_the_network_that_has_most_gives_way(room):
    large = [begin(room, "a", 4 * STEP) for _ in range(2)]
    other = begin(room, "b", STEP)
    asking = begin(room, "b", 2 * STEP)
    assert [one.has_given_way for one in large] == [True, False]
    assert not other.has_given_way and asking.count == 2 * STEP


def test_many_networks_that_crawl_give_way_to_an_upload_that_comes_fast(room, clock):
    crawling = [begin(room, name, STEP) for name in "abcde"]
    clock.now = STALLED - 1
    for one in crawling:
        room.take(one, STEP, False)
    clock.now += STALLED - 1
    fast = begin(room, "z", 4 * STEP)
    assert not fast.has_given_way and sum(one.has_given_way for one in crawling) == 2


def test_nothing_gives_way_to_whoever_has_most(room):
    begin(room, "b", 4 * STEP)
    begin(room, "a", 5 * STEP)
    with pytest.raises(Refusal, match=TOO_MANY):
        begin(room, "a", 2 * STEP)


def test_within_a_share_only_what_has_stalled_gives_way_to_a_neighbour(room, clock):
    first = begin(room, "a", 8 * STEP)
    with pytest.raises(Refusal):
        begin(room, "a", STEP)
    clock.now = STALLED
    begin(room, "a", STEP)
    assert first.has_given_way


def test_a_whole_upload_stays(room, clock):
    room.take(whole := room.begin("a"), 8 * STEP, True)
    clock.now = 10 * STALLED
    with pytest.raises(Refusal):
        begin(room, "b", 9 * STEP)
    assert not whole.has_given_way


def test_what_has_ended_takes_no_room(room):
    for _ in range(3):
        room.end(begin(room, "a", 8 * STEP))
    assert room.arrived == 0 and not room._held and not room._uploads
