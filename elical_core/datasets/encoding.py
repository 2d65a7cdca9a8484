"""The encoding of a text file: found out over the whole file, never by luck of its first bytes."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from charset_normalizer import from_bytes

from elical_core.datasets.opening import Opened, utf16_without_bom
from elical_core.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20
SAMPLE_BYTES = 262_144  # of lines that are not plain ASCII, collected over the whole file
BOMS = (  # UTF-32 before UTF-16: its mark begins with the other's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LEGACY = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r",
    "gb18030", "big5", "cp932", "euc_jp", "cp949",
]  # fmt: skip
NON_ASCII_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")
TRY_THESE = "utf-8, utf-16, cp1252 (Western), cp1251 (Cyrillic), gb18030 (Chinese), cp932 (Japanese)"


@dataclass(frozen=True, kw_only=True)
class FoundEncoding:
    """``certain`` is False for a legacy encoding guessed from its letters: a person should look at the preview."""

    name: str
    certain: bool
    how: str


def find_encoding(file: Opened, wanted: str | None) -> FoundEncoding:
    """The encoding in which every byte of the file can be decoded.

    ``wanted`` is taken as given. Otherwise: byte-order mark, UTF-16 by its zero bytes, UTF-8 when the whole file is
    valid UTF-8, else the likeliest legacy encoding of all lines that are not ASCII. Raises InputError for an unknown
    name. Whether every byte can be decoded is for ``first_bad_byte`` to say.
    """
    return _chosen(wanted, file) if wanted else _marked(file) or _unmarked(file)


def _chosen(wanted: str, file: Opened) -> FoundEncoding:
    try:
        info = codecs.lookup(wanted)
    except LookupError:
        raise InputError(f"there is no encoding {wanted!r}; usual ones are {TRY_THESE}") from None
    if not info._is_text_encoding:
        raise InputError(f"{wanted!r} is not a text encoding; usual ones are {TRY_THESE}")
    name = "utf-8-sig" if info.name == "utf-8" and file.head.startswith(codecs.BOM_UTF8) else info.name
    return FoundEncoding(name=name, certain=True, how="chosen")


def _marked(file: Opened) -> FoundEncoding | None:
    for mark, name in BOMS:
        if file.head.startswith(mark):
            return FoundEncoding(name=name, certain=True, how="byte-order mark")
    if name_without := utf16_without_bom(file.head):
        return FoundEncoding(name=name_without, certain=True, how="zero bytes")
    return None


def _unmarked(file: Opened) -> FoundEncoding:
    if first_bad_byte(file, "utf-8") is None:
        return FoundEncoding(name="utf-8", certain=True, how="all bytes are valid UTF-8")
    sample = _lines_beyond_ascii(file)
    if _mostly_utf8(sample):
        return FoundEncoding(name="utf-8", certain=True, how="nearly all bytes are valid UTF-8")
    return FoundEncoding(name=_likeliest(sample), certain=False, how="guessed from the letters; check the preview")


def _lines_beyond_ascii(file: Opened) -> bytes:
    kept: list[bytes] = []
    size = 0
    with file.stream() as stream:
        while size < SAMPLE_BYTES and (chunk := stream.read(CHUNK)):
            for line in NON_ASCII_LINE.findall(chunk):
                kept.append(line)
                size += len(line)
    return b"".join(kept)[:SAMPLE_BYTES]


def _mostly_utf8(sample: bytes) -> bool:
    """UTF-8 with a few broken bytes: by chance, legacy text hardly ever holds valid multi-byte sequences."""
    text = sample.decode("utf-8", errors="surrogateescape")
    broken = sum("\udc80" <= c <= "\udcff" for c in text)
    good = sum(c > "\x7f" for c in text) - broken
    return good >= 5 and good > 3 * broken


def _likeliest(sample: bytes) -> str:
    """charset-normalizer's best; cp1252 (by far the commonest) where it explains the bytes as well."""
    matches = from_bytes(sample, cp_isolation=LEGACY)
    best = matches.best()
    if best is None:
        return "cp1252"
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    as_good = western is not None and (western.chaos, -western.coherence) <= (best.chaos, -best.coherence)
    return "cp1252" if as_good or "cp1252" in best.could_be_from_charset else str(best.encoding)


@dataclass(frozen=True, kw_only=True)
class BadByte:
    """``offset`` in the unpacked file from 0; ``value`` 0-255."""

    offset: int
    value: int


def first_bad_byte(file: Opened, encoding: str) -> BadByte | None:
    """The first byte of the whole file that cannot be decoded; None when there is none. Reads piece by piece."""
    decoder = codecs.getincrementaldecoder("utf-8" if encoding == "utf-8-sig" else encoding)(errors="strict")
    read = 0
    with file.stream() as stream:
        while True:
            chunk = stream.read(CHUNK)
            pending = decoder.getstate()[0]
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return BadByte(offset=read - len(pending) + error.start, value=error.object[error.start])
            if not chunk:
                return None
            read += len(chunk)


class Beginning(io.RawIOBase):
    """The first ``size`` bytes of a stream."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        content = self._stream.read(min(len(view), self._left))
        view[: len(content)] = content
        self._left -= len(content)
        return len(content)
