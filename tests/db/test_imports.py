"""Named queries of the import."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from app.services.actors import Actor
from db.engine import Database
from db.models import AnswerCluster, Generation, Question
from db.repositories.imports import ImportRepository
from elical_core.domain import Split
from tests.conftest import Fill


def columns(project_id: int, external_id: str, **changed: Any) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "external_id": external_id,
        "text": f"{external_id}?",
        "context": "",
        "reference_answers": ["x"],
        "domain": "",
        "details": {"n": 1},
        "split": Split.POOL,
        "group": external_id,
        **changed,
    }


def test_insert_and_find_again(database: Database, admin: Actor, fill: Fill) -> None:
    project_id = fill(n=1, drawn=False).project_id
    with database.write.begin() as session:
        repository = ImportRepository(session)
        before = repository.state(project_id)
        repository.insert([columns(project_id, "a"), columns(project_id, "b", split=Split.AUDIT)])
        repository.insert([])
        assert repository.state(project_id) == (before[0] + 2, before[1] + 2)
    with database.read.begin() as session:
        repository = ImportRepository(session)
        known = repository.known(project_id, ["a", "b", "c"])
        assert sorted(known) == ["a", "b"]
        assert known["a"].details == {"n": 1}
        assert repository.known(project_id + 1, ["a"]) == {}
        assert set(repository.group_splits(project_id)) == {
            ("g0", Split.POOL),
            ("a", Split.POOL),
            ("b", Split.AUDIT),
        }
        assert repository.state(project_id + 1) == (0, 0)


def test_drawn_questions_are_known(database: Database, fill: Fill) -> None:
    drawn = fill(n=2, name="drawn")
    free = fill(n=2, name="free", drawn=False)
    with database.read.begin() as session:
        found = ImportRepository(session).labelled_or_drawn([*drawn.question_ids, *free.question_ids])
    assert found == set(drawn.question_ids)


def test_forgetting_answers_takes_their_clusters_along(database: Database, fill: Fill) -> None:
    filled = fill(n=2, drawn=False)
    with database.write.begin() as session:
        ImportRepository(session).forget_answers(filled.question_ids[0])
    with database.read.begin() as session:
        assert set(session.scalars(select(Generation.question_id))) == {filled.question_ids[1]}
        assert session.scalar(select(func.count()).select_from(AnswerCluster)) == 3
        assert session.scalar(select(func.count()).select_from(Question)) == 2
