"""The whole loop on the packaged model: undisturbed, and with the worker killed in each of its jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.commands.demo import label_by_references
from app.commands.home_folder import Home
from app.services import generations
from app.services.checkpoints import list_checkpoints
from app.services.jobs import JobKind
from app.services.score_files import read_scores
from app.settings import Settings
from elical_core.domain import Split
from tests.loop import FAST, QUESTIONS, make_home, run, working

LABELS = 24


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
