"""Uploaded files on disk, so that the reader meets every file the same way and memory stays bounded."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import IO

KEEP_SECONDS = 24 * 3600


def keep_upload(folder: Path, file_id: str, name: str, stream: IO[bytes]) -> Path:
    """The upload as a file of its own name in ``folder/<file_id>``, written once; uploads of yesterday are cleared.

    ``file_id`` and the last part of ``name`` come from the browser, so only their plain characters are used as path.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if time.time() - old.stat().st_mtime > KEEP_SECONDS:
            shutil.rmtree(old)
    own = folder / "".join(c for c in file_id if c.isalnum() or c in "-_")
    path = own / (Path(name.replace("\\", "/")).name.lstrip(".") or "upload")
    if not path.exists():
        own.mkdir(exist_ok=True)
        part = own / ".part"
        with part.open("wb") as out:
            shutil.copyfileobj(stream, out, length=1 << 20)
        part.replace(path)
    return path
