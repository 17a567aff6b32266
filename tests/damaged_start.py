"""Starts the page over a given folder of assets, for a fork of a process that has imported Gradio."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def start(assets: Path, port: int, said: Path) -> None:
    """Runs `python app.py` with these assets; what it writes on stderr goes to the file `said`."""
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())
    import csd.paths

    csd.paths.ASSETS = assets
    import app

    app.main(["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"])
