"""What every table shares: constraint names (SQLite's batch migrations need them), UTC times, no hidden queries."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Enum, MetaData
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

from elical_core.domain import (
    AnswerClass,
    CheckpointState,
    DecidingStep,
    LabelKind,
    Role,
    Split,
    Stage,
    Stream,
    VerdictValue,
)


def utc_now() -> datetime:
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """Stores aware times as UTC and gives them back as UTC; a naive time is an error (SQLite itself drops the zone)."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; use datetime.now(UTC)")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def words(enum: type[StrEnum]) -> Enum:
    """A text column that takes exactly the enum's values, checked by the database."""
    return Enum(
        enum,
        values_callable=lambda e: [member.value for member in e],
        native_enum=False,
        create_constraint=True,
        name=enum.__name__.lower(),
        length=32,
    )


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it as a class attribute)
        datetime: UtcDateTime,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        list[str]: JSON,
        Split: words(Split),
        AnswerClass: words(AnswerClass),
        DecidingStep: words(DecidingStep),
        VerdictValue: words(VerdictValue),
        Stream: words(Stream),
        Stage: words(Stage),
        CheckpointState: words(CheckpointState),
        LabelKind: words(LabelKind),
        Role: words(Role),
    }
