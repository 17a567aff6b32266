"""The server as a stranger meets it without the page: headers, names of the host, and every private endpoint, raw."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from dataclasses import replace

import gradio as gr
import httpx
import pytest
import safehttpx
from gradio.routes import App
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from csd.models import catalog
from csd.paths import ROOT
from csd.traffic.protocol import file_value, read_endpoints
from csd.web.deployment import PUBLIC
from csd.web.device import Device
from csd.web.families import Families
from csd.web.gradio_sessions import LONG_NAME
from csd.web.guard import SafeHeaders, make_headers, warn_of_any_name
from csd.web.health import health_routes
from csd.web.loads import FamilyChoice
from csd.web.no_fetching import NO_ADDRESS
from csd.web.page import launch_settings

JUNK = (None, "../../etc/passwd", 1e308, [[[]]], {"path": "/etc/passwd"})
LEAK = re.compile(rf"Traceback|site-packages|{re.escape(str(ROOT))}|/usr/lib|root:x:|\.py\b")


def ask(url: str, path: str, body: object = None, **headers: str) -> tuple[int, str, dict[str, str]]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


def events(url: str) -> list[dict]:
    return json.loads(ask(url, "config")[1])["dependencies"]


@pytest.mark.parametrize("path", ["", "config", "gradio_api/info", "theme.css", "nothing"])
def test_every_answer_carries_the_headers(house, path):
    found = ask(house.url, path)[2]
    for name, value in make_headers(house.studio.deployment).items():
        assert found[name] == value
    assert "frame-ancestors 'self'" in found["content-security-policy"]


def test_a_part_of_a_file_has_no_header_of_its_request(house):
    """And no header of ours has another value because a request says so."""
    file = {"files": ("a.json", b"0123456789")}
    (path,) = httpx.post(f"{house.url}gradio_api/upload", files=file).json()
    asked = {"range": "bytes=0-3", "cookie": "a=b", "set-cookie": "c=d", "x-other": "e", "location": "f"}
    answer = httpx.get(f"{house.url}gradio_api/file={path}", headers={**asked, "content-security-policy": "none"})
    assert answer.text == "0123456789" and not {*asked} & {*answer.headers}
    for name, value in make_headers(house.studio.deployment).items():
        assert answer.headers.get_list(name) == [value]


def test_headers_of_ours_stand_alone():
    async def app(scope, receive, send):
        await PlainTextResponse("", headers={"Referrer-Policy": "unsafe-url"})(scope, receive, send)

    answer = TestClient(SafeHeaders(app, {"referrer-policy": "same-origin"})).get("/")
    assert answer.headers.get_list("referrer-policy") == ["same-origin"]


def test_a_space_may_be_shown_by_its_host_and_by_nobody_else():
    assert "https://huggingface.co" not in make_headers(PUBLIC)["content-security-policy"]
    policy = make_headers(replace(PUBLIC, is_space=True))["content-security-policy"]
    assert "frame-ancestors 'self' https://huggingface.co https://*.hf.space" in policy


@pytest.mark.parametrize(("host", "code"), [("evil.example", 400), ("localhost:7860", 200), ("127.0.0.1", 200)])
def test_a_page_of_one_machine_answers_under_its_own_names(house, host, code):
    assert ask(house.url, "", Host=host)[0] == code


@pytest.mark.parametrize(
    ("path", "code"), [("/health/live", 200), ("/health/ready", 503), ("/health", 400), ("/", 400)]
)
def test_probes_reach_a_replica_by_its_address(path, code):
    """HAProxy and Kubernetes name no host that CSD_HOSTS holds; nothing but health answers them."""
    home = FamilyChoice(catalog.find("embedded"), "cpu")
    routes = health_routes(Families((home,), lambda *_: None, Device()), home, lambda: False)
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    settings = launch_settings(replace(PUBLIC, hosts=("cascade.example.org",)), routes)["app_kwargs"]
    with TestClient(App.create_app(page, app_kwargs=settings), base_url="http://10.1.2.3:7860") as client:
        assert client.get(path).status_code == code


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
def test_no_other_website_may_read_an_answer(origin):
    """Gradio's middleware for other origins is in the server; it allows all of them where the name is not local."""
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Markdown("page")
    settings = launch_settings(replace(PUBLIC, hosts=()))["app_kwargs"]
    with TestClient(App.create_app(page, app_kwargs=settings), base_url="http://cascade.example") as client:
        asks = {"origin": origin, "access-control-request-method": "POST"}
        answers = [client.get("/config", headers={"origin": origin}), client.options("/config", headers=asks)]
    for answer in answers:
        assert answer.status_code == 200
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_page_under_any_name_says_so(caplog):
    warn_of_any_name(replace(PUBLIC, hosts=("a.example",)))
    assert not caplog.records
    warn_of_any_name(PUBLIC)
    assert "CSD_HOSTS is not set" in caplog.text


