"""Checkpoints: what was trained from what, and whether the labels it learned from still hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from app.services.labels import read_hash
from db.engine import Database
from db.models import Checkpoint
from db.repositories.projects import ProjectRepository
from elical_core.domain import CheckpointState, Role, Stage
from elical_core.errors import Conflict, NotFound

_LEARNED_FROM = "learned_from"  # key in Checkpoint.settings: ids of the questions whose labels were used


@dataclass(frozen=True, kw_only=True)
class CheckpointView:
    """``path`` is relative to the home folder. ``settings`` leaves out what only staleness needs."""

    id: int
    project_id: int
    stage: Stage
    parent_id: int | None
    label_set_hash: str
    n_labels: int
    settings: Mapping[str, Any]
    seed: int
    path: str
    metrics: Mapping[str, Any]
    state: CheckpointState
    created_at: datetime

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


def add_checkpoint(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    stage: Stage,
    path: str,
    settings: Mapping[str, Any],
    seed: int,
    parent_id: int | None = None,
    label_set_hash: str = "",
    question_ids: Collection[int] = (),
    metrics: Mapping[str, Any] | None = None,
) -> CheckpointView:
    """Records a finished checkpoint whose files lie at ``path`` (relative to the home folder).

    ``label_set_hash`` and ``question_ids`` come from ``labels.training_labels``, read when training began; when a label
    has changed since, the checkpoint is stale from the start. Adding the same path again gives the stored row back (a
    job that was killed between the files and the row may repeat the step); with other labels it raises Conflict.
    """
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        there = session.scalar(select(Checkpoint).where(Checkpoint.project_id == project_id, Checkpoint.path == path))
        if there is not None:
            if there.label_set_hash != label_set_hash or there.stage is not stage:
                raise Conflict(f"{path} is already recorded with other labels; train into a new folder")
            return view(there)
        row = Checkpoint(
            project_id=project_id,
            stage=stage,
            parent_id=parent_id,
            label_set_hash=label_set_hash,
            n_labels=len(question_ids),
            settings={**settings, _LEARNED_FROM: sorted(question_ids)},
            seed=seed,
            path=path,
            metrics=dict(metrics or {}),
            state=CheckpointState.FRESH,
        )
        session.add(row)
        session.flush()
        refresh_staleness(session, project_id)
        return view(row)


def list_checkpoints(
    database: Database, who: Actor, project_id: int, *, stage: Stage | None = None
) -> list[CheckpointView]:
    """Oldest first."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        rows = ProjectRepository(session).checkpoints(project_id)
        return [view(row) for row in rows if stage is None or row.stage is stage]


def newest_checkpoint(
    database: Database, who: Actor, project_id: int, *, stage: Stage | None = None
) -> CheckpointView | None:
    """The newest checkpoint (of a stage), stale or not; None when there is none."""
    found = list_checkpoints(database, who, project_id, stage=stage)
    return found[-1] if found else None


def checkpoint(database: Database, who: Actor, checkpoint_id: int) -> CheckpointView:
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        if (row := session.get(Checkpoint, checkpoint_id)) is None:
            raise NotFound(f"there is no checkpoint with number {checkpoint_id}")
        return view(row)


def set_metrics(database: Database, who: Actor, checkpoint_id: int, metrics: Mapping[str, Any]) -> None:
    """Adds to the metrics of a checkpoint; same names are replaced."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        if (row := session.get(Checkpoint, checkpoint_id)) is None:
            raise NotFound(f"there is no checkpoint with number {checkpoint_id}")
        row.metrics = {**row.metrics, **metrics}


def mark_stale(database: Database, who: Actor, project_id: int) -> int:
    """Compares every calibration checkpoint with the labels as they are now; gives the number of stale ones.

    Saving, undoing and importing labels do this themselves.
    """
    require(who, Role.ANNOTATOR)
    with database.write.begin() as session:
        return refresh_staleness(session, project_id)


def refresh_staleness(session: Session, project_id: int, question_id: int | None = None) -> int:
    """A calibration checkpoint is stale when the labels of the questions that it learned from differ from those it saw.
    New labels of other questions do not make it stale, and a label that is put back makes it fresh again.

    With ``question_id`` only checkpoints that learned from that question are looked at. Gives how many of them are
    stale.
    """
    stale = 0
    for row in ProjectRepository(session).checkpoints(project_id):
        learned_from = row.settings.get(_LEARNED_FROM, [])
        if row.stage is not Stage.CALIBRATION or (question_id is not None and question_id not in learned_from):
            continue
        same = read_hash(session, project_id, learned_from) == row.label_set_hash
        row.state = CheckpointState.FRESH if same else CheckpointState.STALE
        stale += not same
    return stale


def view(row: Checkpoint) -> CheckpointView:
    return CheckpointView(
        id=row.id,
        project_id=row.project_id,
        stage=row.stage,
        parent_id=row.parent_id,
        label_set_hash=row.label_set_hash,
        n_labels=row.n_labels,
        settings={key: value for key, value in row.settings.items() if key != _LEARNED_FROM},
        seed=row.seed,
        path=row.path,
        metrics=dict(row.metrics),
        state=row.state,
        created_at=row.created_at,
    )
