"""What kind of file it is, by its first bytes; gzip is unpacked on the way whatever the name says."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, cast

from elical_core.errors import ImportRefused

HEAD_BYTES = 65_536
GZIP_MAGIC = b"\x1f\x8b"
FORMATS_READ = "CSV, TSV, JSON Lines, a JSON list, Parquet and XLSX, each also gzipped"

# First bytes of files that people pick by mistake -> what it is, and the way out.
NOT_READ = {
    b"%PDF": "a PDF; save its table as CSV or XLSX",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save it as XLSX or CSV",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"Rar!": "a RAR archive; unpack it first",
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it first",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
    b"SQLite format 3\x00": "an SQLite database; export the table as CSV",
    b"ARROW1": "an Arrow/Feather file; save it as Parquet",
    b"GGUF": "a language model, not questions",
    b"\x80\x04\x95": "a pickle, which is never opened; save it as Parquet or JSON Lines",
    b"\x80\x02": "a pickle, which is never opened; save it as Parquet or JSON Lines",
}


class Format(StrEnum):
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    JSON = "json"
    PARQUET = "parquet"
    XLSX = "xlsx"


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A file that can be read, once its kind is known. ``size`` in bytes as it lies on the disk."""

    path: Path
    format: Format
    gzipped: bool
    size: int
    head: bytes

    @property
    def name(self) -> str:
        return self.path.name

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes from the start. Raises ImportRefused when the gzip stream is damaged or cut."""
        with unpacked(self.path, self.gzipped) as stream:
            yield stream

    @contextmanager
    def text(self, encoding: str, newline: str) -> Iterator[io.TextIOWrapper]:
        """The decoded text; ``newline`` as of ``open``: "" splits lines at any line end, "\n" at that one, and neither
        changes it."""
        with self.stream() as stream:
            wrapper = io.TextIOWrapper(stream, encoding, newline=newline)
            try:
                yield wrapper
            finally:
                wrapper.detach()

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """The same in a form that can be sought cheaply: a gzipped file is unpacked into a temporary one first."""
        with self.stream() as stream:
            if not self.gzipped:
                yield stream
                return
            with tempfile.TemporaryFile() as plain:
                shutil.copyfileobj(stream, plain, length=1 << 20)
                plain.seek(0)
                yield plain


@contextmanager
def unpacked(path: Path, gzipped: bool) -> Iterator[IO[bytes]]:
    try:
        with gzip.open(path, "rb") if gzipped else path.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ImportRefused(f"{path.name} is a damaged or incomplete gzip file ({error}); copy it again") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ImportRefused(f"{path.name} cannot be read: {reason}; check its path and rights") from error


def open_file(path: Path | str) -> Opened:
    """Finds out what the file is. Raises ImportRefused for a missing, empty, binary or unknown one."""
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ImportRefused(f"{path} {what}; name a file ({FORMATS_READ})")
    with unpacked(path, False) as stream:
        gzipped = stream.read(2) == GZIP_MAGIC
    with unpacked(path, gzipped) as stream:
        head = stream.read(HEAD_BYTES)
    if not head.strip(b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"):
        raise ImportRefused(f"{path.name} is empty; it needs at least one row with a question")
    return Opened(path=path, format=_format(path, gzipped, head), gzipped=gzipped, size=path.stat().st_size, head=head)


def _format(path: Path, gzipped: bool, head: bytes) -> Format:
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith(b"PK\x03\x04"):
        if b"[Content_Types].xml" in head or b"xl/" in head or (not gzipped and _zip_holds_a_workbook(path)):
            return Format.XLSX
        raise ImportRefused(f"{path.name} is a ZIP archive; unpack it and import the file inside ({FORMATS_READ})")
    for magic, what in NOT_READ.items():
        if head.startswith(magic):
            raise ImportRefused(f"{path.name} is {what}. Files that can be read: {FORMATS_READ}")
    if looks_binary(head):
        raise ImportRefused(f"{path.name} is a binary file of an unknown kind. Files that can be read: {FORMATS_READ}")
    return _text_format(path, head)


def _zip_holds_a_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def looks_binary(head: bytes) -> bool:
    """More than 3% of control characters that no text file holds, ten at least; UTF-16 and UTF-32 are text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or utf16_without_bom(head):
        return False
    control = sum(head.count(bytes([code])) for code in range(32) if code not in (9, 10, 11, 12, 13, 27))
    return control > max(10, 0.03 * len(head))


def utf16_without_bom(head: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` when every second byte is mostly zero, as in UTF-16 text of Latin script."""
    if len(head) < 8:
        return None
    half = len(head) // 2
    even, odd = head[0 : 2 * half : 2].count(0) / half, head[1 : 2 * half : 2].count(0) / half
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    if even > 0.4 and odd < 0.05:
        return "utf-16-be"
    return None


def _text_format(path: Path, head: bytes) -> Format:
    """By the first character, then by the name; a text that begins like JSON is read as JSON whatever it is called."""
    first = head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1]
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in {".gz", ".gzip"}]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in {".jsonl", ".ndjson"} or (first == b"{" and suffix != ".json"):
        return Format.JSONL
    if first == b"[" and suffix not in {".csv", ".tsv"}:
        return Format.JSON
    if suffix == ".json":
        return Format.JSON if _one_object_over_lines(head) else Format.JSONL
    return Format.TSV if suffix in {".tsv", ".tab"} else Format.CSV


def _one_object_over_lines(head: bytes) -> bool:
    return not head.split(b"\n", 1)[0].rstrip(b"\r\x00 \t").endswith((b"}", b"}\x00"))
