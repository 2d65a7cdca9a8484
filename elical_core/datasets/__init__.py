"""Reads question files and HonestyBench records, and decides which questions are set apart."""

from elical_core.datasets.options import FIELDS, MAX_QUESTION_CHARACTERS, ReadOptions
from elical_core.datasets.reader import Preview, file_columns, preview, read_questions
from elical_core.datasets.rows import ProblemKind, RowProblem
from elical_core.datasets.splits import AUDIT_SHARE, assign_split

__all__ = [
    "AUDIT_SHARE",
    "FIELDS",
    "MAX_QUESTION_CHARACTERS",
    "Preview",
    "ProblemKind",
    "ReadOptions",
    "RowProblem",
    "assign_split",
    "file_columns",
    "preview",
    "read_questions",
]
