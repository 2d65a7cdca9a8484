"""Opens the database of a home folder. The caller keeps it (one per process) and closes it."""

from __future__ import annotations

from app.settings import Settings
from db import migrate
from db.engine import Database
from elical_core.errors import StoreError


def open_database(settings: Settings) -> Database:
    """The database, ready for work. Raises StoreError when it is missing or older, NewerDatabase when it is newer."""
    if settings.database_url.startswith("sqlite:///"):
        file = settings.database_url.removeprefix("sqlite:///")
        if not (settings.home / file).is_file():
            raise StoreError(
                f"there is no database at {file}; run `elical init`, or set ELICAL_HOME to the right folder"
            )
    found = migrate.require_known(settings.database_url)
    newest = migrate.newest_revision()
    if found != newest:
        raise StoreError(
            f"the database has revision {found or 'none'} and this version needs {newest}; run `elical init` to "
            "upgrade it (a backup is made first)"
        )
    return Database.open(settings.database_url)
