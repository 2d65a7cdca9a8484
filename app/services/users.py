"""People: add, list, change role, disable. A person with verdicts is never deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from db.engine import Database
from db.models import User
from elical_core.domain import Role
from elical_core.errors import Conflict, InputError, NotAllowed, NotFound


@dataclass(frozen=True, kw_only=True)
class UserView:
    id: int
    name: str
    role: Role
    disabled: bool
    created_at: datetime

    @property
    def actor(self) -> Actor:
        return Actor(id=self.id, name=self.name, role=self.role)


def add_user(database: Database, who: Actor, name: str, role: Role) -> UserView:
    """Raises Conflict when the name is taken."""
    require(who, Role.ADMIN)
    try:
        with database.write.begin() as session:
            return _view(create(session, name, role))
    except IntegrityError as error:
        raise Conflict(f"there is already a user named {name!r}; choose another name") from error


def list_users(database: Database, who: Actor) -> list[UserView]:
    """By name, disabled ones included."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return [_view(row) for row in session.scalars(select(User).order_by(User.name))]


def set_role(database: Database, who: Actor, name: str, role: Role) -> UserView:
    """Raises NotAllowed when it would leave no admin."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        user = _by_name(session, name)
        user.role = role
        _keep_an_admin(session)
        return _view(user)


def set_disabled(database: Database, who: Actor, name: str, disabled: bool) -> UserView:
    """A disabled person can do nothing; their verdicts stay. Raises NotAllowed when it would leave no admin."""
    require(who, Role.ADMIN)
    with database.write.begin() as session:
        user = _by_name(session, name)
        user.disabled = disabled
        _keep_an_admin(session)
        return _view(user)


def create(session: Session, name: str, role: Role) -> User:
    """A new row inside a transaction that is already open. Raises InputError for an unusable name."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InputError(f"a user name has 1 to 100 printable characters, got {name!r}")
    user = User(name=name, role=role)
    session.add(user)
    session.flush()
    return user


def _by_name(session: Session, name: str) -> User:
    if (user := session.scalar(select(User).where(User.name == name))) is None:
        raise NotFound(f"there is no user {name!r}; `elical user list` shows all")
    return user


def _keep_an_admin(session: Session) -> None:
    session.flush()
    query = select(func.count()).select_from(User).where(User.role == Role.ADMIN, User.disabled.is_(False))
    if not session.scalar(query):
        raise NotAllowed("this would leave no admin; make somebody else admin first")


def _view(row: User) -> UserView:
    return UserView(id=row.id, name=row.name, role=row.role, disabled=row.disabled, created_at=row.created_at)
