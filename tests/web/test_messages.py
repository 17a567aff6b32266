"""What the page says about a form: refusals, faults at their fields and messages, whole and in view."""

from __future__ import annotations

import pytest
from browser import House, box, is_in_view, set_field

from csd.models.spec import FamilyError

PHONE = {"width": 390, "height": 844}


def test_a_refusal_has_the_whole_width_of_a_phone_and_covers_nothing(tab):
    page = tab.page
    page.set_viewport_size(PHONE)
    set_field(page, "#temperature input", 1)
    set_field(page, "#seed input", -1)
    set_field(page, "#lookup input", 0)
    page.click("#race")
    assert tab.status("refused").endswith("1 more setting needs a change.")
    page.wait_for_selector("#stage [data-refused] .cs-pace >> text=previous race")
    page.evaluate("CascadePage.close('more')")
    assert box(page, "#status")["width"] == box(page, "#lines")["width"]
    assert page.inner_text("#more").strip(), "the settings keep their words"
    words, before = box(page, "#stage .cs-words"), box(page, "#stage .cs-pace")
    assert before["y"] >= words["y"] + words["height"] and words["width"] > 300
    assert not tab.errors


@pytest.mark.slow
def test_a_refusal_is_in_view_with_the_drawer_open(tab):
    page = tab.page
    tab.fill()
    tab.advanced()
    page.fill("#prompt textarea", "")
    page.click("#advanced-race")
    assert tab.status("refused")
    assert is_in_view(page, "#status p")
    assert not page.is_visible("#advanced")
    assert page.get_attribute("#status", "aria-live") == "polite"
    assert box(page, "#lines")["y"] < box(page, "#status")["y"] < box(page, "#stage")["y"]


@pytest.mark.slow
def test_a_failed_family_is_told_in_one_line_above_and_whole_below(chromium):
    sentence = (
        "It cannot be downloaded: the Hub did not answer. " + "Check the connection, or choose another family. " * 4
    )

    def load(spec, *_):
        raise FamilyError(sentence)

    house = House(load)
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.goto(house.url)
    failed = page.wait_for_selector('#family-status [data-state="failed"]')
    assert "demo models did not load" in failed.inner_text()
    head = box(page, "#family-status")
    assert head["y"] >= 0 and head["height"] <= 32 and head["x"] > box(page, "#tour")["x"]
    assert sentence.strip() in " ".join(page.text_content("#about").split())
    page.click("#race")
    assert sentence.strip() in page.wait_for_selector('#status p[data-state="refused"]').inner_text()
    page.click("#more")
    assert is_in_view(page, "#about")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    context.close()
    house.page.close()


def test_a_number_that_a_field_does_not_take_is_told_when_the_field_is_left(tab):
    """It is neither rounded nor changed, and Race says the same. The most new tokens are those that the models read."""
    page = tab.page
    tab.advanced()
    for field, text, sentence in (
        ("max-new", "1000000", "New tokens must be a whole number from 1 to 1,023, not 1000000."),
        ("max-new", "3.7", "New tokens must be a whole number from 1 to 1,023, not 3.7."),
        ("temperature", "-1", "Temperature must be 0 or a number from 0.001 to 10, not -1."),
    ):
        page.fill(f"#{field} input", text)
        page.keyboard.press("Tab")
        assert page.inner_text(f"#{field} .number-fault") == sentence
    page.fill("#temperature input", "0")
    page.keyboard.press("Tab")
    assert page.locator(".number-fault").count() == 1
    page.click("#advanced-close")
    page.click("#race")
    assert tab.status("refused").startswith("New tokens must be a whole number from 1 to 1,023, not 3.7")
    page.wait_for_function("document.activeElement.closest('#max-new') !== null")
    assert page.is_visible("#advanced"), "it opens where the field is in it"
    assert not tab.errors


def test_too_many_methods_or_too_few_are_told_below_them(tab):
    """At once, and not only by Race, whose line a phone's settings cover."""
    page = tab.page
    tab.advanced()
    for method in ("adaptive cascade", "draft alone"):
        page.check(f"#lanes input[name='{method}']")
    told = page.locator("#lanes .number-fault")
    told.filter(has_text="6 methods are chosen. Choose 2 to 4.").wait_for()
    page.click("#advanced-race")
    assert tab.status("refused") == told.inner_text() and page.is_visible("#lanes .number-fault")
    for method in ("autoregressive", "speculative", "prompt lookup", "cascade", "draft alone"):
        page.uncheck(f"#lanes input[name='{method}']")
    told.filter(has_text="1 method is chosen. Choose 2 to 4.").wait_for()
    page.check("#lanes input[name='speculative']")
    told.wait_for(state="detached")
    page.uncheck("#lanes input[name='speculative']")
    told.wait_for()
    page.click("#advanced-reset")
    told.wait_for(state="detached")
    assert not tab.errors


@pytest.mark.slow
def test_the_line_at_race_and_the_field_in_view_say_the_same(tab):
    page = tab.page
    tab.advanced()
    page.fill("#top-p input", "7")  # unused at temperature 0
    page.fill("#seed input", "-1")
    page.fill("#temperature input", "1")
    page.fill("#lookup input", "0")
    page.keyboard.press("Tab")
    page.click("#advanced-race")
    highest = "9,007,199,254,740,991"
    sentence = f"The seed must be a whole number from 0 to {highest}, not -1. 2 more settings need a change."
    assert tab.status("refused") == sentence
    page.wait_for_function("document.activeElement.closest('#seed') !== null")
    assert page.inner_text("#seed .number-fault") == sentence and is_in_view(page, "#seed .number-fault")
    page.fill("#lookup input", "8")
    page.fill("#temperature input", "0")
    page.fill("#max-new input", "1000000")
    page.click("#advanced-race")
    page.wait_for_function("document.activeElement.closest('#max-new') !== null")
    told = page.inner_text("#max-new .number-fault")
    assert told.startswith("This model reads at most 1,024 tokens; the prompt has ") and told == tab.status("refused")
    page.fill("#max-new input", "12")
    page.click("#advanced-race")
    assert tab.status("ended").startswith("Done: 12 tokens each."), "the seed and top-p are not used"
    assert not tab.errors


