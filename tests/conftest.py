"""Shared fixtures: a home folder in a temporary place, a migrated database, an admin. Nothing here loads a model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.actors import Actor
from app.settings import Settings
from db import migrate
from db.engine import Database
from db.models import User
from elical_core.domain import Role


@pytest.fixture(autouse=True)
def _no_home_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ELICAL_HOME", "ELICAL_DATABASE_URL", "ELICAL_JOBS_URL", "ELICAL_LEASE_SECONDS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def empty_database_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that the migrations built; tests copy it, because migrating takes longer than copying."""
    file = tmp_path_factory.mktemp("schema") / "elical.sqlite"
    migrate.upgrade(f"sqlite:///{file}")
    return file


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home folder that does not exist yet."""
    return Settings.at(tmp_path / "home")


@pytest.fixture
def database(settings: Settings, empty_database_file: Path) -> Iterator[Database]:
    """The migrated, empty database of ``settings``."""
    settings.home.mkdir(parents=True)
    shutil.copy(empty_database_file, settings.home / "elical.sqlite")
    opened = Database.open(settings.database_url)
    yield opened
    opened.close()


def add_user(database: Database, name: str, role: Role) -> Actor:
    with database.write.begin() as session:
        user = User(name=name, role=role)
        session.add(user)
        session.flush()
        return Actor(id=user.id, name=name, role=role)


@pytest.fixture
def admin(database: Database) -> Actor:
    return add_user(database, "local", Role.ADMIN)


@pytest.fixture
def ann(database: Database) -> Actor:
    return add_user(database, "ann", Role.ANNOTATOR)


@pytest.fixture
def bob(database: Database) -> Actor:
    return add_user(database, "bob", Role.ANNOTATOR)
