"""One row of a label file, checked: what it says, or an InputError with the reason for the report."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from elical_core.consistency.clean import clean
from elical_core.domain import Stream, VerdictValue
from elical_core.errors import InputError

CORRECT_ANSWERS = "correct_answers"
E = TypeVar("E", VerdictValue, Stream)
_NEEDED = f"a row needs external_id and answer with value, or external_id and {CORRECT_ANSWERS}"


@dataclass(frozen=True, kw_only=True)
class LabelEntry:
    """A checked row: ``answer`` with ``value``, or ``correct_answers`` (then both are empty). Empty texts and None mean
    that the file does not say. ``probability`` is in (0, 1] and stands with ``policy`` and ``drawn_at`` or not at
    all."""

    external_id: str
    model_fingerprint: str
    answer: str
    value: VerdictValue | None
    correct_answers: tuple[str, ...]
    annotator: str
    seconds: float
    version: int
    created_at: datetime | None
    client_key: str
    stream: Stream
    probability: float | None
    policy: str
    drawn_at: datetime | None


def checked(cells: Mapping[str, Any]) -> LabelEntry:
    """Raises InputError with a sentence for the report when the row cannot be used."""
    if "problem" in cells:
        raise InputError(str(cells["problem"]))
    external_id = _text(cells, "external_id")
    correct = _listed(cells[CORRECT_ANSWERS]) if cells.get(CORRECT_ANSWERS) else ()
    policy, drawn_at, probability = _optional(cells, "policy"), _time(cells, "drawn_at"), _number(cells, "probability")
    drawn = bool(policy) and drawn_at is not None and probability is not None
    if probability is not None and not 0 < probability <= 1:
        raise InputError(f"probability must be above 0 and at most 1, got {probability}")
    return LabelEntry(
        external_id=external_id,
        model_fingerprint=_optional(cells, "model_fingerprint"),
        answer="" if correct else _answer(cells),
        value=None if correct else _choice(VerdictValue, "value", _text(cells, "value").strip().lower()),
        correct_answers=correct,
        annotator=_optional(cells, "annotator").strip(),
        seconds=_number(cells, "seconds") or 0.0,
        version=int(_number(cells, "version") or 1),
        created_at=_time(cells, "created_at"),
        client_key=_optional(cells, "client_key"),
        stream=_choice(Stream, "stream", _optional(cells, "stream") or Stream.TRAIN.value),
        probability=probability if drawn else None,
        policy=policy if drawn else "",
        drawn_at=drawn_at if drawn else None,
    )


def _text(cells: Mapping[str, Any], name: str) -> str:
    value = cells.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise InputError(f"{name} is missing; {_NEEDED}")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputError(f"{name} must be text, got {value!r}")
    return str(value)


def _answer(cells: Mapping[str, Any]) -> str:
    """Kept byte for byte; the empty answer is an answer too, and CSV leaves its cell out."""
    answer = cells.get("answer") or ""
    if not isinstance(answer, str):
        raise InputError(f"answer must be text, got {answer!r}; {_NEEDED}")
    return answer


def _optional(cells: Mapping[str, Any], name: str) -> str:
    value = cells.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} must be text, got {value!r}")
    return value or ""


def _choice(words: type[E], name: str, text: str) -> E:
    try:
        return words(text)
    except ValueError as error:
        raise InputError(f"{name} must be one of {', '.join(words)}, got {text!r}") from error


def _listed(cell: Any) -> tuple[str, ...]:
    """A list of texts, a JSON list in a cell, or one text."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except json.JSONDecodeError as error:
            raise InputError(f"{CORRECT_ANSWERS} is not a JSON list ({error.msg}): {cell!r}") from error
    found = [cell] if isinstance(cell, str) else cell
    if not isinstance(found, list) or not all(isinstance(text, str) and clean(text) for text in found):
        raise InputError(f"{CORRECT_ANSWERS} must be a text or a list of texts that say something, got {cell!r}")
    return tuple(dict.fromkeys(text.strip() for text in found))


def _number(cells: Mapping[str, Any], name: str) -> float | None:
    value = cells.get(name)
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a number, got {value!r}") from error
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"{name} must be a number from 0, got {value!r}")
    return number


def _time(cells: Mapping[str, Any], name: str) -> datetime | None:
    text = cells.get(name)
    if not text:
        return None
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise InputError(f"{name} must be an ISO 8601 time, got {text!r}") from error
    if time.tzinfo is None:
        raise InputError(f"{name} must say its time zone (2026-01-31T12:00:00+00:00), got {text!r}")
    return time
