"""Tables as people have them: separators, quotes, headers, sheets. Cases are named after the fault they guard."""

from __future__ import annotations

import gzip
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.datasets import ProblemKind, ReadOptions, RowProblem, preview, read_questions
from elical_core.datasets.opening import Format
from elical_core.domain import QuestionRecord, Split
from elical_core.errors import ImportRefused, InputError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def good(path: Path, options: ReadOptions = ReadOptions()) -> list[QuestionRecord]:
    found = [record for _, record in read_questions(path, options)]
    assert all(isinstance(record, QuestionRecord) for record in found), found
    return [record for record in found if isinstance(record, QuestionRecord)]


def problems(path: Path, options: ReadOptions = ReadOptions()) -> list[RowProblem]:
    return [found for _, found in read_questions(path, options) if isinstance(found, RowProblem)]


def test_a1_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "\ufeffquestion,answer\nWhere?,Here\n")
    (record,) = good(path)
    assert (record.text, record.reference_answers, record.metadata) == ("Where?", ("Here",), {})
    assert preview(path).encoding == "utf-8-sig"


def test_a1_byte_order_mark_of_json_lines(tmp_path: Path) -> None:
    (record,) = good(write(tmp_path, "a.jsonl", '\ufeff{"question": "Where?"}\n'))
    assert record.text == "Where?"


def test_a4_newlines_inside_quotes_stay_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'question,answer\r\n"one\ntwo\r\nthree\rfour?","a\rb"\r\nNext?,x\r\n')
    first, second = good(path)
    assert first.text == "one\ntwo\r\nthree\rfour?"
    assert first.reference_answers == ("a\rb",)
    assert second.text == "Next?"


def test_old_mac_line_ends(tmp_path: Path) -> None:
    assert [r.text for r in good(write(tmp_path, "a.csv", "question,answer\rA?,x\rB?,y\r"))] == ["A?", "B?"]


def test_a9_empty_cells_are_reasons_and_words_of_absence_are_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "question,answer,note\n,,\nNA,null,None\nnan,NA,NaN\n")
    found = list(read_questions(path))
    assert isinstance(found[0][1], RowProblem)
    assert str(found[0][1]) == "row 1 (line 2): the question (question) is empty"
    records = [record for _, record in found[1:] if isinstance(record, QuestionRecord)]
    assert [(r.text, r.reference_answers, r.metadata["note"]) for r in records] == [
        ("NA", ("null",), "None"),
        ("nan", ("NA",), "NaN"),
    ]


def test_a11_headers_in_any_language(tmp_path: Path) -> None:
    (guessed,) = good(write(tmp_path, "a.csv", "问题,答案\n首都？,北京\n"))
    assert (guessed.text, guessed.reference_answers) == ("首都？", ("北京",))
    odd = write(tmp_path, "b.csv", "ερώτηση,απάντηση\nΠού;,Εδώ\n")
    (mapped,) = good(odd, ReadOptions(mapping={"question": "ερώτηση", "answer": "απάντηση"}))
    assert (mapped.text, mapped.reference_answers) == ("Πού;", ("Εδώ",))


def test_a15_unknown_columns_name_what_was_found_and_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "labels,words\nx,y\n")
    with pytest.raises(
        ImportRefused, match=r"columns are 'labels', 'words', expected one of question.*--map question=C"
    ):
        preview(path)
    with pytest.raises(ImportRefused, match="no column 'Frage' for question; its columns are 'labels', 'words'"):
        preview(path, ReadOptions(mapping={"question": "Frage"}))
    with pytest.raises(InputError, match=r"no field 'frage'.*fields are question, answer"):
        ReadOptions(mapping={"frage": "x"})


def test_known_names_are_guessed_once_and_the_rest_is_metadata(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "ID,Prompt,Gold Answer,category,split,score\n7,Where?,Here,places,test,3\n")
    (record,) = good(path)
    assert record == QuestionRecord(
        external_id="7",
        text="Where?",
        reference_answers=("Here",),
        domain="places",
        metadata={"score": "3"},
        split=Split.HELD_OUT,
        group=record.group,
    )
    assert preview(path).guessed == ("question", "answer", "id", "domain", "split")