def test_nothing_that_uses_the_device_skips_the_queue(house):
    begun = house.gate.begun
    queued = [event["id"] for event in events(house.url) if event["queue"] is not False]
    for number in queued:
        code, text, _ = ask(house.url, "gradio_api/run/predict", {"fn_index": number, "data": [], "session_hash": "s"})
        assert code in (404, 422, 500) and not LEAK.search(text), (number, code, text)
    assert house.gate.begun == begun


@pytest.mark.parametrize(
    "path",
    [
        *("gradio_api/deep_link?session_hash=x", "gradio_api/dev/reload", "openapi.json"),
        *("gradio_api/custom_component/x/client/component/index.js", "gradio_api/component_server"),
    ],
)
def test_what_the_page_has_no_use_for_is_closed(house, path):
    assert ask(house.url, path)[0] == 404


def test_recordings_and_functions_of_components_are_closed(house):
    assert ask(house.url, "gradio_api/process_recording", {})[0] == 404
    assert ask(house.url, "gradio_api/component_server", {"session_hash": "x"})[0] == 404
    assert "x" not in house.page.state_holder.session_data
    assert ask(house.url, "?deep_link=x")[1] == ask(house.url, "")[1]


ADDRESS = "http://example.org/picture.png"


def test_nothing_is_fetched_from_an_address_that_a_visitor_names(house, monkeypatch):
    """Neither to pass it on under the page's own origin, nor as a file that an event names by its address."""
    asked = []

    async def note(host: str) -> str:
        asked.append(host)
        raise ValueError(host)

    monkeypatch.setattr(safehttpx, "async_validate_url", note)
    for address in (ADDRESS, ADDRESS.replace("://", "%3A%2F%2F"), ADDRESS.upper(), "https://dns.google/x.png"):
        code, text, _ = ask(house.url, f"gradio_api/file={address}")
        assert code == 403 and (NO_ADDRESS in text or address.isupper()), (address, text)
    endpoints = read_endpoints(
        json.loads(ask(house.url, "config")[1]), json.loads(ask(house.url, "gradio_api/info")[1])
    )
    for address in (ADDRESS, "https://huggingface.co/x.json"):
        body = endpoints["open_file"].body("stranger", {"bring": file_value(address, "race.json")})
        code, text, _ = ask(house.url, "gradio_api/run/predict", body)
        assert code == 400 and json.loads(text)["error"] == NO_ADDRESS
    assert not asked


def test_no_session_has_a_long_name(house):
    for number in [event["id"] for event in events(house.url) if event["backend_fn"]][:20]:
        body = {"fn_index": number, "data": [], "session_hash": "a" * 65}
        code, text, _ = ask(house.url, "gradio_api/run/predict", body)
        assert (code, json.loads(text)["detail"]) == (422, LONG_NAME)
    assert not any(len(name) > 64 for name in house.page.state_holder.session_data)


def test_private_endpoints_take_junk_without_a_leak_or_a_crash(house):
    for event in events(house.url):
        if event["queue"] is not False or not event["backend_fn"]:
            continue
        for junk in JUNK:
            data = [junk] * len(event["inputs"])
            body = {"fn_index": event["id"], "data": data, "session_hash": "stranger"}
            code, text, _ = ask(house.url, "gradio_api/run/predict", body)
            assert code in (200, 400, 404, 422, 500), (event["id"], code)
            assert not LEAK.search(text), (event["id"], junk, text[:500])
    assert ask(house.url, "config")[0] == 200
    load = house.studio.families.ensure_loading(house.studio.home)
    while not load.status.is_final:
        time.sleep(0.1)
    assert load.status.state == "ready"
