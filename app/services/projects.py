"""Projects: create, find, change, archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.services.actors import Actor, require
from db.base import utc_now
from db.engine import Database
from db.models import Project, Question
from db.repositories.projects import ProjectRepository
from elical_core.config import SamplingConfig
from elical_core.domain import LabelKind, Role, Split
from elical_core.errors import Conflict, InputError, NotFound


@dataclass(frozen=True, kw_only=True)
class ProjectView:
    """``prompt`` is ``Prompt.to_json()``; ``budget`` counts labelled questions; ``target`` is what the user wants to
    reach (None: not said)."""

    id: int
    name: str
    model_id: str
    model_revision: str | None
    prompt: Mapping[str, Any]
    sampling: SamplingConfig
    guideline: str
    budget: int
    target: float | None
    label_kind: LabelKind
    seed: int
    created_at: datetime
    archived_at: datetime | None


def create_project(
    database: Database,
    who: Actor,
    name: str,
    *,
    model_id: str,
    prompt: Mapping[str, Any],
    model_revision: str | None = None,
    sampling: SamplingConfig | None = None,
    guideline: str = "",
    budget: int = 250,
    target: float | None = None,
    label_kind: LabelKind = LabelKind.SOFT,
    seed: int = 0,
) -> ProjectView:
    """Raises Conflict when the name is taken, InputError when it is empty or the budget is not positive."""
    require(who, Role.ADMIN)
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InputError(f"a project name has 1 to 100 printable characters, got {name!r}")
    if not model_id.strip():
        raise InputError("a project needs a model: packaged, a hub id, a folder or a .gguf file")
    if budget < 1:
        raise InputError(f"the budget must be at least 1 labelled question, got {budget}")
    row = Project(
        name=name,
        model_id=model_id.strip(),
        model_revision=model_revision,
        prompt=dict(prompt),
        sampling=(sampling or SamplingConfig(seed=seed)).to_json(),
        guideline=guideline,
        budget=budget,
        target=target,
        label_kind=label_kind,
        seed=seed,
    )
    try:
        with database.write.begin() as session:
            session.add(row)
            session.flush()
            return _view(row)
    except IntegrityError as error:
        raise Conflict(f"there is already a project named {name!r}; choose another name") from error


def list_projects(database: Database, who: Actor, *, archived: bool = False) -> list[ProjectView]:
    """By name; archived ones only when asked for."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return [_view(row) for row in ProjectRepository(session).all(archived=archived)]


def project_by_name(database: Database, who: Actor, name: str) -> ProjectView:
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        projects = ProjectRepository(session)
        if (row := projects.by_name(name)) is None:
            known = ", ".join(item.name for item in projects.all()) or "none yet"
            raise NotFound(f"there is no project named {name!r}; there are: {known}")
        return _view(row)


def project_by_id(database: Database, who: Actor, project_id: int) -> ProjectView:
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return _view(ProjectRepository(session).get(project_id))


def update_project(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    guideline: str | None = None,
    budget: int | None = None,
    target: float | None = None,
    prompt: Mapping[str, Any] | None = None,
) -> ProjectView:
    """Changes what is given. A new prompt means a new model fingerprint: answers are sampled anew."""
    require(who, Role.ADMIN)
    if budget is not None and budget < 1:
        raise InputError(f"the budget must be at least 1 labelled question, got {budget}")
    with database.write.begin() as session:
        row = ProjectRepository(session).get(project_id)
        row.guideline = row.guideline if guideline is None else guideline
        row.budget = row.budget if budget is None else budget
        row.target = row.target if target is None else target
        row.prompt = row.prompt if prompt is None else dict(prompt)
        return _view(row)


def archive_project(database: Database, who: Actor, project_id: int, *, archived: bool = True) -> ProjectView:
    """Hides a project from lists (or shows it again); nothing is deleted."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        row = ProjectRepository(session).get(project_id)
        row.archived_at = utc_now() if archived else None
        return _view(row)


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    id: int
    external_id: str
    text: str
    context: str
    domain: str
    group: str
    split: Split
    reference_answers: tuple[str, ...]


def questions_by_id(database: Database, who: Actor, project_id: int) -> dict[int, QuestionView]:
    """Every question of the project by its number, in import order."""
    require(who, Role.VIEWER)
    columns = (
        Question.id,
        Question.external_id,
        Question.text,
        Question.context,
        Question.domain,
        Question.group,
        Question.split,
        Question.reference_answers,
    )
    query = select(*columns).where(Question.project_id == project_id).order_by(Question.id)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return {
            row[0]: QuestionView(
                id=row[0],
                external_id=row[1],
                text=row[2],
                context=row[3],
                domain=row[4],
                group=row[5],
                split=row[6],
                reference_answers=tuple(row[7]),
            )
            for row in session.execute(query)
        }


def _view(row: Project) -> ProjectView:
    return ProjectView(
        id=row.id,
        name=row.name,
        model_id=row.model_id,
        model_revision=row.model_revision,
        prompt=dict(row.prompt),
        sampling=SamplingConfig.from_json(row.sampling),
        guideline=row.guideline,
        budget=row.budget,
        target=row.target,
        label_kind=row.label_kind,
        seed=row.seed,
        created_at=row.created_at,
        archived_at=row.archived_at,
    )
