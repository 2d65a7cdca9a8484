"""Reads the packaged corpus."""

from __future__ import annotations

from pathlib import Path

from elical_core.datasets.options import ReadOptions
from elical_core.datasets.reader import read_questions
from elical_core.datasets.rows import RowProblem
from elical_core.domain import QuestionRecord
from elical_core.errors import ImportRefused


def corpus_path() -> Path:
    return Path(__file__).with_name("corpus.jsonl")


def corpus(options: ReadOptions = ReadOptions()) -> list[QuestionRecord]:
    """Every question in file order. The first n are a fair spread of domains and difficulties, whatever n is.

    About 15% are held out by the file; ``options.seed`` and ``options.audit_share`` split the rest into pool and audit.
    Raises ImportRefused when the packaged file is damaged.
    """
    records = []
    for _, found in read_questions(corpus_path(), options):
        if isinstance(found, RowProblem):
            raise ImportRefused(f"the packaged corpus is damaged ({found}); install EliCal again")
        records.append(found)
    return records
