"""One act per question: claim, judge, edit, undo. Nothing is lost, doubled or given to two people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.services import generations, labelling, labels, users
from app.services.actors import Actor
from app.services.labelling import AnnotationItem, Outcome, Saved
from db.engine import Database
from db.models import Generation, Verdict
from elical_core.domain import Answer, AnswerClass, Consistency, GenerationRecord, Role, VerdictValue
from elical_core.errors import Conflict, InputError, NotAllowed, NotFound, StoreError

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Fill = Callable[..., Any]


def judge(
    database: Database,
    who: Actor,
    item: AnnotationItem,
    correct: tuple[str, ...] = ("Paris",),
    *,
    outcome: Outcome = Outcome.JUDGED,
    key: str = "",
    seconds: float = 4.0,
    now: datetime | None = None,
) -> Saved:
    return labelling.submit(
        database,
        who,
        question_id=item.question_id,
        lease_token=item.lease_token,
        ticked={answer.cluster_id for answer in item.answers if answer.text in correct},
        outcome=outcome,
        client_key=key or item.client_key,
        seconds=seconds,
        now=now,
    )


def take(database: Database, who: Actor, project_id: int, now: datetime | None = None) -> AnnotationItem:
    item = labelling.next_item(database, who, project_id, now=now)
    assert item is not None
    return item


def events(database: Database, question_id: int) -> list[tuple[str, str]]:
    with database.read.begin() as session:
        rows = session.scalars(select(Verdict).where(Verdict.question_id == question_id).order_by(Verdict.id))
        return [(row.answer_text, row.value.value) for row in rows]


def test_questions_come_in_the_order_of_the_round(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(3)
    seen = []
    while (item := labelling.next_item(database, ann, project.project_id)) is not None:
        seen.append(item.external_id)
        judge(database, ann, item)
    assert seen == ["q0", "q1", "q2"]
    assert labelling.next_item(database, ann, project.project_id) is None


def test_a_reload_shows_the_same_question_in_the_same_order(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(3)
    assert take(database, ann, project.project_id) == take(database, ann, project.project_id)


def test_an_item_gives_nothing_away(database: Database, ann: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1, audit=(0,)).project_id)
    shown = set(AnnotationItem.__dataclass_fields__)
    assert not shown & {"confidence", "stream", "split", "consistency", "probability", "greedy"}
    assert set(item.answers[0].__dataclass_fields__) == {"cluster_id", "text", "answer_class"}


def test_nine_answers_first_among_them_the_greedy_one(database: Database, ann: Actor, fill: Fill) -> None:
    samples = ["greedy", *[f"common {i}" for i in range(10) for _ in range(2)], "rare"]
    item = take(database, ann, fill(1, samples=samples).project_id)
    main = {answer.text for answer in item.main}
    assert len(item.main) == 9
    assert "greedy" in main
    assert {answer.text for answer in item.rest} == {"common 8", "common 9", "rare"}


def test_the_order_of_answers_is_random_per_question(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(12, samples=[f"answer {i}" for i in range(9)])
    orders = set()
    while (item := labelling.next_item(database, ann, project.project_id)) is not None:
        orders.add(tuple(answer.text for answer in item.main))
        judge(database, ann, item)
    assert len(orders) > 8  # 12 draws of 9! orders


def test_two_people_never_hold_the_same_question(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(2)
    assert take(database, ann, project.project_id).external_id == "q0"
    assert take(database, bob, project.project_id).external_id == "q1"


def test_an_expired_lease_is_taken_over_and_its_holder_is_told(
    database: Database, ann: Actor, bob: Actor, fill: Fill
) -> None:
    project = fill(1)
    item = take(database, ann, project.project_id, NOON)
    assert labelling.next_item(database, bob, project.project_id, now=NOON + timedelta(minutes=9)) is None
    later = NOON + timedelta(minutes=11)
    assert take(database, bob, project.project_id, later).question_id == item.question_id
    with pytest.raises(Conflict, match=r"ended at 12:10 UTC and somebody else has taken it"):
        judge(database, ann, item, now=later)
    assert events(database, item.question_id) == []


def test_the_holder_goes_on_after_expiry_while_nobody_took_the_question(
    database: Database, ann: Actor, fill: Fill
) -> None:
    item = take(database, ann, fill(1).project_id, NOON)
    assert judge(database, ann, item, now=NOON + timedelta(hours=2)).n_labelled == 1


def test_a_heartbeat_keeps_the_question(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(1)
    item = take(database, ann, project.project_id, NOON)
    until = labelling.heartbeat(
        database,
        ann,
        question_id=item.question_id,
        lease_token=item.lease_token,
        now=NOON + timedelta(minutes=9),
    )
    assert until == NOON + timedelta(minutes=19)
    assert labelling.next_item(database, bob, project.project_id, now=NOON + timedelta(minutes=18)) is None


def test_a_heartbeat_after_ones_own_submit_works(database: Database, ann: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1).project_id)
    judge(database, ann, item)
    labelling.heartbeat(database, ann, question_id=item.question_id, lease_token=item.lease_token)


def test_a_released_question_is_free_at_once(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(1)
    item = take(database, ann, project.project_id)
    labelling.release(database, ann, question_id=item.question_id, lease_token=item.lease_token)
    assert take(database, bob, project.project_id).question_id == item.question_id


def test_one_submit_is_one_verdict_per_answer(database: Database, ann: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1).project_id)
    saved = judge(database, ann, item)
    assert (saved.already, saved.n_labelled, saved.outcome) == (False, 1, Outcome.JUDGED)
    assert sorted(events(database, item.question_id)) == [
        ("Lyon", "incorrect"),
        ("Nice", "incorrect"),
        ("Paris", "correct"),
    ]


def test_a_double_click_is_one_label(database: Database, ann: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1).project_id, NOON)
    first = judge(database, ann, item, now=NOON)
    second = judge(database, ann, item, correct=(), now=NOON + timedelta(seconds=1))
    assert second == Saved(
        question_id=first.question_id, saved_at=NOON, outcome=Outcome.JUDGED, n_labelled=1, already=True
    )
    assert len(events(database, item.question_id)) == 3


def test_correct_incorrect_correct_is_three_events_and_one_label(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(1, samples=("Paris", "Paris"))
    item = take(database, ann, project.project_id)
    for number, correct in enumerate([("Paris",), (), ("Paris",)]):
        judge(database, ann, item, correct, key=f"click-{number}")
    assert [value for _, value in events(database, item.question_id)] == ["correct", "incorrect", "correct"]
    (label,) = labels.labelled(database, ann, project.project_id)
    assert (label.soft, label.greedy, label.seconds) == (1.0, True, 12.0)


def test_a_key_of_another_act_is_refused(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(2)
    first = take(database, ann, project.project_id)
    judge(database, ann, first, key="same")
    second = take(database, ann, project.project_id)
    with pytest.raises(Conflict, match="belongs to another act"):
        judge(database, ann, second, key="same")


def test_unknown_ticks_are_refused_whole(database: Database, ann: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1).project_id)
    with pytest.raises(Conflict, match="1 of the ticked answers"):
        labelling.submit(
            database,
            ann,
            question_id=item.question_id,
            lease_token=item.lease_token,
            ticked={item.main[0].cluster_id, 10**6},
            outcome=Outcome.JUDGED,
            client_key=item.client_key,
            seconds=1,
        )
    assert events(database, item.question_id) == []


def test_answers_sampled_anew_cannot_be_judged_unseen(database: Database, admin: Actor, ann: Actor, fill: Fill) -> None:
    project = fill(1)
    item = take(database, ann, project.project_id)
    resampled = GenerationRecord(
        question_id=item.question_id,
        model_fingerprint="model-b",
        seed=0,
        greedy=Answer(text="Rome", answer_class=AnswerClass.ANSWER),
        samples=(),
    )
    empty = Consistency(clusters=(), target=None, reason="none", same=0, different=0, unresolved=0)
    generations.store(database, admin, project.project_id, [(resampled, empty)])
    with pytest.raises(Conflict, match="sampled anew"):
        judge(database, ann, item, correct=())
    assert take(database, ann, project.project_id).lease_token != item.lease_token


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_impossible_seconds_are_refused(database: Database, ann: Actor, fill: Fill, seconds: float) -> None:
    item = take(database, ann, fill(1).project_id)
    with pytest.raises(InputError, match="seconds on screen"):
        judge(database, ann, item, seconds=seconds)


def test_skipped_and_unsure_are_no_labels_and_go_to_others(
    database: Database, ann: Actor, bob: Actor, fill: Fill
) -> None:
    project = fill(2)
    judge(database, ann, take(database, ann, project.project_id), outcome=Outcome.SKIPPED)
    judge(database, ann, take(database, ann, project.project_id), outcome=Outcome.UNSURE)
    assert labelling.next_item(database, ann, project.project_id) is None
    counts = labels.label_counts(database, ann, project.project_id)
    assert (counts.labelled, counts.skipped, counts.unsure) == (0, 1, 1)
    assert take(database, bob, project.project_id).external_id == "q0"


def test_overlap_two_gives_each_question_to_two_people(
    database: Database, ann: Actor, bob: Actor, admin: Actor, fill: Fill
) -> None:
    project = fill(1, overlap=2)
    for who in (ann, bob):
        judge(database, who, take(database, who, project.project_id))
    assert labelling.next_item(database, admin, project.project_id) is None
    (label,) = labels.labelled(database, ann, project.project_id)
    assert label.annotators == ("ann", "bob")


def test_undo_reopens_the_last_question_with_its_ticks(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(3)
    first = take(database, ann, project.project_id)
    judge(database, ann, first, ("Paris", "Nice"))
    second = take(database, ann, project.project_id)
    again = labelling.undo(database, ann, project.project_id)
    assert again is not None
    assert again.question_id == first.question_id
    assert {a.text for a in again.answers if a.cluster_id in again.ticked} == {"Paris", "Nice"}
    assert again.earlier is Outcome.JUDGED
    assert labels.label_counts(database, ann, project.project_id).withdrawn == 1
    assert take(database, ann, project.project_id) == again  # a reload keeps it
    judge(database, ann, again)
    assert take(database, ann, project.project_id).question_id == second.question_id  # and then back to where one was
    assert [value for _, value in events(database, first.question_id)].count("withdrawn") == 3


def test_undo_of_a_skip(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(1)
    judge(database, ann, take(database, ann, project.project_id), outcome=Outcome.SKIPPED)
    again = labelling.undo(database, ann, project.project_id)
    assert again is not None
    assert (again.earlier, again.ticked) == (Outcome.SKIPPED, frozenset())


def test_undo_is_ten_deep_and_then_says_so(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(12)
    for _ in range(12):
        judge(database, ann, take(database, ann, project.project_id))
    undone = [labelling.undo(database, ann, project.project_id) for _ in range(10)]
    assert [item.external_id for item in undone if item] == [f"q{i}" for i in range(11, 1, -1)]
    with pytest.raises(Conflict, match="10 questions are open again"):
        labelling.undo(database, ann, project.project_id)
    for _ in range(10):
        judge(database, ann, take(database, ann, project.project_id))
    assert labels.label_counts(database, ann, project.project_id).labelled == 12


def test_a_double_undo_click_undoes_once(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(2)
    for _ in range(2):
        judge(database, ann, take(database, ann, project.project_id))
    first = labelling.undo(database, ann, project.project_id, client_key="z")
    second = labelling.undo(database, ann, project.project_id, client_key="z")
    assert first is not None
    assert second is not None
    assert (first.question_id, first.lease_token) == (second.question_id, second.lease_token)
    assert labels.label_counts(database, ann, project.project_id).labelled == 1


def test_nothing_to_undo(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(1)
    judge(database, bob, take(database, bob, project.project_id))
    assert labelling.undo(database, ann, project.project_id) is None  # never somebody else's label


def test_an_earlier_question_opens_for_editing_without_losing_its_label(
    database: Database, ann: Actor, fill: Fill
) -> None:
    project = fill(1)
    first = take(database, ann, project.project_id)
    judge(database, ann, first)
    again = labelling.open_item(database, ann, first.question_id)
    assert again.client_key != first.client_key
    assert labels.label_counts(database, ann, project.project_id).labelled == 1
    assert labelling.next_item(database, ann, project.project_id) is None  # the end page is stable
    judge(database, ann, again, ())
    (label,) = labels.labelled(database, ann, project.project_id)
    assert (label.soft, label.greedy) == (0.0, False)


def test_a_heartbeat_between_submit_and_edit_does_not_swallow_the_edit(
    database: Database, ann: Actor, fill: Fill
) -> None:
    item = take(database, ann, fill(1).project_id)
    judge(database, ann, item)
    labelling.heartbeat(database, ann, question_id=item.question_id, lease_token=item.lease_token)
    again = labelling.open_item(database, ann, item.question_id)
    assert not judge(database, ann, again, ()).already


def test_somebody_elses_question_does_not_open(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    item = take(database, ann, fill(1).project_id)
    with pytest.raises(Conflict, match="somebody else has this question"):
        labelling.open_item(database, bob, item.question_id)


def test_a_question_without_answers_is_not_offered(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(2)
    with database.write.begin() as session:
        session.delete(session.scalars(select(Generation).order_by(Generation.id).limit(1)).one())
    assert take(database, ann, project.project_id).external_id == "q1"
    state = labelling.queue_state(database, ann, project.project_id)
    assert (state.drawn, state.without_answers) == (2, 1)


def test_typed_references_are_kept_once(database: Database, ann: Actor, fill: Fill) -> None:
    project = fill(1)
    item = take(database, ann, project.project_id)
    assert labelling.save_reference(database, ann, item.question_id, [" Paris ", "Paris"]) == ("Paris",)
    assert labelling.save_reference(database, ann, item.question_id, ["Lutetia"]) == ("Paris", "Lutetia")
    assert take(database, ann, project.project_id).reference_answers == ("Paris", "Lutetia")
    for nothing in ([" "], ["?"], []):
        with pytest.raises(InputError, match="must say something"):
            labelling.save_reference(database, ann, item.question_id, nothing)


def test_the_queue_says_what_is_left_and_why(database: Database, ann: Actor, bob: Actor, fill: Fill) -> None:
    project = fill(5)
    judge(database, ann, take(database, ann, project.project_id, NOON), seconds=10, now=NOON)
    judge(database, ann, take(database, ann, project.project_id, NOON), outcome=Outcome.UNSURE, seconds=20, now=NOON)
    judge(database, ann, take(database, ann, project.project_id, NOON), outcome=Outcome.SKIPPED, seconds=60, now=NOON)
    take(database, ann, project.project_id, NOON)
    mine = labelling.queue_state(database, ann, project.project_id, now=NOON)
    assert (mine.drawn, mine.done_by_me, mine.open_to_me, mine.leased) == (5, 3, 2, 0)
    assert (mine.my_judged, mine.my_unsure, mine.my_skipped, mine.median_seconds) == (1, 1, 1, 20.0)
    bobs = labelling.queue_state(database, bob, project.project_id, now=NOON)
    assert (bobs.done_by_others, bobs.leased, bobs.open_to_me) == (1, 1, 3)
    assert bobs.leased_until == NOON + timedelta(minutes=10)
    assert bobs.median_seconds is None


def test_viewers_and_disabled_people_may_not_label(database: Database, admin: Actor, ann: Actor, fill: Fill) -> None:
    project = fill(1)
    viewer = users.add_user(database, admin, "eve", Role.VIEWER).actor
    with pytest.raises(NotAllowed, match="eve is viewer"):
        labelling.next_item(database, viewer, project.project_id)
    item = take(database, ann, project.project_id)
    users.set_disabled(database, admin, "ann", True)
    with pytest.raises(NotAllowed, match="nothing was saved"):
        judge(database, ann, item)


def test_unknown_projects_and_questions_are_named(database: Database, ann: Actor) -> None:
    with pytest.raises(NotFound, match="no project with number 77"):
        labelling.next_item(database, ann, 77)
    with pytest.raises(NotFound, match="no question with number 88"):
        labelling.open_item(database, ann, 88)


@pytest.mark.usefixtures("sqlite_only")
def test_a_read_only_database_saves_nothing_and_says_so(
    database: Database, ann: Actor, fill: Fill, settings: Any
) -> None:
    item = take(database, ann, fill(1).project_id)
    read_only = Database.open(f"sqlite:///file:{settings.home / 'elical.sqlite'}?mode=ro&uri=true")
    try:
        with pytest.raises(StoreError, match="read-only; nothing was saved"):
            judge(read_only, ann, item)
    finally:
        read_only.close()
    assert judge(database, ann, item).already is False  # the same verdict, tried again


def test_verdict_values_are_the_words_of_the_screen() -> None:
    assert {value.value for value in VerdictValue} == {"correct", "incorrect", "unsure", "skipped", "withdrawn"}
