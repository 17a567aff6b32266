"""Starts the page: `python app.py`. The page is served first; the models load after it."""

from __future__ import annotations

import argparse
import os

from csd.models import catalog
from csd.web import studio


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Cascade Speculative Drafting, live.")
    parser.add_argument("--host", help="address to listen on (default: GRADIO_SERVER_NAME, or 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, help="port to listen on (default: GRADIO_SERVER_PORT, or the first free one from 7860)"
    )
    parser.add_argument(
        "--family", default="embedded", choices=[spec.name for spec in catalog.READY], help="family that loads at once"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    parser.add_argument(
        "--threads", type=int, help="CPU threads for the models (default: on up to 4 cores one is left to the page)"
    )
    return parser.parse_args(argv)


def spare_a_core(asked: int | None) -> None:
    """Sets the models' CPU threads, before torch is imported. On a small machine a browser that draws on the same cores
    halts all threads of a model again and again; with a core of its own it does not. A Space is watched from elsewhere.
    """
    cores = os.cpu_count() or 1
    if asked:
        os.environ["OMP_NUM_THREADS"] = str(asked)
    elif cores <= 4 and "SPACE_ID" not in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores - 1)))


def main(argv: list[str] | None = None) -> None:
    asked = arguments(argv)
    spare_a_core(asked.threads)
    room = studio.real(studio.Choice(catalog.find(asked.family), asked.device))
    from csd.web import page as layout  # gradio takes seconds to import: a wrong argument is answered before

    page = layout.build(room).queue(max_size=64)
    page.launch(server_name=asked.host, server_port=asked.port, prevent_thread_lock=True, **layout.launch_settings())
    room.open_soon()
    page.block_thread()


if __name__ == "__main__":
    main()
