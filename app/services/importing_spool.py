"""A temporary file between reading and storing: the whole import is known to be sound before the database is touched.

Memory stays bounded whatever the size of the import, and the write transaction does nothing but insert.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from elical_core.datasets.rows import ParsedRow
from elical_core.domain import QuestionRecord, Split
from elical_core.errors import StoreError

CHUNK = 500  # rows compared with the database at once


@dataclass(frozen=True, slots=True)
class SpooledRow:
    """A row that is still to be imported. ``position`` is its order in the file."""

    position: int
    row: int
    line: int | None
    id_given: bool
    split_given: bool
    record: QuestionRecord


class Spool:
    """Rows by external id, in file order. Use as a context; nothing of it stays behind."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="elical-import-")
        self._db = sqlite3.connect(Path(self._folder.name) / "spool.sqlite", isolation_level=None)

    def __enter__(self) -> Self:
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            "CREATE TABLE rows (position INTEGER PRIMARY KEY, external_id TEXT UNIQUE, content TEXT, row INTEGER, "
            "line INTEGER, id_given INTEGER, split_given INTEGER, state TEXT NOT NULL DEFAULT 'new')",
            "BEGIN",
        ):
            self._run(statement)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        self._folder.cleanup()

    def add(self, parsed: ParsedRow) -> SpooledRow | None:
        """Keeps the row; gives the earlier row when its id is already taken (then nothing is kept)."""
        record = parsed.record
        added = self._run(
            "INSERT INTO rows (external_id, content, row, line, id_given, split_given) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (external_id) DO NOTHING",
            (record.external_id, _to_json(record), parsed.row, parsed.line, parsed.id_given, parsed.split_given),
        )
        if added.rowcount == 1:
            return None
        return self.get([record.external_id])[0]

    def chunks(self, state: str) -> Iterator[list[SpooledRow]]:
        """All rows in that state, in file order; the state may be changed meanwhile."""
        last = -1
        while chunk := list(self._rows("position > ? AND state = ?", (last, state), limit=CHUNK)):
            yield chunk
            last = chunk[-1].position

    def ids(self, state: str) -> Iterator[list[str]]:
        """The external ids of all rows in that state, in file order, some hundreds at a time."""
        last = -1
        query = "SELECT position, external_id FROM rows WHERE position > ? AND state = ? ORDER BY position LIMIT ?"
        while found := self._run(query, (last, state, CHUNK)).fetchall():
            yield [external_id for _, external_id in found]
            last = found[-1][0]

    def get(self, external_ids: Collection[str]) -> list[SpooledRow]:
        """The rows of those ids, in file order."""
        marks = ", ".join("?" * len(external_ids))
        return list(self._rows(f"external_id IN ({marks})", tuple(external_ids), limit=len(external_ids)))

    def mark(self, row: SpooledRow, state: str) -> None:
        self._run("UPDATE rows SET state = ? WHERE position = ?", (state, row.position))

    def count(self, state: str) -> int:
        return int(self._run("SELECT count(*) FROM rows WHERE state = ?", (state,)).fetchone()[0])

    def _rows(self, where: str, values: Sequence[Any], limit: int = 1) -> Iterator[SpooledRow]:
        query = (
            "SELECT position, row, line, id_given, split_given, external_id, content "
            f"FROM rows WHERE {where} ORDER BY position LIMIT {limit}"
        )
        for position, row, line, id_given, split_given, external_id, content in self._run(query, values):
            record = _from_json(external_id, content)
            yield SpooledRow(position, row, line, bool(id_given), bool(split_given), record)

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, values)
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"the import's temporary file in {self._folder.name} cannot be written ({error}); nothing was "
                f"imported. Free some space, or set TMPDIR to a larger disk"
            ) from error


def _to_json(record: QuestionRecord) -> str:
    content = [
        record.text,
        record.context,
        record.reference_answers,
        record.domain,
        dict(record.metadata),
        record.split.value,
        record.group,
    ]
    return json.dumps(content, ensure_ascii=False)


def _from_json(external_id: str, content: str) -> QuestionRecord:
    text, context, references, domain, metadata, split, group = json.loads(content)
    return QuestionRecord(
        external_id=external_id,
        text=text,
        context=context,
        reference_answers=tuple(references),
        domain=domain,
        metadata=metadata,
        split=Split(split),
        group=group,
    )
