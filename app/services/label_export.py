"""Labels out: every verdict as a row, with what it judged, who gave it and how its question was drawn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from app.services.label_table import LabelRow, write_rows
from app.services.labels import stream_of
from db.engine import Database
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.domain import Role


def export_labels(
    database: Database, who: Actor, project_id: int, out: Path, *, file_format: str, history: bool = False
) -> int:
    """Writes the verdicts of a project to a file, oldest first; gives the number of rows.

    One row is the current verdict of one annotator on one distinct answer, so a question has as many rows as answers,
    times annotators; unsure and skipped ones are in, withdrawn ones are not. With ``history`` it is one row per event,
    withdrawn ones included; such a file, imported into a project with the same questions and answers, gives the same
    file again.
    """
    require(who, Role.ADMIN)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return write_rows(_rows(session, project_id, history), out, file_format)


def _rows(session: Session, project_id: int, history: bool) -> Iterator[LabelRow]:
    draws = {item.question_id: (item, by) for item, by in RoundRepository(session).items(project_id)}
    for event, cluster, generation, question, annotator in VerdictRepository(session).events(project_id, history):
        item, drawn_by = draws.get(question.id, (None, None))
        stream = stream_of(question, item)
        yield LabelRow(
            external_id=question.external_id,
            question=question.text,
            answer=event.answer_text,
            value=event.value.value,
            annotator=annotator,
            created_at=_iso(event.created_at),
            seconds=event.seconds_on_screen,
            client_key=event.client_key,
            version=event.version,
            model_fingerprint=generation.model_fingerprint,
            holds_greedy=cluster.holds_greedy,
            size=cluster.size,
            stream="" if stream is None else stream.value,
            probability=None if item is None else item.probability,
            policy="" if drawn_by is None else drawn_by.policy,
            drawn_at="" if drawn_by is None else _iso(drawn_by.created_at),
        )


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
