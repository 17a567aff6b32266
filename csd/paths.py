"""Where the app's own files are, and where this machine keeps what was measured or built for a family."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets"


def cache_folder() -> Path:
    """CSD_HOME where it is set, otherwise `csd` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CSD_HOME") or Path(base) / "csd")


def called(path: Path) -> str:
    """A file as sentences name it: from the project's folder where it is inside, otherwise without its folders."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def local_path(name: str) -> Path | None:
    """The absolute path of a folder or file, given as it is or from this project; None where there is no such path,
    as for a Hub ID, or for text that cannot be a path."""
    try:
        return next((path.absolute() for path in (Path(name).expanduser(), ROOT / name) if path.exists()), None)
    except (OSError, RuntimeError, ValueError):  # too long, the home of nobody, a null character
        return None


def write_whole(path: Path, text: str) -> None:
    """Write to a temporary file, then rename it, so that readers never see a partial file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
