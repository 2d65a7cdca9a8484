"""Many writers at once lose nothing, readers see one snapshot, and the store's troubles are told in words."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from app.services import labelling
from app.services.actors import Actor
from db.engine import Database
from db.models import AnswerCluster, Project, Question, User, Verdict
from elical_core.domain import Role
from elical_core.errors import StoreError

PROCESSES, WRITES = 6, 40


def _count_then_insert(url: str, worker: int, seen: multiprocessing.Queue[int]) -> None:
    """Reads the number of users and names the next one after it: wrong or lost as soon as two writers overlap."""
    database = Database.open(url)
    for _ in range(WRITES):
        with database.write.begin() as session:
            count = session.scalar(select(func.count()).select_from(User)) or 0
            session.add(User(name=f"user-{count}", role=Role.ANNOTATOR))
        seen.put(count)
    database.close()


@pytest.mark.usefixtures("sqlite_only")
def test_six_processes_commit_all_of_their_read_then_insert_transactions(database: Database) -> None:
    spawn = multiprocessing.get_context("spawn")
    seen = spawn.Queue()
    url = str(database.engine.url)
    workers = [spawn.Process(target=_count_then_insert, args=(url, i, seen)) for i in range(PROCESSES)]
    for worker in workers:
        worker.start()
    counts = [seen.get(timeout=120) for _ in range(PROCESSES * WRITES)]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    assert sorted(counts) == list(range(PROCESSES * WRITES))  # each saw all before it
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(User)) == PROCESSES * WRITES


@pytest.mark.usefixtures("sqlite_only")
def test_sqlite_is_set_up_on_every_connection(database: Database) -> None:
    with database.engine.connect() as first, database.engine.connect() as second:
        for connection in (first, second):
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
            assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 30_000
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL: saved means on the disk


def test_a_reader_sees_one_snapshot_and_does_not_block_a_writer(database: Database) -> None:
    count = select(func.count()).select_from(User)
    with database.read.begin() as reading:
        assert reading.scalar(count) == 0
        with database.write.begin() as writing:
            writing.add(User(name="ann", role=Role.ANNOTATOR))
        assert reading.scalar(count) == 0
    with database.read.begin() as reading:
        assert reading.scalar(count) == 1


def test_an_exception_rolls_back(database: Database) -> None:
    def fails_after_writing() -> None:
        with database.write.begin() as session:
            session.add(User(name="ann", role=Role.ANNOTATOR))
            session.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails_after_writing()
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(User)) == 0


def test_one_database_serves_many_threads(database: Database) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for i in range(10):
                with database.write.begin() as session:
                    session.add(User(name=f"{worker}-{i}", role=Role.VIEWER))
                with database.read.begin() as session:
                    session.scalar(select(func.count()).select_from(User))
        except BaseException as error:  # noqa: BLE001 (told to the test's thread)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(User)) == 160


@pytest.mark.usefixtures("sqlite_only")
def test_a_busy_database_is_told_in_words(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.BUSY_SECONDS", 0.1)
    hurried = Database.open(str(database.engine.url))
    with database.write.begin() as session:
        session.add(User(name="ann", role=Role.ANNOTATOR))
        session.flush()
        with pytest.raises(StoreError, match="stayed busy"), hurried.write.begin() as late:
            late.scalar(select(User.id))
    hurried.close()


def test_a_file_that_is_no_database_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    database = Database.open(f"sqlite:///{tmp_path / 'x.sqlite'}")
    with pytest.raises(StoreError, match="not an EliCal database"), database.read.begin() as session:
        session.scalar(select(User.id))
    database.close()


def test_a_missing_folder_is_told_in_words(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'nowhere' / 'x.sqlite'}")
    with pytest.raises(StoreError, match="cannot be opened"), database.read.begin() as session:
        session.scalar(select(User.id))
    database.close()


def test_times_are_utc_and_naive_ones_are_refused(database: Database) -> None:
    with database.write.begin() as session:
        session.add(User(name="ann", role=Role.ANNOTATOR, created_at=datetime(2026, 1, 1, 12, tzinfo=UTC)))
    with database.read.begin() as session:
        assert session.scalars(select(User)).one().created_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    with pytest.raises(Exception, match="no time zone"), database.write.begin() as session:
        session.add(User(name="bob", role=Role.ANNOTATOR, created_at=datetime(2026, 1, 1)))  # noqa: DTZ001


def test_a_judged_cluster_cannot_be_deleted_but_its_project_can(
    database: Database, fill: Callable[..., Any], ann: Actor
) -> None:
    project = fill(1)
    item = labelling.next_item(database, ann, project.project_id)
    assert item is not None
    labelling.submit(
        database,
        ann,
        question_id=item.question_id,
        lease_token=item.lease_token,
        ticked=(),
        outcome=labelling.Outcome.JUDGED,
        client_key="k",
        seconds=1,
    )
    with pytest.raises(IntegrityError), database.write.begin() as session:
        session.execute(text("DELETE FROM answer_clusters"))
    with database.write.begin() as session:
        session.execute(text("DELETE FROM projects"))
    with database.read.begin() as session:
        for table in (Project, Question, AnswerCluster, Verdict):
            assert session.scalar(select(func.count()).select_from(table)) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO users (name, role, disabled, created_at) VALUES ('a', 'king', false, '2026-01-01')",
        "INSERT INTO round_items (round_id, question_id, position, stream, probability, reason) "
        "VALUES (1, 1, 0, 'train', 1.5, '')",
        "INSERT INTO leases (question_id, annotator_id, token, expires_at, heartbeat_at) "
        "VALUES (99, 99, 't', '2026-01-01', '2026-01-01')",
    ],
)
def test_rules_are_constraints(database: Database, statement: str) -> None:
    with pytest.raises(IntegrityError), database.write.begin() as session:
        session.execute(text(statement))


@pytest.mark.usefixtures("sqlite_only")
def test_the_file_is_a_plain_sqlite_database(database: Database) -> None:
    file = database.engine.url.database
    assert file is not None
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
