"""Background jobs as the pages and the command line see them: submit, list, cancel, read the log.

The jobs themselves are durable workflows (``app.workflows``) that a worker runs; this file only talks to the jobs
database, so it loads no model and works from any process.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from dbos import DBOSClient, DBOSPortableJSONSerializer, WorkflowStatus, error, run_dbos_database_migrations

from app.services.actors import Actor, require
from app.settings import Settings
from elical_core.domain import Role
from elical_core.errors import JobError, JobRefused, NotFound

APPLICATION = "elical"
PROGRESS = "progress"
HEARTBEAT_SECONDS = 5.0
FIRST_BATCH = 240  # questions sampled before the first training, so that labelling can begin within minutes
ROUND = 60  # questions drawn at a time


class JobKind(StrEnum):
    """What a job does. ``PREPARE`` chains the first four for a new project, a small first batch before the rest."""

    SAMPLE = "sample"
    ELICIT = "elicit"
    SELECT = "select"
    CALIBRATE = "calibrate"
    EVALUATE = "evaluate"
    PREPARE = "prepare"

    @property
    def queue(self) -> str:
        """Sampling and training each have a queue that runs one job at a time; a chain only waits for its parts."""
        return {JobKind.SAMPLE: "sample", JobKind.PREPARE: "prepare"}.get(self, "train")


QUEUES = {"sample": 1, "train": 1, "prepare": None}  # name -> jobs at a time on one worker


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


_STATES = {
    "ENQUEUED": JobState.QUEUED,
    "DELAYED": JobState.QUEUED,
    "PENDING": JobState.RUNNING,
    "SUCCESS": JobState.SUCCEEDED,
    "ERROR": JobState.FAILED,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": JobState.FAILED,
    "CANCELLED": JobState.CANCELLED,
}


@dataclass(frozen=True, kw_only=True)
class JobView:
    """One job on the screen. ``done`` of ``total`` in the unit that ``step`` names; ``rate`` per second; times UTC."""

    id: str
    kind: JobKind
    project_id: int
    state: JobState
    step: str
    done: int
    total: int
    rate: float | None
    seconds_left: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str
    result: dict[str, Any]

    @property
    def is_active(self) -> bool:
        return self.state in {JobState.QUEUED, JobState.RUNNING}

    @property
    def fraction_done(self) -> float:
        return min(self.done / self.total, 1.0) if self.total else 0.0


def make_id(project_id: int, kind: JobKind, suffix: str) -> str:
    """Ids begin with the project, so that a project's jobs can be listed on every kind of jobs database."""
    return f"{project_id}-{kind.value}-{suffix}"


def migrate(settings: Settings) -> None:
    """Create or upgrade the jobs database and its queues."""
    run_dbos_database_migrations(settings.jobs_url)
    with _client(settings) as client:
        for queue, concurrency in QUEUES.items():
            client.register_queue(queue, worker_concurrency=concurrency)


@lru_cache(maxsize=8)
def _open_client(jobs_url: str) -> DBOSClient:
    return DBOSClient(
        system_database_url=jobs_url, serializer=DBOSPortableJSONSerializer(), application_name=APPLICATION
    )


@contextmanager
def _client(settings: Settings) -> Iterator[DBOSClient]:
    yield _open_client(settings.jobs_url)


def submit(settings: Settings, who: Actor, kind: JobKind, project_id: int, /, **options: Any) -> str:
    """Queue a job and return its id. ``options`` are plain JSON values that the workflow takes by name.

    Raises JobRefused while the same kind of job of the same project is queued or running.
    """
    require(who, Role.ADMIN)
    with _client(settings) as client:
        try:
            handle: Any = client.enqueue(
                {
                    "workflow_name": kind.value,
                    "workflow_id": make_id(project_id, kind, uuid.uuid4().hex[:12]),
                    "queue_name": kind.queue,
                    "deduplication_id": f"{kind.value}:{project_id}",
                    "attributes": {"kind": kind.value, "project_id": project_id, "by": who.name},
                },
                project_id,
                options,
            )
        except error.DBOSQueueDeduplicatedError as refused:
            raise JobRefused(
                f"this project's {kind.value} job is already queued or running; wait for it or cancel it first"
            ) from refused
        return str(handle.get_workflow_id())


