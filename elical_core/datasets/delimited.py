"""CSV and TSV: finds the separator and reads the rows, keeping newlines inside quotes as they are."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elical_core.datasets.opening import Format, Opened
from elical_core.datasets.rows import RawRow, without_trailing_blanks
from elical_core.errors import ImportRefused

SEPARATORS = (",", "\t", ";", "|")
SAMPLE_CHARACTERS = 131_072
SAMPLE_RECORDS = 200
ANNOUNCEMENT = re.compile(r'\ufeff?"?sep=(.)"?(?:\r\n|\r|\n)', re.IGNORECASE)
LARGEST_FIELD = 10_000_000  # characters; a longer one means that a quote was never closed


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """``quoted``: a field may stand in double quotes, doubled inside. TSV files that do not quote have it False.
    ``announced``: the first line says ``sep=;``, as some spreadsheets write, and is no header."""

    separator: str
    quoted: bool = True
    announced: bool = False

    def reader(self, lines: Iterator[str]) -> Iterator[list[str]]:
        csv.field_size_limit(LARGEST_FIELD)
        if self.quoted:
            return iter(csv.reader(lines, delimiter=self.separator, strict=True))
        return iter(csv.reader(lines, delimiter=self.separator, quoting=csv.QUOTE_NONE, strict=True))


def find_dialect(file: Opened, encoding: str, separator: str | None) -> Dialect:
    """The separator that cuts the first rows into the most equal numbers of columns; a tab for TSV unless told."""
    with file.text(encoding, newline="") as text:
        sample = text.read(SAMPLE_CHARACTERS)
    announcement = ANNOUNCEMENT.match(sample)
    if announcement:
        sample = sample[announcement.end() :]
        separator = separator or announcement[1]
    if separator is None:
        separator = "\t" if file.format is Format.TSV and "\t" in sample else _likeliest(sample)
    quoted = separator != "\t" or _records(sample, separator)[1]
    return Dialect(separator=separator, quoted=quoted, announced=announcement is not None)


def _likeliest(sample: str) -> str:
    """Scored by the share of rows as wide as the commonest width; one column scores nothing; ties in listed order."""
    scores = {}
    for separator in SEPARATORS:
        widths = Counter(len(record) for record in _records(sample, separator)[0] if record)
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        scores[separator] = rows / widths.total() if width > 1 else 0.0
    best = max(SEPARATORS, key=lambda s: scores[s])
    return best if scores[best] >= 0.5 else ","


def _records(sample: str, separator: str) -> tuple[list[list[str]], bool]:
    """The first records, and whether they could be read with quotes. The last one may be cut by the sample's end."""
    for quoted in (True, False):
        records: list[list[str]] = []
        reader = Dialect(separator=separator, quoted=quoted).reader(iter(io.StringIO(sample, newline="")))
        try:
            for record in reader:
                records.append(record)
                if len(records) == SAMPLE_RECORDS:
                    break
        except csv.Error as error:
            if quoted and "end of data" not in str(error):
                continue
        return records[:-1] if len(records) > 1 and len(sample) == SAMPLE_CHARACTERS else records, quoted
    return [], False


def header_of(file: Opened, record: Sequence[str]) -> list[str]:
    """Column names: trimmed, no byte-order mark, numbered where blank. Raises ImportRefused for a repeated name."""
    names = [name.lstrip("\ufeff").strip() or f"column {i}" for i, name in enumerate(record, start=1)]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise ImportRefused(f"{file.name} names {len(repeated)} column twice: {repeated[0]!r}; give each its own name")
    return names


def delimited_columns(file: Opened, encoding: str, dialect: Dialect) -> list[str]:
    with file.text(encoding, newline="") as text:
        _skip_announcement(text, dialect)
        reader = dialect.reader(iter(text))
        try:
            return header_of(file, next((record for record in reader if record), []))
        except csv.Error as error:
            raise ImportRefused(f"{file.name}: the header cannot be read ({error}); check its quotes") from error


def delimited_rows(file: Opened, encoding: str, dialect: Dialect) -> Iterator[RawRow]:
    return without_trailing_blanks(_every_row(file, encoding, dialect))


def _every_row(file: Opened, encoding: str, dialect: Dialect) -> Iterator[RawRow]:
    """A row that breaks the rules of quoting, or is wider or narrower than the header, carries its problem.

    Raises ImportRefused for a quote that is never closed: it would swallow the rows after it in silence.
    """
    with file.text(encoding, newline="") as text:
        before = _skip_announcement(text, dialect)
        reader = csv_reader = dialect.reader(iter(text))
        names: list[str] | None = None
        number, line = 0, 1 + before
        while True:
            start = line
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "end of data" in str(error) or "field limit" in str(error):
                    raise ImportRefused(
                        f"{file.name}: the quote opened in row {number + 1} (line {start}) is never closed, so the "
                        f"rows after it cannot be told apart. Nothing was imported; close that quote"
                    ) from error
                record, problem = [], f"broken quoting: {error}"
            else:
                problem = ""
            line = csv_reader.line_num + 1 + before  # type: ignore[attr-defined]
            if names is None:
                if record:
                    names = header_of(file, record)
                continue
            number += 1
            if problem:
                yield RawRow(number, start, problem=problem)
            elif not record:
                yield RawRow(number, start)
            elif len(record) != len(names):
                yield RawRow(number, start, problem=_width_problem(len(record), len(names), dialect.separator))
            else:
                yield RawRow(number, start, dict(zip(names, record, strict=True)))


def _skip_announcement(text: io.TextIOWrapper, dialect: Dialect) -> int:
    """Reads past the line ``sep=;`` if there is one; gives the number of lines read."""
    if dialect.announced:
        text.readline()
    return int(dialect.announced)


def _width_problem(width: int, wanted: int, separator: str) -> str:
    shown = "a tab" if separator == "\t" else repr(separator)
    fault = f"a field that holds {shown} needs quotes" if width > wanted else "a field is missing"
    return f"{width} fields where the header has {wanted}; {fault}"
