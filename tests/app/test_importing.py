"""Importing a file: every row accounted for, all or nothing, nothing twice."""

from __future__ import annotations

import csv
import json
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from app.services import importing, projects
from app.services.actors import Actor
from app.services.importing_report import ImportReport
from db.engine import Database
from db.models import Generation, Question
from elical_core.datasets import ReadOptions
from elical_core.demo import corpus, corpus_path
from elical_core.domain import Split
from elical_core.errors import ImportRefused, InputError, JobCancelled, NotAllowed, NotFound


@pytest.fixture
def project(database: Database, admin: Actor) -> int:
    made = projects.create_project(database, admin, "p", model_id="packaged", prompt={"kind": "few-shot"})
    return made.id


def table(folder: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = ("id", "question", "answer")) -> Path:
    path = folder / "questions.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def stored(database: Database, project_id: int) -> list[Question]:
    with database.read.begin() as session:
        return list(session.scalars(select(Question).where(Question.project_id == project_id).order_by(Question.id)))


def balance(report: ImportReport) -> tuple[int, int, int, int]:
    assert report.read == report.imported + report.skipped + report.rejected
    return report.read, report.imported, report.skipped, report.rejected


TEN = [(f"q{i}", f"Question {i}?", f"answer {i}") for i in range(10)]


def test_a6_the_same_file_twice_then_edited(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    path = table(tmp_path, TEN)
    assert balance(importing.import_questions(database, admin, project, path)) == (10, 10, 0, 0)
    again = importing.import_questions(database, admin, project, path)
    assert balance(again) == (10, 0, 10, 0)
    assert again.identical == 10
    assert again.reasons == {"already in the project": 10}
    edited = table(
        tmp_path, [("q0", "Another text?", "answer 0"), *TEN[1:9], ("q9", "Question 9?", "other"), ("q10", "New?", "x")]
    )
    shown = importing.preview_import(database, admin, project, edited)
    assert shown.report is not None
    assert (shown.report.new, shown.report.identical, shown.report.conflicting) == (1, 8, 2)
    assert shown.report.dry_run
    done = importing.import_questions(database, admin, project, edited)
    assert balance(done) == (11, 1, 8, 2)
    assert [str(p) for p in done.problems if p.kind == "rejected"] == [
        "row 1 (line 2), id q0: the id is in the project with another text",
        "row 10 (line 11), id q9: the id is in the project with another reference answers",
    ]
    assert [q.text for q in stored(database, project)] == [f"Question {i}?" for i in range(10)] + ["New?"]


def test_update_replaces_only_what_nobody_has_worked_on(
    database: Database, admin: Actor, project: int, tmp_path: Path, fill
) -> None:
    drawn = fill(n=2, name="drawn")
    free = fill(n=2, name="free", drawn=False)
    path = table(tmp_path, [("q0", "Edited 0?", "a"), ("q1", "Edited 1?", "b")])
    kept = importing.import_questions(database, admin, drawn.project_id, path, on_conflict="update")
    assert balance(kept) == (2, 0, 0, 2)
    assert "it is labelled or drawn for labelling, so it stays" in kept.problems[0].reason
    dry = importing.import_questions(database, admin, free.project_id, path, on_conflict="update", dry_run=True)
    assert (dry.updated, dry.new) == (2, 0)
    done = importing.import_questions(database, admin, free.project_id, path, on_conflict="update")
    assert balance(done) == (2, 2, 0, 0)
    assert [q.text for q in stored(database, free.project_id)] == ["Edited 0?", "Edited 1?"]
    with database.read.begin() as session:
        answered = set(session.scalars(select(Generation.question_id)))
    assert answered == set(drawn.question_ids)  # answers to the old text are gone
    with pytest.raises(InputError, match="on_conflict is reject or update"):
        importing.import_questions(database, admin, project, path, on_conflict="replace")


def test_an_update_without_a_new_text_keeps_the_answers(database: Database, admin: Actor, tmp_path: Path, fill) -> None:
    free = fill(n=1, drawn=False)
    path = table(tmp_path, [("q0", "Question 0?", "Paris")])
    importing.import_questions(database, admin, free.project_id, path, on_conflict="update")
    with database.read.begin() as session:
        assert session.scalars(select(Generation.question_id)).all() == [free.question_ids[0]]
    assert stored(database, free.project_id)[0].reference_answers == ["Paris"]


def test_references_that_a_person_typed_are_no_conflict(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    path = table(tmp_path, TEN)
    importing.import_questions(database, admin, project, path)
    with database.write.begin() as session:
        question = session.scalars(select(Question)).first()
        assert question is not None
        question.reference_answers = ["typed"]
        question.reference_by_id = admin.id
    assert importing.import_questions(database, admin, project, path).identical == 10
    assert stored(database, project)[0].reference_answers == ["typed"]


def test_a8_blank_lines_are_counted(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "A?"}\n\n{"question": "B?"}\n\n\n', encoding="utf-8")
    report = importing.import_questions(database, admin, project, path)
    assert balance(report) == (3, 2, 1, 0)
    assert "1 blank lines between rows were skipped" in report.notes


@pytest.mark.parametrize("n", [499, 500, 501, 9001])
def test_a17_counts_across_batch_borders(
    database: Database, admin: Actor, project: int, tmp_path: Path, n: int
) -> None:
    rows = [(f"q{i}", f"Question {i}?" if i % 10 else "", "x") for i in range(n)]
    report = importing.import_questions(database, admin, project, table(tmp_path, rows))
    empty = len(range(0, n, 10))
    assert balance(report) == (n, n - empty, 0, empty)
    questions = stored(database, project)
    assert len(questions) == n - empty
    assert [q.external_id for q in questions] == [f"q{i}" for i in range(n) if i % 10]
    assert sum(report.splits.values()) == report.imported


def test_a18_a_bad_row_late_in_the_file(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"id": i, "question": f"Question {i}?"}) for i in range(500)]
    lines[498] = '{"id": 498, "question"'
    path.write_text("\n".join(lines), encoding="utf-8")
    report = importing.import_questions(database, admin, project, path)
    assert balance(report) == (500, 499, 0, 1)
    assert report.problems[0].row == 499
    assert report.problems[0].reason.startswith("not JSON")


