"""Questions into a project: from a file, from a list, or from records that bring the model's answers along.

Reading and checking happen before the database is touched; then everything is stored in one transaction, or nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from app.services import generations
from app.services.actors import Actor, require
from app.services.importing_report import ImportReport
from app.services.importing_run import Import, Progress
from db.engine import Database
from db.repositories.generations import GenerationRepository
from db.repositories.imports import ImportRepository
from db.repositories.projects import ProjectRepository
from elical_core.datasets.honestybench import HonestyRecord, read_records
from elical_core.datasets.options import ReadOptions
from elical_core.datasets.reader import Layout, Preview, find_layout, preview, read_rows
from elical_core.datasets.rows import ParsedRow, RowProblem
from elical_core.domain import Consistency, GenerationRecord, QuestionRecord, Role

COUNT_UP_TO_BYTES = 10_000_000  # larger files are previewed without counting all their rows
RECORDS_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True)
class ImportPreview:
    """``report`` is what importing would do, None for a file too large to be read through for a preview."""

    preview: Preview
    report: ImportReport | None


def preview_import(
    database: Database, who: Actor, project_id: int, path: Path | str, options: ReadOptions = ReadOptions()
) -> ImportPreview:
    """The first rows as they would be stored, and how many are new, identical, conflicting and rejected."""
    require(who, Role.ADMIN)
    shown = preview(path, replace(options, seed=_seed(database, project_id)))
    counted = shown.size <= COUNT_UP_TO_BYTES
    report = import_questions(database, who, project_id, path, options, dry_run=True) if counted else None
    return ImportPreview(preview=shown, report=report)


def import_questions(
    database: Database,
    who: Actor,
    project_id: int,
    path: Path | str,
    options: ReadOptions = ReadOptions(),
    *,
    dry_run: bool = False,
    on_conflict: str = "reject",
    progress: Progress | None = None,
    problems_to: Path | None = None,
) -> ImportReport:
    """Imports a file of questions, atomically. Rows that cannot be used are left out, each with its reason.

    A row that is already there is skipped. A row whose id is taken by other content is rejected, or with
    ``on_conflict="update"`` replaces it, as long as nobody has labelled it and no round has drawn it; answers of the
    model to the old text are then deleted. ``problems_to``: a CSV file for every row left out. The project's seed
    decides the split of rows that name none; a group that is already apart (held out, audit) keeps its new members
    there.

    Raises NotAllowed below admin, ImportRefused when the file cannot be used, Conflict when somebody else imported the
    same ids in the same moment; nothing is stored then.
    """
    require(who, Role.ADMIN)
    options = replace(options, seed=_seed(database, project_id))
    layout = find_layout(path, options)
    rows = read_rows(layout, options)
    with _problem_file(problems_to) as write_problem:
        work = Import(database, project_id, options, on_conflict, progress, write_problem)
        return work.run(rows, file=layout.file.name, dry_run=dry_run, layout=_described(layout), notes=_doubts(layout))


def add_questions(
    database: Database,
    who: Actor,
    project_id: int,
    records: Iterable[QuestionRecord],
    *,
    name: str = "questions",
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Imports questions that are already records, the demo corpus for example, with their splits as they are."""
    require(who, Role.ADMIN)
    options = ReadOptions(seed=_seed(database, project_id))
    rows = (
        ParsedRow(row, None, record, split_given=True, id_given=True) for row, record in enumerate(records, start=1)
    )
    return Import(database, project_id, options, "reject", progress).run(rows, file=name, dry_run=dry_run)


