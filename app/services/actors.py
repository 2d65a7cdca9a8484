"""Who acts, and what a role may do."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from db.engine import Database
from db.models import User
from elical_core.domain import Role
from elical_core.errors import NotAllowed, NotFound

LOCAL_ADMIN = "local"  # made by `elical init`; the user of a home folder on one's own machine
_RANK = {Role.VIEWER: 0, Role.ANNOTATOR: 1, Role.ADMIN: 2}


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who calls a service. ``id`` is the user's row."""

    id: int
    name: str
    role: Role


WORKER = Actor(id=0, name="worker", role=Role.ADMIN)  # background jobs: no row, so it never gives a verdict


def require(who: Actor, role: Role) -> None:
    """Raises NotAllowed unless ``who`` has ``role`` or a higher one (viewer < annotator < admin)."""
    if _RANK[who.role] < _RANK[role]:
        raise NotAllowed(f"{who.name} is {who.role}; this needs the role {role}. An admin can change it")


def actor_by_name(database: Database, name: str) -> Actor:
    """The user of that name. Raises NotFound when there is none, NotAllowed when the account is disabled."""
    with database.read.begin() as session:
        user = session.scalar(select(User).where(User.name == name))
    if user is None:
        raise NotFound(f"there is no user {name!r}; add one with `elical user add {name}`")
    if user.disabled:
        raise NotAllowed(f"the account {name!r} is disabled; an admin can enable it")
    return Actor(id=user.id, name=user.name, role=user.role)


def local_admin(database: Database) -> Actor:
    """The admin of a home folder without sign-in: what the command line and a local app act as."""
    return actor_by_name(database, LOCAL_ADMIN)