def test_a_field_mapped_to_nothing_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "question,answer\nWhere?,Here\n")
    (record,) = good(path, ReadOptions(mapping={"answer": ""}))
    assert record.reference_answers == ()
    assert record.metadata == {"answer": "Here"}


def test_a13_marks_of_other_languages_stay_literal(tmp_path: Path) -> None:
    text = "costs $5, then $7 *x* # h :smile: <b>"
    (record,) = good(write(tmp_path, "a.csv", f'question,answer\n"{text}","{text}"\n'))
    assert (record.text, record.reference_answers) == (text, (text,))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path: Path, separator: str) -> None:
    rows = [("question", "answer"), ("One, two; three?", "a"), ("Four | five?", "b"), ("Six?", "c")]
    lines = [separator.join(f'"{cell}"' if separator in cell else cell for cell in row) for row in rows]
    path = write(tmp_path, "a.csv", "\n".join(lines))
    assert [r.text for r in good(path)] == ["One, two; three?", "Four | five?", "Six?"]
    assert preview(path).separator == separator


def test_one_column_needs_no_separator(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'question\n"Where, exactly?"\nWhen?\n')
    assert [r.text for r in good(path)] == ["Where, exactly?", "When?"]


def test_the_separator_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "question~answer\nWhere, then; so|on?~x\n")
    (record,) = good(path, ReadOptions(separator="~"))
    assert record.text == "Where, then; so|on?"
    with pytest.raises(InputError, match="a separator is one character"):
        ReadOptions(separator="||")


@pytest.mark.parametrize("first", ["sep=;\r\n", '\ufeff"sep=;"\n'])
def test_a_line_that_announces_the_separator_is_no_header(tmp_path: Path, first: str) -> None:
    path = write(tmp_path, "a.csv", f"{first}question;answer\nA, b, c?;x\nD?;y;z\n")
    assert [r.text for _, r in read_questions(path) if isinstance(r, QuestionRecord)] == ["A, b, c?"]
    assert (problems(path)[0].row, problems(path)[0].line) == (2, 4)


def test_tab_files_that_do_not_quote(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", 'question\tanswer\n"Who" said it?\tx\nWhy "so"?\ty\n')
    assert [r.text for r in good(path)] == ['"Who" said it?', 'Why "so"?']


def test_a_malformed_row_is_rejected_and_the_others_live(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'question,answer\nA?,x\nB?,y,z\nC?\n"D"?,x\nE?,e\n')
    found = list(read_questions(path))
    assert [r.text for _, r in found if isinstance(r, QuestionRecord)] == ["A?", "E?"]
    assert [str(p) for p in problems(path)] == [
        "row 2 (line 3): 3 fields where the header has 2; a field that holds ',' needs quotes",
        "row 3 (line 4): 1 fields where the header has 2; a field is missing",
        "row 4 (line 5): broken quoting: ',' expected after '\"'",
    ]


def test_a_quote_that_is_never_closed_refuses_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'question,answer\nA?,x\nB?,"y\n' + "C?,z\n" * 50)
    with pytest.raises(ImportRefused, match=r"opened in row 2 \(line 3\) is never closed"):
        list(read_questions(path))


def test_a_column_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="column twice: 'answer'"):
        preview(write(tmp_path, "a.csv", "question,answer,answer\nA?,x,y\n"))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.bin"])
def test_gzip_is_known_by_its_bytes(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, gzip.compress(b"question,answer\nWhere?,Here\n"))
    assert [r.text for r in good(path)] == ["Where?"]
    assert preview(path).gzipped


