"""The whole loop on the packaged model: undisturbed, and with the worker killed in each of its jobs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.commands.demo import label_by_references
from app.commands.home_folder import Home
from app.deps import open_database
from app.services import actors, generations, importing, jobs, projects
from app.services import home as home_service
from app.services.checkpoints import list_checkpoints
from app.services.jobs import JobKind, JobState
from app.services.score_files import read_scores
from app.settings import Settings
from elical_core.config import SamplingConfig
from elical_core.demo import corpus
from elical_core.domain import Split
from elical_core.models.prompt import default_prompt

QUESTIONS = 72
LABELS = 24
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


def whole_loop(home: Home, *, killed: bool) -> dict[str, Any]:
    """The loop's results: every answer, and every confidence of both checkpoints."""
    sampling = ("sampling questions", 40) if killed else None
    training = ("training", 2) if killed else None
    with working(home.settings) as worker:
        run(home, worker, JobKind.SAMPLE, kill_at=sampling)
        run(home, worker, JobKind.ELICIT, kill_at=training, settings=FAST)
        run(home, worker, JobKind.SELECT, n=LABELS)
        assert label_by_references(home, 1, LABELS) == LABELS
        run(home, worker, JobKind.CALIBRATE, kill_at=training, settings=FAST)
    answered = generations.answered(home.database, home.who, 1)
    return {
        "answers": [(a.external_id, a.greedy_answer, a.consistency, a.n_prob) for a in answered],
        "confidence": [
            read_scores(home.settings.home / checkpoint.path)
            for checkpoint in list_checkpoints(home.database, home.who, 1)
        ],
    }


@pytest.fixture(scope="module")
def models(packaged_home: Path) -> Path:
    return packaged_home / "models"


def test_a_worker_killed_in_every_job_ends_with_the_numbers_of_an_undisturbed_run(tmp_path: Path, models: Path) -> None:
    calm = make_home(tmp_path / "calm", models)
    rough = make_home(tmp_path / "rough", models)
    undisturbed = whole_loop(calm, killed=False)
    disturbed = whole_loop(rough, killed=True)
    assert len(undisturbed["answers"]) == QUESTIONS
    assert len(undisturbed["confidence"]) == 2
    assert disturbed == undisturbed
    for home in (calm, rough):
        home.database.close()


def test_headless_demo_prints_the_metrics_before_and_after(tmp_path: Path, models: Path) -> None:
    home = tmp_path / "home"
    Settings.at(home).home.mkdir()
    (home / "models").symlink_to(models)
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "demo", "--questions", "80", "--headless", "--labels", "24"],
        env={**os.environ, "ELICAL_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["sampled"] == 80
    assert printed["labelled"] == 24
    for stream in ("audit", Split.HELD_OUT.value):
        for side in ("before", "after"):
            brier = printed["metrics"][stream]["brier"][side]
            assert 0 <= brier["value"] <= 1
            assert brier["n"] > 0
    assert (
        printed["metrics"]["audit"]["brier"]["after"]["n_labels"]
        == 24
        - printed["metrics"]["audit"]["brier"]["after"]["n"]
        - printed["metrics"]["audit"]["brier"]["after"]["left_out"]
    )
