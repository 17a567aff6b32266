"""What an operator sees of a running page: health, metrics, logs. Races do not know that they are watched."""

from __future__ import annotations

import logging
from functools import partial

import gradio as gr
from starlette.routing import Route

from csd.web.gradio_queue import queue_length, queue_wait
from csd.web.race_log import json_handler, log_race
from csd.web.studio import Studio


def log_as_text() -> None:
    """Write warnings and errors to standard error."""
    logging.basicConfig()


def log_as_json(studio: Studio) -> None:
    """Write races, warnings and errors to standard error as lines of JSON."""
    logging.basicConfig(handlers=[json_handler()], force=True)
    logging.getLogger("csd").setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error"):  # the server set them up when it began
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    studio.watch(log_race)


def count_races(studio: Studio, page: gr.Blocks) -> list[Route]:
    """Count what happens from now on, and return the route where it is read."""
    from csd.web.metrics import Metrics

    counted = Metrics(partial(queue_length, page), partial(queue_wait, page))
    studio.watch(counted.watch)
    logging.getLogger("csd").addHandler(counted.error_counter())
    return counted.routes()
