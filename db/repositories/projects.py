"""Projects and how far each has come."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.models import Checkpoint, Generation, Project, Question
from db.repositories.generations import newest_generation
from elical_core.domain import Split
from elical_core.errors import NotFound


class ProjectRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, *, archived: bool = False) -> Sequence[Project]:
        query = select(Project).order_by(Project.name)
        return self._session.scalars(query if archived else query.where(Project.archived_at.is_(None))).all()

    def by_name(self, name: str) -> Project | None:
        return self._session.scalar(select(Project).where(Project.name == name))

    def get(self, project_id: int) -> Project:
        if (project := self._session.get(Project, project_id)) is None:
            raise NotFound(f"there is no project with number {project_id}; `elical project list` shows all")
        return project

    def lock(self, project_id: int) -> None:
        """Makes other writers to this project wait until the transaction ends. SQLite's BEGIN IMMEDIATE has done so
        already; on PostgreSQL it locks the project's row."""
        query = select(Project.id).where(Project.id == project_id).with_for_update(key_share=True)
        if self._session.scalar(query) is None:
            self.get(project_id)

    def question_counts(self, project_id: int) -> dict[Split, int]:
        query = select(Question.split, func.count()).where(Question.project_id == project_id).group_by(Question.split)
        counts = {split: n for split, n in self._session.execute(query)}
        return {split: counts.get(split, 0) for split in Split}

    def sampled_counts(self, project_id: int) -> tuple[int, int]:
        """Questions with answers; pool questions whose newest answers have a Stage-1 target."""
        sampled = self._session.scalar(
            select(func.count(func.distinct(Generation.question_id)))
            .join(Question, Question.id == Generation.question_id)
            .where(Question.project_id == project_id)
        )
        with_target = self._session.scalar(
            select(func.count())
            .select_from(Generation)
            .join(Question, Question.id == Generation.question_id)
            .where(
                Question.project_id == project_id,
                Question.split == Split.POOL,
                Generation.id == newest_generation(Question.id),
                Generation.consistency.is_not(None),
            )
        )
        return sampled or 0, with_target or 0

    def checkpoints(self, project_id: int) -> Sequence[Checkpoint]:
        query = select(Checkpoint).where(Checkpoint.project_id == project_id).order_by(Checkpoint.id)
        return self._session.scalars(query).all()