def test_a_cut_gzip_file_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"question\n" + b"".join(b"Question %d?\n" % i for i in range(20_000)))
    with pytest.raises(ImportRefused, match="damaged or incomplete gzip"):
        list(read_questions(write(tmp_path, "a.csv.gz", whole[: len(whole) // 2])))


def workbook(path: Path, rows: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    book.create_sheet("second").append(["question"])
    book.save(path)
    return path


def test_xlsx_values_read_as_a_spreadsheet_shows_them(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["question", "answer", "year", "seen", "when"],
        ["How many?", 3.0, 1999, True, date(2020, 1, 2)],
        [],
        ["When?", datetime.fromisoformat("2020-01-02T03:04"), None, None, None],
        [],
    ]
    path = workbook(tmp_path / "a.xlsx", rows)
    found = list(read_questions(path))
    records = [r for _, r in found if isinstance(r, QuestionRecord)]
    assert records[0].reference_answers == ("3",)
    assert records[0].metadata == {"year": 1999, "seen": True, "when": "2020-01-02"}
    assert records[1].reference_answers == ("2020-01-02T03:04:00",)
    assert [str(p) for p in problems(path)] == ["row 2 (line 3): blank line"]
    with pytest.raises(ImportRefused, match="no sheet 'x'; it has Sheet, second"):
        preview(path, ReadOptions(sheet="x"))


def test_a14_parquet_with_nested_columns_and_missing_numbers(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "question": ["A?", None, "C?"],
            "answer": [["x", "y"], ["z"], []],
            "meta": [{"a": 1, "b": ["ü"]}, None, {"a": 2, "b": []}],
            "score": pyarrow.array([1.5, 2.0, float("nan")]),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    records = [r for _, r in read_questions(path) if isinstance(r, QuestionRecord)]
    assert [r.reference_answers for r in records] == [("x", "y"), ()]
    assert records[0].metadata == {"meta": '{"a": 1, "b": ["ü"]}', "score": 1.5}
    assert records[1].metadata["score"] is None
    assert [str(p) for p in problems(path)] == ["row 2: the question (question) is empty"]
    packed = write(tmp_path, "b.parquet.gz", gzip.compress(path.read_bytes()))
    assert len(list(read_questions(packed))) == 3
    with pytest.raises(ImportRefused, match="damaged Parquet"):
        preview(write(tmp_path, "c.parquet", path.read_bytes()[:-40]))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \r\n\n", "is empty"),
        ("a.csv", b"question,answer\n", "no rows"),
        ("a.jsonl", b"\n\n", "is empty"),
        ("a.csv", b"%PDF-1.7 ...", "is a PDF"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0" + b"x" * 50, "old Excel"),
        ("a.csv", bytes(range(256)) * 40, "binary file"),
        ("a.csv", b"PK\x03\x04" + b"x" * 100, "ZIP archive"),
        ("a.pkl", b"\x80\x04\x95" + b"x" * 100, "pickle, which is never opened"),
        ("a.gz", gzip.compress(b""), "is empty"),
    ],
)
def test_unusable_files_are_refused_in_one_sentence(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    with pytest.raises(ImportRefused, match=reason) as caught:
        list(read_questions(write(tmp_path, name, content)))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="does not exist"):
        preview(tmp_path / "none.csv")
    with pytest.raises(ImportRefused, match="is a folder"):
        preview(tmp_path)


def test_a_question_of_20_000_characters_is_taken_and_one_more_is_not(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", f"question\n{'x' * 20_000}\n{'x' * 20_001}\n")
    found = [record for _, record in read_questions(path)]
    assert isinstance(found[0], QuestionRecord)
    assert isinstance(found[1], RowProblem)
    assert "20,001 characters; at most 20,000 are taken" in found[1].reason


def test_preview_shows_twenty_rows_as_stored_and_the_problems_so_far(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "question\n,\n" + "".join(f"Q{i}?\n" for i in range(100)))
    shown = preview(path)
    assert [row for row, _ in shown.rows] == list(range(2, 22))
    assert [p.kind for p in shown.problems] == [ProblemKind.REJECTED]
    assert (shown.rows_read, shown.format, shown.columns) == (21, Format.CSV, ("question",))
    assert shown.size == path.stat().st_size


cell = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\r\n", exclude_characters="\ufeff"),
    min_size=1,
    max_size=30,
)


@given(rows=st.lists(st.tuples(cell.filter(lambda t: t.strip()), cell), min_size=1, max_size=20))
def test_what_a_csv_writer_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    import csv

    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow(["question", "note"])
        writer.writerows(rows)
    assert [(r.text, r.metadata["note"]) for r in good(path, ReadOptions(separator=","))] == rows
