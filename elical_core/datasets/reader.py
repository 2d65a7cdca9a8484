"""One way in for every file: find out its layout, then give its rows as questions or as problems."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elical_core.datasets.convert import convert
from elical_core.datasets.delimited import Dialect, delimited_columns, delimited_rows, find_dialect
from elical_core.datasets.encoding import TRY_THESE, Beginning, FoundEncoding, find_encoding, first_bad_byte
from elical_core.datasets.jsonrows import columns_of, json_list_rows, jsonl_rows
from elical_core.datasets.opening import Format, Opened, open_file
from elical_core.datasets.options import ReadOptions, guess_mapping
from elical_core.datasets.rows import ParsedRow, RawRow, RowProblem
from elical_core.datasets.sheets import parquet_columns, parquet_rows, xlsx_columns, xlsx_rows
from elical_core.domain import QuestionRecord
from elical_core.errors import ImportRefused

PREVIEW_ROWS = 20
PREVIEW_READS_AT_MOST = 200


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the file is read. ``encoding`` and ``dialect`` are None where the format has none."""

    file: Opened
    columns: tuple[str, ...]
    mapping: dict[str, str]
    encoding: FoundEncoding | None
    dialect: Dialect | None


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a person checks before importing.

    ``rows``: up to 20 (row number, question as it would be stored). ``problems``: of the rows read so far
    (``rows_read``, at most 200). ``mapping``: field -> column, given or guessed; ``guessed`` names the guessed fields.
    ``encoding_certain`` is False for a legacy encoding guessed from its letters. ``size``: bytes on the disk.
    """

    name: str
    format: Format
    gzipped: bool
    size: int
    columns: tuple[str, ...]
    mapping: dict[str, str]
    guessed: tuple[str, ...]
    encoding: str | None
    encoding_certain: bool
    encoding_how: str
    separator: str | None
    rows: tuple[tuple[int, QuestionRecord], ...]
    problems: tuple[RowProblem, ...]
    rows_read: int


def find_layout(path: Path | str, options: ReadOptions = ReadOptions()) -> Layout:
    """Format, encoding, separator, columns and mapping. Raises ImportRefused when the file cannot be used as it is."""
    file, encoding, dialect, columns = _look(path, options)
    mapping = guess_mapping(columns, options.mapping, file_name=file.name)
    return Layout(file=file, columns=tuple(columns), mapping=mapping, encoding=encoding, dialect=dialect)


def file_columns(path: Path | str, options: ReadOptions = ReadOptions()) -> tuple[str, ...]:
    """The columns of a file, also of one whose question column has no known name and must be chosen by a person.

    ``options.mapping`` plays no part. Raises ImportRefused when the file cannot be read at all.
    """
    return tuple(_look(path, options)[3])


def _look(path: Path | str, options: ReadOptions) -> tuple[Opened, FoundEncoding | None, Dialect | None, list[str]]:
    file = open_file(path)
    encoding: FoundEncoding | None = None
    dialect: Dialect | None = None
    if file.format in {Format.CSV, Format.TSV, Format.JSONL, Format.JSON}:
        encoding = find_encoding(file, options.encoding)
        _check_decodable(file, encoding, options)
    if encoding is not None and file.format in {Format.CSV, Format.TSV}:
        dialect = find_dialect(file, encoding.name, options.separator)
    columns = _columns(file, encoding, dialect, options)
    if not columns:
        raise ImportRefused(f"{file.name} has no rows with named values; it needs at least one row with a question")
    return file, encoding, dialect, columns


def _columns(file: Opened, encoding: FoundEncoding | None, dialect: Dialect | None, options: ReadOptions) -> list[str]:
    if encoding is not None and dialect is not None:
        return delimited_columns(file, encoding.name, dialect)
    if file.format is Format.PARQUET:
        return parquet_columns(file)
    if file.format is Format.XLSX:
        return xlsx_columns(file, options.sheet)
    return columns_of(_raw_rows(file, encoding, dialect, options))


def _raw_rows(
    file: Opened, encoding: FoundEncoding | None, dialect: Dialect | None, options: ReadOptions
) -> Iterator[RawRow]:
    if encoding is not None:
        if dialect is not None:
            return delimited_rows(file, encoding.name, dialect)
        read = json_list_rows if file.format is Format.JSON else jsonl_rows
        return read(file, encoding.name)
    return parquet_rows(file) if file.format is Format.PARQUET else xlsx_rows(file, options.sheet)


def read_rows(layout: Layout, options: ReadOptions = ReadOptions()) -> Iterator[ParsedRow | RowProblem]:
    """Every row of the file, in order, piece by piece; blank rows at the end are no rows.

    Raises ImportRefused when there is no row at all, or when the file turns out damaged on the way.
    """
    empty = True
    for raw in _raw_rows(layout.file, layout.encoding, layout.dialect, options):
        empty = False
        yield convert(raw, layout.mapping, options)
    if empty:
        raise ImportRefused(f"{layout.file.name} has a header but no rows; it needs at least one row with a question")


def read_questions(
    path: Path | str, options: ReadOptions = ReadOptions()
) -> Iterator[tuple[int, QuestionRecord | RowProblem]]:
    """(row number, question or problem) of every row. Raises ImportRefused for a file that cannot be used."""
    for parsed in read_rows(find_layout(path, options), options):
        yield parsed.row, parsed.record if isinstance(parsed, ParsedRow) else parsed


def preview(path: Path | str, options: ReadOptions = ReadOptions()) -> Preview:
    """The first rows as they would be stored, and everything that was found out about the file."""
    layout = find_layout(path, options)
    rows: list[tuple[int, QuestionRecord]] = []
    problems: list[RowProblem] = []
    read = 0
    for parsed in read_rows(layout, options):
        read += 1
        if isinstance(parsed, ParsedRow):
            rows.append((parsed.row, parsed.record))
        else:
            problems.append(parsed)
        if len(rows) == PREVIEW_ROWS or read == PREVIEW_READS_AT_MOST:
            break
    given = {name for name, column in options.mapping.items() if column}
    return Preview(
        name=layout.file.name,
        format=layout.file.format,
        gzipped=layout.file.gzipped,
        size=layout.file.size,
        columns=layout.columns,
        mapping=layout.mapping,
        guessed=tuple(name for name in layout.mapping if name not in given),
        encoding=layout.encoding.name if layout.encoding else None,
        encoding_certain=layout.encoding.certain if layout.encoding else True,
        encoding_how=layout.encoding.how if layout.encoding else "",
        separator=layout.dialect.separator if layout.dialect else None,
        rows=tuple(rows),
        problems=tuple(problems),
        rows_read=read,
    )


def _check_decodable(file: Opened, encoding: FoundEncoding, options: ReadOptions) -> None:
    bad = first_bad_byte(file, encoding.name)
    if bad is None:
        return
    row, line = _place(file, encoding.name, bad.offset, options)
    where = f"row {row} (line {line})" if row else f"the header (line {line})"
    raise ImportRefused(
        f"{file.name}: {where}, byte {bad.offset} (0x{bad.value:02X}) cannot be read as {encoding.name} "
        f"({encoding.how}). Nothing was imported; name the right encoding with --encoding, for example {TRY_THESE}, or "
        f"repair that byte"
    )


def _place(file: Opened, encoding: str, offset: int, options: ReadOptions) -> tuple[int, int]:
    """(data row, line) in which the byte stands; row 0 is the header. A row that spans lines counts once."""

    @contextmanager
    def beginning() -> Iterator[io.TextIOWrapper]:
        with file.stream() as stream:
            whole = io.BufferedReader(Beginning(stream, offset))
            yield io.TextIOWrapper(whole, encoding, errors="ignore", newline="")

    with beginning() as text:
        line = 1 + sum(1 for piece in text if piece.endswith(("\n", "\r")))
    if file.format in {Format.JSONL, Format.JSON}:
        return line, line
    with beginning() as text:
        sample = text.read(131_072)
    separator = options.separator or ("\t" if file.format is Format.TSV else max(",\t;|", key=sample.count))
    last = ""

    def lines(text: io.TextIOWrapper) -> Iterator[str]:
        nonlocal last
        for piece in text:
            last = piece
            yield piece

    with beginning() as text:
        records = sum(1 for _ in csv.reader(lines(text), delimiter=separator))
    return (records if not last or last.endswith(("\n", "\r")) else records - 1), line