@pytest.mark.slow
def test_a_K_that_the_race_uses_stops_it_and_one_that_it_does_not_use_is_quiet(tab):
    page = tab.page
    tab.fill(tokens=12)
    tab.advanced()
    field, fault = "#K textarea, #K input", "#K .number-fault"
    page.get_by_label("cascade", exact=True).uncheck()
    right, sentence = page.input_value(field), "K must have 3 rows of 3 whole numbers from 0 to 64, none smaller than "
    page.fill(field, "[[8,4,2],[0,0,0],[0,0,0]]")
    page.keyboard.press("Tab")
    assert page.inner_text(fault) == f"{sentence}the one before it. No method of this race uses it."
    assert page.get_attribute(fault, "data-unused") is not None
    page.click("#advanced-race")
    assert tab.status("ended").startswith("Done: 12 tokens each.") and not page.is_visible("#advanced")
    tab.advanced()
    page.get_by_label("cascade", exact=True).check()
    assert page.inner_text(fault) == f"{sentence}the one before it."
    page.click("#advanced-race")
    assert tab.status("refused").startswith("K is cumulative") and page.is_visible("#advanced")
    page.wait_for_function("document.activeElement.closest('#K') !== null")
    page.fill(field, right)
    assert not page.locator(".number-fault").count()
    page.click("#advanced-race")
    assert tab.status("ended").startswith("Done: 12 tokens each.") and not page.is_visible("#advanced")
    assert not tab.errors


def test_a_name_that_no_model_has_is_told_when_its_field_is_left(tab):
    """What was typed stays, and the fault goes once it is changed."""
    page = tab.page
    tab.advanced()
    for field, text in (("target", "asdf"), ("others", "/no/such/folder")):
        page.fill(f"#{field} input, #{field} textarea", text)
    page.click("#advanced-head h2")
    page.wait_for_selector("#others .number-fault >> text=There is no folder /no/such/folder.")
    page.wait_for_selector("#target .number-fault >> text=A Hub ID looks like owner/name")
    assert page.input_value("#target input, #target textarea") == "asdf"
    page.fill("#target input, #target textarea", "assets/family/target")
    assert not page.locator("#target .number-fault").count()
    page.keyboard.press("Tab")
    page.fill("#others input, #others textarea", "")
    page.click("#advanced-head h2")
    page.wait_for_selector(".number-fault", state="detached")
    assert not tab.errors


def test_messages_on_a_race_are_never_cut(tab):
    """They take as many lines as they need; on a phone, where they share a line, in small type at first."""
    page = tab.page
    whole = "line => line.scrollHeight <= line.clientHeight + 1 && line.scrollWidth <= line.clientWidth"
    say = "(line, text) => { delete line.dataset.spoken; delete line.dataset.state; line.textContent = text; }"
    desktop = {"width": 1280, "height": 720}
    for size, rooms in ((desktop, {2: "", 15: "", 60: "two"}), (PHONE, {5: "two", 8: "whole", 60: "whole"})):
        page.set_viewport_size(size)
        for words, room in rooms.items():
            page.eval_on_selector("#status p", say, "A word of " * words)
            page.wait_for_function(
                "room => (document.querySelector('#status p').dataset.room ?? '') === room", arg=room
            )
            assert page.eval_on_selector("#status p", whole)
    assert not tab.errors


def test_a_message_beside_the_way_back_to_the_first_family_has_a_line_of_its_own_on_a_phone(tab):
    page = tab.page
    page.set_viewport_size(PHONE)
    page.eval_on_selector("#lines", "line => line.toggleAttribute('data-away', true)")
    page.eval_on_selector(
        "#status p",
        "line => { delete line.dataset.spoken; delete line.dataset.state; line.textContent = 'A word of '.repeat(8); }",
    )
    page.wait_for_function("document.querySelector('#status p').offsetWidth > 340")
    assert box(page, "#status p")["height"] <= 54
    assert box(page, "#back-home")["y"] < box(page, "#status p")["y"]


@pytest.mark.slow
def test_a_message_and_the_prompt_of_the_race_share_a_line_and_move_nothing(tab):
    page = tab.page
    prompt, status = "#stage .cs-prompt", "#status p"
    say = "(line, text) => (line.textContent = text)"
    before = box(page, "#stage .cs-track")
    page.click("#prompt textarea")
    page.keyboard.type("More ")
    page.wait_for_selector(prompt)
    page.eval_on_selector(status, say, "Short.")
    page.wait_for_function("parseFloat(getComputedStyle(document.querySelector('#stage .cs-prompt')).left) > 30")
    assert page.is_visible(status) and page.is_visible(prompt), "a short message leaves room"
    assert abs(box(page, prompt)["y"] - box(page, "#status")["y"]) < 4
    assert box(page, "#stage .cs-track") == before
    page.eval_on_selector(status, say, "A longer one. " * 10)
    page.wait_for_selector(prompt, state="hidden")
    page.keyboard.press("Shift")
    page.wait_for_selector(prompt)
    assert not page.is_visible(status), "a long one that has been read gives way"
    assert box(page, "#stage .cs-track") == before
    page.fill("#prompt textarea", "")
    page.click("#race")
    page.wait_for_selector('#status p[data-state="refused"]')
    assert box(page, "#stage .cs-track") == before
    assert not tab.errors
