"""The page in a headless Chromium: real races of the embedded family, which a gate can hold where a test needs it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from browser import STORY, House, Tab, choose_race, set_field
from fake_page import load_family

from csd.models import catalog
from csd.record.trace import Trace
from csd.web.examples import example_kinds
from csd.web.loads import FamilyChoice
from csd.web.races import first_recorded, recorded_races

REFUSED = "words => document.querySelector('#status p[data-state=refused]')?.innerText.includes(words)"


@pytest.mark.slow
def test_a_second_family_answers_what_a_visitor_types(chromium):
    other, gate = FamilyChoice(catalog.find("smollm2"), "cpu"), threading.Event()

    def load(spec, *_):
        assert spec is not other.spec or gate.wait(60)
        return load_family(spec)

    house = House(load, (other,))
    tabs = [Tab(chromium, house) for _ in range(3)]
    untouched, typed, chosen = tabs
    typed.fill("Why is the sea salty?", 40)
    chosen.advanced()
    chosen.page.click("#family input")
    chosen.page.get_by_role("option", name="Qwen2.5").click()
    chosen.page.wait_for_function("document.querySelector('#family-status').innerText.includes('Qwen2.5')")
    gate.set()
    typed.page.wait_for_function("document.querySelector('#family input').value === 'SmolLM2 135M'")
    typed.page.wait_for_function("document.querySelector('#family-status').innerText.includes('SmolLM2 135M, CPU')")
    assert "SmolLM2 135M" in typed.page.inner_text("#status")
    typed.page.set_viewport_size({"width": 1920, "height": 1080})
    buttons = typed.page.locator("#examples > button:visible:not(#lose, #own-prompt)")
    shown = tuple(name.lower() for name in buttons.all_inner_texts())
    assert len(shown) > 6 and shown == example_kinds(other.spec)[: len(shown)]
    tops = [
        typed.page.locator(one).first.bounding_box()["y"]
        for one in ("#examples button", "#back-home", "#more", "#races")
    ]
    assert max(tops) - min(tops) <= 1, "as many as leave all else in their line"
    assert typed.page.inner_text("#try") == "Or race with SmolLM2:"
    untouched.page.wait_for_function("document.querySelector('#family-status').innerText.includes('demo models, CPU')")
    race = first_recorded(recorded_races(), "embedded")
    assert untouched.page.locator(f'#stage .cascade-stage[data-race="{race.id}"]').count() == 1, "the story stays"
    assert untouched.page.input_value("#family input") == "demo models"
    untouched.page.fill("#prompt textarea", "And")
    untouched.page.click("#race")
    untouched.status("refused")  # these models are none
    assert house.gate.families == ["smollm2"], "the race of a prompt that is pasted waits for its models"
    untouched.page.wait_for_function("document.querySelector('#family input').value === 'SmolLM2 135M'")
    assert untouched.page.input_value("#max-new input") == "64" and untouched.page.input_value("#k input") == "10"
    assert typed.page.input_value("#prompt textarea") == "Why is the sea salty?"
    assert typed.page.input_value("#max-new input") == "40"
    assert chosen.page.input_value("#family input") == "Qwen2.5"
    untouched.page.click("#back-home")
    untouched.page.wait_for_function("document.querySelector('#family input').value === 'demo models'")
    untouched.page.wait_for_selector("#back-home", state="hidden")
    assert untouched.page.inner_text("#try") == "Or race:"
    assert untouched.page.input_value("#prompt textarea") == "And"
    for tab in tabs:
        assert not tab.errors
        tab.close()
    house.page.close()


def test_a_race_says_that_it_is_another_prompts_while_the_form_holds_a_new_one(open_tab):
    one = open_tab()
    one.race()
    one.status("ended")
    for text, said in (("An owl", "previous race"), (STORY, ""), ("", "")):
        one.page.fill("#prompt textarea", text)
        one.page.wait_for_function("said => document.querySelector('#stage .cs-pace').innerText === said", arg=said)
        assert one.page.locator("#stage .cascade-stage[data-other]").count() == bool(said)
    assert not one.errors


def test_a_race_runs_to_its_end_and_its_tokens_carry_levels(open_tab):
    one = open_tab()
    assert one.page.inner_text("#status").startswith("A recorded race, with settings tuned to this text."), (
        "what the page begins with"
    )
    one.allow_motion()
    one.race(tokens=24)
    assert one.status("ended") == "Done: 24 tokens each."
    one.page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    levels = one.page.eval_on_selector_all("#stage .cs-token", "all => all.map(token => token.dataset.level)")
    assert len(levels) == 96 and set(levels[:24]) == {"T"} and {"2", "T"} < set(levels)
    one.page.click("#after > button")
    one.page.wait_for_function("document.querySelectorAll('#after .js-plotly-plot').length === 5")
    assert not one.errors


@pytest.mark.slow
def test_a_double_click_races_once(open_tab, house):
    one, before = open_tab(), house.gate.begun
    one.fill()
    one.page.dblclick("#race")
    assert one.status("ended").startswith("Done"), "the second click does not stop it"
    one.race("A second prompt")  # a second race of the first prompt would run before this one
    one.page.wait_for_function("document.querySelector('#earlier input').value.startsWith('2. A second prompt')")
    assert house.gate.begun == before + 2


@pytest.mark.slow
def test_an_earlier_race_is_shown_again(open_tab):
    one = open_tab()
    one.race("A bird sat in a tree")
    one.page.wait_for_function("document.querySelector('#earlier input')?.value.startsWith('1. A bird')")
    first = one.page.get_attribute("#stage .cascade-stage", "data-race")
    one.race("Two boys found a kite")
    one.page.wait_for_function("document.querySelector('#earlier input').value.startsWith('2. Two boys')")
    choose_race(one.page, "1. A bird")
    one.page.wait_for_selector(f'#stage .cascade-stage[data-race="{first}"]')


@pytest.mark.slow
def test_an_example_races_at_once_and_what_the_visitor_typed_is_kept(open_tab, house):
    one = open_tab()
    page, chips = one.page, one.page.locator("#examples > button:visible")
    told = []
    page.on("console", lambda line: told.append(line.text))
    assert chips.count() >= 5 and not page.is_visible("#own-prompt")
    house.gate.hold("Step")
    begun = house.gate.begun
    one.fill("Mine", 16)
    chips.nth(2).click()
    chips.nth(3).click()
    house.gate.wait()
    page.wait_for_selector('#stage .cascade-stage[data-state="live"]:not([data-waiting])')
    prompt = page.input_value("#prompt textarea")
    assert prompt.startswith("Code:"), "the first click counts, the second comes while it is under way"
    assert page.input_value("#max-new input") == "16", "which the visitor has set"
    assert not page.is_visible("#stage .cs-prompt")
    chips.nth(0).click()
    page.wait_for_function("document.querySelector('#status').textContent.includes('still running')")
    assert page.input_value("#prompt textarea") == prompt and house.gate.begun == begun + 1
    house.gate.open()
    one.status("ended")
    page.click("#own-prompt")
    page.wait_for_function("document.querySelector('#prompt textarea').value === 'Mine'")
    page.wait_for_selector("#own-prompt", state="hidden")
    page.wait_for_function("document.querySelector('#earlier input').value.startsWith('2. Mine')")
    set_field(page, "#temperature input", "-1")
    chips.nth(3).click()
    assert "Temperature must be" in one.status("refused")
    page.wait_for_selector("#own-prompt")
    page.wait_for_selector("#stage .cs-prompt:visible")  # the stage still has the race of the other prompt
    assert not [text for text in told if "svelte-i18n" in text]
    assert not one.errors


@pytest.mark.slow
def test_bad_input_gets_a_sentence_and_the_prompt_stays(open_tab):
    one = open_tab()
    one.fill(tokens=16)
    one.advanced()
    for field, value, sentence in (
        ("#prompt textarea", "   ", "The prompt is empty."),
        ("#prompt textarea", "word " * 1500, "and this model reads at most 1,024, new ones included. Shorten it."),
        ("#max-new input", "", "New tokens is empty"),
        ("#max-new input", "2000", "This model reads at most 1,024 tokens; the prompt has"),
        ("#max-new input", "100000", "This model reads at most 1,024 tokens; the prompt has"),
        ("#temperature input", "-1", "Temperature must be"),
        ("#k input", "0", "k must be a whole number from 1"),
        ("#K textarea, #K input", "[[1,2]]", "K must have 3 rows of 3 numbers"),
        ("#K textarea, #K input", "<b>K</b>", "could not be read: '<b>K</b>'"),
    ):
        one.advanced()
        before = one.page.input_value(field)
        one.page.fill(field, value)
        one.page.click("#advanced-race")
        one.page.wait_for_function(REFUSED, arg=sentence)
        assert one.page.input_value("#prompt textarea") == (value if "prompt" in field else STORY)
        one.advanced()
        one.page.fill(field, before)
        one.page.click("#advanced-close")
    assert not one.errors


@pytest.mark.slow
def test_a_pasted_K_is_what_the_next_press_of_race_uses_and_what_is_saved(open_tab):
    one = open_tab()
    one.fill(tokens=16)
    one.advanced()
    one.page.get_by_label("cascade", exact=True).uncheck()
    one.page.get_by_label("adaptive cascade", exact=True).check()
    one.page.fill("#K textarea, #K input", "")
    one.page.focus("#K textarea, #K input")
    one.page.keyboard.insert_text("[[2,4,6],[0,1,2],[0,0,1]]")  # as a paste does: one input event, no key
    labels = "[...document.querySelectorAll('#lanes label')]"
    chosen = f"{labels}.filter(l => l.querySelector('input').checked).map(l => l.innerText.trim()).join('; ')"
    before = one.page.evaluate(chosen)
    assert "adaptive cascade" in before
    one.page.click("#advanced-race")
    one.status("ended")
    with one.page.expect_download() as waiting:
        one.page.click("#save")
    saved = json.loads(Path(waiting.value.path()).read_text("utf-8"))["traces"]
    last = saved[-1]["header"]
    assert last["method"] == "cascade" and last["settings"]["K"] == [[2, 4, 6], [0, 1, 2], [0, 0, 1]]
    assert [len(Trace.from_dict(trace).tokens) for trace in saved] == [16] * 4
    assert one.page.evaluate(chosen) == before.replace("adaptive cascade", "cascade")
    assert one.page.input_value("#K textarea, #K input") == "[[2,4,6],[0,1,2],[0,0,1]]"
    assert not one.errors


@pytest.mark.slow
def test_a_race_that_is_saved_from_its_link_opens_at_the_same_step(open_tab):
    one = open_tab()
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    one.page.wait_for_selector("#stage .cascade-stage[data-race]")
    one.page.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.goTo(4, 3)")
    one.page.click("#stage .cs-copy-link")
    with one.page.expect_download() as waiting:
        one.page.click("#stage .cs-link-note button")
    file = Path(waiting.value.path()).rename(Path(waiting.value.path()).with_suffix(".html"))
    opened = one.context.new_page()
    opened.goto(file.as_uri())
    opened.wait_for_function("document.querySelector('.cascade-stage').innerText.includes('step 3 of')")
    place = opened.evaluate("document.querySelector('.cascade-stage').cascadeStage.place()")
    assert (place["lane"], place["step"]) == (4, 3)
    assert not one.errors


@pytest.mark.slow
def test_a_refused_prompt_does_not_cover_why(open_tab):
    one = open_tab()
    one.page.fill("#prompt textarea", "word " * 1200)
    one.page.focus("#prompt textarea")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector('#status p[data-state="refused"]')
    line, field = (one.page.locator(name).bounding_box() for name in ("#status p", "#prompt textarea"))
    assert field["y"] + field["height"] <= line["y"]
    # The stage hears of it an event after the line.
    one.page.wait_for_function("document.querySelector('#stage .cs-pace').textContent === 'previous race'")
    assert one.page.locator("#stage .cs-prompt-text").is_visible(), "whose prompt it was"
    one.page.keyboard.type("More")
    one.page.wait_for_selector("#stage .cascade-stage[data-other]:not([data-refused])")
    one.page.wait_for_function("document.querySelector('#prompt textarea').offsetHeight > 60")
    assert not one.errors


@pytest.mark.slow
def test_text_of_a_visitor_is_never_markup_nor_in_a_link_that_a_stranger_opens(open_tab):
    prompt = "</textarea></title><img src=x onerror='window.hit=1'><script>window.hit=1</script>"
    sender, stranger = open_tab(), open_tab()
    sender.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender.race(prompt)
    assert sender.status("ended").startswith("Done")
    sender.page.click("#stage .cs-copy-link")
    sender.page.wait_for_function("/this race copied/.test(document.querySelector('#stage .cs-link-note').innerText)")
    stranger.page.goto(sender.page.evaluate("navigator.clipboard.readText()"))
    stranger.page.wait_for_selector("#stage .cascade-stage[data-race^=linked-] .cs-token", state="attached")
    for one in (sender, stranger):
        assert one.page.input_value("#prompt textarea") == prompt
        one.page.evaluate(
            "document.querySelectorAll('#stage .cs-token, #stage [data-term]').forEach((one) => "
            "one.dispatchEvent(new PointerEvent('pointerover', { bubbles: true })))"
        )
        assert one.page.locator("img[src=x]").count() == 0 and one.page.title() == "Cascade Speculative Drafting"
        assert prompt not in one.page.evaluate("document.head.innerHTML")
        assert one.page.evaluate("window.hit") is None and not one.errors


@pytest.mark.slow
def test_a_custom_family_that_cannot_be_loaded_gives_a_sentence(open_tab, tmp_path):
    one = open_tab()
    one.fill()
    one.advanced()
    one.page.click("#family input")
    one.page.get_by_role("option", name="custom…").click()
    one.page.fill("#target input, #target textarea", str(tmp_path / "nothing"))
    one.page.fill("#others input, #others textarea", f"{tmp_path}/one, {tmp_path}/two")
    one.page.locator("#others input, #others textarea").blur()
    one.page.wait_for_function("document.querySelector('#draft input').value === 'small model (one)'")
    one.page.click("#advanced-race")
    assert "did not load" in one.status("refused")
    assert "did not load" in one.page.inner_text("#family-status")
    assert one.page.input_value("#prompt textarea") == STORY
