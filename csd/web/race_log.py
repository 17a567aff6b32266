"""The log of races as JSON lines, each with the id of its race. Prompts and texts are not in it."""

from __future__ import annotations

import json
import logging
import time
from contextlib import closing
from datetime import datetime, timezone
from typing import Any

from csd.record import metrics
from csd.record.trace import Trace
from csd.request.request import Request
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, Finished, RaceStream, Refused

STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

log = logging.getLogger(__name__)


def log_race(visitor: str, choice: FamilyChoice, request: Request, news: RaceStream) -> RaceStream:
    """The same news; the beginning and the end of the race are logged."""
    begin, race, over = time.monotonic(), "", False
    about = {"family": choice.spec.name, "methods": [method.name for method in request.methods]}
    try:
        with closing(news):
            for item in news:
                if isinstance(item, Batch) and not race:
                    race = item.id
                    asked = {**about, "max_new": request.max_new, "temperature": request.temperature}
                    log.info("race started", extra={"race": race, **asked, "waited": _since(begin)})
                elif isinstance(item, Finished):
                    over = True
                    lanes = [_describe(trace) for trace in item.race.traces]
                    notes = list(item.race.notes)
                    log.info(
                        "race ended",
                        extra={"race": item.race.id, **about, "seconds": _since(begin), "lanes": lanes, "notes": notes},
                    )
                elif isinstance(item, Refused):
                    over = True
                    log.info("race refused", extra={"race": race, **about, "sentence": item.sentence})
                yield item
    finally:
        if not over:
            log.info("race left by its visitor", extra={"race": race, **about, "seconds": _since(begin)})


class JSONLines(logging.Formatter):
    """A record as one line of JSON: time, level, logger, message, whatever `extra` holds, and the traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        data: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in STANDARD},
        }
        if record.exc_info:
            data["traceback"] = self.formatException(record.exc_info)
        return json.dumps(data, default=str)


def json_handler() -> logging.Handler:
    """Writes to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JSONLines())
    return handler


def _describe(trace: Trace) -> dict[str, Any]:
    rates = {level: round(count.rate, 3) for level, count in metrics.acceptance(trace).items()}
    speed = round(metrics.speed(trace), 1) if trace.steps else None
    tokens = len(trace.tokens)
    return {"method": trace.header.method, "tokens": tokens, "end": trace.end, "speed": speed, "acceptance": rates}


def _since(begin: float) -> float:
    return round(time.monotonic() - begin, 3)
