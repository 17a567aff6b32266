"""One visitor with the page open, and what such a visitor does. Spoken over HTTP, as a browser does; none runs."""

from __future__ import annotations

import html
import json
import re
import statistics
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from csd.traffic.protocol import API, Endpoint, file_value, read_messages
from csd.traffic.samples import PAGE, Failed, Outcome, Sample
from csd.traffic.wishes import Wish, check_answer, check_log

RACE, STOP, OPEN_FILE = "run", "stop", "open_file"  # the page's events, by the names of their functions
BEGINNING, FOLLOWING = "open_page", "follow"  # what a page does when it opens, beside the queue and in it
ENDPOINT = "race"


@dataclass(frozen=True)
class Site:
    """A served page: its events, and how to reach it. `connect` gives a client with its own cookies, by which a proxy
    chooses a replica. `clock` gives seconds since the beginning of the run; an answer that takes more than `patience`
    seconds is called hung."""

    connect: Callable[[], httpx.Client]
    endpoints: Mapping[str, Endpoint]
    clock: Callable[[], float]
    report: Callable[[Sample], None]
    patience: float


@dataclass
class _Times:
    """Of one race: seconds until it started, and each promise of the queue, with the time at which it was to end."""

    queued: float | None = None
    promises: list[tuple[float, float]] = field(default_factory=list)  # seconds that were left, end on the site's clock

    @property
    def estimate(self) -> float | None:
        """The first promise, in seconds."""
        return self.promises[0][0] if self.promises else None

    def off(self, end: float) -> float | None:
        """By how many seconds the promises were wrong, the median."""
        return statistics.median(abs(promised - end) for _, promised in self.promises) if self.promises else None


