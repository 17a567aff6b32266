"""The exported page: one file, opened from disk without network; and the page's recorded races, files and links."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from browser import House
from handmade import alone, header, hostile, nested

from csd.record.race import Race
from csd.record.recording import Recording, bundled_recordings
from csd.record.trace import Prefill, Proposal, Review, Step, Trace
from csd.stage import export, sealed
from csd.stage.conclusion import conclude
from csd.stage.log import log_of

LIMIT = 2_000_000  # bytes of an exported race, also of one with 512 tokens in each of three lanes


def log_in(page: str) -> str:
    return re.search(r'<script type="application/x-ndjson" id="log">(.*?)</script>', page, re.DOTALL)[1]


def long(method: str, size: int, tokens: int = 512) -> Trace:
    """Reviews of blocks of `size`, drafted by nested rounds of two; every number has all its digits."""
    steps, at, clock = [], 2, 0.123456
    while at < 2 + tokens:
        inner = tuple(
            Review("mid", at + i, (7, 8), ("MaxGram", "Bigram"), 1, 9, clock + i / 977, 0.00123456,
                   (Proposal("MaxGram", at + i, (7, 8), ("MaxGram", "Bigram"), clock, 0.0000123),),
                   (0.123456, 0.1), (1.0, 0.98765), 0.123456)
            for i in range(0, size, 2)
        )  # fmt: skip
        block = (7, 9) * (size // 2)
        authors = ("MaxGram", "mid") * (size // 2)
        review = Review(
            "target",
            at,
            block,
            authors,
            size,
            10,
            clock,
            0.01234567,
            inner,
            (0.98765,) * size,
            (0.98765,) * size,
            1.23456,
        )
        steps.append(Step((*block, 10), (*authors, "target"), review, clock, 0.0234567))
        at, clock = at + size + 1, clock + 0.0234567
    return Trace(header(method), (Prefill("target", 2, 0.0, 0.1),), tuple(steps), "budget", alone().pieces)


def test_the_file_is_one_script_and_asks_for_nothing():
    page = export.page(Recording((alone(), nested()), "A fox", "story", "A note.", "One CPU", "2026-01-02"))
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    seal = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{seal}'" in page
    assert not re.search(r"\b(src|href)\s*=|@import|url\((?!\"data:font/woff2;base64,)", page)
    for word in ("A fox", "story, 2026-01-02, One CPU", "A note.", "The fox", "sampled (rejection)", "tokens/s"):
        assert word in page
    for sentence in conclude(Race((alone(), nested())))["lanes"][1]["notes"]:
        assert sentence in page


def test_nothing_closes_the_elements():
    page = export.page(hostile())
    page.encode("utf-8")
    assert page.count("</script") == 2
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "<!--" not in page.split("<body", 1)[1]
    assert "\0" not in page
    log = log_in(page)
    assert log.isascii()
    assert not set(log) & set("<>&")
    assert [json.loads(line) for line in log.splitlines()] == [
        json.loads(line) for line in log_of(hostile().traces, "export", play=True).splitlines()
    ]


def test_512_tokens_in_three_lanes_are_small():
    traces = (alone((7,) * 512), long("speculative", 6), long("cascade", 12))
    assert all(len(trace.tokens) >= 512 for trace in traces)
    assert len(export.page(Recording(traces)).encode()) < LIMIT


def test_every_recorded_race_is_small():
    sizes = {name: len(export.page(recording).encode()) for name, recording in bundled_recordings().items()}
    assert sizes
    assert max(sizes.values()) < LIMIT, sizes


# ---- in a browser


class RaceStarted:
    """The exported file from disk, in a browser without network."""

    def __init__(self, chromium, recording: Recording, folder: Path, dark: bool = False):
        file = folder / "race.html"
        file.write_text(export.page(recording), encoding="utf-8")
        self.errors: list[str] = []
        self.asked: list[str] = []
        scheme = "dark" if dark else "light"
        self.context = chromium.new_context(viewport={"width": 1280, "height": 720}, offline=True, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())


@pytest.fixture
def from_disk(chromium, tmp_path):
    opened = []

    def new(recording: Recording, dark: bool = False) -> RaceStarted:
        opened.append(RaceStarted(chromium, recording, tmp_path, dark))
        return opened[-1]

    yield new
    for one in opened:
        one.context.close()


def test_it_plays_from_disk_without_network(from_disk):
    name, recording = next(iter(bundled_recordings().items()))
    one = from_disk(recording)
    one.page.wait_for_selector('.cascade-stage[data-state="replay"]')
    one.page.wait_for_selector(".cs-step.cs-on", state="attached")
    one.page.focus(".cascade-stage")
    one.page.keyboard.press("End")
    one.page.wait_for_selector('.cascade-stage[data-state="done"]')
    texts = one.page.eval_on_selector_all(
        ".cs-lane",
        "lanes => lanes.map(lane => [...lane.querySelectorAll('.cs-token')].map(t => t.textContent).join(''))",
    )
    assert texts == [trace.answer for trace in recording.traces]
    assert one.page.locator(".cs-plot path.cs-line:not(.cs-rest-of-line)").count() == len(recording.traces)
    one.page.click("[data-chart=computed]")
    assert one.page.locator(".cs-strip path").count() > 3
    assert recording.machine in one.page.inner_text("body")
    assert recording.note in one.page.inner_text("body")
    before = one.page.evaluate("getComputedStyle(document.body).backgroundColor")
    one.page.click("#ground")
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert not one.errors, name
    assert len(one.asked) == 1, name


def test_hostile_text_stays_text(from_disk):
    one = from_disk(hostile(), dark=True)
    one.page.wait_for_selector(".cs-token")
    one.page.keyboard.press("Tab")
    assert one.page.evaluate("window.hit") is None
    assert one.page.locator("img").count() == 0
    assert one.page.text_content("#prompt").count("</script><script>window.hit = 1</script><!--") == 2
    assert "<img src=x onerror='window.hit = 1'>" in one.page.text_content(".cs-lanes")
    assert one.page.evaluate("document.documentElement.className") == "dark"
    assert not one.errors
    assert len(one.asked) == 1


def visit(chromium, house: House, query: str = ""):
    page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.set_default_timeout(30_000)
    page.goto(house.url + query)
    page.wait_for_selector("#prompt textarea")
    return page


@pytest.mark.slow
def test_a_recorded_race_plays_before_anything_and_files_are_replayed(chromium, house, tmp_path):
    page = visit(chromium, house)
    page.wait_for_selector('#stage .cascade-stage[data-state="replay"]')
    recording = next(iter(bundled_recordings().values()))
    said = page.inner_text("#stage .cs-message")
    assert said.startswith("Recorded on")
    assert recording.machine.partition(";")[0] in said and "torch" not in said
    assert recording.date in said
    assert page.input_value("#earlier input") == "An otter makes a boat (story)"
    with page.expect_download() as waiting:
        page.click("#replay")
    assert "Content-Security-Policy" in Path(waiting.value.path()).read_text("utf-8")
    for name, content, state in (
        ("other.json", b"[1]", "refused"),
        ("race.json", json.dumps(Recording((alone(), nested()), "Mine").to_dict()).encode(), "ended"),
    ):
        (tmp_path / name).write_bytes(content)
        page.set_input_files("#bring ~ input[type=file], #bring input[type=file], input[type=file]", tmp_path / name)
        page.wait_for_selector(f'#status p[data-state="{state}"]')
    page.wait_for_function("document.querySelector('#earlier input').value === 'From a file: Mine'")
    assert page.locator("#stage .cs-lane").count() == 2
    page.click("#after > button")
    page.wait_for_function("document.querySelectorAll('#after .js-plotly-plot').length === 5")
    with page.expect_download() as waiting:
        page.click("#svg")
    assert waiting.value.suggested_filename.endswith(".svg")
    page.context.close()


def test_a_link_fills_the_form_and_runs_nothing(chromium, house):
    before = house.gate.begun
    page = visit(chromium, house, "?seed=7&prompt=A%20%3Cb%3Efox%3C%2Fb%3E&temperature=0.5&k=none")
    page.wait_for_function("document.querySelector('#prompt textarea').value === 'A <b>fox</b>'")
    assert page.input_value("#seed input") == "7"
    assert page.input_value("#temperature input") == "0.5"
    page.wait_for_function("/The link has filled in the form/.test(document.querySelector('#status').innerText)")
    said = page.inner_text("#status")
    assert "The link's value for k is not valid: 'none'" in said
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#more")
    page.click("#copy")
    page.wait_for_function("/settings copied/.test(document.querySelector('#status').innerText)")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == house.url + "?chars=16&prompt=A%20%3Cb%3Efox%3C%2Fb%3E&temperature=0.5&seed=7"
    assert house.gate.begun == before
    page.context.close()


def test_no_search_for_markup_goes_over_more_than_one_line(monkeypatch):
    """Python's lock is held during a search: over a long race's whole log, for a fifth of a second."""
    searched = []

    def noted(pattern, replacement, text, search=re.sub):
        searched.append(text)
        return search(pattern, replacement, text)

    monkeypatch.setattr(sealed.re, "sub", noted)
    lines = ['{"a": "</script>é\u2028"}', "", '{"b": "\ud800&"}']
    found = sealed.inert("\n".join(lines))
    assert [json.loads(line) for line in found.split("\n") if line] == [json.loads(lines[0]), {"b": "\ud800&"}]
    assert searched == lines and not set("<>&") & set(found) and found.isascii()
