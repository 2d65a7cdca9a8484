"""Projects, and the order of the loop."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from app.services import checkpoints, labelling, progress, projects
from app.services.actors import WORKER, Actor
from app.services.checkpoints import CheckpointView
from app.services.labelling import Outcome
from app.services.labels import LabelCounts
from app.services.progress import Step, next_step
from db.engine import Database
from elical_core.config import SamplingConfig
from elical_core.domain import CheckpointState, Split, Stage
from elical_core.errors import Conflict, InputError, NotAllowed, NotFound

Fill = Callable[..., Any]


def counts(train: int = 0, audit: int = 0) -> LabelCounts:
    return LabelCounts(
        labelled=train + audit,
        train=train,
        audit=audit,
        held_out=0,
        unsure=0,
        skipped=0,
        withdrawn=0,
        disagreeing=0,
        seconds=0,
    )


def trained(stage: Stage, n_labels: int = 0, state: CheckpointState = CheckpointState.FRESH) -> CheckpointView:
    return CheckpointView(
        id=1,
        project_id=1,
        stage=stage,
        parent_id=None,
        label_set_hash="",
        n_labels=n_labels,
        settings={},
        seed=0,
        path="projects/1/checkpoints/a",
        metrics={},
        state=state,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


STAGE1 = trained(Stage.ELICITATION)


@pytest.mark.parametrize(
    ("given", "step", "words"),
    [
        ({"total": 0, "sampled": 0, "with_target": 0}, Step.IMPORT, "no questions yet"),
        ({"sampled": 40}, Step.SAMPLE, "60 of 100 questions have no answers"),
        ({"with_target": 0}, Step.SAMPLE, "No sampled answer could be compared"),
        ({}, Step.ELICIT, "80 questions have a consistency target"),
        ({"checkpoints": (STAGE1,), "sampled": 40}, Step.SELECT, "50 labels of the budget"),
        ({"checkpoints": (STAGE1,), "undecided": 7, "counts": counts(3)}, Step.LABEL, "7 drawn questions wait"),
        ({"checkpoints": (STAGE1,), "counts": counts(9), "blocked": ""}, Step.CALIBRATE, "9 labels are there"),
        (
            {"checkpoints": (STAGE1, trained(Stage.CALIBRATION, 9)), "counts": counts(12), "blocked": ""},
            Step.CALIBRATE,
            "3 labels are newer",
        ),
        (
            {
                "checkpoints": (STAGE1, trained(Stage.CALIBRATION, 9, CheckpointState.STALE)),
                "counts": counts(9),
                "blocked": "",
            },
            Step.CALIBRATE,
            "have changed since",
        ),
        (
            {"checkpoints": (STAGE1, trained(Stage.CALIBRATION, 9)), "counts": counts(9, 3), "blocked": ""},
            Step.SELECT,
            "38 labels of the budget",
        ),
        (
            {"checkpoints": (STAGE1, trained(Stage.CALIBRATION, 40)), "counts": counts(40, 10), "blocked": ""},
            Step.DONE,
            "All 50 labels",
        ),
        ({"checkpoints": (STAGE1,), "counts": counts(0, 50)}, Step.SELECT, "calibration cannot start: no labels"),
    ],
)
def test_the_order_of_the_loop(given: dict[str, Any], step: Step, words: str) -> None:
    state = {"total": 100, "sampled": 100, "with_target": 80, "undecided": 0, "counts": counts(), "checkpoints": ()}
    blocked = given.pop("blocked", "no labels")
    found, reason = next_step(**{**state, **given}, budget=50, calibrate_blocked=blocked)
    assert found is step
    assert words in reason


def test_a_project_keeps_what_it_was_given(database: Database, admin: Actor) -> None:
    made = projects.create_project(
        database,
        admin,
        " trivia ",
        model_id="org/model",
        model_revision="abc",
        prompt={"kind": "chat"},
        sampling=SamplingConfig(k=5),
        guideline="Be strict.",
        budget=40,
    )
    assert projects.project_by_name(database, admin, "trivia") == made
    assert projects.project_by_id(database, admin, made.id) == made
    assert (made.sampling.k, made.budget, made.prompt) == (5, 40, {"kind": "chat"})


def test_names_are_unique_and_printable(database: Database, admin: Actor) -> None:
    projects.create_project(database, admin, "trivia", model_id="packaged", prompt={})
    with pytest.raises(Conflict, match="already a project named 'trivia'"):
        projects.create_project(database, admin, "trivia", model_id="packaged", prompt={})
    for name in ("", "  ", "a\nb", "x" * 101):
        with pytest.raises(InputError, match="1 to 100 printable"):
            projects.create_project(database, admin, name, model_id="packaged", prompt={})
    with pytest.raises(InputError, match="at least 1 labelled question, got 0"):
        projects.create_project(database, admin, "b", model_id="packaged", prompt={}, budget=0)
    with pytest.raises(InputError, match="needs a model"):
        projects.create_project(database, admin, "b", model_id=" ", prompt={})
    with pytest.raises(NotFound, match="no project named 'quiz'; there are: trivia"):
        projects.project_by_name(database, admin, "quiz")


def test_changes_and_the_archive(database: Database, admin: Actor, ann: Actor) -> None:
    made = projects.create_project(database, admin, "trivia", model_id="packaged", prompt={})
    changed = projects.update_project(database, admin, made.id, guideline="New.", budget=7)
    assert (changed.guideline, changed.budget, changed.prompt) == ("New.", 7, {})
    with pytest.raises(InputError, match="at least 1"):
        projects.update_project(database, admin, made.id, budget=0)
    with pytest.raises(NotAllowed, match="needs the role admin"):
        projects.update_project(database, ann, made.id, budget=9)
    projects.archive_project(database, admin, made.id)
    assert projects.list_projects(database, admin) == []
    assert [p.name for p in projects.list_projects(database, admin, archived=True)] == ["trivia"]
    assert projects.archive_project(database, admin, made.id, archived=False).archived_at is None


def test_the_state_counts_what_is_there(database: Database, admin: Actor, ann: Actor, fill: Fill) -> None:
    project = fill(5, audit=(3, 4)).project_id
    state = progress.project_state(database, admin, project)
    assert state.questions == {Split.POOL: 3, Split.AUDIT: 2, Split.HELD_OUT: 0}
    assert (state.total, state.sampled, state.with_target, state.drawn, state.undecided) == (5, 5, 3, 5, 5)
    assert state.next_step is Step.ELICIT
    checkpoints.add_checkpoint(
        database, WORKER, project, stage=Stage.ELICITATION, path="projects/1/checkpoints/a", settings={}, seed=0
    )
    assert progress.project_state(database, admin, project).next_step is Step.LABEL
    assert progress.project_state(database, admin, project).calibrate_blocked.startswith("there are no training labels")
    for number in range(5):
        item = labelling.next_item(database, ann, project)
        assert item is not None
        labelling.submit(
            database,
            ann,
            question_id=item.question_id,
            lease_token=item.lease_token,
            ticked={item.main[0].cluster_id} if number else (),
            outcome=Outcome.JUDGED,
            client_key=item.client_key,
            seconds=3,
        )
        if number == 0:
            blocked = progress.project_state(database, admin, project).calibrate_blocked
            assert blocked == "all 1 training labels have the same value (0); label more questions"
    state = progress.project_state(database, admin, project)
    assert (state.labelled_train, state.labelled_audit, state.seconds_spent) == (3, 2, 15.0)
    assert (state.undecided, state.calibrate_blocked, state.next_step) == (0, "", Step.CALIBRATE)


def test_questions_by_id_are_in_import_order(database: Database, admin: Actor, fill: Fill) -> None:
    project = fill(3, audit=(1,))
    found = projects.questions_by_id(database, admin, project.project_id)
    assert tuple(found) == project.question_ids
    assert [q.external_id for q in found.values()] == ["q0", "q1", "q2"]
    assert found[project.question_ids[1]].split is Split.AUDIT
