"""Requests that no browser sends, and what must not be in an answer to one."""

from __future__ import annotations

import gzip
import json
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import strategies as st

from csd.record.recording import FOLDER
from csd.traffic.protocol import API, Endpoint, file_value, read_endpoints, read_messages

ROOT = Path(__file__).resolve().parents[1]
LEAKS = ("Traceback (most recent", 'File "/', str(ROOT), sys.prefix, sys.base_prefix, "root:x:0", "site-packages")
PATIENCE = 30  # seconds
SAVED = min(FOLDER.glob("*.json.gz"), key=lambda path: path.stat().st_size)


class Page:
    """A served page, attacked over HTTP."""

    def __init__(self, url: str):
        self.http = httpx.Client(base_url=url, timeout=PATIENCE)
        config, info = (self.http.get(path).json() for path in ("/config", f"{API}/info"))
        self.endpoints: Mapping[str, Endpoint] = read_endpoints(config, info)
        self.queued = {one["id"] for one in config["dependencies"] if one["queue"]}
        self.races = {self.endpoints[name].index for name in ("run", "race", "compare")}

    def post(self, path: str, body: Any) -> httpx.Response:
        """A body as JSON, with what JSON does not have: NaN, infinities, numbers of any length, half of a character."""
        return self.http.post(path, content=json.dumps(body), headers={"content-type": "application/json"})

    def event(self, index: int, data: list[Any], query: str = "") -> list[str]:
        """Run an event as the page does, in the queue or beside it; the answers."""
        session = uuid.uuid4().hex[:12]
        body = {"data": data, "fn_index": index, "session_hash": session}
        if index not in self.queued:
            return [judged(self.post(f"{API}/run/predict?{query}", body))]
        joined = self.post(f"{API}/queue/join", body)
        if joined.status_code != 200:
            return [judged(joined)]
        found = []
        with self.http.stream("GET", f"{API}/queue/data?session_hash={session}") as stream:
            for message in read_messages(stream.iter_lines()):
                found.append(json.dumps(message))
                if message["msg"] == "process_completed":
                    if not message["success"]:
                        assert message["output"].get("error"), f"no sentence: {message}"
                    break
                if message["msg"] == "close_stream":
                    raise AssertionError("the stream ended without an answer")
                assert message["msg"] != "unexpected_error", message
        return found


def judged(response: httpx.Response) -> str:
    """The text of an answer. Fails for an error of the server, or one without a sentence."""
    text = response.text
    assert response.status_code < 500 or (response.status_code == 503 and "full" in text), (response.status_code, text)
    if response.status_code >= 400 and text.startswith("{"):
        assert json.loads(text).get("error", "no") is not None, text
    return text


def check_leaks(texts: list[str]) -> None:
    for text in texts:
        found = [leak for leak in LEAKS if leak in text]
        assert not found, f"{found} in {text[:2000]}"


# ---- what is sent

WORDS = (
    "",
    " ",
    "NaN",
    "-1",
    "null",
    "../../../etc/passwd",
    "/etc/passwd",
    "@/etc",
    "~root",
    "<script>alert(1)</script>",
)
WORDS += (
    "{{7*7}}",
    "[[1,2],[3]]",
    "[[9e99]]",
    "auto",
    "cpu",
    "custom",
    "embedded",
    "speculative",
    "a" * 20_000,
    "\ud800",
    "\0",
    "[]",
)
FILES = (
    {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},
    {"__type__": "update", "value": 1},
    {"path": None},
)
NUMBERS = (
    0,
    -1,
    2**31,
    2**53,
    2**63,
    2**64,
    10**30,
    10**400,
    -(10**400),
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    0.1,
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)


# What strategies call has a name: to describe a lambda, hypothesis walks through sys.modules, which breaks off where
# the server imports a module meanwhile.
def nested(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=8), one, max_size=4)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)[:5000]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def is_something(value: Any) -> bool:
    return value is not None


junk = st.sampled_from([*WORDS, *FILES, *NUMBERS, [], {}, True, None]) | st.recursive(leaves, nested, max_leaves=8)


