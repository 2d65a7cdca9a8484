"""Only the questions of a file, for scoring."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from elical_core.datasets.reader import read_questions
from elical_core.datasets.rows import RowProblem
from elical_core.errors import ImportRefused, InputError


def read_texts(source: Path | Iterable[str]) -> tuple[list[str], list[str]]:
    """(questions, contexts), row-aligned: of any question file, or one question a line.

    Raises ImportRefused naming the first unusable row, because a row that silently falls out would shift the output.
    """
    if not isinstance(source, Path):
        lines = [line.strip() for line in source if line.strip()]
        if not lines:
            raise InputError("no question came on standard input; write one a line")
        return lines, [""] * len(lines)
    records = []
    for _, found in read_questions(source):
        if isinstance(found, RowProblem):
            raise ImportRefused(f"{source.name}, {found}; mend or remove that row")
        records.append(found)
    return [record.text for record in records], [record.context for record in records]
