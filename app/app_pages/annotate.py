"""Annotate: the page experts live in. The card does the typing; this page hands its events to the labelling service."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from app import state
from app.components.annotate import CardItem, CardState, Judged, Reply, annotation_card, last_event
from app.components.gate import chosen_project
from app.components.job_panel import running_job, worker_warning
from app.components.literal import Tone, literal
from app.components.queue_end import queue_end
from app.components.words import count, duration
from app.services import checkpoints, jobs, labelling, labels
from app.services.labelling import AnnotationItem, Outcome
from app.services.projects import ProjectView
from app.services.score_files import read_scores
from elical_core.consistency import judge
from elical_core.domain import AnswerClass, Relation
from elical_core.errors import ElicalError

OUTCOMES = {"submit": Outcome.JUDGED, "none": Outcome.JUDGED, "unsure": Outcome.UNSURE, "skip": Outcome.SKIPPED}
TALLY = {Outcome.JUDGED: "done", Outcome.UNSURE: "unsure", Outcome.SKIPPED: "skipped"}
NOTES = {AnswerClass.EMPTY: "(an empty answer)", AnswerClass.TRUNCATED: "(cut off)"}


def matches(question: str, answers: Mapping[int, str], references: list[str]) -> dict[int, str]:
    """Cluster id -> why its answer means the same as one of the references."""
    decided = judge(question, list(answers.values()), references) if references else []
    return {
        cluster: f"same by: {decision.step}"
        for cluster, decision in zip(answers, decided, strict=False)
        if decision.relation is Relation.SAME
    }


def card_item(item: AnnotationItem) -> CardItem:
    reasons = matches(item.text, {a.cluster_id: a.text for a in item.answers}, list(item.reference_answers))
    facts = {"context": item.context, "domain": item.domain, "guideline": item.guideline}
    details = [(name, text) for name, text in facts.items() if text]
    details += [(str(name), str(value)) for name, value in item.metadata.items()]
    return CardItem(
        question_id=item.question_id,
        token=item.lease_token,
        client_key=item.client_key,
        question=item.text,
        answers=[(a.cluster_id, a.text, NOTES.get(a.answer_class, "")) for a in item.answers],
        details=details,
        references=item.reference_answers,
        ticked=sorted(item.ticked) if item.earlier else sorted(reasons),
        reasons=() if item.earlier else sorted(reasons.items()),
        editing=item.earlier is not None,
    )


scores_in = st.cache_resource(read_scores, max_entries=4, show_spinner=False)


def previous_line(project_id: int, question_id: int) -> str:
    """What the current model had said of the question just judged; empty when it has not scored it."""
    newest = checkpoints.newest_checkpoint(state.database(), state.current_actor(), project_id)
    confidence = scores_in(state.settings().home / newest.path).get(question_id) if newest else None
    return "" if confidence is None else f"Previous question: the model's confidence was {confidence:.2f}"


def save_verdict(project: ProjectView, event: Mapping[str, Any], desk: dict[str, Any]) -> Reply:
    saved = labelling.submit(
        state.database(),
        state.current_actor(),
        question_id=int(event["question_id"]),
        lease_token=str(event["token"]),
        ticked={int(cluster) for cluster in event["ticks"]},
        outcome=OUTCOMES[event["outcome"]],
        client_key=str(event["key"]),
        seconds=float(event["seconds"]),
    )
    desk["saved_at"] = saved.saved_at.isoformat()
    desk["previous"] = previous_line(project.id, saved.question_id)
    desk["tally"][TALLY[saved.outcome]] += not saved.already
    problem = keep_reference(saved.question_id, str(event["reference"])) if saved.outcome is Outcome.JUDGED else ""
    return Reply(key=str(event["key"]), saved=True, problem=problem)


def keep_reference(question_id: int, typed: str) -> str:
    """Store a typed reference answer; why it was refused, else empty. The verdict stands either way."""
    if not typed.strip():
        return ""
    try:
        labelling.save_reference(state.database(), state.current_actor(), question_id, [typed])
    except ElicalError as refused:
        return f"The verdict is saved, but the typed reference answer is not: {refused}"
    return ""


def judge_reference(event: Mapping[str, Any], desk: dict[str, Any]) -> Reply:
    card = desk["card"]
    if card is not None and card.token == event["token"]:
        reasons = matches(card.question, {number: text for number, text, _ in card.answers}, [event["reference"]])
        desk["judged"] = Judged(
            key=str(event["key"]), token=card.token, same=sorted(reasons), reasons=sorted(reasons.items())
        )
    return Reply(key=str(event["key"]))


def undo(project: ProjectView, event: Mapping[str, Any], desk: dict[str, Any]) -> Reply:
    labelling.undo(state.database(), state.current_actor(), project.id, client_key=str(event["key"]))
    desk.update(previous="", saved_at="")
    return Reply(key=str(event["key"]))


def on_act(project: ProjectView) -> None:
    """One event of the card. What is refused comes back in red, with the verdict kept in the browser."""
    event, desk = last_event(), state.desk(project.id)
    try:
        match event.get("act"):
            case "verdict":
                desk["reply"] = save_verdict(project, event, desk)
            case "judge":
                desk["reply"] = judge_reference(event, desk)
            case "undo":
                desk["reply"] = undo(project, event, desk)
    except ElicalError as refused:
        desk["reply"] = Reply(key=str(event.get("key", "")), problem=f"Not saved: {refused}")


def refresh(project: ProjectView, desk: dict[str, Any]) -> str:
    """Bring the desk up to date; on trouble it stays as it is, with the card on screen, and the words come back."""
    database, who = state.database(), state.current_actor()
    try:
        item = labelling.next_item(database, who, project.id, lease_seconds=state.settings().lease_seconds)
        desk["card"] = card_item(item) if item else None
        desk["labels"] = labels.label_counts(database, who, project.id)
        desk["queue"] = labelling.queue_state(database, who, project.id)
    except ElicalError as refused:
        return str(refused)
    return ""


def progress_line(project: ProjectView, desk: dict[str, Any]) -> str:
    labelled, pace = desk["labels"].labelled, desk["queue"].median_seconds
    words = [project.name, f"{labelled:,} of {count(project.budget, 'label')}"]
    return " · ".join(words if pace is None else [*words, f"{duration(pace)} a question"])


def waiting(project_id: int) -> None:
    """While nothing is open: what the project's jobs are doing, and the first question as soon as there is one."""
    if labelling.queue_state(state.database(), state.current_actor(), project_id).open_to_me:
        st.rerun()
    for job in [job for job in jobs.list_jobs(state.settings(), project_id, limit=10) if job.is_active][:1]:
        running_job(job, now=datetime.now(UTC))
        worker_warning()


def annotate(project: ProjectView) -> None:
    desk = state.desk(project.id)
    trouble = refresh(project, desk)
    if desk["queue"] is None:
        literal(trouble, Tone.ERROR, key="trouble")
        return
    literal(progress_line(project, desk), Tone.QUIET, key="progress")
    if desk["card"] is None:
        queue_end(desk["queue"], desk["labels"], project.budget)
        st.fragment(waiting, run_every="3s")(project.id)
    tally = " · ".join(f"{n} {word}" for word, n in desk["tally"].items() if n)
    reply = desk["reply"] or (Reply(key="", problem=trouble) if trouble else None)
    card = CardState(
        annotator=f"{state.current_actor().id}@{project.id}",
        item=desk["card"],
        reply=reply,
        judged=desk["judged"],
        previous=desk["previous"],
        session=f"session: {tally}" if tally else "",
        saved_at=desk["saved_at"],
        can_undo=desk["queue"].done_by_me > 0,
    )
    annotation_card(card, lambda: on_act(project))


st.fragment(annotate)(chosen_project())
