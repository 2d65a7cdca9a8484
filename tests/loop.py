"""The loop on the packaged model, small: a home folder, a worker that can be killed, and running a job to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.commands.home_folder import Home
from app.deps import open_database
from app.services import actors, importing, jobs, projects
from app.services import home as home_service
from app.services.jobs import JobKind, JobState
from app.settings import Settings
from elical_core.config import SamplingConfig
from elical_core.demo import corpus
from elical_core.models.prompt import default_prompt

QUESTIONS = 72
K = 5
FAST = {"epochs": 2.0, "looks": 2}


def make_home(folder: Path, models: Path) -> Home:
    """A home folder with a small demo project; the converted model is shared with the other tests."""
    settings = Settings.at(folder)
    home_service.init(settings)
    settings.models.rmdir()
    settings.models.symlink_to(models)
    database = open_database(settings)
    home = Home(settings=settings, database=database, who=actors.local_admin(database))
    project = projects.create_project(
        database,
        home.who,
        name="small",
        model_id="packaged",
        prompt=default_prompt("few-shot").to_json(),
        sampling=SamplingConfig(k=K, max_new_tokens=8),
    )
    importing.add_questions(database, home.who, project.id, corpus()[:QUESTIONS])
    return home


class Worker:
    """A worker process that can be killed without warning."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self._settings.logs / "worker.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.worker"],
            env={**os.environ, "ELICAL_HOME": str(self._settings.home)},
            stdout=log,
            stderr=log,
        )
        log.close()

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)


@contextmanager
def working(settings: Settings) -> Iterator[Worker]:
    worker = Worker(settings)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()


def run(home: Home, worker: Worker, kind: JobKind, *, kill_at: tuple[str, int] | None = None, **options: Any) -> None:
    """Run a job to its end; ``kill_at`` (step, done) kills the worker there once and starts another."""
    job_id = jobs.submit(home.settings, home.who, kind, 1, **options)
    killed = kill_at is None
    for job in jobs.wait(home.settings, job_id, poll_seconds=0.05):
        if kill_at is not None and not killed and job.step == kill_at[0] and job.done >= kill_at[1]:
            worker.kill()
            time.sleep(0.2)
            worker.start()
            killed = True
    assert killed, f"the {kind} job was over before {kill_at}"
    assert job.state is JobState.SUCCEEDED, f"{job.error}\n{jobs.log_tail(home.settings, job_id)}"
