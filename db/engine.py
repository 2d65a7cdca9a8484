"""The database: one pool, a session maker that reads and one that writes.

SQLite runs in WAL mode with foreign keys on and a busy timeout of 30 s. Readers begin deferred and see one snapshot;
writers begin with BEGIN IMMEDIATE, so a transaction that reads before it inserts waits for its turn instead of failing
with "database is locked" when it upgrades. Write transactions are short; no model call inside one.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from elical_core.errors import StoreError

BUSY_SECONDS = 30
WAL_LIMIT_BYTES = 64 * 2**20

_SENTENCES = {  # part of the driver's message -> what the user reads
    "database is locked": f"the database stayed busy for {BUSY_SECONDS} s; nothing was saved, try again",
    "readonly database": "the database is read-only; nothing was saved. Make its file and folder writable, try again",
    "is full": "the disk is full; nothing was saved. Free some space, then try again",
    "unable to open": "the database file cannot be opened; check that its folder exists and is writable",
    "disk i/o error": "the disk failed to read or write; nothing was saved. Check the disk, then run `elical doctor`",
    "malformed": "the database file is damaged; restore the newest file in backups/ with `elical restore FILE`",
    "not a database": "this is not an EliCal database; check ELICAL_HOME, or run `elical restore FILE` with a backup",
    "no such table": "the database has no EliCal tables yet; run `elical init`",
}


class Database:
    """Session makers over one connection pool; safe to share between threads.

    ``read.begin()`` opens a deferred, ``write.begin()`` an immediate transaction; both commit on leaving the block and
    roll back on an exception. Views stay readable after the commit (``expire_on_commit`` is off).
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        reading = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
        self.read: sessionmaker[Session] = sessionmaker(
            engine.execution_options(sqlite_begin="DEFERRED", **reading), expire_on_commit=False
        )
        self.write: sessionmaker[Session] = sessionmaker(
            engine.execution_options(sqlite_begin="IMMEDIATE"), expire_on_commit=False
        )

    @classmethod
    def open(cls, url: str) -> Database:
        """A database for ``sqlite:///FILE`` or ``postgresql+psycopg://...``. Nothing is created or upgraded here.

        Trouble on the way to the store (locked, read-only, disk full, server gone) is raised as StoreError.
        """
        return cls(make_engine(url))

    def close(self) -> None:
        self.engine.dispose()


def make_engine(url: str, *, foreign_keys: bool = True) -> Engine:
    """The engine behind ``Database``. Migrations switch foreign keys off, because SQLite rebuilds a table by dropping
    it, and would delete the rows that point at it."""
    sqlite = make_url(url).get_backend_name() == "sqlite"
    engine = create_engine(
        url,
        pool_size=10,
        max_overflow=30,
        pool_pre_ping=not sqlite,
        connect_args={"timeout": BUSY_SECONDS} if sqlite else {},
    )
    event.listen(engine, "handle_error", _say_it_plainly)
    if sqlite:
        event.listen(engine, "connect", _SqliteSetUp(foreign_keys))
        event.listen(engine, "begin", _begin)
    return engine


class _SqliteSetUp:
    def __init__(self, foreign_keys: bool) -> None:
        self._foreign_keys = foreign_keys

    def __call__(self, connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver begins no transaction of its own; _begin does
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
        cursor.execute(f"PRAGMA foreign_keys = {'ON' if self._foreign_keys else 'OFF'}")
        cursor.close()


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _say_it_plainly(context: ExceptionContext) -> None:
    """Replaces the driver's words by a StoreError where the store, not the statement, is at fault."""
    error = context.sqlalchemy_exception
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return
    text = str(error.orig).lower()
    for part, sentence in _SENTENCES.items():
        if part in text:
            raise StoreError(sentence) from error
    if context.is_disconnect or isinstance(error, (OperationalError, InterfaceError, DisconnectionError)):
        raise StoreError(
            f"the database did not answer ({str(error.orig).strip()}); nothing was saved, try again"
        ) from error