def list_jobs(settings: Settings, project_id: int | None = None, limit: int = 50) -> list[JobView]:
    """Newest first; of one project, or of all."""
    with _client(settings) as client:
        prefix = None if project_id is None else f"{project_id}-"
        rows = client.list_workflows(sort_desc=True, limit=limit, workflow_id_prefix=prefix)
        return [_view(client, row) for row in rows]


def get_job(settings: Settings, job_id: str) -> JobView:
    """Raises NotFound for an unknown id."""
    with _client(settings) as client:
        try:
            return _view(client, client.retrieve_workflow(job_id).get_status())
        except error.DBOSNonExistentWorkflowError as missing:
            raise NotFound(f"no job {job_id!r}; the jobs page lists the known ones") from missing


def cancel(settings: Settings, who: Actor, job_id: str) -> None:
    """Ask a job to stop. A queued one never starts; a running one stops at its next look, within seconds, and keeps
    what it has stored."""
    require(who, Role.ADMIN)
    job = get_job(settings, job_id)
    if not job.is_active:
        raise JobError(f"the {job.kind} job has already {job.state}; there is nothing to cancel")
    with _client(settings) as client:
        client.cancel_workflow(job_id)
        for child in client.list_workflows(parent_workflow_id=job_id):
            if _STATES[child.status] in {JobState.QUEUED, JobState.RUNNING}:
                client.cancel_workflow(child.workflow_id)


def is_cancelled(settings: Settings, job_id: str) -> bool:
    with _client(settings) as client:
        return bool(client.retrieve_workflow(job_id).get_status().status == "CANCELLED")


def wait(settings: Settings, job_id: str, *, poll_seconds: float = 0.5) -> Iterator[JobView]:
    """The job's view again and again, at last the finished one."""
    while True:
        job = get_job(settings, job_id)
        yield job
        if not job.is_active:
            return
        time.sleep(poll_seconds)


def log_path(settings: Settings, job_id: str) -> Path:
    return settings.home / "logs" / "jobs" / f"{job_id}.log"


def log_tail(settings: Settings, job_id: str, lines: int = 40) -> str:
    """The last lines of the job's log; empty before its first line."""
    path = log_path(settings, job_id)
    if not path.exists():
        return ""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def heartbeat_path(settings: Settings) -> Path:
    return settings.home / "logs" / "worker.heartbeat"


def worker_is_alive(settings: Settings, *, now: float | None = None) -> bool:
    """Whether a worker of this home folder has shown a sign of life within three heartbeats."""
    path = heartbeat_path(settings)
    return path.exists() and (now or time.time()) - path.stat().st_mtime < 3 * HEARTBEAT_SECONDS


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)


def _view(client: DBOSClient, row: WorkflowStatus) -> JobView:
    attributes = row.attributes or {}
    state = _STATES[row.status]
    progress = client.get_event(row.workflow_id, PROGRESS, timeout_seconds=0) or {}
    created = _time(row.created_at)
    assert created is not None
    return JobView(
        id=row.workflow_id,
        kind=JobKind(attributes.get("kind", row.name)),
        project_id=int(attributes.get("project_id", 0)),
        state=state,
        step=progress.get("step", ""),
        done=progress.get("done", 0),
        total=progress.get("total", 0),
        rate=progress.get("rate"),
        seconds_left=progress.get("seconds_left") if state is JobState.RUNNING else None,
        created_at=created,
        started_at=_time(row.dequeued_at),
        finished_at=_time(row.completed_at),
        error=_sentence(row) if state is JobState.FAILED else "",
        result=row.output if isinstance(row.output, dict) else {},
    )


def _sentence(row: WorkflowStatus) -> str:
    if row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        return "the worker died again and again while it ran this job; look at the log, then start the job anew"
    return str(row.error) if row.error is not None else "it failed without a message; look at the log"
