"""What every command starts from: the opened home folder, and how results and progress are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from app.deps import open_database
from app.services import actors, jobs
from app.services.actors import Actor
from app.services.jobs import JobKind, JobState, JobView
from app.settings import Settings
from db.engine import Database
from elical_core.errors import JobCancelled, JobError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of words.")]
ProjectName = Annotated[str, typer.Argument(metavar="NAME", help="The project's name.")]


@dataclass(frozen=True, kw_only=True)
class Home:
    settings: Settings
    database: Database
    who: Actor


@contextmanager
def opened() -> Iterator[Home]:
    """The home folder named by ELICAL_HOME (default ./.elical), acting as its local admin."""
    settings = Settings.from_env()
    database = open_database(settings)
    try:
        yield Home(settings=settings, database=database, who=actors.local_admin(database))
    finally:
        database.close()


def say(text: str = "") -> None:
    """One line on standard output."""
    typer.echo(text)


def note(text: str) -> None:
    """One line on standard error: progress and remarks, never results."""
    typer.echo(text, err=True)


def print_json(value: Any) -> None:
    """Dataclasses, dates and enums become plain JSON; NaN cannot occur."""
    say(json.dumps(value, default=_plain, ensure_ascii=False, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def run_job(home: Home, kind: JobKind, project_id: int, /, **options: Any) -> JobView:
    """Queue the job and wait for its end: on the home folder's worker, or in this process when none is alive.

    A job of that kind that an interrupted command left behind is finished instead. Raises JobError with the job's own
    sentence when it fails.
    """
    if jobs.worker_is_alive(home.settings):
        return _follow(home, jobs.submit(home.settings, home.who, kind, project_id, **options))
    from app.worker import leave_at_once, running

    with running(home.settings):
        try:
            left = _left_behind(home, kind, project_id)
            return _follow(home, left or jobs.submit(home.settings, home.who, kind, project_id, **options))
        except KeyboardInterrupt:
            note(f"stopped; the same command goes on with this {kind} job")
            leave_at_once(home.settings, 130)


def _left_behind(home: Home, kind: JobKind, project_id: int) -> str:
    """The id of an unfinished job of that kind; empty when there is none."""
    left = [job.id for job in jobs.list_jobs(home.settings, project_id) if job.is_active and job.kind is kind]
    if left:
        note(f"going on with the {kind} job that was interrupted")
    return left[0] if left else ""


def _follow(home: Home, job_id: str) -> JobView:
    shown = ""
    job = jobs.get_job(home.settings, job_id)
    for job in jobs.wait(home.settings, job_id):
        line = progress_line(job)
        if line != shown and sys.stderr.isatty():
            typer.echo(f"\r\033[K{line}", nl=False, err=True)
        elif job.step and line.split(":")[0] != shown.split(":")[0]:
            note(line)
        shown = line
    if sys.stderr.isatty():
        typer.echo("\r\033[K", nl=False, err=True)
    if job.state is JobState.CANCELLED:
        raise JobCancelled(f"the {job.kind} job was cancelled; what it had stored is kept")
    if job.state is JobState.FAILED:
        raise JobError(f"{job.error} (log: {jobs.log_path(home.settings, job_id)})")
    return job


def progress_line(job: JobView) -> str:
    """``sample: sampling questions 64/200, 5.1/s, 27 s left``; the part before the colon changes with the step."""
    if not job.step:
        return f"{job.kind} {job.state}:"
    line = f"{job.kind} · {job.step}:"
    if job.total:
        line += f" {job.done}/{job.total}"
    if job.rate:
        line += f", {job.rate:.1f}/s"
    if job.seconds_left is not None and job.done < job.total:
        line += f", {job.seconds_left:.0f} s left"
    return line
