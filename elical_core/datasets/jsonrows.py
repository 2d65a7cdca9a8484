"""JSON Lines (streamed) and a JSON list. NaN and Infinity are not JSON and are refused row by row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from elical_core.datasets.opening import Opened
from elical_core.datasets.rows import RawRow, without_trailing_blanks
from elical_core.errors import ImportRefused

ROWS_FOR_COLUMNS = 1000
LARGEST_LIST_BYTES = 200_000_000


class NotJson(ValueError):
    """A value that JSON does not have."""


def _refuse(constant: str) -> NoReturn:
    raise NotJson(f"{constant} is not JSON; write null")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise NotJson(f"the number {digits} is too large")
    return value


STRICT = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def jsonl_rows(file: Opened, encoding: str, decoder: json.JSONDecoder = STRICT) -> Iterator[RawRow]:
    """One row a line; row and line are the same number."""
    return without_trailing_blanks(_every_line(file, encoding, decoder))


def _every_line(file: Opened, encoding: str, decoder: json.JSONDecoder) -> Iterator[RawRow]:
    with file.text(encoding, newline="\n") as text:
        for number, line in enumerate(text, start=1):
            yield json_row(number, line.strip("\ufeff \t\r\n"), decoder)


def json_row(number: int, text: str, decoder: json.JSONDecoder) -> RawRow:
    if not text:
        return RawRow(number, number)
    try:
        value = decoder.decode(text)
    except NotJson as error:
        return RawRow(number, number, problem=str(error))
    except json.JSONDecodeError as error:
        return RawRow(number, number, problem=f"not JSON: {error.msg} at character {error.colno}")
    except RecursionError:
        return RawRow(number, number, problem="nested too deeply to be read")
    except ValueError as error:  # an integer of thousands of digits
        return RawRow(number, number, problem=f"not usable: {error}")
    return _object_row(number, number, value)


def _object_row(number: int, line: int | None, value: Any) -> RawRow:
    if not isinstance(value, dict):
        return RawRow(
            number, line, problem=f"a JSON {_kind(value)} where an object {{...}} with named values is needed"
        )
    return RawRow(number, line, value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "true/false", str: "string", list: "list"}.get(type(value), "number")


def json_list_rows(file: Opened, encoding: str) -> Iterator[RawRow]:
    """One row an element of the list that the file is. The file is read whole, so there is a limit on its size."""
    with file.stream() as stream:
        content = stream.read(LARGEST_LIST_BYTES + 1)
    if len(content) > LARGEST_LIST_BYTES:
        raise ImportRefused(
            f"{file.name} is one JSON list of more than {LARGEST_LIST_BYTES // 10**6} MB; save it as JSON Lines (one "
            f"object a line), which is read piece by piece"
        )
    try:
        value = STRICT.decode(content.decode(encoding).lstrip("\ufeff").strip())
    except RecursionError as error:
        raise ImportRefused(f"{file.name} is nested too deeply to be read; nothing was imported") from error
    except ValueError as error:
        raise ImportRefused(f"{file.name} is not a JSON list ({error}); repair it or save it as JSON Lines") from error
    if not isinstance(value, list):
        raise ImportRefused(
            f"{file.name} is one JSON {'object' if isinstance(value, dict) else _kind(value)}; a list of objects, or "
            f"one object a line, is needed"
        )
    return (_object_row(number, None, element) for number, element in enumerate(value, start=1))


def columns_of(rows: Iterator[RawRow]) -> list[str]:
    """Every name in the first thousand rows, in order of appearance."""
    names: dict[str, None] = {}
    for row, _ in zip(rows, range(ROWS_FOR_COLUMNS), strict=False):
        for name in row.values or ():
            names.setdefault(name)
    return list(names)
