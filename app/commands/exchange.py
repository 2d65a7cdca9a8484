"""import, labels import, labels export: files in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.home_folder import AsJson, ProjectName, note, opened, print_json, say
from app.services import importing, projects
from app.services.importing import ImportReport
from elical_core.datasets import ReadOptions
from elical_core.errors import ConfigError

labels = typer.Typer(help="Import and export labels.", no_args_is_help=True)
SHOWN_PROBLEMS = 10


def import_file(
    name: ProjectName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="CSV, TSV, JSONL, Parquet or XLSX; .gz too.")],
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN", help="question, answer, context, id, group, domain or split."),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; found by itself otherwise.")] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of a CSV file; found by itself otherwise.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Read and check everything, store nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store the questions of files. Each file is imported whole or not at all; every row is accounted for."""
    options = ReadOptions(mapping=_mapping(map_ or []), encoding=encoding, separator=separator)
    reports: dict[str, ImportReport] = {}
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        for file in files:
            report = importing.import_questions(home.database, home.who, project.id, file, options, dry_run=dry_run)
            reports[str(file)] = report
            if not as_json:
                _tell(file, report, dry_run)
    if as_json:
        print_json(reports)


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
    say(f"{file}: {report.read} rows read, {report.imported} {verb}, {report.skipped} skipped, {report.rejected} bad")
    for problem in report.problems[:SHOWN_PROBLEMS]:
        note(f"  row {problem.row}: {problem.reason}")
    if len(report.problems) > SHOWN_PROBLEMS:
        note(f"  and {len(report.problems) - SHOWN_PROBLEMS} more; --json lists them all")