@dataclass(frozen=True)
class Attack:
    """One request: its kind, the event or path that it is for, and what it sends."""

    kind: str
    at: str
    sent: Any

    def run(self, page: Page) -> list[str]:
        """The texts of the answers."""
        return getattr(self, f"_{self.kind}")(page)

    def _event(self, page: Page) -> list[str]:
        """An event with some of its values replaced; by position, or all of them by `*`."""
        endpoint = page.endpoints.get(self.at) or Endpoint(int(self.at), (), (), ())
        data = [2 if name in ("max-new", "max_new") else value for name, value in zip(endpoint.names, endpoint.values)]
        if isinstance(self.sent, list):
            return page.event(endpoint.index, self.sent)
        for place, value in self.sent.items():
            if data:
                data[place % len(data)] = value
        return page.event(endpoint.index, data)

    def _call(self, page: Page) -> list[str]:
        """An event of the endpoint as a program calls it: a request, and a stream with the answer."""
        joined = page.post(f"{API}/call/{self.at}", {"data": self.sent})
        if joined.status_code != 200:
            return [judged(joined)]
        answer = judged(page.http.get(f"{API}/call/{self.at}/{joined.json()['event_id']}"))
        for line in answer.partition("event: error\n")[2].splitlines()[:1]:
            assert json.loads(line.removeprefix("data: "))["error"], answer
        return [answer]

    def _link(self, page: Page) -> list[str]:
        query = "&".join(f"{name}={quote(str(value), errors='replace')}" for name, value in self.sent.items())
        endpoint = page.endpoints["open_page"]
        return page.event(endpoint.index, list(endpoint.values), query[:30_000])

    def _upload(self, page: Page) -> list[str]:
        sent = page.http.post(f"{API}/upload", files={"files": (quote(self.at), self.sent)})
        judged(sent)
        path = sent.json()[0] if sent.status_code == 200 else "/etc/passwd"
        endpoint = page.endpoints["open_file"]
        return page.event(endpoint.index, endpoint.arguments({"bring": file_value(path, "race.json")}))

    def _raw(self, page: Page) -> list[str]:
        """A body where another is expected."""
        answer = page.post(self.at, self.sent) if self.sent is not None else page.http.get(self.at)
        return [judged(answer)]


def mangled(data: bytes, cuts: list[tuple[int, bytes]]) -> bytes:
    """A saved race with some of its JSON overwritten."""
    text = bytearray(gzip.decompress(data))
    for at, new in cuts:
        place = at % len(text)
        text[place : place + len(new)] = new
    return bytes(text)


def attacks(page: Page) -> st.SearchStrategy[Attack]:
    """All kinds of requests, for this page's events."""
    names = st.sampled_from([name for name in page.endpoints if not name.startswith(("follow", "await"))])
    some = st.dictionaries(st.integers(0, 40), junk, min_size=1, max_size=4)
    event = st.builds(Attack, st.just("event"), names, some | st.lists(junk, max_size=30))
    race = st.builds(Attack, st.just("event"), st.just("race"), some)
    call = st.builds(Attack, st.just("call"), st.just("race"), st.lists(junk, max_size=4))
    missing = st.builds(Attack, st.just("event"), st.sampled_from(["-1", "9999"]), st.just([]))
    fields = (
        "prompt",
        "seed",
        "top_k",
        "top_p",
        "K",
        "k",
        "lanes",
        "target",
        "drafts",
        "family",
        "hide",
        "temperature",
    )
    values = junk.map(as_text)
    link = st.builds(Attack, st.just("link"), st.just(""), st.dictionaries(st.sampled_from(fields), values, max_size=5))
    saved = SAVED.read_bytes()
    cuts = st.lists(
        st.tuples(st.integers(0), st.sampled_from([b"-1", b"1e308", b"NaN", b'"', b"[", b"}", b"99999999"])), max_size=4
    )
    content = st.binary(max_size=200) | st.builds(mangled, st.just(saved), cuts) | junk.map(as_json)
    upload = st.builds(Attack, st.just("upload"), st.text(min_size=1, max_size=30), content)
    posts = (
        "run/predict",
        "run/race",
        "run/nothing",
        "api/race",
        "call/race",
        "call/v2/race",
        "queue/join",
        "cancel",
        "reset",
        "upload",
    )
    gets = (
        "file=/etc/passwd",
        "file=../app.py",
        "file/app.py",
        "info",
        "queue/data?session_hash=x",
        "proxy=http://127.0.0.1",
        "call/race/x",
    )
    raw = st.builds(
        Attack,
        st.just("raw"),
        st.sampled_from([f"{API}/{path}" for path in posts]),
        st.just({"data": []}) | junk.filter(is_something),
    )
    sessions = st.sampled_from(["", " ", "\0", "\ud800", "x" * 65, None])
    joins = {"data": st.just([]), "fn_index": st.sampled_from(sorted(page.queued)), "session_hash": sessions}
    unnamed = st.builds(Attack, st.just("raw"), st.just(f"{API}/queue/join"), st.fixed_dictionaries(joins))
    read = st.builds(Attack, st.just("raw"), st.sampled_from([f"{API}/{path}" for path in gets]), st.none())
    return st.one_of(event, event, race, race, link, link, upload, upload, raw, read, missing, unnamed, call)
