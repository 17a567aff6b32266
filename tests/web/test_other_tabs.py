"""Theory and Compare in a headless Chromium, and the race that Theory starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def test_theory_needs_no_race(tab):
    page = tab.page
    page.get_by_role("tab", name="Theory").click()
    page.wait_for_selector("#what-if-figure .chart-line")
    words = "document.querySelector('#what-if')"
    page.wait_for_function(f"{words}.innerText.includes('predicted')")
    page.eval_on_selector("#what-if-picture details", "plan => (plan.open = true)")
    page.fill("#what-if-K textarea, #what-if-K input", "[[4,6,8],[0,1,2],[0,0,1]]")
    page.wait_for_function(f"{words}.innerHTML.includes('K=[[4,6,8],[0,1,2],[0,0,1]]')")
    label = page.locator("#what-if-K [data-testid=block-info]")
    label.scroll_into_view_if_needed()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # its event
    label.click()  # Gradio's own label, as tapped
    assert page.locator(".cs-tip:visible").inner_text().startswith("K")
    assert not page.evaluate("document.activeElement.matches('#what-if-K *')")
    page.fill("#what-if-K textarea, #what-if-K input", "[[4")
    page.wait_for_function(f"{words}.innerText.includes('could not be read')")
    page.get_by_role("button", name="Glossary").click()
    page.wait_for_selector(".glossary dt:visible")
    assert not tab.errors


@pytest.mark.slow
def test_measure_it_races_with_these_knobs_and_the_table_compares(tab):
    page = tab.page
    tab.fill(tokens=16)
    lanes = page.locator("#lanes label:has(input:checked)").all_inner_texts()
    page.get_by_role("tab", name="Theory").click()
    page.eval_on_selector("#what-if-picture details", "plan => (plan.open = true)")
    page.fill("#what-if-K textarea, #what-if-K input", "[[4,6,8],[0,1,2],[0,0,1]]")
    page.wait_for_function("document.querySelector('#what-if-figure').innerHTML.includes('[[4,6,8],[0,1,2],[0,0,1]]')")
    page.click("#measure")
    assert re.match(r"Theory (held\.|was off: )", tab.status("measured"))
    assert re.fullmatch(
        r"(predicted|theory with this race's numbers|measured|speculative|cascade|[\d.]+×|\s)+",
        page.inner_text(".outcome"),
    )
    for row in page.locator(".outcome tbody tr").all():
        numbers = row.locator("td")
        assert numbers.count() == 3 and all(re.fullmatch(r"[\d.]+×", told) for told in numbers.all_inner_texts())
    place = "(part) => document.querySelector(part).getBoundingClientRect()"
    assert page.evaluate(f"({place})('.outcome').bottom <= ({place})('#stage').top"), "it covers nothing"
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"""() => {{ const {{ left, right }} = ({place})('.outcome');
        return left >= 0 && left < 20 && right <= innerWidth; }}""")
    page.set_viewport_size({"width": 1280, "height": 720})
    checked = page.locator("#lanes label:has(input:checked)").all_inner_texts()
    assert {"autoregressive", "speculative", "cascade"} <= {lane.strip() for lane in checked}
    assert checked == lanes or len(checked) > len(lanes), "the visitor's own lanes stay"
    assert page.input_value("#K textarea, #K input") == "[[4,6,8],[0,1,2],[0,0,1]]"
    page.click("#after > button")
    page.wait_for_selector(".theory-table tbody tr")
    assert page.locator(".theory-table tbody tr").count() == len(checked)
    assert "theorems 4.3 and 4.5" in page.inner_text(".theory-table")
    table = page.inner_text(".outcome")
    page.go_back()
    page.wait_for_selector("#measure", state="visible")  # the tab from which the race was asked for
    page.go_forward()
    page.wait_for_selector("#race", state="visible")
    assert page.inner_text(".outcome") == table
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#stage .cs-copy-link")
    page.wait_for_selector("#stage .cs-link-note")
    assert page.inner_text(".outcome") == table, "a copied link is told beside its button"
    assert not tab.errors


@pytest.mark.slow
def test_compare_says_what_it_takes_from_the_settings_and_leads_back(tab):
    page = tab.page
    tab.fill(tokens=16)
    page.get_by_role("tab", name="Theory").click()
    page.click("#what-if-picture summary")
    page.click("#parts")
    tab.status("ended")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_text("As chosen under Settings, Compare will race autoregressive, vertical cascade,").wait_for()
    page.click("#compare-repeats label >> nth=0")
    page.click("#compare")
    page.click("text=Recorded comparison")  # it waits for the end
    page.wait_for_function("document.querySelector('#compare-status').innerText.startsWith('Recorded')")
    page.click("text=Your comparison")
    page.wait_for_function("!document.querySelector('#compare-status').innerText.startsWith('Recorded')")
    page.click("#compare-usual")
    page.wait_for_selector("#compare-settings", state="hidden")
    lanes = page.locator("#lanes label:has(input:checked)").all_text_contents()
    assert [lane.strip() for lane in lanes] == ["autoregressive", "speculative", "prompt lookup", "cascade"]
    assert not tab.errors


@pytest.mark.slow
def test_a_comparison_keeps_what_it_has_when_stopped(tab, house):
    page = tab.page
    tab.fill(tokens=64)  # so that it still runs when it is stopped
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_function("document.querySelector('#compare-status').innerText.startsWith('Recorded')")
    page.click("#compare")
    page.wait_for_selector("#compare-status progress")
    assert not page.is_visible("#compare-verdict"), "what happens is said in one line, in its place"
    page.wait_for_function("document.querySelectorAll('.speeds li[data-empty]').length >= 12")
    assert page.locator(".speeds .speeds-name").all_inner_texts()[:3] == ["speculative", "prompt lookup", "cascade"]
    page.wait_for_selector(".speeds .speeds-bar")
    page.click("#compare-stop")
    page.wait_for_function("/Stopped|Done/.test(document.querySelector('#compare-status').innerText)")
    page.wait_for_function("/fastest|clear/.test(document.querySelector('#compare-verdict').innerText)")
    assert not page.locator("#comparison table").is_visible()
    page.get_by_role("button", name="All numbers").click()
    page.wait_for_selector("#comparison table tbody tr:visible")
    assert "speculative, small model" in page.inner_text("#comparison")
    with page.expect_download() as waiting:
        page.click("#compare-save")
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith('"prompt","lane","repeats","tokens per second"') and len(lines) >= 4
    assert not tab.errors


def test_the_chart_of_compare_fills_the_window_and_its_words_never_meet(tab):
    page = tab.page
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector(".speeds .speeds-bar")
    meets = """() => {
        const words = [...document.querySelectorAll('.speeds h3, .speeds-name, .speeds b, .speeds span span, .speeds em, .speeds p')];
        const boxes = words.filter((one) => one.textContent).map((one) => [one.textContent, one.getBoundingClientRect()]);
        return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 4 && b.top < a.bottom - 4).map(([other]) => [one, other]));
    }"""
    bottoms = []
    for width, height in ((1280, 720), (1920, 1080), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(meets) == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        bottoms.append(page.eval_on_selector(".speeds", "chart => chart.getBoundingClientRect().bottom / innerHeight"))
    assert all(0.9 < bottom <= 1 for bottom in bottoms[:2]), bottoms
    page.set_viewport_size({"width": 1280, "height": 720})
