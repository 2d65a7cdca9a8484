"""Answers are stored once, only pool questions are learned from, and a question is drawn once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from app.services import generations, labelling, measurements, projects, rounds, users
from app.services.actors import WORKER, Actor, actor_by_name, local_admin
from app.services.checkpoints import add_checkpoint
from app.services.rounds import DrawnQuestion
from db.engine import Database
from db.models import AnswerCluster, Generation
from elical_core.config import SelectionConfig
from elical_core.domain import (
    Answer,
    AnswerClass,
    ClusterRecord,
    Consistency,
    DecidingStep,
    GenerationRecord,
    Measured,
    Role,
    Split,
    Stage,
    Stream,
)
from elical_core.errors import Conflict, InputError, NotAllowed, NotFound

Fill = Callable[..., Any]


def record(question_id: int, fingerprint: str = "m", logprobs: tuple[float | None, ...] = (-0.5,)) -> GenerationRecord:
    greedy = Answer(text="Paris", answer_class=AnswerClass.ANSWER, tokens=("Paris",), logprobs=logprobs)
    return GenerationRecord(
        question_id=question_id, model_fingerprint=fingerprint, seed=1, greedy=greedy, samples=(greedy, greedy)
    )


def consistency(target: float | None) -> Consistency:
    cluster = ClusterRecord(representative="Paris", members=(0, 1), holds_greedy=True, step=DecidingStep.EXACT)
    reason = "" if target is not None else "fewer than half could be compared"
    return Consistency(clusters=(cluster,), target=target, reason=reason, same=2, different=0, unresolved=0)


def test_unsampled_shrinks_and_a_repeated_batch_changes_nothing(database: Database, admin: Actor, fill: Fill) -> None:
    project = fill(3, drawn=False)
    waiting = generations.unsampled(database, WORKER, project.project_id, "m", limit=2)
    assert [(request.key, request.question_id) for request in waiting] == [
        ("q0", project.question_ids[0]),
        ("q1", project.question_ids[1]),
    ]
    batch = [(record(request.question_id), consistency(1.0)) for request in waiting]
    assert generations.store(database, WORKER, project.project_id, batch) == 2
    assert generations.store(database, WORKER, project.project_id, batch) == 0
    assert generations.count_unsampled(database, WORKER, project.project_id, "m") == 1
    assert generations.count_unsampled(database, WORKER, project.project_id, "other") == 3
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(Generation)) == 3 + 2
        assert session.scalar(select(func.count()).select_from(AnswerCluster)) == 3 * 3 + 2


def test_a_batch_for_another_project_is_refused_whole(database: Database, admin: Actor, fill: Fill) -> None:
    first, second = fill(1, drawn=False), fill(1, name="other", drawn=False)
    batch = [(record(number), consistency(1.0)) for number in (first.question_ids[0], second.question_ids[0])]
    with pytest.raises(InputError, match="nothing of this batch was stored"):
        generations.store(database, WORKER, first.project_id, batch)
    assert generations.count_unsampled(database, WORKER, first.project_id, "m") == 1


def test_clusters_are_stored_largest_first(database: Database, fill: Fill) -> None:
    fill(1, samples=("greedy", "big", "big", "big", "mid", "mid"))
    with database.read.begin() as session:
        rows = session.scalars(select(AnswerCluster).order_by(AnswerCluster.position)).all()
        assert [(row.representative, row.size, row.members) for row in rows] == [
            ("big", 3, [1, 2, 3]),
            ("mid", 2, [4, 5]),
            ("greedy", 1, [0]),
        ]


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        ((-0.5, -1.5), math.exp(-1)),
        ((0.0,), 1.0),
        ((), None),
        ((-0.5, None), None),
        ((-math.inf, -0.5), None),
        ((math.nan,), None),
    ],
)
def test_n_prob_is_missing_rather_than_certain(logprobs: tuple[float | None, ...], expected: float | None) -> None:
    assert generations.n_prob(logprobs) == (None if expected is None else pytest.approx(expected))


def test_non_finite_log_probabilities_are_stored_as_missing(database: Database, fill: Fill) -> None:
    project = fill(1, drawn=False)
    given = record(project.question_ids[0], logprobs=(-math.inf,))
    generations.store(database, WORKER, project.project_id, [(given, consistency(None))])
    (found,) = generations.answered(database, WORKER, project.project_id)
    assert (found.n_prob, found.consistency, found.reason) == (None, None, "fewer than half could be compared")
    assert found.fingerprint == "m"  # the newest answers


def test_stage_one_learns_from_pool_questions_with_a_target(database: Database, fill: Fill) -> None:
    confidence = pytest.importorskip("elical_core.confidence")
    if not hasattr(confidence, "TrainingItem"):
        pytest.skip("the confidence package has no TrainingItem yet")
    project = fill(3, audit=(1,), drawn=False)
    newest = generations.newest_id(database, WORKER, project.project_id)
    generations.store(database, WORKER, project.project_id, [(record(project.question_ids[0]), consistency(None))])
    then = generations.elicitation_items(database, WORKER, project.project_id, newest)
    assert [(item.key, item.target, item.group) for item in then] == [("q0", 0.5, "g0"), ("q2", 0.5, "g2")]
    now = generations.elicitation_items(database, WORKER, project.project_id)
    assert [item.key for item in now] == ["q2"]  # q0's newest answers have no target


def test_candidates_are_answered_undrawn_and_not_held_out(database: Database, fill: Fill) -> None:
    project = fill(3, audit=(2,), drawn=False)
    found = rounds.candidates(database, WORKER, project.project_id)
    assert [(c.question_id, c.split, c.consistency) for c in found] == [
        (project.question_ids[0], Split.POOL, 0.5),
        (project.question_ids[1], Split.POOL, 0.5),
        (project.question_ids[2], Split.AUDIT, 0.5),
    ]
    drawn = [DrawnQuestion(question_id=project.question_ids[0], stream=Stream.TRAIN, probability=0.2, reason="far")]
    config = SelectionConfig(seed=3)
    assert rounds.add_round(database, WORKER, project.project_id, drawn, config=config, job_id="job") == 1
    assert rounds.add_round(database, WORKER, project.project_id, drawn, config=config, job_id="job") == 1
    assert rounds.size_of_job(database, WORKER, project.project_id, "job") == 1
    assert rounds.size_of_job(database, WORKER, project.project_id, "other") is None
    assert rounds.count_rounds(database, WORKER, project.project_id) == 1
    assert len(rounds.candidates(database, WORKER, project.project_id)) == 2
    (kept,) = rounds.list_rounds(database, WORKER, project.project_id)
    assert (kept.policy, kept.seed, kept.overlap, kept.items) == ("stratified", 3, 1, tuple(drawn))
    with pytest.raises(Conflict, match="in an earlier round already"):
        rounds.add_round(database, WORKER, project.project_id, drawn, config=config)


def test_rounds_refuse_what_would_spoil_the_audit(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(2, audit=(1,), drawn=False)
    pool, audit = (
        DrawnQuestion(question_id=number, stream=Stream.TRAIN, probability=0.5) for number in project.question_ids
    )
    config = SelectionConfig()
    for drawn, said in [
        ([audit], "is audit and must not be drawn for train"),
        ([pool, pool], "drawn twice"),
        ([dataclasses.replace(pool, question_id=999)], "not in this project"),
        ([dataclasses.replace(pool, probability=0.0)], r"must be in \(0, 1\]"),
        ([], "no question was drawn"),
    ]:
        with pytest.raises(InputError, match=said):
            rounds.add_round(database, WORKER, project.project_id, drawn, config=config)
    with pytest.raises(NotAllowed):
        rounds.list_rounds(database, ann, project.project_id)  # it tells the streams
    assert labelling.next_item(database, ann, project.project_id) is None


def test_measurements_are_replaced_per_checkpoint_and_stream(database: Database, admin: Actor) -> None:
    project = projects.create_project(database, admin, "p", model_id="packaged", prompt={}).id
    made = [
        add_checkpoint(database, admin, project, stage=stage, path=f"c/{stage}", settings={}, seed=0)
        for stage in (Stage.ELICITATION, Stage.CALIBRATION)
    ]

    def measured(value: float | None) -> list[Measured]:
        reason = "" if value is not None else "one class"
        return [Measured(metric="auroc", value=value, low=None, high=None, n=60, left_out=2, reason=reason)]

    for checkpoint, value in zip(made, (0.7, 0.8), strict=True):
        for found in (measured(None), measured(value)):
            measurements.replace(database, WORKER, project, checkpoint=checkpoint, stream="audit", found=found)
    measurements.store(database, WORKER, project, estimator="n-prob", n_labels=0, stream="audit", found=measured(0.6))
    listed = measurements.list_measurements(database, admin, project)
    assert [(item.estimator, item.measured.value) for item in listed] == [
        ("stage-1", 0.7),
        ("calibrated", 0.8),
        ("n-prob", 0.6),
    ]
    both = measurements.before_and_after(database, admin, project)["audit"]["auroc"]
    assert (both["before"]["value"], both["after"]["value"]) == (0.7, 0.8)
    assert measurements.list_measurements(database, admin, project, stream="held-out") == []


def test_people_are_added_disabled_and_never_all_demoted(database: Database, admin: Actor) -> None:
    assert local_admin(database) == admin
    users.add_user(database, admin, "zoe", Role.VIEWER)
    with pytest.raises(Conflict, match="already a user named 'zoe'"):
        users.add_user(database, admin, "zoe", Role.VIEWER)
    with pytest.raises(InputError, match="1 to 100 printable"):
        users.add_user(database, admin, "\t", Role.VIEWER)
    assert users.set_role(database, admin, "zoe", Role.ANNOTATOR).role is Role.ANNOTATOR
    for act in (
        lambda: users.set_role(database, admin, "local", Role.VIEWER),
        lambda: users.set_disabled(database, admin, "local", True),
    ):
        with pytest.raises(NotAllowed, match="leave no admin"):
            act()
    users.set_disabled(database, admin, "zoe", True)
    with pytest.raises(NotAllowed, match="disabled"):
        actor_by_name(database, "zoe")
    with pytest.raises(NotFound, match="no user 'nobody'"):
        actor_by_name(database, "nobody")
    with pytest.raises(NotFound, match="no user 'nobody'"):
        users.set_role(database, admin, "nobody", Role.ADMIN)
    assert [(user.name, user.disabled) for user in users.list_users(database, admin)] == [
        ("local", False),
        ("zoe", True),
    ]
