"""Links to a visitor's own race: kept in a bounded folder, opened by whoever has the link, and what if it is gone."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from browser import STORY, Tab
from fake_page import HOME, RECORDED, context, fields, load_family, run_recorded

from csd.record.recording import Recording
from csd.request import link
from csd.web import earlier_races, link_events, linked_races, race_events
from csd.web.context import make_context
from csd.web.deployment import PUBLIC
from csd.web.fields import PageFields
from csd.web.form_events import restore_form
from csd.web.linked_races import LinkedRaces
from csd.web.races import LINKED, FinishedRace
from csd.web.studio import Studio


def race(name: str) -> FinishedRace:
    return FinishedRace(name, name, Recording(RECORDED, name, date="2026-01-02"))


SIZE = len(race("race 0").recording.to_gzip())


@pytest.fixture
def page():
    return context()


def ran(page, visitor: str = "v") -> tuple[str, PageFields]:
    """A race of this visitor, and the form that it was run with."""
    *_, last = race_events.run_race(page, visitor, page.start)
    own = page.studio.visitors.find_race(visitor, last.results.race_id)
    return own.id, PageFields.from_values(restore_form(page, own).values)


def name_of(link: str) -> str:
    query, race = link.split("#race=")
    assert not query or query.startswith("?")
    return race


def test_a_link_brings_the_race_and_its_settings_to_another_visitor(page):
    race_id, form = ran(page)
    link, omitted = link_events.copy_link(page, "v", form, race_id)
    name = name_of(link)
    assert omitted == "" and len(name) == 32
    assert link_events.copy_link(page, "v", form, race_id)[0] == link
    opened = earlier_races.show_address(page, "w", f"race={name}", page.start)
    assert opened.stage.race == LINKED + name
    assert PageFields.from_values(opened.form.values) == form
    assert "was run here on" in json.loads(opened.stage.log.splitlines()[0])["text"]
    assert opened.results.listed[0][1] == LINKED + name
    assert page.studio.visitors.find_race("w", LINKED + name).traces == RECORDED
    again = earlier_races.show_address(page, "w", f"race={name}", form)
    assert len(page.studio.visitors.races("w")) == 1 and again.stage.race == LINKED + name
    assert link_events.copy_link(page, "w", form, LINKED + name)[0] == link
    assert page.studio.visitors.races_run("w") == ()  # it solves no puzzle


def test_many_links_of_networks_do_not_push_out_that_of_another(tmp_path):
    linked = LinkedRaces(20 * SIZE / 1e6, tmp_path, is_fair=True)
    name = linked.share(race("mine"), "8.8.8.0/24")
    for number in range(120):
        linked.share(race(f"race {number}"), f"network {number % 6}")
    assert name and linked.find(name) is not None


def test_a_form_that_has_changed_is_linked_without_the_race(page):
    race_id, form = ran(page)
    for changes in ({"prompt": "My own."}, {"seed": 7}, {"lanes": ["autoregressive", "cascade"]}):
        assert "#" not in link_events.copy_link(page, "v", fields(form, **changes), race_id)[0], changes
    assert "#" not in link_events.copy_link(page, "w", form, race_id)[0]  # another visitor's
    assert "#" not in link_events.copy_link(page, "v", form, "")[0]
    same = fields(form, K=form.form.K.replace(",", ", "), prompt=form.form.prompt)
    assert "#race=" in link_events.copy_link(page, "v", same, race_id)[0]


def test_the_stage_links_its_race_whatever_the_form_holds(page):
    race_id, form = ran(page)
    changed = fields(form, prompt="My own.", seed=7)
    link = link_events.copy_race_link(page, "v", changed, race_id)
    assert link == link_events.copy_link(page, "v", form, race_id) and name_of(link[0])
    assert link_events.copy_race_link(page, "v", changed, "") == link_events.copy_link(page, "v", changed, "")


def test_a_file_is_not_linked(page):
    opened = earlier_races.open_file(page, "v", Recording(RECORDED).to_gzip(), page.start)
    form = PageFields.from_values(opened.form.values)
    assert link_events.copy_link(page, "v", form, opened.stage.race) == ("", link_events.FROM_A_FILE)
    assert not any(page.linked._folder.iterdir())


def test_a_race_that_is_gone_leaves_the_stage_still(page):
    update = earlier_races.show_address(page, "v", f"race={'0' * 32}", page.start)
    (line,) = map(json.loads, update.stage.log.splitlines())
    assert (update.stage.race, line) == ("", {"t": "ask", "text": earlier_races.GONE})
    assert update.status.text == "" and update.form is update.results is None
    cut = earlier_races.show_address(page, "v", f"race={'0' * 20}", page.start)
    assert json.loads(cut.stage.log)["text"] == earlier_races.CUT
    unknown = earlier_races.show_address(page, "v", "race=no-such-race", page.start)
    assert "no recorded race “no-such-race”" in unknown.status.text


def test_half_a_link_does_not_pass_for_a_whole_one(page):
    sent = fields(page.start, prompt="Why is the sea salty, and the rain not?")
    query, _ = link_events.copy_link(page, "v", sent)
    for end, is_cut in ((len(query), False), (len(query) - 9, True)):
        update = link_events.open_link(page, "v", dict(parse_qsl(query[1:end])))
        assert (update.status.text == link.INCOMPLETE) == is_cut == (update.status.state == "refused")
        assert json.loads(update.stage.log)["text"] == link_events.NOT_RACED
        assert sent.form.prompt.startswith(update.values["prompt"])


def test_a_link_with_another_prompt_does_not_play_the_race_at_the_start(page):
    update = link_events.open_link(page, "v", {"prompt": "Why is the sea salty?"})
    assert json.loads(update.stage.log) == {"t": "ask", "text": link_events.NOT_RACED}
    assert update.status.text == "The link has filled in the form. Press Race."
    assert link_events.open_link(page, "v", {"seed": "7"}).stage is None
    assert link_events.open_link(page, "v", {"hide": "seed"}).stage is None


def test_a_page_without_room_links_settings_only():
    page = make_context(Studio(HOME, load_family, run_recorded, deployment=replace(PUBLIC, max_linked=0)))
    race_id, form = ran(page)
    assert link_events.copy_link(page, "v", form, race_id) == ("", link_events.NOT_KEPT)


def test_what_was_opened_longest_ago_goes_first(tmp_path):
    linked = LinkedRaces(3.5 * SIZE / 1e6, tmp_path)
    names = [linked.share(race(f"race {number}"), "") for number in range(3)]
    for age, name in zip((30, 20, 10), names, strict=True):
        os.utime(tmp_path / f"{name}.json.gz", (1e9 - age, 1e9 - age))
    assert linked.find(names[0]).recording == race("race 0").recording
    latest = linked.share(race("race 3"), "")
    assert linked.find(names[1]) is None
    assert all(linked.find(name) for name in (names[0], names[2], latest))
    assert linked.share(race("race 1"), "") != names[1]


def test_one_address_of_a_public_page_has_a_quarter_and_nobody_more_than_so_many(tmp_path, monkeypatch):
    linked = LinkedRaces(9 * SIZE / 1e6, tmp_path, is_fair=True)
    other = linked.share(race("of another"), "5.6.7.8")
    names = [linked.share(race(f"race {number}"), "1.2.3.4") for number in range(5)]
    assert [bool(linked.find(name)) for name in names] == [False, False, False, True, True]
    assert linked.find(other)
    monkeypatch.setattr(linked_races, "MOST", 2)
    linked.share(race("one more"), "9.9.9.9")
    assert len(list(tmp_path.iterdir())) == 2


def test_one_address_of_a_public_page_has_a_quarter_of_the_places(tmp_path, monkeypatch):
    monkeypatch.setattr(linked_races, "MOST", 8)
    linked = LinkedRaces(100, tmp_path, is_fair=True)
    other = linked.share(race("of another"), "5.6.7.8")
    names = [linked.share(race(f"race {number}"), "1.2.3.4") for number in range(9)]
    assert [bool(linked.find(name)) for name in names] == [False] * 7 + [True] * 2
    assert linked.find(other)


def test_links_outlive_the_process_that_has_a_folder_and_go_with_one_that_has_none(tmp_path):
    name = LinkedRaces(1, tmp_path).share(race("one"), "")
    assert LinkedRaces(1, tmp_path).find(name).traces == RECORDED
    linked = LinkedRaces(1)
    folder = linked._folder
    assert linked.share(race("one"), "") and any(folder.iterdir())
    del linked
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "A" * 32, "0" * 31, "0" * 32 + "\n", "1-story-an-otter-makes-a-boat"]
)
def test_nothing_but_a_linked_race_is_read(tmp_path, name):
    (tmp_path / "secret.json.gz").write_bytes(race("secret").recording.to_gzip())
    assert LinkedRaces(1, tmp_path).find(name) is None


def test_what_cannot_be_written_or_read_is_no_race(tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert LinkedRaces(1, file).share(race("one"), "") is None
    linked = LinkedRaces(1, tmp_path)
    name = linked.share(race("one"), "")
    Path(tmp_path / f"{name}.json.gz").write_bytes(b"damaged")
    assert linked.find(name) is None


def test_a_link_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fill_up(beside: Path, data: bytes) -> None:
        beside.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    assert LinkedRaces(1, tmp_path).share(race("one"), "") is None and not [*tmp_path.iterdir()]


STAGE = "document.querySelector('#stage .cascade-stage')"


@pytest.mark.slow
def test_a_colleague_opens_a_race_at_the_same_step_or_runs_it_again(chromium, house):
    sender = Tab(chromium, house)
    sender.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender.race()
    sender.status("ended")
    sender.page.evaluate(f"{STAGE}.cascadeStage.goTo(2, 2)")
    sender.page.click("#stage .cs-copy-link")
    sender.page.wait_for_function(
        "/Link to step 2 of this race copied/.test(document.querySelector('#stage .cs-link-note').innerText)"
    )
    link = sender.page.evaluate("navigator.clipboard.readText()")
    receiver = Tab(chromium, house, link.removeprefix(house.url))
    page = receiver.page
    page.wait_for_function(
        f"{STAGE} && {STAGE}.dataset.race.startsWith('linked-') && {STAGE}.cascadeStage.place().step"
    )
    place = page.evaluate(f"{STAGE}.cascadeStage.place()")
    sender.page.reload()
    sender.page.wait_for_selector(f'#stage .cascade-stage[data-race="{place["race"]}"]')  # its address leads there too
    assert (place["lane"], place["step"]) == (2, 2) and link.endswith("&lane=2&step=2")
    assert page.locator("#stage .cs-score").is_visible(), "the step is open"
    assert page.input_value("#prompt textarea") == STORY and page.input_value("#max-new input") == "8"
    assert page.input_value("#earlier input").startswith("From a link: ")
    begun = house.gate.begun
    page.goto("about:blank")
    page.goto(link.replace(place["race"].removeprefix("linked-"), "0" * 32))  # as on another server
    page.wait_for_selector(f"#stage .cs-empty:has-text('{earlier_races.GONE}')")
    assert page.input_value("#prompt textarea") == STORY and page.input_value("#earlier input") == ""
    assert not page.is_visible("#after") and not page.is_visible("#downloads"), "there is no race to tell of"
    assert house.gate.begun == begun
    page.click("#stage .cs-invite")
    receiver.status("ended")
    assert page.evaluate(f"{STAGE}.cascadeStage.race.open.prompt") == STORY
    assert sender.errors == receiver.errors == []
    sender.close()
    receiver.close()
