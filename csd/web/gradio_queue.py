"""What Gradio's queue knows of races that wait. It has no public interface for this, so all of its names are here."""

from __future__ import annotations

import time

import gradio as gr

from csd.web.wiring import ON_DEVICE


def queue_length(page: gr.Blocks) -> int:
    """Races that wait for the device."""
    queues = page._queue.event_queue_per_concurrency_id
    return len(queues[ON_DEVICE].queue) if ON_DEVICE in queues else 0


def queue_wait(page: gr.Blocks, visitor: str) -> float | None:
    """The seconds that a visitor's event was queued; None unless it has just begun."""
    running = [event for job in page._queue.active_jobs if job for event in job if event.session_hash == visitor]
    begun = [event for event in running if not event.run_time]  # a comparison runs several races in one event
    return time.monotonic() - begun[-1].enqueue_time if begun else None
