"""The home folder: made, upgraded with a backup, checked, saved to one file and brought back."""

from __future__ import annotations

import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.deps import open_database
from app.services import home, labels, progress, projects
from app.services.actors import Actor, local_admin
from app.services.home_backup import backup, restore
from app.settings import Settings
from db import migrate
from db.engine import Database
from elical_core.domain import Role
from elical_core.errors import ConfigError, Conflict, InputError, NewerDatabase, StoreError

Fill = Callable[..., Any]


def failed(settings: Settings) -> set[str]:
    return {check.name for check in home.doctor(settings) if not check.ok}


def run_sql(settings: Settings, statement: str) -> None:
    with closing(sqlite3.connect(settings.home / "elical.sqlite")) as connection:
        connection.execute(statement)
        connection.commit()


def test_init_makes_everything_and_an_admin(settings: Settings) -> None:
    report = home.init(settings)
    assert (report.created, report.upgraded_from, report.backup) == (True, None, None)
    assert {path.name for path in settings.home.iterdir()} >= {"models", "projects", "backups", "logs", "elical.sqlite"}
    database = open_database(settings)
    assert local_admin(database).role is Role.ADMIN
    database.close()
    assert failed(settings) == set()


def test_init_of_a_ready_home_changes_nothing(settings: Settings) -> None:
    home.init(settings)
    assert home.init(settings).created is False
    assert list(settings.backups.iterdir()) == []


