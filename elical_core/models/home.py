"""The home folder: where everything a user would lose is kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from elical_core.errors import ModelError


def default_home() -> Path:
    """``$ELICAL_HOME``, else ``.elical`` in the current folder. Need not exist yet."""
    return Path(os.environ.get("ELICAL_HOME") or ".elical").expanduser()


def models_folder(home: Path) -> Path:
    """Where converted models are kept; made when it is missing. Raises ModelError when it cannot be made."""
    folder = home / "models"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"cannot make the folder {folder} ({error.strerror}); set ELICAL_HOME to a writable place"
        ) from error
    return folder


def check_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Raises ModelError when the disk that holds ``folder`` has less than ``needed_bytes`` free."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise ModelError(
            f"not enough disk space in {folder} for {what}: {needed_bytes:,} bytes are needed and {free:,} are free; "
            f"free some, or set ELICAL_HOME to a folder on a larger disk"
        )