def import_records(
    database: Database,
    who: Actor,
    project_id: int,
    path: Path | str,
    *,
    consistency: Callable[[Sequence[HonestyRecord]], Sequence[Consistency]],
    fingerprint: str = "records",
    options: ReadOptions = ReadOptions(),
    max_new_tokens: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    problems_to: Path | None = None,
) -> ImportReport:
    """Imports HonestyBench records: the questions as ``import_questions`` does, then the recorded answers.

    ``consistency`` gives one result per record, in order; it is called for some hundreds of records at a time, outside
    any transaction. Answers are stored batch by batch, so an import that was stopped is finished by repeating it: what
    is there already is neither computed nor stored again. ``fingerprint`` names the model that gave the answers.
    ``max_new_tokens``: see ``read_records``.
    """
    require(who, Role.ADMIN)
    options = replace(options, seed=_seed(database, project_id))
    file = Path(path).name

    def rows() -> Iterator[ParsedRow | RowProblem]:
        for found in read_records(path, options, max_new_tokens=max_new_tokens):
            if isinstance(found, RowProblem):
                yield found
            else:
                yield ParsedRow(found.row, found.row, found.question, split_given=found.split_given, id_given=True)

    with _problem_file(problems_to) as write_problem:
        work = Import(database, project_id, options, "reject", progress, write_problem)
        report = work.run(rows(), file=file, dry_run=dry_run, layout={"format": "records"})
    if dry_run:
        return report
    stored = read = 0
    records = (found for found in read_records(path, options, max_new_tokens=max_new_tokens))
    for batch in _batches(found for found in records if not isinstance(found, RowProblem)):
        wanted = _without_answers(database, project_id, fingerprint, batch)
        results = consistency([record for record, _ in wanted])
        pairs = [
            (_generation(record, question_id, fingerprint), result)
            for (record, question_id), result in zip(wanted, results, strict=True)
        ]
        stored += generations.store(database, who, project_id, pairs)
        read += len(batch)
        if progress is not None:
            progress(read, report.read, "storing recorded answers")
    return replace(report, generations=stored)


def _batches(records: Iterable[HonestyRecord]) -> Iterator[list[HonestyRecord]]:
    left = iter(records)
    while batch := list(islice(left, RECORDS_AT_ONCE)):
        yield batch


def _without_answers(
    database: Database, project_id: int, fingerprint: str, batch: Sequence[HonestyRecord]
) -> list[tuple[HonestyRecord, int]]:
    """The records whose question is in the project, word for word, and has no answers of this model yet."""
    with database.read.begin() as session:
        known = ImportRepository(session).known(project_id, [record.question.external_id for record in batch])
        found: dict[int, HonestyRecord] = {}
        for record in batch:
            question = known.get(record.question.external_id)
            if question is not None and question.text == record.question.text:
                found.setdefault(question.id, record)
        there = GenerationRepository(session).already_there(found, fingerprint)
    return [(record, question_id) for question_id, record in found.items() if question_id not in there]


def _generation(record: HonestyRecord, question_id: int, fingerprint: str) -> GenerationRecord:
    return GenerationRecord(
        question_id=question_id, model_fingerprint=fingerprint, seed=0, greedy=record.greedy, samples=record.samples
    )


def _seed(database: Database, project_id: int) -> int:
    with database.read.begin() as session:
        return ProjectRepository(session).get(project_id).seed


def _described(layout: Layout) -> dict[str, Any]:
    return {
        "format": layout.file.format.value,
        "mapping": layout.mapping,
        "encoding": layout.encoding.name if layout.encoding else None,
        "separator": layout.dialect.separator if layout.dialect else None,
    }


def _doubts(layout: Layout) -> list[str]:
    if layout.encoding is None or layout.encoding.certain:
        return []
    return [f"the encoding {layout.encoding.name} was {layout.encoding.how}; --encoding names another"]


@contextmanager
def _problem_file(path: Path | None) -> Iterator[Callable[[RowProblem], None] | None]:
    """Writes problems to a CSV file that appears when the import has ended well."""
    if path is None:
        yield None
        return
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["row", "line", "id", "kind", "reason"])
            yield lambda p: writer.writerow([p.row, p.line or "", p.external_id, p.kind.value, p.reason])
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
