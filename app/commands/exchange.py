"""import, labels import, labels export: files in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.home_folder import AsJson, ProjectName, note, opened, print_json, say
from app.services import importing, label_export, label_import, projects
from app.services.importing_report import ImportReport
from elical_core.consistency import MiniLM, Sampled, cluster_many
from elical_core.datasets import ReadOptions
from elical_core.datasets.honestybench import HonestyRecord, looks_like_records
from elical_core.domain import Consistency
from elical_core.errors import ConfigError

labels = typer.Typer(help="Import and export labels.", no_args_is_help=True)
SHOWN_PROBLEMS = 10
EMBEDDER = MiniLM()
DryRun = Annotated[bool, typer.Option(help="Read and check everything, store nothing.")]


def import_file(
    name: ProjectName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="CSV, TSV, JSONL, Parquet or XLSX; .gz too.")],
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN", help="question, answer, context, id, group, domain or split."),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; found by itself otherwise.")] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of a CSV file; found by itself otherwise.")] = None,
    answer_separator: Annotated[str, typer.Option(help="What separates several answers in one cell.")] = "",
    on_conflict: Annotated[str, typer.Option(help="reject or update: same id, other content.")] = "reject",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Store the questions of files, each whole or not at all; every row is accounted for.

    JSON Lines of HonestyBench records bring their sampled answers along, so that nothing is sampled.
    """
    options = ReadOptions(
        mapping=_mapping(map_ or []), encoding=encoding, separator=separator, answer_separator=answer_separator
    )
    reports: dict[str, Any] = {}
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        for file in files:
            if looks_like_records(file):
                report = importing.import_records(
                    home.database, home.who, project.id, file, consistency=consistencies, dry_run=dry_run
                )
            else:
                report = importing.import_questions(
                    home.database, home.who, project.id, file, options, dry_run=dry_run, on_conflict=on_conflict
                )
            reports[str(file)] = report.to_json()
            if not as_json:
                _tell(file, report, dry_run)
    if as_json:
        print_json(reports)


def consistencies(records: Sequence[HonestyRecord]) -> list[Consistency]:
    """Clusters and Stage-1 targets of recorded answers, row-aligned."""
    sampled = [Sampled(question=r.question.text, greedy=r.greedy, samples=r.samples) for r in records]
    return cluster_many(sampled, embedder=EMBEDDER)


@labels.command("import")
def import_labels(
    name: ProjectName,
    file: Annotated[Path, typer.Argument(help="JSONL, CSV or Parquet with external_id and verdicts or answers.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Store verdicts (external_id, answer, value) or correct answers (external_id, correct_answers) as labels."""
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        report = label_import.import_labels(home.database, home.who, project.id, file, dry_run=dry_run)
    if as_json:
        print_json(report)
        return
    say(f"{report.read} rows read, {report.imported} imported, {report.skipped} skipped, {report.rejected} rejected")
    _list_problems([f"row {problem.row}: {problem.reason}" for problem in report.problems])


@labels.command("export")
def export_labels(
    name: ProjectName,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
    format_: Annotated[str, typer.Option("--format", help="jsonl (lossless), csv (spreadsheet-safe) or parquet.")],
    history: Annotated[bool, typer.Option(help="Every event, not only the current verdicts.")] = False,
) -> None:
    """Write the verdicts, one row an annotator and answer."""
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        rows = label_export.export_labels(
            home.database, home.who, project.id, output, file_format=format_, history=history
        )
    say(f"{rows} rows in {output}")


def _mapping(given: list[str]) -> dict[str, str]:
    mapping = {}
    for pair in given:
        field, sign, column = pair.partition("=")
        if not sign or not field or not column:
            raise ConfigError(f"--map takes FIELD=COLUMN, for example --map question=Prompt, got {pair!r}")
        mapping[field] = column
    return mapping


def _tell(file: Path, report: ImportReport, dry_run: bool) -> None:
    verb = "would be imported" if dry_run else "imported"
    say(f"{file}: {report.read} rows read")
    say(f"  {report.imported} {verb}, {report.skipped} skipped, {report.rejected} rejected")
    if report.generations:
        say(f"  {report.generations} questions came with recorded answers")
    for remark in report.notes:
        note(f"  {remark}")
    _list_problems([str(problem) for problem in report.problems])


def _list_problems(problems: list[str]) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        note(f"  {problem}")
    if len(problems) > SHOWN_PROBLEMS:
        note(f"  and {len(problems) - SHOWN_PROBLEMS} more; --json lists them")
