"""Alembic's entry: db.migrate hands over a connection that is already inside one transaction."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from db import models  # noqa: F401 (fills the metadata)
from db.base import Base, UtcDateTime


def render(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Migrations name column types of SQLAlchemy alone, so that they outlive our own classes."""
    return "sa.DateTime()" if kind == "type" and isinstance(item, UtcDateTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    render_item=render,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
