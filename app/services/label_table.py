"""The label file: one row per verdict on one answer, as JSONL, CSV or Parquet, and back without loss.

CSV cells that a spreadsheet would run as a formula (they begin with = + - @, a tab or a carriage return) get an
apostrophe in front, and so do cells that begin with one; reading takes it off again.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from elical_core.errors import ConfigError, InputError

FORMATS = ("jsonl", "csv", "parquet")
_RISKY = ("=", "+", "-", "@", "\t", "\r", "'")
_BATCH = 5_000


@dataclass(frozen=True, kw_only=True)
class LabelRow:
    """One verdict. ``value`` is correct, incorrect, unsure, skipped or withdrawn; ``size`` counts the samples that gave
    this answer; ``version`` counts the annotator's verdicts on it from 1; ``seconds`` is of the whole submit, repeated
    on each of its rows (``client_key`` names the submit). The draw's columns are empty for a question that was not
    drawn. Times are ISO 8601 in UTC."""

    external_id: str
    question: str
    answer: str
    value: str
    annotator: str
    created_at: str
    seconds: float
    client_key: str
    version: int
    model_fingerprint: str
    holds_greedy: bool
    size: int
    stream: str
    probability: float | None
    policy: str
    drawn_at: str


COLUMNS = tuple(field.name for field in fields(LabelRow))
_SCHEMA = pa.schema(
    [
        (name, {"seconds": pa.float64(), "probability": pa.float64(), "version": pa.int64(), "size": pa.int64()}[name])
        if name in {"seconds", "probability", "version", "size"}
        else (name, pa.bool_() if name == "holds_greedy" else pa.string())
        for name in COLUMNS
    ]
)


def write_rows(rows: Iterable[LabelRow], out: Path, file_format: str) -> int:
    """Writes the file whole or not at all; gives the number of rows. No rows make a valid empty file (CSV and Parquet
    with their columns). Raises ConfigError for an unknown format, InputError when the place cannot be written."""
    writers: dict[str, Callable[[Iterable[LabelRow], Path], int]]
    writers = {"jsonl": _write_jsonl, "csv": _write_csv, "parquet": _write_parquet}
    if file_format not in writers:
        raise ConfigError(f"--format must be one of {', '.join(FORMATS)}, got {file_format!r}")
    part = out.with_name(out.name + ".part")
    try:
        count = writers[file_format](rows, part)
        part.replace(out)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); choose another place with -o") from error
    finally:
        part.unlink(missing_ok=True)
    return count


def read_rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(row number, cells) of a label file; the kind is told by its name (.jsonl, .csv, .parquet).

    Row numbers count from 1; in JSONL they are line numbers, and blank lines are passed over. Raises InputError when
    the file cannot be read as what its name says.
    """
    readers = {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet}
    if file.suffix.lower() not in readers:
        raise InputError(f"{file.name}: labels are read from {', '.join(readers)} files; rename or convert it")
    try:
        yield from readers[file.suffix.lower()](file)
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not UTF-8 (byte {error.start}); save it as UTF-8 and try again") from error
    except (csv.Error, pa.ArrowInvalid) as error:
        raise InputError(f"{file.name} is damaged or not {file.suffix[1:]}: {error}") from error


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula; ``plain_cell`` gives the original back."""
    return f"'{text}" if text.startswith(_RISKY) else text


def plain_cell(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_RISKY) else text


def _cells(row: LabelRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in COLUMNS}


def _write_jsonl(rows: Iterable[LabelRow], out: Path) -> int:
    count = 0
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(_cells(row), ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def _write_csv(rows: Iterable[LabelRow], out: Path) -> int:
    count = 0
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            cells = _cells(row).values()
            writer.writerow([safe_cell(cell) if isinstance(cell, str) else _number(cell) for cell in cells])
            count += 1
    return count


def _number(cell: bool | float | None) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else repr(cell)


def _write_parquet(rows: Iterable[LabelRow], out: Path) -> int:
    count, waiting = 0, []
    with pq.ParquetWriter(out, _SCHEMA) as writer:
        for row in rows:
            waiting.append(_cells(row))
            count += 1
            if len(waiting) == _BATCH:
                writer.write_table(pa.Table.from_pylist(waiting, schema=_SCHEMA))
                waiting = []
        writer.write_table(pa.Table.from_pylist(waiting, schema=_SCHEMA))
    return count


def _read_jsonl(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with file.open(encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                cells = json.loads(line)
            except json.JSONDecodeError as error:
                yield number, {"problem": f"not JSON ({error.msg} at character {error.pos})"}
                continue
            yield number, cells if isinstance(cells, dict) else {"problem": "not a JSON object"}


def _read_csv(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, cells in enumerate(csv.DictReader(lines, strict=True), 1):
            if None in cells:
                yield number, {"problem": "more cells than the header has columns"}
            else:
                yield number, {name: plain_cell(cell) for name, cell in cells.items() if cell}


def _read_parquet(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    number = 0
    with pq.ParquetFile(file) as table:
        for batch in table.iter_batches(batch_size=_BATCH):
            for cells in batch.to_pylist():
                number += 1
                yield number, cells
