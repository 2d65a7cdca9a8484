"""Parquet and XLSX."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
from openpyxl.utils.exceptions import InvalidFileException

from elical_core.datasets.delimited import header_of
from elical_core.datasets.opening import Opened
from elical_core.datasets.rows import RawRow, without_trailing_blanks
from elical_core.errors import ImportRefused

ROWS_AT_ONCE = 2000


@contextmanager
def _parquet(file: Opened) -> Iterator[Any]:
    try:
        with file.seekable() as stream:
            yield pyarrow.parquet.ParquetFile(stream)
    except (pyarrow.ArrowException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ImportRefused(f"{file.name} is a damaged Parquet file ({first}); nothing was imported") from error


def parquet_columns(file: Opened) -> list[str]:
    with _parquet(file) as table:
        return [str(name) for name in table.schema_arrow.names]


def parquet_rows(file: Opened) -> Iterator[RawRow]:
    number = 0
    with _parquet(file) as table:
        for batch in table.iter_batches(batch_size=ROWS_AT_ONCE):
            for values in batch.to_pylist():
                number += 1
                yield RawRow(number, None, values)


@contextmanager
def _worksheet(file: Opened, sheet: str | None) -> Iterator[Any]:
    try:
        with file.seekable() as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # styles and validations that openpyxl does not keep
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            try:
                if sheet is not None and sheet not in book.sheetnames:
                    raise ImportRefused(f"{file.name} has no sheet {sheet!r}; it has {', '.join(book.sheetnames)}")
                worksheet = book[sheet] if sheet is not None else book.worksheets[0]
                worksheet.reset_dimensions()  # some writers state them wrongly
                yield worksheet
            finally:
                book.close()
    except (zipfile.BadZipFile, InvalidFileException, KeyError, IndexError, OSError) as error:
        raise ImportRefused(f"{file.name} is a damaged XLSX file ({error}); save it again") from error


def xlsx_columns(file: Opened, sheet: str | None) -> list[str]:
    with _worksheet(file, sheet) as worksheet:
        for cells in worksheet.iter_rows(values_only=True):
            if any(cell not in (None, "") for cell in cells):
                return header_of(file, [str(cell) if cell is not None else "" for cell in _filled(cells)])
    return []


def _filled(cells: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without the empty cells at the end."""
    last = max((i for i, cell in enumerate(cells) if cell not in (None, "")), default=-1)
    return cells[: last + 1]


def xlsx_rows(file: Opened, sheet: str | None) -> Iterator[RawRow]:
    return without_trailing_blanks(_every_row(file, sheet))


def _every_row(file: Opened, sheet: str | None) -> Iterator[RawRow]:
    names: list[str] | None = None
    number = 0
    with _worksheet(file, sheet) as worksheet:
        for line, cells in enumerate(worksheet.iter_rows(values_only=True), start=1):
            filled = _filled(cells)
            if names is None:
                if filled:
                    names = header_of(file, [str(cell) if cell is not None else "" for cell in filled])
                continue
            number += 1
            if not filled:
                yield RawRow(number, line)
            elif len(filled) > len(names):
                yield RawRow(number, line, problem=f"{len(filled)} filled cells where the header has {len(names)}")
            else:
                padded = (*filled, *(None for _ in range(len(names) - len(filled))))
                yield RawRow(number, line, dict(zip(names, padded, strict=True)))
