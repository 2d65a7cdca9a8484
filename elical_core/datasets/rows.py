"""What passes between the steps of reading a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from elical_core.domain import QuestionRecord

BLANK_LINE = "blank line"


class ProblemKind(StrEnum):
    """``SKIPPED``: nothing is lost by leaving the row out. ``REJECTED``: the row needs a change in the file."""

    SKIPPED = "skipped"
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True)
class RowProblem:
    """Why a row is not imported. ``row`` counts data rows from 1 (the header is none); ``line`` is where the row starts
    in a text file or sheet, None elsewhere."""

    row: int
    kind: ProblemKind
    reason: str
    external_id: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = f"row {self.row}" if self.line in (None, self.row) else f"row {self.row} (line {self.line})"
        named = f", id {self.external_id}" if self.external_id else ""
        return f"{where}{named}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        return {
            "row": self.row,
            "line": self.line,
            "id": self.external_id,
            "kind": self.kind.value,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as the file has it. ``problem`` is set instead of ``values`` when the row itself cannot be read; a row with
    neither is blank."""

    row: int
    line: int | None
    values: Mapping[str, Any] | None = None
    problem: str = ""

    @property
    def blank(self) -> bool:
        return self.values is None and not self.problem


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """A usable row. ``split_given``: the file says the split; otherwise the seeded hash of the group did.
    ``id_given``: the file has the id; otherwise it is a hash of the content."""

    row: int
    line: int | None
    record: QuestionRecord
    split_given: bool
    id_given: bool


def without_trailing_blanks(rows: Iterable[RawRow]) -> Iterator[RawRow]:
    """The rows up to the last one that is not blank. Blank rows in between stay, so that they are counted."""
    held: list[RawRow] = []
    for row in rows:
        if row.blank:
            held.append(row)
        else:
            yield from held
            held.clear()
            yield row
