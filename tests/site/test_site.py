"""The static site: what is written, that it asks for nothing, and in a headless Chromium what a visitor can do on it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from handmade import HOSTILE, autoregressive, cascade, hostile
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from csd.record.recording import Recording, bundled_recordings
from csd.site.site import site_files, write_site
from csd.site.upload import upload_site

RACE = Recording((autoregressive(), cascade()), "A <fox>", "story", "A note.", "One CPU", "2026-01-02")
LIMIT = 10 * 2**20  # bytes


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    size = write_site(bundled_recordings(), folder)
    assert size < LIMIT
    return folder


def test_every_page_runs_one_script_and_asks_for_nothing(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 2 + len(bundled_recordings())
    for page in pages:
        text = page.read_text(encoding="utf-8")
        (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"default-src 'none'; script-src 'sha256-{seal}'" in text, page.name
        assert not re.search(
            r"\b(?:src|srcset)=|@import|url\((?!\"data:font/woff2;base64,)", text.split("<script")[0]
        ), page.name


def test_every_link_leads_to_a_file_of_the_site_or_to_the_paper(site):
    for page in site.rglob("*.html"):
        for link in re.findall(r'<a [^>]*?href="([^"]*)"', page.read_text(encoding="utf-8").split("<script")[0]):
            if link.startswith("https:"):
                assert link == "https://arxiv.org/abs/2312.11462"
            else:
                assert (page.parent / link.partition("#")[0]).is_file(), f"{page.name} links to {link}"


def test_the_front_matter_is_that_of_a_static_space(site):
    text = (site / "README.md").read_text(encoding="utf-8")
    head = dict(line.split(": ", 1) for line in text.split("---")[1].strip().splitlines())
    assert head["sdk"] == "static"
    assert (site / head["app_file"]).is_file()
    assert len(head["short_description"]) <= 60
    assert "https://arxiv.org/abs/2312.11462" in text


def test_text_of_races_is_escaped_and_names_become_addresses():
    files = site_files({"My <race> 1": RACE, "b": replace(RACE, title="")})
    assert {"races/my-race-1.html", "races/b.html"} <= files.keys()
    assert "A &lt;fox&gt;" in files["index.html"]
    assert "<fox>" not in "".join(files.values())
    assert '<a href="../theory.html#my-race-1">' in files["races/my-race-1.html"]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(ValueError, match="holds other files"):
        write_site({"a": RACE}, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_races_of_an_earlier_site_are_removed(tmp_path):
    write_site({"old": RACE}, tmp_path / "site")
    write_site({"new": RACE}, tmp_path / "site")
    assert [file.name for file in (tmp_path / "site" / "races").iterdir()] == ["new.html"]


# ---- uploading


class FakeHub:
    """What of HfApi an upload calls, with a Space of some kind, or an error."""

    def __init__(self, kind="static", error=None):
        self.kind, self.error, self.calls = kind, error, []

    def create_repo(self, space, **settings):
        if self.error:
            raise self.error
        self.calls.append(("create", space, settings))

    def space_info(self, space):
        return SimpleNamespace(sdk=self.kind)

    def upload_folder(self, **settings):
        self.calls.append(("upload", settings.pop("repo_id"), settings))


def test_an_upload_creates_a_static_space_and_replaces_its_races(tmp_path):
    hub = FakeHub()
    assert upload_site(tmp_path, "ada/races", hub) == "https://huggingface.co/spaces/ada/races"
    (made, space, how), (sent, to, what) = hub.calls
    assert (made, space, how) == (
        "create",
        "ada/races",
        {"repo_type": "space", "space_sdk": "static", "exist_ok": True},
    )
    assert (sent, to) == ("upload", "ada/races")
    assert what["repo_type"] == "space" and what["folder_path"] == tmp_path
    assert what["delete_patterns"] == "races/*.html"


def test_a_space_of_another_kind_is_not_overwritten(tmp_path):
    hub = FakeHub(kind="gradio")
    with pytest.raises(ValueError, match="gradio Space"):
        upload_site(tmp_path, "ada/races", hub)
    assert [call[0] for call in hub.calls] == ["create"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (LocalTokenNotFoundError("no token"), "hf auth login"),
        (HfHubHTTPError("403 Forbidden.\nmore", response=SimpleNamespace(headers={}, request=None)), "refused.*403"),
        (ConnectionError("no route"), "failed: .*no route"),
    ],
    ids=["token", "refused", "network"],
)
def test_what_goes_wrong_is_a_sentence(tmp_path, error, sentence):
    with pytest.raises(ValueError, match=sentence) as found:
        upload_site(tmp_path, "ada/races", FakeHub(error=error))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["races", "ada/races/more", "", "https://huggingface.co/spaces/a/b"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="USER/NAME"):
        upload_site(tmp_path, name, FakeHub())


# ---- in a browser


@pytest.fixture
def tab(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.faults = []
    page.on("console", lambda line: page.faults.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else page.faults.append(request.url))
    yield page
    context.close()


def test_a_visit_on_a_phone_without_network(site, tab):
    fits = "document.documentElement.scrollWidth <= innerWidth"
    tab.goto((site / "index.html").as_uri())
    assert tab.evaluate(fits) and tab.evaluate("document.documentElement.classList.contains('dark')")
    tab.click("#tour-start")
    assert tab.locator("dialog[open] h2:visible").inner_text() == "One by one"
    tab.click(".tour-close")
    tab.click("#ground")
    tab.wait_for_timeout(300)  # a browser writes the choice down a moment later

    tab.locator(".card", has_text="the paper's K").click()
    tab.wait_for_selector(".cs-headline")
    tab.wait_for_selector("html:not(.dark)", state="attached")  # the choice goes along
    tab.click("text=Theory, with the α and c of this race")

    assert "checks 5 from small model, " in tab.inner_text(".staircase-words")
    tab.click(".staircase summary")
    assert tab.input_value("#race").startswith("7-") and tab.input_value("#k") == "5"
    assert tab.input_value("#K") == "[[5,19,29],[0,1,11],[0,0,10]]"
    assert tab.evaluate(fits)
    speeds = "() => [...document.querySelectorAll('#what-if-chart .chart-value')].map((one) => one.textContent)"
    assert "A step of this cascade brings" in (before := tab.inner_text("#words"))
    both = tab.evaluate(speeds)
    assert len(both) == 2
    tab.fill("#k", "16")
    tab.wait_for_function(f"both => ({speeds})().filter((one) => both.includes(one)).length === 1", arg=both)
    alpha = tab.locator('.sliders-row[data-key="target accepts small"] input[type="number"]')
    alpha.fill("0.2")
    assert tab.inner_text("#words") != before
    handle = tab.locator(".staircase-handle").first
    handle.focus()
    handle.press("ArrowRight")
    assert tab.input_value("#K") == "[[6,19,29],[0,1,11],[0,0,10]]"
    tab.fill("#K", "[[6")
    assert "K must have 3 rows" in tab.inner_text("#words")
    tab.select_option("#race", index=10)
    assert tab.input_value("#draft") == "self-8bit" and "A step of" in tab.inner_text("#words")
    tab.click("#curves > summary")
    assert tab.locator("#curves math").count() == 5 and tab.evaluate(fits)
    slid = '#curve-sliders .sliders-row[data-key="c"] input[type="number"]'
    title = tab.locator("#curves .chart h3").nth(1)
    assert title.inner_text().startswith("At c = 0.2")
    tab.fill(slid, "0.9")
    assert title.inner_text() == "At c = 0.9 and α = 0.8, no k pays"
    assert tab.locator("#curves .chart-line").count() == 14
    assert tab.faults == []


def test_hostile_text_of_a_race_stays_text_on_every_page(tmp_path, tab):
    name = "<img src=x onerror='window.hit = 1'>"
    write_site({name: hostile()}, tmp_path)
    pages = sorted(tmp_path.rglob("*.html"))
    for page in pages:
        tab.goto(page.as_uri())
        tab.wait_for_load_state("load")
        assert tab.locator("img, script:not([type])").count() == 1, f"{page.name} has its own script and no picture"
        assert tab.evaluate("window.hit") is None and tab.faults == []
    assert len(pages) == 3
    tab.goto(next(page for page in pages if page.parent.name == "races").as_uri())
    assert HOSTILE[:50] in tab.inner_text(".cs-prompt-text")
