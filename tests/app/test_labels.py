"""The one definition of a label, worked by hand, and what goes stale when a label changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services import checkpoints, generations, labelling, labels
from app.services.actors import Actor
from app.services.labelling import Outcome
from app.services.labels import combine, hash_of
from db.engine import Database
from db.repositories.verdicts import Judgement
from elical_core.domain import (
    Answer,
    AnswerClass,
    CheckpointState,
    ClusterRecord,
    Consistency,
    DecidingStep,
    GenerationRecord,
    Stage,
    Stream,
)
from elical_core.errors import Conflict, NotFound

Fill = Callable[..., Any]


def judgement(
    correct: int = 0,
    judged: int = 0,
    *,
    greedy: bool | None = None,
    n_judged: int | None = None,
    unsure: int = 0,
    skipped: int = 0,
    annotator_id: int = 1,
) -> Judgement:
    return Judgement(
        question_id=1,
        annotator_id=annotator_id,
        annotator=f"person {annotator_id}",
        size_correct=correct,
        size_judged=judged,
        n_judged=int(judged > 0) if n_judged is None else n_judged,
        n_unsure=unsure,
        n_skipped=skipped,
        greedy=greedy,
        round_id=None,
        at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("judgements", "label"),
    [
        ([judgement(15, 20, greedy=True)], (0.75, True, "")),
        ([judgement(0, 20, greedy=False)], (0.0, False, "")),
        ([judgement(6, 8, greedy=None)], (0.75, None, "")),  # the greedy cluster was left unsure
        # soft is the mean: (3/4 + 1/4 + 2/4) / 3; greedy is the majority: two of three
        (
            [judgement(3, 4, greedy=True), judgement(1, 4, greedy=False), judgement(2, 4, greedy=True)],
            (0.5, True, ""),
        ),
        ([judgement(3, 4, greedy=True), judgement(1, 4, greedy=False)], (None, None, "annotators disagree")),
        ([judgement(3, 4, greedy=True), judgement(skipped=3)], (0.75, True, "")),  # a skip has no say
        ([judgement(unsure=3), judgement(skipped=3)], (None, None, "unsure")),
        ([judgement(skipped=3)], (None, None, "skipped")),
        ([judgement()], (None, None, "withdrawn")),
        ([judgement(0, 0, n_judged=1, greedy=True)], (1.0, True, "")),  # no samples: the greedy answer is all there is
        ([judgement(0, 0, n_judged=1, greedy=None)], (None, None, "unsure")),
    ],
)
def test_labels_by_hand(judgements: list[Judgement], label: tuple[float | None, bool | None, str]) -> None:
    assert combine(judgements) == label


@given(
    st.lists(
        st.builds(
            lambda right, wrong, greedy: judgement(right, right + wrong, greedy=greedy),
            st.integers(0, 20),
            st.integers(0, 20),
            st.sampled_from([True, False, None]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_label_is_whole_or_missing_with_a_reason(judgements: list[Judgement]) -> None:
    soft, greedy, reason = combine(judgements)
    assert (soft is None) == bool(reason)
    assert soft is None or 0 <= soft <= 1
    assert greedy is None or not reason
    assert combine(judgements[::-1])[1:] == (greedy, reason)  # the order of people does not matter


def test_the_hash_names_the_set() -> None:
    rows = [("q1", "Paris", "correct"), ("q0", "Lyon", "incorrect")]
    told = '[["q0", "Lyon", "incorrect"], ["q1", "Paris", "correct"]]'
    assert hash_of(rows) == hash_of(rows[::-1]) == hashlib.sha256(told.encode()).hexdigest()
    assert hash_of(rows) != hash_of(rows[:1]) != hash_of([*rows[:1], *rows[:1]])
    assert hash_of([]) == ""


def give(
    database: Database, who: Actor, item: labelling.AnnotationItem | None, *correct: str, key: str = ""
) -> labelling.Saved:
    assert item is not None
    return labelling.submit(
        database,
        who,
        question_id=item.question_id,
        lease_token=item.lease_token,
        ticked={answer.cluster_id for answer in item.answers if answer.text in correct},
        outcome=Outcome.JUDGED,
        client_key=key or item.client_key,
        seconds=4,
    )


def test_soft_weighs_answers_by_their_samples(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(1, samples=["Paris"] * 12 + ["Lutetia"] * 3 + ["Lyon"] * 5).project_id
    give(database, ann, labelling.next_item(database, ann, project), "Paris", "Lutetia")
    (label,) = labels.labelled(database, ann, project)
    assert (label.soft, label.greedy) == (0.75, True)  # 15 of 20 samples
    assert (label.stream, label.probability, label.group, label.annotator) == (Stream.TRAIN, 0.5, "g0", "ann")


def test_a_greedy_answer_that_was_never_sampled_has_no_weight(
    database: Database, admin: Actor, ann: Actor, fill: Fill
) -> None:
    project = fill(1)
    record = GenerationRecord(
        question_id=project.question_ids[0],
        model_fingerprint="model-b",
        seed=0,
        greedy=Answer(text="Rome", answer_class=AnswerClass.ANSWER),
        samples=(Answer(text="Paris", answer_class=AnswerClass.ANSWER),),
    )
    clusters = (
        ClusterRecord(representative="Rome", members=(), holds_greedy=True, step=DecidingStep.NONE),
        ClusterRecord(representative="Paris", members=(0,), holds_greedy=False, step=DecidingStep.NONE),
    )
    consistency = Consistency(clusters=clusters, target=0.0, reason="", same=0, different=1, unresolved=0)
    generations.store(database, admin, project.project_id, [(record, consistency)])
    give(database, ann, labelling.next_item(database, ann, project.project_id), "Paris")
    (label,) = labels.labelled(database, ann, project.project_id)
    assert (label.soft, label.greedy) == (1.0, False)


def test_labels_of_older_answers_wait_for_their_model(database: Database, admin: Actor, ann: Actor, fill: Fill) -> None:
    """A label belongs to question, answer and model: answers of another model are judged afresh, nothing is deleted."""
    project = fill(1)
    give(database, ann, labelling.next_item(database, ann, project.project_id), "Paris")
    record = GenerationRecord(
        question_id=project.question_ids[0],
        model_fingerprint="model-b",
        seed=0,
        greedy=Answer(text="Rome", answer_class=AnswerClass.ANSWER),
        samples=(),
    )
    clusters = (ClusterRecord(representative="Rome", members=(), holds_greedy=True, step=DecidingStep.NONE),)
    consistency = Consistency(clusters=clusters, target=None, reason="k = 0", same=0, different=0, unresolved=0)
    generations.store(database, admin, project.project_id, [(record, consistency)])
    assert labels.labelled(database, ann, project.project_id) == []
    give(database, ann, labelling.next_item(database, ann, project.project_id))
    (label,) = labels.labelled(database, ann, project.project_id)
    assert (label.soft, label.greedy) == (0.0, False)


def test_counts_agree_with_the_list(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(3, overlap=2, audit=(2,)).project_id
    for who, ticks in ((ann, ("Paris",)), (bob, ("Lyon",))):  # they disagree about the greedy answer of q0
        give(database, who, labelling.next_item(database, who, project), *ticks)
    give(database, ann, labelling.next_item(database, ann, project), "Paris")
    saved = give(database, ann, labelling.next_item(database, ann, project), "Paris")
    counts = labels.label_counts(database, ann, project)
    assert (counts.labelled, counts.train, counts.audit, counts.disagreeing, counts.seconds) == (2, 1, 1, 1, 16.0)
    assert saved.n_labelled == counts.labelled == sum(x.is_labelled for x in labels.labelled(database, ann, project))


def test_audit_labels_are_not_for_training(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(2, audit=(0,))
    for _ in range(2):
        give(database, ann, labelling.next_item(database, ann, project.project_id), "Paris")
    taken = labels.training_labels(database, ann, project.project_id)
    assert taken.question_ids == project.question_ids[1:]
    assert taken.label_set_hash == labels.label_set_hash(database, ann, project.project_id, project.question_ids[1:])


def calibrated(database: Database, admin: Actor, project: int, name: str = "c") -> checkpoints.CheckpointView:
    taken = labels.training_labels(database, admin, project)
    return checkpoints.add_checkpoint(
        database,
        admin,
        project,
        stage=Stage.CALIBRATION,
        path=f"projects/{project}/checkpoints/{name}",
        settings={"epochs": 4},
        seed=0,
        label_set_hash=taken.label_set_hash,
        question_ids=taken.question_ids,
    )


def state(database: Database, who: Actor, project: int) -> CheckpointState:
    found = checkpoints.newest_checkpoint(database, who, project, stage=Stage.CALIBRATION)
    assert found is not None
    return found.state


def test_a_changed_label_makes_the_model_stale_and_putting_it_back_fresh(
    database: Database, admin: Actor, ann: Actor, fill: Fill
) -> None:
    project = fill(3).project_id
    first = labelling.next_item(database, ann, project)
    give(database, ann, first, "Paris")
    view = calibrated(database, admin, project)
    assert (view.state, view.n_labels, view.settings, view.name) == (CheckpointState.FRESH, 1, {"epochs": 4}, "c")
    give(database, ann, labelling.next_item(database, ann, project), "Paris")
    assert state(database, admin, project) is CheckpointState.FRESH  # another question's label
    give(database, ann, first, key="edit-1")
    assert state(database, admin, project) is CheckpointState.STALE
    give(database, ann, first, "Paris", key="edit-2")
    assert state(database, admin, project) is CheckpointState.FRESH
    for _ in range(2):
        labelling.undo(database, ann, project)
    assert state(database, admin, project) is CheckpointState.STALE
    assert checkpoints.mark_stale(database, admin, project) == 1


def test_a_label_changed_during_training_makes_the_model_stale_from_the_start(
    database: Database, admin: Actor, ann: Actor, fill: Fill
) -> None:
    project = fill(1).project_id
    item = labelling.next_item(database, ann, project)
    give(database, ann, item, "Paris")
    taken = labels.training_labels(database, admin, project)
    give(database, ann, item, key="edit")
    view = checkpoints.add_checkpoint(
        database,
        admin,
        project,
        stage=Stage.CALIBRATION,
        path="projects/1/checkpoints/c",
        settings={},
        seed=0,
        label_set_hash=taken.label_set_hash,
        question_ids=taken.question_ids,
    )
    assert view.state is CheckpointState.STALE


def test_a_checkpoint_is_recorded_once(database: Database, admin: Actor, ann: Actor, fill: Fill) -> None:
    project = fill(2).project_id
    give(database, ann, labelling.next_item(database, ann, project), "Paris")
    assert calibrated(database, admin, project).id == calibrated(database, admin, project).id
    give(database, ann, labelling.next_item(database, ann, project), "Paris")
    with pytest.raises(Conflict, match="already recorded with other labels"):
        calibrated(database, admin, project)
    assert len(checkpoints.list_checkpoints(database, admin, project)) == 1
    checkpoints.set_metrics(database, admin, 1, {"loss": 0.1})
    checkpoints.set_metrics(database, admin, 1, {"auroc": 0.7})
    assert checkpoints.checkpoint(database, admin, 1).metrics == {"loss": 0.1, "auroc": 0.7}
    with pytest.raises(NotFound, match="no checkpoint with number 9"):
        checkpoints.checkpoint(database, admin, 9)
    assert checkpoints.newest_checkpoint(database, admin, project, stage=Stage.ELICITATION) is None
