"""What the page allows where: limits from arguments and environment, and what happens to who goes beyond them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from fake_page import HOME, fields, load_family, run_recorded

from csd.decoding.errors import Refusal
from csd.decoding.methods import Autoregressive, Cascade
from csd.models import catalog
from csd.request.defaults import defaults_for
from csd.request.request import Request
from csd.web import family_events, link_events, race_events
from csd.web.context import fields_of, make_context
from csd.web.deployment import PUBLIC, Deployment, make_deployment
from csd.web.fields import CUSTOM
from csd.web.loads import FamilyChoice
from csd.web.news import Finished, Refused
from csd.web.studio import Studio

TIGHT = replace(PUBLIC, families=("embedded",))


def make(environment=None, host="127.0.0.1", public=None) -> Deployment:
    return make_deployment(environment or {}, host, public, (HOME,))


def a_page(deployment: Deployment, run=run_recorded, load=lambda *_: None):
    return make_context(Studio(HOME, load, run, deployment=deployment))


@pytest.mark.parametrize(
    ("environment", "host", "public", "is_public"),
    [
        ({}, "127.0.0.1", None, False),
        ({}, "localhost", None, False),
        ({}, "127.0.1.1", None, False),
        ({}, "[::1]", None, False),
        ({}, "0.0.0.0", None, True),
        ({}, "lecture.example.org", None, True),
        ({"SPACE_ID": "a/b"}, "127.0.0.1", None, True),
        ({"CSD_PUBLIC": "1"}, "127.0.0.1", None, True),
        ({"CSD_PUBLIC": "off"}, "0.0.0.0", None, False),
        ({"CSD_PUBLIC": "0"}, "127.0.0.1", True, True),
        ({"SPACE_ID": "a/b"}, "0.0.0.0", False, False),
    ],
)
def test_public_mode_is_on_where_strangers_come(environment, host, public, is_public):
    assert make(environment, host, public).is_public == is_public


def test_a_page_of_one_machine_answers_under_its_own_names_only():
    assert "localhost" in make().hosts and "evil.example" not in make().hosts


def test_a_public_page_has_the_names_that_are_known():
    """And local ones beside them, by which Gradio calls the page at the start."""
    hosts = make({"CSD_HOSTS": "a.example, b.example"}, "0.0.0.0").hosts
    assert hosts[:2] == ("a.example", "b.example") and "localhost" in hosts
    space = {"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}
    assert make(space, "0.0.0.0").hosts[0] == "a-b.hf.space"
    assert make({**space, "CSD_HOSTS": "own.example"}, "0.0.0.0").hosts[0] == "own.example"
    assert make(host="0.0.0.0").hosts == make(public=True).hosts == ()


def test_every_limit_can_be_set():
    environment = {
        "CSD_MAX_TOKENS": "500",
        "CSD_MAX_ROUNDS": "70",
        "CSD_MAX_SECONDS": "2.5",
        "CSD_MAX_RECORD_MB": "1.5",
        "CSD_MAX_PROMPT": "99",
        "CSD_MAX_WAITING": "3",
        "CSD_MAX_KEPT_MB": "7",
        "CSD_MAX_LINKED_MB": "0",
        "CSD_FAMILIES": "Qwen3, smollm2",
    }
    found = make(environment, public=True)
    assert (found.max_tokens, found.max_seconds, found.max_record, found.max_prompt) == (500, 2.5, 1.5, 99)
    assert found.max_rounds == 70
    assert (found.max_waiting, found.max_kept, found.max_linked) == (3, 7, 0)
    assert found.families == ("embedded", "Qwen3", "smollm2")
    assert make({"CSD_FAMILIES": "all"}).families == tuple(spec.name for spec in catalog.READY)
    assert make().families == () and make(public=True).families == ("embedded",)


@pytest.mark.parametrize(
    "environment",
    [
        {"CSD_MAX_TOKENS": "many"},
        {"CSD_MAX_TOKENS": "0"},
        {"CSD_MAX_SECONDS": "nan"},
        {"CSD_PUBLIC": "maybe"},
        {"CSD_FAMILIES": "nobody"},
    ],
)
def test_a_limit_that_is_none_is_refused_with_its_name(environment):
    with pytest.raises(ValueError, match="nobody" if "CSD_FAMILIES" in environment else next(iter(environment))):
        make(environment)


def test_the_form_begins_with_the_lanes_of_the_environment():
    """Spelled as in a link, for a Space that somebody has duplicated; a family that cannot run them has its own."""
    lanes = ("autoregressive", "cascade", "adaptive cascade")
    deployment = make({"CSD_LANES": "adaptive-cascade|autoregressive|cascade"}, public=True)
    assert deployment.lanes == lanes and make().lanes == ()
    page = a_page(deployment)
    assert tuple(page.start.form.lanes) == lanes and page.start.form.prompt == page.landing.traces[0].header.text
    assert link_events.copy_link(page, "v", page.start) == ("", "")
    bare = FamilyChoice(catalog.find("smollm2").without_copies(), "cpu")
    own = fields_of(bare).form.lanes
    assert fields_of(bare, None, ("autoregressive", "speculative")).form.lanes == own


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("magic|cascade", "There is no method “magic”"),
        ("cascade", "1 method is chosen. Choose 2 to 4."),
        ("cascade,autoregressive", "Names are separated by |."),
    ],
)
def test_lanes_of_the_environment_that_cannot_race_are_a_sentence_at_the_start(text, sentence):
    with pytest.raises(ValueError, match=rf"CSD_LANES={re.escape(text)} cannot be used.*{re.escape(sentence)}"):
        make({"CSD_LANES": text})


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (
            Request("a", (Autoregressive(),) * 4, max_new=400),
            "400 new tokens in each of 4 lanes are 1,600, and this page allows 1,200 in one race. Ask for at most 300, or",
        ),
        (
            Request("a", (Autoregressive(),), max_new=2000),
            "2,000 new tokens were asked for, and this page allows 1,200 in one race. Ask for at most 1,200.",
        ),
        (Request("a" * 4001, (Autoregressive(),)), "The prompt has 4,001 characters, and this page allows 4,000"),
        (
            Request("a", (Cascade(("a", "b"), ((64, 64, 64), (0, 64, 64), (0, 0, 64))),)),
            "With this plan, the cascade may take 266,304 rounds of guesses for one block, and this page allows 500.",
        ),
    ],
)
def test_a_race_that_is_too_large_is_refused_before_its_family_loads(request_, sentence):
    loaded = []
    studio = Studio(HOME, lambda *_: loaded.append(1), run_recorded, deployment=TIGHT)
    (refused,) = studio.race("v", HOME, request_)
    assert isinstance(refused, Refused) and sentence in refused.sentence
    assert not loaded
    Deployment().check(request_)  # on a laptop it runs
    with pytest.raises(Refusal):
        TIGHT.check(request_)


@pytest.mark.parametrize("spec", catalog.READY, ids=lambda spec: spec.name)
def test_every_preset_is_within_the_limits(spec):
    defaults = defaults_for(spec, "cpu")
    for preset in defaults.presets:
        if defaults.drafts:
            PUBLIC.check(Request("a", (Cascade(defaults.drafts, preset.K),)))


def test_only_allowed_families_can_be_chosen_linked_loaded_or_raced():
    loaded = []
    page = a_page(TIGHT, load=lambda *choice: loaded.append(choice))
    assert page.options["family"] == ("embedded",)
    assert (page.options["device"], page.options["dtype"]) == (("cpu",), ("auto",))
    linked = link_events.open_link(page, "v", {"family": "Qwen3"})
    assert linked.values["family"] == "embedded" and "not valid" in linked.status.text
    for changes in (
        {"family": "Qwen3"},
        {"family": CUSTOM, "target": "/etc"},
        {"family": "embedded", "dtype": "float64"},
    ):
        asked = fields(page.start, **changes)
        refused = family_events.load_family(page, "v", asked.family)
        assert refused.state == "refused" and "This page" in refused.text
        last = [*race_events.run_race(page, "v", asked)][-1]
        assert last.status.state == "refused" and "/etc" not in last.status.text
    assert not loaded


def test_a_public_page_loads_no_copies_that_a_family_does_not_have_by_itself():
    loaded, page = [], a_page(TIGHT, load=lambda spec, *_: loaded.append(spec.copies) or load_family(spec))
    for copies in (["self-4bit"], ["self-8bit"], ["self-8bit", "self-4bit"]):
        asked = fields(page.start, copies=copies).family
        refused = family_events.load_family(page, "v", asked)
        assert refused and "This page runs demo models without copies of the target." in refused.text
        assert [*page.studio.race("v", asked.to_choice(), Request("a", ()))] == [Refused(refused.text)]
    linked = link_events.open_link(page, "v", {"copies": "self-4bit", "max_new": "9"})
    assert (linked.values["copies"], linked.values["max_new"]) == ([], 9)
    assert "The models in the link were ignored. This page runs demo models without copies" in linked.status.text
    assert not loaded
    own = replace(TIGHT, families=("embedded", "smollm2"))
    home = FamilyChoice(catalog.find("smollm2"), "cpu")
    own.check_family(home, (home,))
    bare = replace(home, spec=home.spec.without_copies())
    with pytest.raises(Refusal, match="SmolLM2 135M with self-8bit only"):
        own.check_family(bare, (home,))
    own.check_family(bare, (bare,))  # on ZeroGPU a family is placed without its copies
    own.check_family(home, (bare,))


def test_what_is_loaded_needs_no_permission():
    """Such as a family without the copy that this machine cannot have."""
    home = FamilyChoice(catalog.find("smollm2"), "cpu")
    bare = replace(home, spec=home.spec.without_copies())
    deployment = replace(TIGHT, families=("smollm2",))
    studio = Studio(home, lambda *_: load_family(bare.spec), run_recorded, deployment=deployment)
    assert isinstance([*studio.race("v", home, Request("a", ()))][-1], Finished)
    assert isinstance([*studio.race("v", bare, Request("a", ()))][-1], Finished)


@pytest.mark.parametrize("name", ["nobody", "Qwen3", 5, None, ["embedded"]])
def test_a_public_page_names_only_the_families_that_it_runs(name):
    with pytest.raises(Refusal, match="This page runs only embedded, SmolLM2 1.7B. Choose one of them."):
        replace(PUBLIC, families=("embedded", "SmolLM2 1.7B")).check_name(name)


def test_a_family_is_also_known_by_its_former_name():
    replace(PUBLIC, families=("SmolLM2 1.7B",)).check_name("SmolLM2")
    Deployment().check_name("nobody")  # the catalogue answers
