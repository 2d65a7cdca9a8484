"""Measurements of checkpoints: stored with their interval, their number of items and the labels known at the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select

from app.services.actors import Actor, require
from app.services.checkpoints import CheckpointView
from db.engine import Database
from db.models import Measurement
from db.repositories.projects import ProjectRepository
from elical_core.domain import Measured, Role, Stage

ESTIMATORS = {Stage.ELICITATION: "stage-1", Stage.CALIBRATION: "calibrated"}


@dataclass(frozen=True, kw_only=True)
class MeasurementView:
    """``n_labels``: labelled training questions that the estimator learned from. ``stream``: audit, held-out or the
    name of an evaluation file. ``checkpoint_id`` is None for an estimator without a checkpoint."""

    checkpoint_id: int | None
    estimator: str
    n_labels: int
    stream: str
    measured: Measured
    created_at: datetime


def replace(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    checkpoint: CheckpointView,
    stream: str,
    found: Sequence[Measured],
) -> None:
    """Stores what was found for a checkpoint on a stream, in place of an earlier measurement of the same."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        session.execute(
            delete(Measurement).where(Measurement.checkpoint_id == checkpoint.id, Measurement.stream == stream)
        )
        session.add_all(
            _row(project_id, checkpoint.id, ESTIMATORS[checkpoint.stage], checkpoint.n_labels, stream, item)
            for item in found
        )


def store(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    estimator: str,
    n_labels: int,
    stream: str,
    found: Sequence[Measured],
) -> None:
    """Stores what was found for an estimator that has no checkpoint (instant head, N-Prob, consistency, ...)."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        session.add_all(_row(project_id, None, estimator, n_labels, stream, item) for item in found)


def list_measurements(
    database: Database, who: Actor, project_id: int, *, stream: str | None = None
) -> list[MeasurementView]:
    """By number of labels, then in the order in which they were stored."""
    require(who, Role.VIEWER)
    query = select(Measurement).where(Measurement.project_id == project_id)
    if stream is not None:
        query = query.where(Measurement.stream == stream)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return [_view(row) for row in session.scalars(query.order_by(Measurement.n_labels, Measurement.id))]


def before_and_after(database: Database, who: Actor, project_id: int) -> dict[str, Any]:
    """{stream: {metric: {"before": ..., "after": ...}}}: the newest calibrated checkpoint beside Stage 1, each with
    value, interval and n. A side that was not measured is None; a difference to Stage 1 has only an "after"."""
    found: dict[str, Any] = {}
    for item in list_measurements(database, who, project_id):
        sides = {"stage-1": "before", "calibrated": "after"}
        if (side := sides.get(item.estimator)) is not None:
            metric = found.setdefault(item.stream, {}).setdefault(item.measured.metric, {"before": None, "after": None})
            metric[side] = asdict(item.measured) | {"n_labels": item.n_labels}
    return found


def _row(
    project_id: int, checkpoint_id: int | None, estimator: str, n_labels: int, stream: str, item: Measured
) -> Measurement:
    return Measurement(
        project_id=project_id,
        checkpoint_id=checkpoint_id,
        estimator=estimator,
        n_labels=n_labels,
        stream=stream,
        metric=item.metric,
        value=item.value,
        low=item.low,
        high=item.high,
        n=item.n,
        left_out=item.left_out,
        method=item.method,
        reason=item.reason,
    )


def _view(row: Measurement) -> MeasurementView:
    return MeasurementView(
        checkpoint_id=row.checkpoint_id,
        estimator=row.estimator,
        n_labels=row.n_labels,
        stream=row.stream,
        measured=Measured(
            metric=row.metric,
            value=row.value,
            low=row.low,
            high=row.high,
            n=row.n,
            left_out=row.left_out,
            method=row.method,
            reason=row.reason,
        ),
        created_at=row.created_at,
    )
