"""How a file is to be read: which column is which, and what to do where the file does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elical_core.datasets.splits import AUDIT_SHARE
from elical_core.errors import ImportRefused, InputError

MAX_QUESTION_CHARACTERS = 20_000
MAX_CONTEXT_CHARACTERS = 200_000
MAX_ID_CHARACTERS = 500

# Column names that are understood without a mapping, the surest first. Compared without case, spaces, "_" and "-".
NAMES: dict[str, tuple[str, ...]] = {
    "question": (
        "question", "questions", "query", "prompt", "input", "question text", "instruction", "problem", "q",
        "问题", "問題", "质问", "質問", "질문", "вопрос", "frage", "pregunta", "pergunta", "domanda", "سؤال", "प्रश्न",
    ),
    "answer": (
        "reference answers", "reference answer", "references", "reference", "gold answers", "gold answer", "gold",
        "answers", "answer", "correct answer", "correct answers", "possible answers", "target", "targets", "label",
        "solution", "a", "答案", "回答", "답변", "정답", "ответ", "antwort", "respuesta", "réponse", "resposta",
        "risposta", "إجابة", "उत्तर",
    ),
    "context": ("context", "passage", "paragraph", "document", "evidence", "background", "上下文", "文脈"),
    "id": ("id", "question id", "external id", "qid", "uid", "guid", "key", "编号", "編號", "番号"),
    "group": ("group", "group id", "duplicate group"),
    "domain": ("domain", "category", "topic", "subject", "dataset", "领域", "類別", "类别"),
    "split": ("split",),
}  # fmt: skip
FIELDS = tuple(NAMES)
_OTHER_FIELD_NAMES = {"answers": "answer", "reference": "answer", "references": "answer", "reference_answers": "answer"}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What the reader is told; everything else it finds out and says in the preview.

    ``mapping``: field -> column, for any of ``FIELDS``; a field mapped to "" is not read at all, a field left out is
    guessed from ``NAMES``. ``encoding`` and ``separator``: of text files, None = found out. ``answer_separator``:
    splits a plain-text answer into several reference answers ("|": "Paris|City of Light"); "" = a plain text is one
    answer. ``sheet``: of XLSX, None = the first. ``seed`` and ``audit_share`` decide the split of rows without one.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    separator: str | None = None
    answer_separator: str = ""
    sheet: str | None = None
    seed: int = 0
    audit_share: float = AUDIT_SHARE

    def __post_init__(self) -> None:
        for name in self.mapping:
            if field_name(name) not in FIELDS:
                raise InputError(f"there is no field {name!r} to map a column to; fields are {', '.join(FIELDS)}")
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise InputError(f"a separator is one character, not a quote or a line end; got {self.separator!r}")


def field_name(name: str) -> str:
    return _OTHER_FIELD_NAMES.get(name, name)


def plain(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).casefold()


def guess_mapping(columns: Sequence[str], given: Mapping[str, str], *, file_name: str) -> dict[str, str]:
    """Field -> column for every field that the user mapped or whose usual name is among the columns.

    Only exact known names count, in the order of ``NAMES``; a column is used once. Raises ImportRefused with the
    columns found when a mapped column is not there or no question column is known.
    """
    found = ", ".join(repr(column) for column in columns) or "none"
    mapping: dict[str, str] = {}
    for name, column in given.items():
        if column and column not in columns:
            raise ImportRefused(f"{file_name} has no column {column!r} for {name}; its columns are {found}")
        mapping[field_name(name)] = column
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(plain(column), column)
    for wanted, names in NAMES.items():
        if wanted not in mapping:
            used = set(mapping.values())
            known = (by_name[plain(name)] for name in names if plain(name) in by_name)
            if column := next((one for one in known if one not in used), ""):
                mapping[wanted] = column
    if not mapping.get("question"):
        expected = ", ".join(NAMES["question"][:6])
        raise ImportRefused(
            f"{file_name} has no column with a known name for the question; its columns are {found}, expected one of "
            f"{expected}. Say which it is with --map question=COLUMN"
        )
    return {name: column for name, column in mapping.items() if column}
