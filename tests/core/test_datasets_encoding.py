"""Encodings: found over the whole file, strict, and named when they fail."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from elical_core.datasets import ReadOptions, preview, read_questions
from elical_core.datasets.encoding import CHUNK, first_bad_byte
from elical_core.datasets.opening import open_file
from elical_core.domain import QuestionRecord
from elical_core.errors import ImportRefused, InputError


def texts(path: Path, options: ReadOptions = ReadOptions()) -> list[str]:
    return [record.text for _, record in read_questions(path, options) if isinstance(record, QuestionRecord)]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"), ("utf-16-le", ""), ("utf-16-be", ""), ("utf-32", "")],
)
def test_a2_utf16(tmp_path: Path, encoding: str, mark: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"{mark}question,answer\nWhere?,café\nWhen?,2\n".encode(encoding))
    assert texts(path) == ["Where?", "When?"]


def test_a3_one_legacy_letter_far_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = ["question,answer"] + [f"Question {i}?,x" for i in range(5000)] + ["Where is the café?,Zürich"]
    path.write_bytes("\n".join(rows).encode("cp1252"))
    shown = preview(path)
    assert (shown.encoding, shown.encoding_certain) == ("cp1252", False)
    assert texts(path)[-1] == "Where is the café?"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Wie heißt die Hauptstadt von Österreich?"),
        ("cp1252", "It’s the “best” thing — really?"),
        ("cp1250", "Kto napisał książkę, źdźbło, gęś, żółw?"),
        ("cp1251", "Какой город является столицей России?"),
        ("koi8_r", "Какой город является столицей России?"),
        ("gb18030", "中国的首都是哪里？谁写了红楼梦？"),
        ("big5", "中國的首都是哪裡？誰寫了紅樓夢？"),
        ("cp932", "日本の首都はどこですか？"),
        ("cp949", "한국의 수도는 어디입니까?"),
        ("cp1253", "Ποια είναι η πρωτεύουσα της Ελλάδας"),
        ("cp1256", "ما هي عاصمة مصر؟ من كتب الرواية؟"),
    ],
)
def test_legacy_encodings_are_told_apart(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("question;answer\n" + f"{text};x\n" * 20).encode(encoding))
    assert texts(path) == [text] * 20


def test_a3_a_wrong_choice_names_row_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    head = 'question,answer\n"two\nlines?",x\n'
    path.write_bytes(head.encode() + "Where is the café?,x\n".encode("cp1252"))
    with pytest.raises(ImportRefused) as caught:
        preview(path, ReadOptions(encoding="utf-8"))
    offset = len(head) + len("Where is the caf")
    assert f"row 2 (line 4), byte {offset} (0xE9) cannot be read as utf-8" in str(caught.value)
    assert "--encoding" in str(caught.value)
    assert texts(path, ReadOptions(encoding="latin-1"))[-1] == "Where is the café?"


def test_one_broken_byte_in_utf8_is_an_error_and_no_guess(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = "".join(f'{{"question": "Où est l’été {i}?"}}\n' for i in range(50)).encode()
    path.write_bytes(good + b'{"question": "caf\xe9"}\n')
    with pytest.raises(ImportRefused, match=rf"row 51 \(line 51\), byte {len(good) + 17} \(0xE9\)"):
        preview(path)


def test_unknown_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question\nA?\n", encoding="utf-8")
    for name in ("utf-9", "base64"):
        with pytest.raises(InputError, match=f"{name}.*usual ones are utf-8"):
            preview(path, ReadOptions(encoding=name))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_the_first_bad_byte_is_exact_across_pieces(tmp_path: Path, encoding: str) -> None:
    """The bad byte stands right behind a character that is split between two pieces."""
    mark = "\ufeff".encode("utf-8") if encoding == "utf-8-sig" else b""
    plain = "utf-8" if encoding == "utf-8-sig" else encoding
    text = "x" * (CHUNK // 2) if encoding == "utf-16" else "x" * (CHUNK - 1 - len(mark)) + "é中"
    before = mark + text.encode(plain)
    bad = b"\x00\xd8" + b"x\x00" if encoding == "utf-16" else b"\xff,\n"
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(before + bad))
    found = first_bad_byte(open_file(path), encoding)
    assert found is not None
    assert found.offset == len(before)
