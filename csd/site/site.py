"""A static site of recorded races: a page for each, one that lists them, and the theory. It needs neither Python nor
network, and has the front matter of a static Space."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from csd.record.recording import Recording
from csd.sentences import counted
from csd.site.index import index_page
from csd.site.theory import theory_page
from csd.stage.export import page

MARK = "# Recorded races of decoding methods"  # by which a README.md is known as one of ours

README = """---
title: Cascade Speculative Drafting, recorded
emoji: 🏁
colorFrom: indigo
colorTo: yellow
sdk: static
app_file: index.html
fullWidth: true
pinned: false
license: apache-2.0
short_description: Recorded races of decoding methods, token by token
---

{mark}

{races}, as static pages: they replay what was measured, and run no model. The theory page computes the model of the
paper [Cascade Speculative Drafting for Even Faster LLM Inference](https://arxiv.org/abs/2312.11462) in the
browser.
"""


def site_files(recordings: Mapping[str, Recording]) -> dict[str, str]:
    """The text of each file by its path, for at least one race by name. Names become parts of addresses."""
    named = {safe_name(name): recording for name, recording in recordings.items()}
    count = counted(len(named), "race")
    return {
        "README.md": README.format(mark=MARK, races=count),
        "index.html": index_page(named),
        "theory.html": theory_page(named),
        **{f"races/{name}.html": page(recording, _links(name)) for name, recording in named.items()},
    }


def safe_name(name: str) -> str:
    """A name of letters, digits, - and _ for an address."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "race"


def write_site(recordings: Mapping[str, Recording], folder: Path) -> int:
    """Write the site and return its size in bytes. Races of an earlier site in this folder are removed, nothing else.

    Raises ValueError for a folder that holds something else, OSError where it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()) and not _is_site(folder):
        raise ValueError(f"{folder} holds other files. Name a new folder, or one that was written by this command.")
    files = site_files(recordings)
    (folder / "races").mkdir(parents=True, exist_ok=True)
    for old in (folder / "races").glob("*.html"):
        old.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return sum((folder / name).stat().st_size for name in files)


def _is_site(folder: Path) -> bool:
    readme = folder / "README.md"
    return readme.is_file() and MARK in readme.read_text(encoding="utf-8", errors="replace")


def _links(name: str) -> tuple[tuple[str, str], ...]:
    return ("../index.html", "All races"), (f"../theory.html#{name}", "Theory, with the α and c of this race")
