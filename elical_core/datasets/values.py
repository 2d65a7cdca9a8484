"""From a cell of any file format to text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


class Unusable(ValueError):
    """A value that cannot be stored; the message is the reason given for the row."""


def text_of(value: Any) -> str | None:
    """The text of a single value: None for a missing one; 3.0 reads 3, as a spreadsheet shows it; a date is ISO 8601.

    Raises Unusable for a list, an object, bytes that are not UTF-8, and text that no database takes.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isinf(value):
            raise Unusable("an infinite number")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() and value.tzinfo is None else value.isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (int, Decimal)):
        return str(value)
    if isinstance(value, bytes):
        try:
            return _storable(value.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise Unusable("bytes that are not UTF-8 text") from error
    if isinstance(value, (Mapping, Sequence)):
        raise Unusable("a list or an object where a text is needed")
    return _storable(str(value))


def _storable(text: str) -> str:
    if "\x00" in text:
        raise Unusable("a text with a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unusable(f"half of a surrogate pair (\\u{ord(text[error.start]):04x}) in a text") from error
    return text


def metadata_of(value: Any) -> str | int | float | bool | None:
    """What is kept of a column that is no field: plain JSON values as they are, anything nested as its JSON text, a
    missing number (NaN of a table format) as None. Raises Unusable like ``text_of``."""
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (Mapping, list, tuple)):
        return _storable(json.dumps(_nested(value), ensure_ascii=False))
    return text_of(value)


def _nested(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _nested(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_nested(inner) for inner in value]
    return metadata_of(value)
