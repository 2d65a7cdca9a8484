"""The schema is what the models say, upgrades are one transaction, and a newer database is left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import inspect

from db import migrate
from db.base import Base
from db.engine import make_engine
from elical_core.errors import NewerDatabase, StoreError

ROOT = Path(__file__).parents[2]


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def test_models_and_migrations_agree() -> None:
    assert migrate.main(["check"]) == 0


def test_a_difference_is_found(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    migrate.upgrade(url_of(file))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE leases")
        connection.execute("CREATE TABLE leases (id INTEGER PRIMARY KEY)")
        connection.commit()
    assert migrate.drift(url_of(file))


def test_a_missing_check_constraint_is_found(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    migrate.upgrade(url_of(file))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, "
            "'CONSTRAINT ck_projects_budget_positive CHECK (budget > 0), ', '') WHERE name = 'projects'"
        )
        connection.commit()
    found = migrate.drift(url_of(file))
    assert found == ["projects: CHECK ck_projects_budget_positive is in the models only"]


def test_down_and_up_again(tmp_path: Path) -> None:
    url = url_of(tmp_path / "x.sqlite")
    migrate.upgrade(url)
    migrate.downgrade(url, "base")
    assert migrate.current_revision(url) is None
    engine = make_engine(url)
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    engine.dispose()
    migrate.upgrade(url)
    assert migrate.current_revision(url) == migrate.newest_revision()
    assert migrate.drift(url) == []


def test_upgrading_twice_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    migrate.upgrade(url_of(file))
    before = _schema(file)
    migrate.upgrade(url_of(file))
    assert _schema(file) == before


def test_a_newer_database_is_refused_with_the_way_out(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    migrate.upgrade(url_of(file))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    for refused in (migrate.upgrade, migrate.require_known):
        with pytest.raises(NewerDatabase, match="revision 9999, this version of EliCal knows up to 0001; install"):
            refused(url_of(file))


def test_an_upgrade_that_fails_half_way_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.sqlite"
    _break_after(monkeypatch, tables=6)
    with pytest.raises(RuntimeError, match="half-way"):
        migrate.upgrade(url_of(file))
    assert _schema(file) == []


def test_a_killed_upgrade_leaves_the_old_schema(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    script = f"""
import os, alembic.op
from db import migrate
real, made = alembic.op.create_table, []
def create_table(*args, **kwargs):
    made.append(args[0])
    if len(made) == 7:
        os.kill(os.getpid(), 9)
    return real(*args, **kwargs)
alembic.op.create_table = create_table
migrate.upgrade({url_of(file)!r})
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == -9, done.stderr
    assert _schema(file) == []
    migrate.upgrade(url_of(file))
    assert migrate.drift(url_of(file)) == []


def test_rows_that_point_nowhere_stop_an_upgrade(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    migrate.upgrade(url_of(file))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "INSERT INTO leases (question_id, annotator_id, token, expires_at, heartbeat_at) VALUES (9, 9, 't', '', '')"
        )
        connection.commit()
    with pytest.raises(StoreError, match="2 references to rows that are not there; nothing was changed"):
        migrate.upgrade(url_of(file))


def test_every_table_has_a_named_primary_key() -> None:
    for table in Base.metadata.sorted_tables:
        assert table.primary_key.name == f"pk_{table.name}"


def _schema(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")]


def _break_after(monkeypatch: pytest.MonkeyPatch, tables: int) -> None:
    import alembic.op

    real, made = alembic.op.create_table, []

    def create_table(name: str, *columns: object, **options: object) -> object:
        made.append(name)
        if len(made) > tables:
            raise RuntimeError("half-way")
        return real(name, *columns, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("alembic.op.create_table", create_table)
