"""Importing recorded answers: no sampling needed, nothing computed twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.services import generations, importing, projects
from app.services.actors import Actor
from db.engine import Database
from db.models import Question
from elical_core.datasets.honestybench import HonestyRecord
from elical_core.domain import Consistency, Split
from elical_core.errors import NotAllowed
from tests.conftest import answers_of


def record(i: int, **changed: Any) -> dict[str, Any]:
    return {
        "id": i,
        "split": "pool",
        "dataset": "nq",
        "question": f"question {i}",
        "answer": ["Paris"],
        "greedy_response": ["Paris"],
        "greedy_correctness": 1,
        "greedy_tokens": [["Par", "is"]],
        "greedy_logprobs": [[-0.5, -0.5]],
        "greedy_cumulative_logprobs": [-1.0],
        "sampling_response": ["Paris", "Paris", "Lyon", "Nice"],
        "sampling_correctness": [1, 1, 0, 0],
        **changed,
    }


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Judge:
    """Equal texts are one cluster; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, records: Sequence[HonestyRecord]) -> list[Consistency]:
        self.asked += [one.question.external_id for one in records]
        return [answers_of(0, [answer.text for answer in one.samples])[1] for one in records]


@pytest.fixture
def project(database: Database, admin: Actor) -> int:
    made = projects.create_project(database, admin, "p", model_id="packaged", prompt={"kind": "few-shot"})
    return made.id


def test_questions_and_answers_come_together(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    judge = Judge()
    rows = [record(i) for i in range(450)] + [record(450, split="test"), record(451, sampling_correctness=[1])]
    report = importing.import_records(database, admin, project, write(tmp_path, *rows), consistency=judge)
    assert (report.read, report.imported, report.rejected, report.generations) == (452, 451, 1, 451)
    assert report.splits[Split.HELD_OUT] == 1
    assert report.splits[Split.AUDIT] > 50
    assert len(judge.asked) == 451
    answered = generations.answered(database, admin, project)
    assert len(answered) == 451
    first = answered[0]
    assert (first.external_id, first.greedy_answer, first.k, first.consistency) == ("pool-0", "Paris", 4, 0.5)
    assert first.fingerprint == "records"
    assert first.n_prob == pytest.approx(0.6065, abs=1e-4)  # exp(-0.5)
    with database.read.begin() as session:
        details = session.scalars(select(Question.details)).first()
    assert details == {"gold_greedy": "1", "gold_samples": "1100"}


def test_a_stopped_import_is_finished_by_repeating_it(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    path = write(tmp_path, *(record(i) for i in range(500)))

    class Stops(Judge):
        def __call__(self, records: Sequence[HonestyRecord]) -> list[Consistency]:
            if len(self.asked) >= 200:
                raise KeyboardInterrupt
            return super().__call__(records)

    with pytest.raises(KeyboardInterrupt):
        importing.import_records(database, admin, project, path, consistency=Stops())
    assert len(generations.answered(database, admin, project)) == 200
    judge = Judge()
    report = importing.import_records(database, admin, project, path, consistency=judge)
    assert (report.imported, report.identical, report.generations) == (0, 500, 300)
    assert len(judge.asked) == 300
    assert len(generations.answered(database, admin, project)) == 500


def test_dry_run_asks_nothing(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    judge = Judge()
    path = write(tmp_path, record(0))
    report = importing.import_records(database, admin, project, path, consistency=judge, dry_run=True)
    assert (report.imported, report.generations, judge.asked) == (1, 0, [])


def test_answers_to_another_wording_are_not_attached(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    importing.import_records(database, admin, project, write(tmp_path, record(0)), consistency=Judge())
    changed = write(tmp_path, record(0, question="another question"))
    report = importing.import_records(
        database, admin, project, changed, consistency=Judge(), fingerprint="another model"
    )
    assert (report.conflicting, report.generations) == (1, 0)


def test_a_second_model_on_the_same_questions(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    path = write(tmp_path, record(0))
    importing.import_records(database, admin, project, path, consistency=Judge(), fingerprint="a")
    second = write(tmp_path, record(0, greedy_response=["Lyon"], greedy_correctness=0))
    report = importing.import_records(database, admin, project, second, consistency=Judge(), fingerprint="b")
    assert report.generations == 1
    found = generations.answered(database, admin, project, fingerprint="b")
    assert [one.greedy_answer for one in found] == ["Lyon"]


def test_only_an_admin(database: Database, ann: Actor, admin: Actor, project: int, tmp_path: Path) -> None:
    with pytest.raises(NotAllowed):
        importing.import_records(database, ann, project, write(tmp_path, record(0)), consistency=Judge())