@dataclass
class Visit:
    """A visitor, who comes from `address`, as far as the server believes its proxies."""

    site: Site
    address: str
    session: str = ""
    heartbeat: list[httpx.Response] = field(default_factory=list)
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = self.site.connect()

    # ---- the page

    def open(self) -> None:
        """Load the page, and do what it does when it opens."""
        self.look()
        self.session = _new_session()
        self._act("page events", self._begin)

    def _begin(self) -> None:
        url = f"{API}/heartbeat/{self.session}"
        request = self.http.build_request("GET", url, headers=self._headers, timeout=None)
        self.heartbeat.append(self.http.send(request, stream=True))
        self._run(BEGINNING, {})
        for _ in self._messages(FOLLOWING, self.session, {}):
            pass

    def look(self) -> None:
        """GET / alone."""
        self._act(PAGE, lambda: _expect_ok(self.http.get("/", headers=self._headers)))

    def close(self) -> None:
        """The browser's connections end."""
        while self.heartbeat:
            self.heartbeat.pop().close()

    # ---- what visitors do

    def race(self, wish: Wish) -> None:
        """A race on the page, to its end."""
        self._race("page race", RACE, self.session, wish.of_page(), lambda data: self._check_shown(wish, data))

    def race_by_api(self, wish: Wish) -> None:
        """A race through the public endpoint."""
        chosen = wish.of_endpoint()
        self._race("API race", ENDPOINT, _new_session(), chosen, lambda data: check_answer(wish, data[0]))

    def stop(self, wish: Wish, after: float) -> None:
        """Press Stop some seconds after Race."""
        self._act("stop", lambda: self._stop(wish, after))

    def walk_away(self, kind: str, wish: Wish, after: float) -> None:
        """Close the page some seconds after Race."""

        def act() -> None:
            start = self.site.clock()
            for _ in self._messages(RACE, self.session, wish.of_page()):
                if self.site.clock() - start > after:
                    break
            self.close()

        self._act(kind, act)

    def upload(self, data: bytes, note: str) -> None:
        """Open a saved race; `note` is a sentence in it that no other visitor's has."""

        def act() -> None:
            files = {"files": ("race.json.gz", data, "application/gzip")}
            sent = _expect_ok(self.http.post(f"{API}/upload", files=files, headers=self._headers))
            shown = self._run(OPEN_FILE, {"bring": file_value(sent.json()[0], "race.json.gz")})
            stage = self.site.endpoints[OPEN_FILE].output(shown, "stage")
            if note not in json.dumps(stage, ensure_ascii=False):
                raise Failed("mixed", "the race shown is not the one of the file")

        self._act("upload", act)

    # ---- how

    @property
    def _headers(self) -> dict[str, str]:
        return {"X-Forwarded-For": self.address}

    def _race(
        self, kind: str, name: str, session: str, chosen: Mapping[str, Any], check: Callable[[list[Any]], None]
    ) -> None:
        times = _Times()

        def act() -> None:
            start = self.site.clock()
            for message in self._messages(name, session, chosen):
                if message["msg"] == "estimation" and (left := message.get("rank_eta")) is not None:
                    times.promises.append((left, self.site.clock() + left))
                elif message["msg"] == "process_starts":
                    times.queued = self.site.clock() - start
                elif message["msg"] == "process_completed":
                    check(_data(message))
                    return
            raise Failed("lost", "the stream ended without an answer")

        self._act(kind, act, times)

    def _stop(self, wish: Wish, after: float) -> None:
        start, pressed, event = self.site.clock(), False, ""
        for message in self._messages(RACE, self.session, wish.of_page()):
            event = message.get("event_id") or event  # a heartbeat has none
            if message["msg"] == "process_completed":
                if message["output"].get("data"):  # not if it was taken out of the queue
                    self._check_shown(wish, _data(message))
                return
            if not pressed and self.site.clock() - start > after:
                pressed = True
                if self._run(STOP, {})[-1]:  # the id of the button that the page presses to leave the queue
                    self._leave_queue(event)
        raise Failed("lost", "the stopped race never ended")

    def _leave_queue(self, event: str) -> None:
        body = {"session_hash": self.session, "fn_index": self.site.endpoints[RACE].index, "event_id": event}
        _expect_ok(self.http.post(f"{API}/cancel", json=body, headers=self._headers))

    def _check_shown(self, wish: Wish, data: list[Any]) -> None:
        run = self.site.endpoints[RACE]
        status = str(run.output(data, "status"))
        if 'data-state="refused"' in status:
            raise Failed("refused", html.unescape(re.sub("<[^>]*>", "", status)))
        check_log(wish, run.output(data, "stage")["log"])

    def _messages(self, name: str, session: str, chosen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Join the queue and read what it sends, until the answer."""
        body = self.site.endpoints[name].body(session, chosen)
        start = self.site.clock()
        joined = self.http.post(f"{API}/queue/join", json=body, headers=self._headers)
        if joined.status_code in (400, 503):
            said = str(joined.json().get("detail"))
            has_no_place = joined.status_code == 400 or "full" in said  # for this visitor, or for anybody
            raise Failed("refused" if has_no_place else "lost", said)
        _expect_ok(joined)
        address = f"{API}/queue/data?session_hash={session}"
        with self.http.stream("GET", address, headers=self._headers) as stream:
            for message in read_messages(stream.iter_lines()):
                if message["msg"] in ("close_stream", "unexpected_error"):
                    return
                yield message
                if self.site.clock() - start > self.site.patience:
                    raise Failed("hung", f"no end within {self.site.patience:.0f} s")

    def _run(self, name: str, chosen: Mapping[str, Any]) -> list[Any]:
        """Run an event beside the queue."""
        body = self.site.endpoints[name].body(self.session, chosen)
        answer = self.http.post(f"{API}/run/predict", json=body, headers=self._headers)
        return _expect_ok(answer).json()["data"]

    def _act(self, kind: str, action: Callable[[], object], times: _Times | None = None) -> None:
        """Do something, and report how it went."""
        start, times = self.site.clock(), times or _Times()
        outcome, sentence = _attempt(action)
        end = self.site.clock()
        off = times.off(end)
        self.site.report(Sample(kind, start, end - start, outcome, times.queued, times.estimate, off, sentence))


def _attempt(action: Callable[[], object]) -> tuple[Outcome, str]:
    try:
        action()
    except Failed as failed:
        return failed.outcome, str(failed)
    except httpx.TimeoutException as error:
        return "hung", type(error).__name__
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        return "lost", f"{type(error).__name__}: {error}"[:200]
    return "ok", ""


def _data(message: Mapping[str, Any]) -> list[Any]:
    """The data of an answer. An error that is a sentence is a refusal."""
    if message["success"]:
        return message["output"]["data"]
    sentence = message["output"].get("error")
    raise Failed("refused", str(sentence)) if sentence else Failed("lost", "an error without a sentence")


def address_of(number: int) -> str:
    """A visitor's address, in a network of its own: a page counts all addresses of one network as one."""
    return f"2001:db8:0:{number:x}::1"


def _expect_ok(response: httpx.Response) -> httpx.Response:
    if response.status_code != 200:
        raise Failed("lost", f"status {response.status_code}: {response.text[:100]}")
    return response


def _new_session() -> str:
    return uuid.uuid4().hex[:12]
