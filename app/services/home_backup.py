"""One file of everything a user would lose, made while people work; and back.

The file is a tar: ``backup.json`` (versions and a SHA-256 of every file), the databases, and ``projects/`` with its
checkpoints and features. Downloaded and converted language models, logs and older backups are left out: they can be
made again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.services.home import InitReport, copy_sqlite, init, sqlite_file
from app.settings import Settings
from db import migrate
from db.base import utc_now
from elical_core.errors import Conflict, InputError, StoreError

_ABOUT = "backup.json"
_DATABASES = ("elical.sqlite", "jobs.sqlite")
_UNFINISHED = (".part", ".tmp")


@dataclass(frozen=True, kw_only=True)
class BackupReport:
    path: str
    files: int
    size_bytes: int
    revision: str


def backup(settings: Settings, out: Path, *, now: datetime | None = None) -> BackupReport:
    """Writes the backup whole or not at all. Raises StoreError when there is nothing to save or no room for it."""
    database = sqlite_file(settings)
    if database is None:
        raise StoreError(
            "the database is a server: save it with pg_dump, and copy the home folder's projects/ beside it"
        )
    if not database.is_file():
        raise StoreError(f"there is no database at {database}; nothing to back up")
    part = out.with_name(out.name + ".part")
    try:
        with tempfile.TemporaryDirectory(dir=settings.home, prefix="backup-", suffix=".tmp") as folder:
            files = dict(_database_copies(settings, Path(folder))) | dict(_project_files(settings))
            about = {
                "format": 1,
                "version": importlib.metadata.version("elical"),
                "revision": migrate.require_known(settings.database_url) or "",
                "created_at": (now or utc_now()).isoformat(),
                "files": {name: _sha256(path) for name, path in files.items()},
            }
            with tarfile.open(part, "w") as tar:
                _add_text(tar, _ABOUT, json.dumps(about, indent=1))
                for name, path in files.items():
                    tar.add(path, arcname=name, recursive=False)
        part.replace(out)
    except OSError as error:
        raise StoreError(
            f"the backup could not be written to {out} ({error.strerror}); choose another place"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return BackupReport(path=str(out), files=len(files), size_bytes=out.stat().st_size, revision=str(about["revision"]))


def restore(settings: Settings, file: Path, *, now: datetime | None = None) -> InitReport:
    """Puts a backup in the place of what the home folder holds, then upgrades its database if need be.

    What was there is kept in ``backups/before-restore-TIME/``. Nothing is touched before the whole file has been
    checked. Raises InputError for a file that is damaged or no backup, NewerDatabase when a newer version made it,
    Conflict while the app or a worker has the home folder open.
    """
    database = sqlite_file(settings)
    if database is None or database != settings.home / _DATABASES[0]:
        raise StoreError(
            f"a backup is restored into a home folder with its own {_DATABASES[0]}; unset ELICAL_DATABASE_URL"
        )
    settings.home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.home, prefix="restore-", suffix=".tmp") as folder:
        fresh = Path(folder)
        _unpack(file, fresh)
        _require_sound(fresh / _DATABASES[0])
        _require_unused(database)
        aside = settings.backups / f"before-restore-{now or utc_now():%Y%m%dT%H%M%S.%fZ}"
        _swap(settings.home, fresh, aside)
    return init(settings)


def _database_copies(settings: Settings, folder: Path) -> Iterator[tuple[str, Path]]:
    for name in _DATABASES:
        if (source := settings.home / name).is_file():
            copy_sqlite(source, folder / name)
            yield name, folder / name


def _project_files(settings: Settings) -> Iterator[tuple[str, Path]]:
    for path in sorted(settings.projects.rglob("*")):
        name = path.relative_to(settings.home)
        if path.is_file() and not any(part.endswith(_UNFINISHED) for part in name.parts):
            yield name.as_posix(), path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    tar.addfile(entry, io.BytesIO(text.encode()))


def _unpack(file: Path, folder: Path) -> None:
    """Everything that ``backup.json`` lists, each file with its checksum."""
    try:
        with tarfile.open(file, "r:") as tar:
            tar.extractall(folder, filter="data")
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        listed = _listed(about)
    except (tarfile.TarError, ValueError, KeyError, FileNotFoundError) as error:
        raise InputError(f"{file} is not an EliCal backup, or it is damaged ({error}); nothing was changed") from error
    except OSError as error:
        raise InputError(f"{file} cannot be unpacked ({error.strerror}); nothing was changed") from error
    for name, checksum in listed.items():
        path = folder / name
        if not path.is_file() or _sha256(path) != checksum:
            raise InputError(f"{file} is damaged: {name} is missing or changed; nothing was changed")
    if _DATABASES[0] not in listed:
        raise InputError(f"{file} holds no database; nothing was changed")


def _listed(about: Any) -> dict[str, str]:
    if about["format"] != 1:
        raise ValueError(f"format {about['format']}")
    return {str(name): str(checksum) for name, checksum in about["files"].items()}


def _require_sound(database: Path) -> None:
    migrate.require_known(f"sqlite:///{database}")
    with closing(sqlite3.connect(database)) as connection:
        if (found := connection.execute("PRAGMA integrity_check").fetchone()) != ("ok",):
            raise InputError(f"the backup's database is damaged ({found}); nothing was changed")


def _require_unused(database: Path) -> None:
    """SQLite leaves WAL mode only when nobody else has the database open."""
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(database, timeout=1)) as connection:
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError:
        mode = "busy"
    except sqlite3.DatabaseError:
        return  # damaged: the very reason to restore
    if mode != "delete":
        raise Conflict("the app or a worker has the home folder open; stop it, then restore again. Nothing was changed")


def _swap(home: Path, fresh: Path, aside: Path) -> None:
    aside.mkdir(parents=True)
    names = [*_DATABASES, *(f"{name}{side}" for name in _DATABASES for side in ("-wal", "-shm")), "projects"]
    for name in names:
        if (home / name).exists():
            shutil.move(home / name, aside / name)
    for name in names:
        if (fresh / name).exists():
            shutil.move(fresh / name, home / name)
