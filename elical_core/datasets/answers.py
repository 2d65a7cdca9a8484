"""Reference answers out of one cell: a list, a JSON list as text, one text, or texts with a separator."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from elical_core.consistency.judge import reference_problem
from elical_core.datasets.values import Unusable, text_of

PYTHON_LIST = re.compile(r"""\[\s*(['"].*['"])?\s*\]""", re.DOTALL)
PLAIN_WORDS = re.compile(r"[a-zA-Z0-9]+(?:[ ,'-][a-zA-Z0-9]+){0,7}")
TEXT_KEYS = ("text", "value", "aliases", "answer", "answers")  # of objects as SQuAD and TriviaQA have them


def reference_answers(value: Any, separator: str = "") -> tuple[str, ...]:
    """The answers in order, each once; none for a missing or blank cell.

    A text that is a JSON list gives its elements; any other text is one answer, or several when ``separator`` is given.
    Raises Unusable for an empty answer in a list, a list in Python's notation, and values without a text.
    """
    if isinstance(value, str):
        value = _from_text(value, separator)
    if isinstance(value, Mapping):
        value = _from_object(value)
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        value = [] if value is None else [value]
    texts = [_one(element) for element in value]
    return tuple(dict.fromkeys(texts))


def _from_text(text: str, separator: str) -> Any:
    stripped = text.strip()
    if not stripped:
        return []
    if stripped.startswith("[") and stripped.endswith("]"):
        try:
            parsed = json.loads(stripped)
        except ValueError:
            if PYTHON_LIST.fullmatch(stripped):
                raise Unusable(
                    "the answers are written as a Python list; write a JSON list with double quotes"
                ) from None
        else:
            if isinstance(parsed, list):
                return parsed
    if separator:
        return [part.strip() for part in text.split(separator) if part.strip()]
    return [text]


def _from_object(value: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    for key in TEXT_KEYS:
        inner = value.get(key)
        if isinstance(inner, (list, tuple)):
            found += inner
        elif inner is not None:
            found.append(inner)
    if not found and value.get("text") != []:
        raise Unusable(f"the answers are an object without {' or '.join(TEXT_KEYS[:3])}")
    return found


def _one(element: Any) -> str:
    text = text_of(element)
    if text is None or not text.strip():
        raise Unusable("one of the reference answers is empty")
    if not plainly_usable(text) and (problem := reference_problem(text)):
        raise Unusable(problem)
    return text


def plainly_usable(text: str) -> bool:
    """Whether a glance shows that ``reference_problem`` has nothing to say: a few words or numbers, no lead-in that
    cleaning might take away. Most references are like this, and parsing each would take most of an import's time."""
    return PLAIN_WORDS.fullmatch(text) is not None and "answer" not in text.lower()
