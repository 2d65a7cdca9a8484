"""Schema upgrades: one transaction, never of a database that a newer version wrote.

python -m db.migrate check           exit 1 when the models and the migrations have parted
python -m db.migrate revision TEXT   write the next migration from the difference (for developers)
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import CheckConstraint, Connection, Engine, inspect

from db import models  # noqa: F401 (fills the metadata)
from db.base import Base
from db.engine import make_engine
from elical_core.errors import NewerDatabase, StoreError

_UPGRADE_LOCK = 0x5E11CA1  # any number that nobody else locks
_FOLDER = Path(__file__).parent / "migrations"


def newest_revision() -> str:
    """The revision that this version of EliCal writes."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None, "db/migrations/versions is empty"
    return head


def current_revision(url: str) -> str | None:
    """The revision of the database at ``url``; None for an empty or missing one."""
    engine = make_engine(url, foreign_keys=False)
    try:
        with engine.connect() as connection:
            return _revision(connection)
    finally:
        engine.dispose()


def require_known(url: str) -> str | None:
    """``current_revision``, or NewerDatabase when this version does not know it."""
    found = current_revision(url)
    _refuse_newer(found)
    return found


def upgrade(url: str, target: str = "head") -> None:
    """Brings the database at ``url`` to ``target``, wholly or not at all. Raises NewerDatabase, StoreError."""
    _run(url, target, command.upgrade)


def downgrade(url: str, target: str) -> None:
    """Takes the database back to ``target`` ("base" = no tables). Data that the older form cannot hold is lost."""
    _run(url, target, command.downgrade)


def drift(url: str) -> list[str]:
    """How the database at ``url`` differs from the models, in words; empty when it does not.

    Alembic compares tables, columns, types, keys and indexes; CHECK constraints, which it leaves out, are compared here
    by name.
    """
    engine = make_engine(url, foreign_keys=False)
    try:
        with engine.begin() as connection:
            found = _missing_checks(connection)
            try:
                command.check(_config(connection))
            except CommandError as error:
                found.append(str(error))
            return found
    finally:
        engine.dispose()


def _run(url: str, target: str, act: Callable[[Config, str], None]) -> None:
    engine = make_engine(url, foreign_keys=False)
    try:
        _apply(engine, target, act)
    finally:
        engine.dispose()


def _apply(engine: Engine, target: str, act: Callable[[Config, str], None]) -> None:
    with engine.execution_options(sqlite_begin="IMMEDIATE").begin() as connection:
        if connection.dialect.name == "postgresql":  # SQLite has locked the file already
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})")
        _refuse_newer(_revision(connection))
        act(_config(connection), target)
        if connection.dialect.name == "sqlite" and (
            broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        ):
            raise StoreError(
                f"the upgrade would leave {len(broken)} references to rows that are not there; nothing was changed"
            )


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _refuse_newer(found: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found is not None and found not in known:
        raise NewerDatabase(
            f"the database has revision {found}, this version of EliCal knows up to {newest_revision()}; "
            "install the newer version, or restore a backup made by this one"
        )


def _missing_checks(connection: Connection) -> list[str]:
    inspector = inspect(connection)
    name_of = connection.dialect.identifier_preparer.format_constraint
    found = []
    for table in Base.metadata.sorted_tables:
        there = {str(check["name"]) for check in inspector.get_check_constraints(table.name)}
        names = (name_of(c) for c in table.constraints if isinstance(c, CheckConstraint))
        wanted = {str(name) for name in names if name}
        found += [f"{table.name}: CHECK {name} is in the models only" for name in sorted(wanted - there)]
        found += [f"{table.name}: CHECK {name} is in the migrations only" for name in sorted(there - wanted)]
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m db.migrate", description=__doc__)
    parser.add_argument("act", choices=["check", "revision"])
    parser.add_argument("text", nargs="?", default="")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/check.sqlite"
        upgrade(url)
        if options.act == "revision":
            number = f"{len(list(ScriptDirectory.from_config(_config()).walk_revisions())) + 1:04d}"
            engine = make_engine(url, foreign_keys=False)
            with engine.begin() as connection:
                command.revision(_config(connection), options.text, autogenerate=True, rev_id=number)
            engine.dispose()
            return 0
        found = drift(url)
    for line in found:
        sys.stderr.write(line + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
