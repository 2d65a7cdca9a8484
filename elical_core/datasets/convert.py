"""From a raw row to a question, or to the reason why not."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from elical_core.datasets.answers import reference_answers
from elical_core.datasets.options import (
    MAX_CONTEXT_CHARACTERS,
    MAX_ID_CHARACTERS,
    MAX_QUESTION_CHARACTERS,
    ReadOptions,
)
from elical_core.datasets.rows import BLANK_LINE, ParsedRow, ProblemKind, RawRow, RowProblem
from elical_core.datasets.splits import assign_split
from elical_core.datasets.values import Unusable, metadata_of, text_of
from elical_core.domain import QuestionRecord, Split

# What a split column may say. None: the seeded hash decides between pool and audit.
SPLIT_WORDS: dict[str, Split | None] = {
    "": None,
    "train": None,
    "training": None,
    "pool": Split.POOL,
    "audit": Split.AUDIT,
    **dict.fromkeys(("held-out", "held out", "heldout", "test", "dev", "validation", "valid", "eval"), Split.HELD_OUT),
}


def convert(raw: RawRow, mapping: Mapping[str, str], options: ReadOptions) -> ParsedRow | RowProblem:
    """The question that will be stored; texts are kept character by character, ids and names of groups are trimmed."""
    if raw.blank:
        return RowProblem(row=raw.row, line=raw.line, kind=ProblemKind.SKIPPED, reason=BLANK_LINE)
    if raw.values is None:
        return RowProblem(row=raw.row, line=raw.line, kind=ProblemKind.REJECTED, reason=raw.problem)
    identity = ""
    try:
        identity = _field(raw.values, mapping, "id").strip()
        return _convert(raw, raw.values, mapping, options, identity)
    except Unusable as error:
        return RowProblem(
            row=raw.row, line=raw.line, kind=ProblemKind.REJECTED, reason=str(error), external_id=identity[:80]
        )


def _convert(
    raw: RawRow, values: Mapping[str, Any], mapping: Mapping[str, str], options: ReadOptions, identity: str
) -> ParsedRow:
    text = _field(values, mapping, "question")
    if not text.strip():
        raise Unusable(f"the question ({mapping['question']}) is empty")
    context = _field(values, mapping, "context")
    _limit("the question", text, MAX_QUESTION_CHARACTERS)
    _limit("the context", context, MAX_CONTEXT_CHARACTERS)
    _limit("the id", identity, MAX_ID_CHARACTERS)
    references: tuple[str, ...] = ()
    if "answer" in mapping:
        references = reference_answers(values.get(mapping["answer"]), options.answer_separator)
    group = _field(values, mapping, "group").strip() or group_of(text, context)
    split = _split(_field(values, mapping, "split"))
    record = QuestionRecord(
        external_id=identity or content_id(text, context, references),
        text=text,
        context=context,
        reference_answers=references,
        domain=_field(values, mapping, "domain").strip(),
        metadata=_metadata(values, mapping),
        split=split or assign_split(group, options.seed, options.audit_share),
        group=group,
    )
    return ParsedRow(raw.row, raw.line, record, split_given=split is not None, id_given=bool(identity))


def _field(values: Mapping[str, Any], mapping: Mapping[str, str], name: str) -> str:
    column = mapping.get(name)
    if column is None:
        return ""
    try:
        return text_of(values.get(column)) or ""
    except Unusable as error:
        raise Unusable(f"column {column!r} holds {error}") from error


def _limit(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Unusable(f"{what} has {len(text):,} characters; at most {most:,} are taken, and nothing is ever cut")


def _split(word: str) -> Split | None:
    plain = word.strip().lower().replace("_", "-")
    if plain not in SPLIT_WORDS:
        raise Unusable(f"the split {word.strip()[:40]!r} is none of pool, audit, held-out, train, test")
    return SPLIT_WORDS[plain]


def _metadata(values: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    used = set(mapping.values())
    kept: dict[str, Any] = {}
    for column, value in values.items():
        if column not in used:
            try:
                kept[text_of(column) or ""] = metadata_of(value)
            except Unusable as error:
                raise Unusable(f"column {column!r} holds {error}") from error
    return kept


class _SpaceForPunctuation(dict[int, int | str]):
    """A table for ``str.translate`` that fills itself: code point -> a space for punctuation, else itself."""

    def __missing__(self, code: int) -> int | str:
        self[code] = " " if unicodedata.category(chr(code)).startswith("P") else code
        return self[code]


_SPACE_FOR_PUNCTUATION = _SpaceForPunctuation()


def normalise(text: str) -> str:
    """Lower case, compatible forms joined, punctuation and runs of spaces as one space: near-duplicates become equal.
    Signs that carry meaning (+, $, <) stay; text of nothing but punctuation is left as it is."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.translate(_SPACE_FOR_PUNCTUATION).split()) or " ".join(folded.split())


def group_of(text: str, context: str = "") -> str:
    """The group of a question that names none: equal after normalisation = same group."""
    return _hash("g-", normalise(text), normalise(context) if context else "")


def content_id(text: str, context: str, references: tuple[str, ...]) -> str:
    """The id of a question that has none: the same content gets the same id in every file."""
    return _hash("q-", text, context, *references)


def _hash(prefix: str, *parts: str) -> str:
    digest = blake2b(digest_size=10)
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return prefix + digest.hexdigest()
