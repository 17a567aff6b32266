"""Upload a site as a static Space of the Hugging Face Hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from csd.models.messages import first_line

if TYPE_CHECKING:
    from huggingface_hub import HfApi

NAME = re.compile(r"[\w.-]+/[\w.-]+")


def upload_site(folder: Path, space: str, api: HfApi | None = None) -> str:
    """Create the Space USER/NAME where it is missing, upload the folder, and return the Space's address.

    The token is that of `hf auth login` or HF_TOKEN. Races that the folder no longer has are removed from the Space.
    Raises ValueError with a sentence where the name is not one, or the Hub refuses.
    """
    if not NAME.fullmatch(space):
        raise ValueError(f"A Space is named USER/NAME, not {space!r}.")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    api = api or HfApi()
    try:
        api.create_repo(space, repo_type="space", space_sdk="static", exist_ok=True)
        kind = api.space_info(space).sdk
        if kind == "static":
            api.upload_folder(
                repo_id=space,
                repo_type="space",
                folder_path=folder,
                delete_patterns="races/*.html",
                commit_message="Recorded races",
            )
    except LocalTokenNotFoundError as error:
        raise ValueError("You are not logged in to the Hub. Run `hf auth login`, or set HF_TOKEN.") from error
    except HfHubHTTPError as error:
        raise ValueError(f"The Hub refused the upload: {_sentence(error)} The site is in {folder}.") from error
    except Exception as error:  # the HTTP client's own errors differ between versions of huggingface_hub
        raise ValueError(f"The upload failed: {_sentence(error)} The site is in {folder}.") from error
    if kind != "static":
        raise ValueError(f"{space} is a {kind} Space, and a site is a static one. Choose another name.")
    return f"https://huggingface.co/spaces/{space}"


def _sentence(error: Exception) -> str:
    line = first_line(error)
    return line if line.endswith(".") else f"{line}."
