"""Shared fixtures: a home folder in a temporary place, a migrated database, an admin. Nothing here loads a model.

With ELICAL_TEST_POSTGRES=postgresql+psycopg://user@host:port the ``database`` fixture makes its databases on that
server instead of SQLite files; tests that use ``sqlite_only`` are then skipped.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from app.services import generations, projects, rounds
from app.services.actors import Actor
from app.settings import Settings
from db import migrate
from db.engine import Database
from db.models import Question, User
from elical_core.config import SelectionConfig
from elical_core.domain import (
    Answer,
    AnswerClass,
    ClusterRecord,
    Consistency,
    DecidingStep,
    GenerationRecord,
    Role,
    Split,
    Stream,
)


@pytest.fixture(autouse=True)
def _no_home_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ELICAL_HOME", "ELICAL_DATABASE_URL", "ELICAL_JOBS_URL", "ELICAL_LEASE_SECONDS"):
        monkeypatch.delenv(name, raising=False)


POSTGRES = os.environ.get("ELICAL_TEST_POSTGRES", "")


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
    with _on_postgres() if POSTGRES else nullcontext(settings.database_url) as url:
        if not POSTGRES:
            shutil.copy(empty_database_file, settings.home / "elical.sqlite")
        opened = Database.open(url)
        yield opened
        opened.close()


@pytest.fixture
def sqlite_only() -> None:
    """For tests of what only a file database does."""
    if POSTGRES:
        pytest.skip("runs on SQLite only")


@contextmanager
def _on_postgres() -> Iterator[str]:
    name = f"elical_test_{uuid.uuid4().hex}"
    server = create_engine(f"{POSTGRES}/postgres", isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    migrate.upgrade(f"{POSTGRES}/{name}")
    yield f"{POSTGRES}/{name}"
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A project with answered questions q0, q1, ... and a round that drew them all in this order."""

    project_id: int
    question_ids: tuple[int, ...]


def answer(text: str) -> Answer:
    return Answer(text=text, answer_class=AnswerClass.ANSWER if text else AnswerClass.EMPTY)


def answers_of(
    question_id: int, samples: Sequence[str], *, fingerprint: str = "model-a"
) -> tuple[GenerationRecord, Consistency]:
    """Samples as given, the first of them being the greedy answer; equal texts are one cluster."""
    texts = list(dict.fromkeys(samples))
    record = GenerationRecord(
        question_id=question_id,
        model_fingerprint=fingerprint,
        seed=0,
        greedy=Answer(text=samples[0], answer_class=AnswerClass.ANSWER, tokens=("a", "b"), logprobs=(-0.5, -0.5)),
        samples=tuple(answer(text) for text in samples),
    )
    clusters = tuple(
        ClusterRecord(
            representative=text,
            members=tuple(i for i, sample in enumerate(samples) if sample == text),
            holds_greedy=text == samples[0],
            step=DecidingStep.EXACT,
        )
        for text in texts
    )
    same = sum(sample == samples[0] for sample in samples)
    return record, Consistency(
        clusters=clusters,
        target=same / len(samples),
        reason="",
        same=same,
        different=len(samples) - same,
        unresolved=0,
    )


Fill = Callable[..., Filled]


@pytest.fixture
def fill(database: Database, admin: Actor) -> Fill:
    """Makes a project: ``fill(n=4, audit=(3,), overlap=1, samples=("Paris", "Paris", "Lyon", "Nice"), drawn=True)``.

    ``audit`` are the positions of questions in the audit split and stream.
    """

    def filled(
        n: int = 4,
        *,
        name: str = "capitals",
        audit: Sequence[int] = (),
        overlap: int = 1,
        samples: Sequence[str] = ("Paris", "Paris", "Lyon", "Nice"),
        drawn: bool = True,
    ) -> Filled:
        project = projects.create_project(database, admin, name, model_id="packaged", prompt={"kind": "few-shot"})
        with database.write.begin() as session:
            rows = [
                Question(
                    project_id=project.id,
                    external_id=f"q{i}",
                    text=f"Question {i}?",
                    group=f"g{i}",
                    split=Split.AUDIT if i in audit else Split.POOL,
                )
                for i in range(n)
            ]
            session.add_all(rows)
            session.flush()
            ids = tuple(row.id for row in rows)
        generations.store(database, admin, project.id, [answers_of(question_id, samples) for question_id in ids])
        if drawn:
            rounds.add_round(
                database,
                admin,
                project.id,
                [
                    rounds.DrawnQuestion(
                        question_id=question_id,
                        stream=Stream.AUDIT if i in audit else Stream.TRAIN,
                        probability=0.5,
                    )
                    for i, question_id in enumerate(ids)
                ],
                config=SelectionConfig(),
                overlap=overlap,
            )
        return Filled(project_id=project.id, question_ids=ids)

    return filled


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


@pytest.fixture(scope="session")
def packaged_home(request: pytest.FixtureRequest) -> Path:
    """A home folder with the packaged model converted: ``ELICAL_TEST_HOME``, else pytest's cache. About 30 s once."""
    given = os.environ.get("ELICAL_TEST_HOME")
    home = Path(given) if given else Path(request.config.cache.mkdir("elical-home"))
    from elical_core.models import PACKAGED, locate

    locate(PACKAGED, home=home)
    return home