def test_init_before_an_upgrade_makes_a_backup(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    home.init(settings)
    run_sql(settings, "UPDATE alembic_version SET version_num = '0000'")
    monkeypatch.setattr(migrate, "require_known", lambda url: "0000")
    monkeypatch.setattr(
        migrate, "upgrade", lambda url: run_sql(settings, "UPDATE alembic_version SET version_num='up'")
    )
    report = home.init(settings)
    assert report.upgraded_from == "0000"
    assert report.backup is not None
    with closing(sqlite3.connect(report.backup)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0000",)]
        assert connection.execute("SELECT name FROM users").fetchall() == [("local",)]


def test_a_newer_database_is_refused_untouched(settings: Settings) -> None:
    home.init(settings)
    run_sql(settings, "UPDATE alembic_version SET version_num = '9999'")
    before = (settings.home / "elical.sqlite").read_bytes()
    for refused in (home.init, open_database):
        with pytest.raises(NewerDatabase, match="install the newer version"):
            refused(settings)
    assert (settings.home / "elical.sqlite").read_bytes() == before
    assert "database revision" in failed(settings)


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot be written .* set ELICAL_HOME"):
        home.init(Settings.at(tmp_path / "file" / "home"))


def test_opening_a_home_without_database_says_what_to_do(settings: Settings) -> None:
    with pytest.raises(StoreError, match="run `elical init`"):
        open_database(settings)
    assert failed(settings) == {"home folder", "database revision", "database integrity", "checkpoints"}


def test_doctor_finds_damage_and_missing_checkpoint_files(settings: Settings) -> None:
    home.init(settings)
    run_sql(
        settings,
        "INSERT INTO leases (question_id, annotator_id, token, expires_at, heartbeat_at) VALUES (9, 9, 't', '', '')",
    )
    assert failed(settings) == {"database integrity"}
    run_sql(settings, "DELETE FROM leases")
    database = open_database(settings)
    who = local_admin(database)
    project = projects.create_project(database, who, "p", model_id="packaged", prompt={})
    database.close()
    run_sql(
        settings,
        "INSERT INTO checkpoints (project_id, stage, label_set_hash, n_labels, settings, seed, path, metrics, state, "
        f"created_at) VALUES ({project.id}, 'elicitation', '', 0, '{{}}', 0, 'projects/1/checkpoints/a', '{{}}', "
        "'fresh', '2026-01-01')",
    )
    assert failed(settings) == {"checkpoints"}


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    plain = Settings.from_env({}, home=tmp_path)
    assert plain.database_url == f"sqlite:///{tmp_path / 'elical.sqlite'}"
    assert Settings.from_env({}).home == Path.cwd() / ".elical"
    told = Settings.from_env({"ELICAL_HOME": str(tmp_path), "ELICAL_DATABASE_URL": "postgresql+psycopg://h/d"})
    assert (told.home, told.database_url) == (tmp_path, "postgresql+psycopg://h/d")
    with pytest.raises(ConfigError, match="whole number of seconds, got 'soon'"):
        Settings.from_env({"ELICAL_LEASE_SECONDS": "soon"})
    with pytest.raises(ConfigError, match="between 10 and 86400, got 5"):
        Settings.from_env({"ELICAL_LEASE_SECONDS": "5"})
    assert plain.relative(plain.checkpoints(3) / "a") == "projects/3/checkpoints/a"


def filled_home(settings: Settings, database: Database, admin: Actor, fill: Fill) -> int:
    project = fill(2)
    folder = settings.checkpoints(project.project_id) / "stage1"
    folder.mkdir(parents=True)
    (folder / "head.safetensors").write_bytes(b"\x00" * 1000)
    (folder.parent / "half.tmp").mkdir()
    (folder.parent / "half.tmp" / "x").write_bytes(b"unfinished")
    return int(project.project_id)


@pytest.mark.usefixtures("sqlite_only")
def test_a_backup_brings_everything_back(
    settings: Settings, database: Database, admin: Actor, fill: Fill, tmp_path: Path
) -> None:
    filled_home(settings, database, admin, fill)
    report = backup(settings, tmp_path / "b.tar")  # while the database is open
    assert (report.files, report.revision) == (2, migrate.newest_revision())
    elsewhere = Settings.at(tmp_path / "other")
    restore(elsewhere, tmp_path / "b.tar")
    restored = open_database(elsewhere)
    who = local_admin(restored)
    project = projects.project_by_name(restored, who, "capitals")
    assert progress.project_state(restored, who, project.id).drawn == 2
    assert labels.labelled(restored, who, project.id) == []
    restored.close()
    assert (elsewhere.checkpoints(project.id) / "stage1" / "head.safetensors").stat().st_size == 1000
    assert not (elsewhere.checkpoints(project.id) / "half.tmp").exists()


@pytest.mark.usefixtures("sqlite_only")
def test_a_restore_keeps_what_was_there(settings: Settings, database: Database, fill: Fill, tmp_path: Path) -> None:
    backup(settings, tmp_path / "b.tar")
    fill(1)
    with pytest.raises(Conflict, match="stop it, then restore again"):
        restore(settings, tmp_path / "b.tar")
    database.close()
    restore(settings, tmp_path / "b.tar")
    restored = open_database(settings)
    assert projects.list_projects(restored, local_admin(restored)) == []
    restored.close()
    (aside,) = settings.backups.iterdir()
    with closing(sqlite3.connect(aside / "elical.sqlite")) as connection:
        assert connection.execute("SELECT name FROM projects").fetchall() == [("capitals",)]


@pytest.mark.usefixtures("sqlite_only")
@pytest.mark.parametrize("harm", ["text", "cut", "changed", "outside", "format"])
def test_a_bad_backup_changes_nothing(
    settings: Settings, database: Database, fill: Fill, tmp_path: Path, harm: str
) -> None:
    fill(1)
    good, bad = tmp_path / "good.tar", tmp_path / "bad.tar"
    backup(settings, good)
    database.close()
    before = (settings.home / "elical.sqlite").read_bytes()
    _harm(good, bad, harm)
    with pytest.raises(InputError, match="nothing was changed"):
        restore(settings, bad)
    assert (settings.home / "elical.sqlite").read_bytes() == before
    assert not list(settings.home.glob("*.tmp"))


def _harm(good: Path, bad: Path, harm: str) -> None:
    content = good.read_bytes()
    if harm == "text":
        bad.write_text("no backup")
    elif harm == "cut":
        bad.write_bytes(content[: len(content) // 2])
    elif harm == "changed":
        middle = content.index(b"capitals")
        bad.write_bytes(content[:middle] + b"CAPITALS" + content[middle + 8 :])
    else:
        with tarfile.open(bad, "w") as tar:
            if harm == "outside":
                (bad.parent / "evil").write_text("x")
                tar.add(bad.parent / "evil", arcname="../evil-out")
            (bad.parent / "backup.json").write_text(json.dumps({"format": 7, "files": {}}))
            tar.add(bad.parent / "backup.json", arcname="backup.json")


def test_nothing_to_back_up_is_said(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nothing to back up"):
        backup(settings, tmp_path / "b.tar")
