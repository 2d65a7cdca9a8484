"""Labels out and in again: nothing lost, nothing doubled, every row accounted for."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from app.services import labelling, labels, users
from app.services.actors import Actor
from app.services.label_export import export_labels
from app.services.label_import import import_labels
from app.services.label_table import COLUMNS, FORMATS, plain_cell, read_rows, safe_cell
from app.services.labelling import Outcome
from db.engine import Database
from db.models import Question
from elical_core.domain import Role, Stream
from elical_core.errors import ConfigError, InputError, NotAllowed

Fill = Callable[..., Any]


def label_next(
    database: Database, who: Actor, project_id: int, *correct: str, outcome: Outcome = Outcome.JUDGED
) -> None:
    item = labelling.next_item(database, who, project_id)
    assert item is not None
    labelling.submit(
        database,
        who,
        question_id=item.question_id,
        lease_token=item.lease_token,
        ticked={answer.cluster_id for answer in item.answers if answer.text in correct},
        outcome=outcome,
        client_key=item.client_key,
        seconds=7.5,
    )


def lively(database: Database, ann: Actor, bob: Actor, fill: Fill, **options: Any) -> int:
    """Overlap two on three questions, one skip, one edited label, one undone."""
    project = fill(3, overlap=2, audit=(2,), **options)
    label_next(database, ann, project.project_id, "Paris")
    label_next(database, ann, project.project_id, "Paris", "Nice")
    label_next(database, ann, project.project_id, outcome=Outcome.SKIPPED)
    label_next(database, bob, project.project_id, "Paris")
    label_next(database, bob, project.project_id, "Lyon")
    labelling.undo(database, bob, project.project_id)
    label_next(database, bob, project.project_id, "Paris")
    return int(project.project_id)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_whole_history_survives_a_move_to_another_project(
    database: Database, admin: Actor, ann: Actor, bob: Actor, fill: Fill, tmp_path: Path, file_format: str
) -> None:
    first = lively(database, ann, bob, fill)
    out, again = tmp_path / f"a.{file_format}", tmp_path / f"b.{file_format}"
    written = export_labels(database, admin, first, out, file_format=file_format, history=True)
    second = fill(3, name="copy", audit=(2,), drawn=False).project_id
    report = import_labels(database, admin, second, out)
    assert (report.read, report.imported, report.skipped, report.rejected) == (written, written, 0, 0)
    export_labels(database, admin, second, again, file_format=file_format, history=True)
    assert out.read_bytes() == again.read_bytes()
    before, after = (labels.labelled(database, admin, number) for number in (first, second))
    told = [
        (q.external_id, q.soft, q.greedy, q.reason, q.stream, q.probability, q.seconds, q.annotators) for q in before
    ]
    assert told == [
        (q.external_id, q.soft, q.greedy, q.reason, q.stream, q.probability, q.seconds, q.annotators) for q in after
    ]
    hashes = [labels.training_labels(database, admin, number).label_set_hash for number in (first, second)]
    assert hashes[0] == hashes[1] != ""


def test_importing_again_changes_nothing(
    database: Database, admin: Actor, ann: Actor, bob: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = lively(database, ann, bob, fill)
    out = tmp_path / "a.jsonl"
    written = export_labels(database, admin, project, out, file_format="jsonl", history=True)
    report = import_labels(database, admin, project, out)
    assert (report.imported, report.skipped) == (0, written)


def test_the_current_export_reconciles_with_the_screen(
    database: Database, admin: Actor, ann: Actor, bob: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = lively(database, ann, bob, fill)
    out = tmp_path / "a.csv"
    # ann judged q0 and q1 and skipped q2; bob judged q0 and (again) q1: 5 visits of 3 answers
    assert export_labels(database, admin, project, out, file_format="csv") == 15
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    judged = {row["external_id"] for row in rows if row["value"] in ("correct", "incorrect")}
    skipped = {row["external_id"] for row in rows if row["value"] == "skipped"}
    counts = labels.label_counts(database, admin, project)
    assert (len(judged), len(skipped - judged)) == (counts.labelled, counts.skipped) == (2, 1)
    assert len({(row["external_id"], row["annotator"], row["answer"]) for row in rows}) == len(rows)
    assert {row["external_id"]: row["stream"] for row in rows} == {"q0": "train", "q1": "train", "q2": "audit"}


def test_no_labels_make_a_valid_empty_file(database: Database, admin: Actor, fill: Fill, tmp_path: Path) -> None:
    project = fill(1).project_id
    for file_format in FORMATS:
        out = tmp_path / f"a.{file_format}"
        assert export_labels(database, admin, project, out, file_format=file_format) == 0
        assert import_labels(database, admin, project, out).read == 0
    assert (tmp_path / "a.csv").read_text().strip().split(",") == list(COLUMNS)
    assert pq.read_schema(tmp_path / "a.parquet").names == list(COLUMNS)


def test_awkward_texts_come_back_byte_for_byte(
    database: Database, admin: Actor, ann: Actor, fill: Fill, tmp_path: Path
) -> None:
    samples = ('=1+1, "x"', " leading", "two\nlines", "cr\rlf\r\n", "'quoted", "-5", "", "None", "costs $5, then $7")
    project = fill(1, samples=samples).project_id
    label_next(database, ann, project, "-5")
    for file_format in FORMATS:
        out = tmp_path / f"a.{file_format}"
        export_labels(database, admin, project, out, file_format=file_format)
        found = {cells.get("answer", ""): cells["value"] for _, cells in read_rows(out)}
        assert set(found) == set(samples)
        assert found["-5"] == "correct"
        assert import_labels(database, admin, project, out).skipped == len(samples)
    cells = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert ",'-5," in cells
    assert "\"'=1+1" in cells


@given(st.text())
def test_a_safe_cell_gives_the_text_back(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_verdicts_of_another_tool_need_three_columns(
    database: Database, admin: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = fill(2, audit=(1,), drawn=False).project_id
    file = tmp_path / "mine.csv"
    file.write_text("external_id,answer,value\nq0,Paris,Correct\nq0,Lyon,incorrect\nq1,Nice,correct\n", "utf-8")
    report = import_labels(database, admin, project, file)
    assert (report.read, report.imported) == (3, 3)
    first, second = labels.labelled(database, admin, project)
    assert (first.soft, first.greedy) == (2 / 3, True)  # Paris 2 of the 3 judged samples; Nice was not judged
    assert (second.soft, second.greedy) == (1.0, None)  # nothing is known of the greedy answer
    assert [first.stream, second.stream] == [Stream.TRAIN, Stream.AUDIT]
    assert import_labels(database, admin, project, file).skipped == 3


def test_every_unusable_row_is_told_and_the_rest_is_stored(
    database: Database, admin: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = fill(1).project_id
    file = tmp_path / "mixed.jsonl"
    lines = [
        json.dumps({"external_id": "q0", "answer": "Paris", "value": "correct"}),
        json.dumps({"external_id": "q9", "answer": "Paris", "value": "correct"}),
        "",
        json.dumps({"external_id": "q0", "answer": "Oslo", "value": "correct"}),
        json.dumps({"external_id": "q0", "answer": "Lyon", "value": "maybe"}),
        json.dumps({"external_id": None, "answer": "Lyon", "value": "correct"}),
        "{broken",
        json.dumps({"external_id": "q0", "answer": "Lyon", "value": "correct", "seconds": -1}),
        json.dumps({"external_id": "q0", "answer": "Lyon", "value": "correct", "created_at": "2026-01-01T00:00:00"}),
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = import_labels(database, admin, project, file)
    assert (report.read, report.imported, report.skipped, report.rejected) == (8, 1, 0, 7)
    reasons = {problem.row: problem.reason for problem in report.problems}
    assert list(reasons) == [2, 4, 5, 6, 7, 8, 9]
    assert reasons[2] == "no question has the id 'q9'; import the questions first"
    assert reasons[4] == "'Oslo' is not among the sampled answers to question 'q0'"
    assert reasons[5].startswith("value must be one of correct, incorrect, unsure, skipped, withdrawn, got 'maybe'")
    assert reasons[6].startswith("external_id is missing")
    assert reasons[7].startswith("not JSON")
    assert "time zone" in reasons[9]


def test_a_dry_run_reports_and_stores_nothing(database: Database, admin: Actor, fill: Fill, tmp_path: Path) -> None:
    project = fill(1).project_id
    row = {"external_id": "q0", "answer": "Paris", "value": "correct", "annotator": "new person"}
    file = write(tmp_path / "a.jsonl", [row])
    assert import_labels(database, admin, project, file, dry_run=True).imported == 1
    assert labels.labelled(database, admin, project) == []
    assert [user.name for user in users.list_users(database, admin)] == ["local"]


def test_a_verdict_that_was_changed_here_is_not_overwritten_by_an_old_file(
    database: Database, admin: Actor, ann: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = fill(1).project_id
    label_next(database, ann, project, "Paris")
    out = tmp_path / "a.jsonl"
    export_labels(database, admin, project, out, file_format="jsonl")
    (label,) = labels.labelled(database, admin, project)
    item = labelling.open_item(database, ann, label.question_id)
    labelling.submit(
        database,
        ann,
        question_id=item.question_id,
        lease_token=item.lease_token,
        ticked=(),
        outcome=Outcome.JUDGED,
        client_key=item.client_key,
        seconds=1,
    )
    assert import_labels(database, admin, project, out).imported == 0
    assert labels.labelled(database, admin, project)[0].soft == 0.0


def test_one_key_with_two_verdicts_is_refused(database: Database, admin: Actor, fill: Fill, tmp_path: Path) -> None:
    project = fill(1).project_id
    row = {"external_id": "q0", "answer": "Paris", "value": "correct", "client_key": "k"}
    report = import_labels(
        database, admin, project, write(tmp_path / "a.jsonl", [row, row | {"value": "incorrect"}, row])
    )
    assert (report.imported, report.skipped, report.rejected) == (1, 1, 1)


def test_correct_answers_judge_every_sampled_answer(
    database: Database, admin: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = fill(1).project_id
    file = write(tmp_path / "a.jsonl", [{"external_id": "q0", "correct_answers": ["paris", "Lutetia"]}])
    assert import_labels(database, admin, project, file).imported == 1
    (label,) = labels.labelled(database, admin, project)
    assert (label.soft, label.greedy) == (0.5, True)
    with database.read.begin() as session:
        assert session.scalars(select(Question.reference_answers)).one() == ["paris", "Lutetia"]
    assert import_labels(database, admin, project, file).skipped == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"x", "labels are read from"),
        ("a.csv", "external_id,answer\nq0,café".encode("utf-16"), "not UTF-8"),
        ("a.csv", b'external_id,answer,value\n"q0,x', "damaged or not csv"),
        ("a.parquet", b"PAR1 no", "damaged or not parquet"),
    ],
)
def test_unreadable_files_are_named(
    database: Database, admin: Actor, fill: Fill, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        import_labels(database, admin, fill(1).project_id, tmp_path / name)


def test_a_missing_file_and_an_unknown_format_are_named(
    database: Database, admin: Actor, fill: Fill, tmp_path: Path
) -> None:
    project = fill(1).project_id
    with pytest.raises(InputError, match="No such file"):
        import_labels(database, admin, project, tmp_path / "none.csv")
    with pytest.raises(ConfigError, match="jsonl, csv, parquet"):
        export_labels(database, admin, project, tmp_path / "x", file_format="xml")
    with pytest.raises(InputError, match="cannot be written"):
        export_labels(database, admin, project, tmp_path / "no" / "x.csv", file_format="csv")


def test_only_admins_move_labels(database: Database, ann: Actor, fill: Fill, tmp_path: Path) -> None:
    assert ann.role is Role.ANNOTATOR
    with pytest.raises(NotAllowed):
        export_labels(database, ann, fill(1).project_id, tmp_path / "x.csv", file_format="csv")
