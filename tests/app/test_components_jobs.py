"""What a job says of itself, and what the overview makes of a project's state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.components.job_panel import job_time, progress_words
from app.components.next_step import next_act, strip
from app.components.steps import StepState
from app.services.checkpoints import CheckpointView
from app.services.jobs import JobKind, JobState, JobView
from app.services.labels import LabelCounts
from app.services.progress import ProjectState, Step
from elical_core.domain import CheckpointState, Split, Stage

NOW = datetime(2025, 3, 9, 14, 0, tzinfo=UTC)
JOB = JobView(
    id="j",
    kind=JobKind.SAMPLE,
    project_id=1,
    state=JobState.RUNNING,
    step="sampling",
    done=120,
    total=1500,
    rate=5.71,
    seconds_left=241.7,
    created_at=NOW,
    started_at=NOW,
    finished_at=None,
    error="",
    result={},
)
STATE = ProjectState(
    questions={Split.POOL: 80, Split.AUDIT: 20, Split.HELD_OUT: 10},
    sampled=0,
    with_target=0,
    drawn=0,
    undecided=0,
    labels=LabelCounts(
        labelled=0, train=0, audit=0, held_out=0, unsure=0, skipped=0, withdrawn=0, disagreeing=0, seconds=0.0
    ),
    budget=50,
    checkpoints=(),
    calibrate_blocked="there is no Stage-1 model yet; elicit first",
    next_step=Step.SAMPLE,
    reason="110 of 110 questions have no answers of the model yet.",
)
STAGE_2 = CheckpointView(
    id=2,
    project_id=1,
    stage=Stage.CALIBRATION,
    parent_id=1,
    label_set_hash="",
    n_labels=40,
    settings={},
    seed=0,
    path="projects/1/checkpoints/2",
    metrics={},
    state=CheckpointState.STALE,
    created_at=NOW,
)


def test_progress_says_what_is_known() -> None:
    assert progress_words(JOB) == "sampling: 120 of 1,500 · 5.7 a second · 4 min 2 s left"
    assert progress_words(replace(JOB, rate=0.05, seconds_left=None)) == "sampling: 120 of 1,500 · 3.0 a minute"
    assert progress_words(replace(JOB, step="", total=0, rate=None, seconds_left=None)) == "starting"
    assert progress_words(replace(JOB, state=JobState.QUEUED)) == "waiting for its turn"


def test_job_time_runs_until_the_end() -> None:
    assert job_time(JOB, NOW + timedelta(seconds=90)) == 90
    assert job_time(replace(JOB, finished_at=NOW + timedelta(seconds=30)), NOW + timedelta(seconds=90)) == 30
    assert job_time(replace(JOB, started_at=None), NOW) is None


def test_strip_marks_done_next_and_later() -> None:
    cards = strip(STATE, [])
    assert [card.name for card in cards] == ["Import", "Sample", "Elicit", "Label", "Calibrate"]
    assert [card.state for card in cards] == [StepState.DONE, StepState.NEXT] + [StepState.LATER] * 3
    assert (cards[0].figure, cards[0].words) == ("110", "questions, 10 held out")


def test_strip_marks_what_runs_and_what_is_stale() -> None:
    assert strip(STATE, [JOB])[1].state is StepState.RUNNING
    later = replace(STATE, next_step=Step.LABEL, checkpoints=(STAGE_2,))
    assert strip(later, [])[4].words == "labels learned, now stale"


@pytest.mark.parametrize(
    ("step", "label", "job"),
    [
        (Step.IMPORT, "Import questions", None),
        (Step.SAMPLE, "Prepare for labelling", JobKind.PREPARE),
        (Step.ELICIT, "Train Stage 1", JobKind.ELICIT),
        (Step.SELECT, "Select 50 questions", JobKind.SELECT),
        (Step.LABEL, "Label questions", None),
        (Step.CALIBRATE, "Train Stage 2", JobKind.CALIBRATE),
        (Step.DONE, "See the quality", None),
    ],
)
def test_one_button_for_every_step(step: Step, label: str, job: JobKind | None) -> None:
    act = next_act(replace(STATE, next_step=step), [])
    assert (act.label, act.job, act.blocked) == (label, job, "")
    assert (act.page == "") == (job is not None)


def test_a_job_waits_for_one_of_its_queue_but_labelling_waits_for_none() -> None:
    preparing = replace(JOB, kind=JobKind.PREPARE)
    assert "running" in next_act(STATE, [preparing]).blocked
    assert "running" in next_act(STATE, [JOB]).blocked  # a chain waits for everything
    assert next_act(replace(STATE, next_step=Step.LABEL), [preparing]).blocked == ""
    assert next_act(replace(STATE, next_step=Step.CALIBRATE), [JOB]).blocked == ""  # sampling goes on beside training