def test_a_file_that_cannot_be_read_leaves_nothing_behind(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"question,answer\n" + b"".join(b"Question %d?,x\n" % i for i in range(600)) + b"caf\xe9?,x\n")
    with pytest.raises(ImportRefused, match="row 601"):
        importing.import_questions(database, admin, project, path, ReadOptions(encoding="utf-8"))
    path.write_bytes(b"question,answer\n" + b"".join(b"Question %d?,x\n" % i for i in range(600)) + b'"open?,x\n')
    with pytest.raises(ImportRefused, match="never closed"):
        importing.import_questions(database, admin, project, path)
    assert stored(database, project) == []


def test_stopping_while_storing_leaves_nothing_behind(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    def stop(done: int, total: int, message: str) -> None:
        if done > 1000 and message == "storing questions":
            raise JobCancelled("stopped")

    path = table(tmp_path, [(f"q{i}", f"Question {i}?", "x") for i in range(3000)])
    with pytest.raises(JobCancelled):
        importing.import_questions(database, admin, project, path, progress=stop)
    assert stored(database, project) == []


def test_dry_run_says_the_same_and_stores_nothing(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    path = table(tmp_path, [*TEN, ("q0", "Question 0?", "answer 0"), ("q1", "Other?", "x"), ("", "", "")])
    dry = importing.import_questions(database, admin, project, path, dry_run=True)
    assert stored(database, project) == []
    done = importing.import_questions(database, admin, project, path)
    assert {**dry.to_json(), "dry_run": False} == done.to_json()
    assert json.loads(json.dumps(done.to_json()))["imported"] == 10


def test_doubles_within_a_file(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    rows = [("a", "One?", "x"), ("b", "Two?", "y"), ("a", "One?", "x"), ("b", "Two?", "z")]
    report = importing.import_questions(database, admin, project, table(tmp_path, rows))
    assert balance(report) == (4, 2, 1, 1)
    assert [p.reason for p in report.problems] == [
        "the same question and answers as row 1",
        "row 2 has the same id but another reference answers",
    ]


def test_repeated_questions_with_other_answers_are_one_group(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    question = "What is Rankin's occupation?"
    rows = [(question, "politician"), (question, "lawyer"), (question, "politician")]
    report = importing.import_questions(database, admin, project, table(tmp_path, rows, ("question", "answer")))
    assert balance(report) == (3, 2, 1, 0)
    first, second = stored(database, project)
    assert first.external_id != second.external_id
    assert (first.group, first.split) == (second.group, second.split)


def test_a_group_stays_in_one_split(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    """Held-out questions of one file keep their twins out of the pool: within the file, and in later files."""
    header = ("id", "question", "split")
    rows = [(f"twin{i}", f"question {i}", "") for i in range(50)]
    rows += [(f"test{i}", f"Question {i}?", "test") for i in range(50)]
    report = importing.import_questions(database, admin, project, table(tmp_path, rows, header))
    assert report.splits == {Split.POOL: 0, Split.AUDIT: 0, Split.HELD_OUT: 100}
    later = [(f"late{i}", f"QUESTION {i}", "") for i in range(50)]
    report = importing.import_questions(database, admin, project, table(tmp_path, later, header))
    assert report.splits[Split.HELD_OUT] == 50


def test_about_a_fifth_goes_to_the_audit_part_and_the_project_seed_decides(
    database: Database, admin: Actor, tmp_path: Path
) -> None:
    path = table(tmp_path, [(f"q{i}", f"Question {i}?", "x") for i in range(1000)])
    found = []
    for seed in (0, 1):
        made = projects.create_project(
            database, admin, f"seed {seed}", model_id="packaged", prompt={"kind": "few-shot"}, seed=seed
        )
        report = importing.import_questions(database, admin, made.id, path)
        assert 150 < report.splits[Split.AUDIT] < 250
        found.append([q.split for q in stored(database, made.id)])
    assert found[0] != found[1]


def test_no_audit_question_is_said(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    rows = [(f"q{i}", f"Question {i}?", "pool") for i in range(30)]
    report = importing.import_questions(database, admin, project, table(tmp_path, rows, ("id", "question", "split")))
    assert "no question went to the audit part" in report.notes[0]


def test_only_an_admin_imports_and_only_into_a_project(
    database: Database, admin: Actor, ann: Actor, project: int, tmp_path: Path
) -> None:
    path = table(tmp_path, TEN)
    with pytest.raises(NotAllowed):
        importing.import_questions(database, ann, project, path)
    with pytest.raises(NotAllowed):
        importing.preview_import(database, ann, project, path)
    with pytest.raises(NotFound):
        importing.import_questions(database, admin, project + 99, path)


def test_every_problem_goes_to_a_file(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    path = table(tmp_path, [(f"q{i}", "", "x") for i in range(1500)] + [("ok", "Fine?", "x")])
    out = tmp_path / "problems.csv"
    report = importing.import_questions(database, admin, project, path, problems_to=out)
    assert (len(report.problems), report.problems_left_out) == (1000, 500)
    with out.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 1500
    assert rows[-1]["row"] == "1500"
    assert not list(tmp_path.glob("*.part"))


def test_progress_counts_to_the_end(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    path = table(tmp_path, [(f"q{i}", f"Question {i}?", "x") for i in range(4100)])
    importing.import_questions(database, admin, project, path, progress=lambda *step: seen.append(step))
    assert seen[0] == (2000, 0, "reading rows")
    assert seen[-1] == (4100, 4100, "storing questions")


def test_two_imports_of_one_file_at_once_store_it_once(
    database: Database, admin: Actor, project: int, tmp_path: Path
) -> None:
    path = table(tmp_path, [(f"q{i}", f"Question {i}?", "x") for i in range(1200)])
    start = threading.Barrier(4)
    reports: list[ImportReport] = []

    def work() -> None:
        start.wait()
        reports.append(importing.import_questions(database, admin, project, path))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(report.imported for report in reports) == [0, 0, 0, 1200]
    assert all(balance(report)[0] == 1200 for report in reports)
    assert len(stored(database, project)) == 1200


def test_texts_survive_letter_by_letter(database: Database, admin: Actor, project: int, tmp_path: Path) -> None:
    odd = " costs $5,\r\nthen\r$7 *x* \u2028 é 中 😀 :smile: <b> "
    importing.import_questions(database, admin, project, table(tmp_path, [("1", odd, odd)]))
    (question,) = stored(database, project)
    assert (question.text, question.reference_answers) == (odd, [odd])


def test_the_demo_corpus_from_the_file_and_from_memory_are_the_same(
    database: Database, admin: Actor, project: int
) -> None:
    other = projects.create_project(database, admin, "other", model_id="packaged", prompt={"kind": "few-shot"}).id
    report = importing.import_questions(database, admin, project, corpus_path())
    assert report.rejected == report.skipped == 0
    added = importing.add_questions(database, admin, other, corpus())
    assert added.imported == report.imported
    assert added.splits == report.splits
    pairs = zip(stored(database, project), stored(database, other), strict=True)
    assert all((a.external_id, a.text, a.split, a.group) == (b.external_id, b.text, b.split, b.group) for a, b in pairs)
    assert importing.import_questions(database, admin, other, corpus_path()).identical == report.imported
