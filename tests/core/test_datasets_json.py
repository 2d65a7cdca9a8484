"""JSON Lines and JSON lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.consistency.judge import reference_problem
from elical_core.datasets import ProblemKind, ReadOptions, RowProblem, preview, read_questions
from elical_core.datasets.answers import PLAIN_WORDS, plainly_usable
from elical_core.datasets.convert import content_id, group_of, normalise
from elical_core.domain import QuestionRecord
from elical_core.errors import ImportRefused


def read(path: Path, options: ReadOptions = ReadOptions()) -> tuple[list[QuestionRecord], list[RowProblem]]:
    found = [one for _, one in read_questions(path, options)]
    return [r for r in found if isinstance(r, QuestionRecord)], [p for p in found if isinstance(p, RowProblem)]


def lines(folder: Path, *rows: object, name: str = "a.jsonl") -> Path:
    path = folder / name
    written = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    return path


def test_a8_blank_lines_inside_are_counted_and_those_at_the_end_are_none(tmp_path: Path) -> None:
    records, problems = read(lines(tmp_path, {"question": "A?"}, "", "   ", {"question": "B?"}, "", ""))
    assert [r.text for r in records] == ["A?", "B?"]
    assert [(p.row, p.kind, p.reason) for p in problems] == [
        (2, ProblemKind.SKIPPED, "blank line"),
        (3, ProblemKind.SKIPPED, "blank line"),
    ]


def test_a9_null_question_has_a_reason(tmp_path: Path) -> None:
    records, problems = read(lines(tmp_path, {"question": None, "answer": "x"}, {"question": "A?", "answer": None}))
    assert [str(p) for p in problems] == ["row 1: the question (question) is empty"]
    assert records[0].reference_answers == ()


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a10_numbers_that_are_none_are_refused_row_by_row(tmp_path: Path, constant: str) -> None:
    bad = f'{{"question": "A?", "meta": {{"score": {constant}}}}}'
    records, problems = read(lines(tmp_path, bad, {"question": "B?"}))
    assert [r.text for r in records] == ["B?"]
    assert constant in problems[0].reason


def test_a14_nested_values_are_kept_as_text(tmp_path: Path) -> None:
    records, _ = read(
        lines(
            tmp_path,
            {"question": "A?", "meta": {"é": [1, None]}},
            {"question": "B?", "meta": [1, {"x": "y"}]},
            {"question": "C?", "meta": "plain"},
            {"question": "D?", "meta": 1.5},
        )
    )
    assert [r.metadata["meta"] for r in records] == ['{"é": [1, null]}', '[1, {"x": "y"}]', "plain", 1.5]


def test_malformed_rows_have_their_reason_each(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"question": "A?"},
        '{"question": "B?"',
        "[1, 2]",
        '"text"',
        {"question": {"text": "C?"}},
        '{"question": "half \\ud800"}',
        {"question": "nul \x00"},
        '{"question": "deep", "m": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"question": "big", "m": ' + "9" * 5000 + "}",
    )
    records, problems = read(path)
    assert [r.text for r in records] == ["A?"]
    reasons = [p.reason for p in problems]
    assert [p.row for p in problems] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert reasons[0].startswith("not JSON: ")
    assert reasons[1] == "a JSON list where an object {...} with named values is needed"
    assert reasons[3] == "column 'question' holds a list or an object where a text is needed"
    assert "surrogate" in reasons[4]
    assert "NUL" in reasons[5]
    assert reasons[6] == "nested too deeply to be read"


def test_answers_in_the_forms_people_have(tmp_path: Path) -> None:
    forms = [
        ["a", "b", "a"],
        "a",
        '["a", "b"]',
        7,
        {"text": ["a", "b"], "answer_start": [3, 4]},
        {"value": "a", "aliases": ["b"]},
        [],
        "",
    ]
    records, problems = read(lines(tmp_path, *({"question": f"Q{i}?", "answer": form} for i, form in enumerate(forms))))
    assert problems == []
    expected = [("a", "b"), ("a",), ("a", "b"), ("7",), ("a", "b"), ("a", "b"), (), ()]
    assert [r.reference_answers for r in records] == expected


def test_answers_that_cannot_judge_are_refused(tmp_path: Path) -> None:
    forms = [["a", ""], ["a", None], "...", ["a", ["b"]], {"score": 1}, "['a', 'b']"]
    records, problems = read(lines(tmp_path, *({"question": f"Q{i}?", "answer": form} for i, form in enumerate(forms))))
    assert records == []
    assert problems[0].reason == "one of the reference answers is empty"
    assert problems[2].reason.startswith("nothing is left of the reference answer '...'")
    assert "Python list" in problems[5].reason


@given(text=st.from_regex(PLAIN_WORDS, fullmatch=True))
def test_a_glance_never_lets_a_useless_answer_through(text: str) -> None:
    if plainly_usable(text):
        assert reference_problem(text) == ""


def test_an_answer_separator_splits_plain_text_only_when_told(tmp_path: Path) -> None:
    path = lines(tmp_path, {"question": "A?", "answer": "x | y|"})
    assert read(path)[0][0].reference_answers == ("x | y|",)
    assert read(path, ReadOptions(answer_separator="|"))[0][0].reference_answers == ("x", "y")


def test_ids_and_groups_that_the_file_lacks(tmp_path: Path) -> None:
    first, second, third = read(
        lines(
            tmp_path,
            {"question": "Who wrote Faust?", "answer": ["Goethe"]},
            {"question": "who wrote  'Faust'", "answer": ["Marlowe"]},
            {"question": "Who wrote Faust?", "answer": ["Goethe"]},
        )
    )[0]
    assert first.external_id == third.external_id == content_id("Who wrote Faust?", "", ("Goethe",))
    assert first.external_id != second.external_id
    assert first.group == second.group == group_of("WHO WROTE FAUST!")
    assert group_of("Summarise.", "one text") != group_of("Summarise.", "another text")


def test_normalise_by_hand() -> None:
    assert normalise("  Who’s  the “King”? ") == "who s the king"
    assert normalise("Ｆｕｌｌ width + $5") == "full width + $5"
    assert normalise("?!") == "?!"


def test_a_json_list_and_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[\n {"question": "A?"},\n {"question": "B?"}, 3]', encoding="utf-8")
    records, problems = read(path)
    assert [r.text for r in records] == ["A?", "B?"]
    assert [str(p) for p in problems] == ["row 3: a JSON number where an object {...} with named values is needed"]
    path.write_text('{\n "data": [{"question": "A?"}]\n}', encoding="utf-8")
    with pytest.raises(ImportRefused, match="is one JSON object"):
        preview(path)
    path.write_text('[{"question": "A?"}', encoding="utf-8")
    with pytest.raises(ImportRefused, match="not a JSON list"):
        preview(path)


def test_json_lines_called_something_else(tmp_path: Path) -> None:
    for name in ("a.txt", "a.json", "upload"):
        records, _ = read(lines(tmp_path, {"question": "A?"}, {"question": "B?"}, name=name))
        assert [r.text for r in records] == ["A?", "B?"]


def test_line_separators_of_unicode_do_not_end_a_row(tmp_path: Path) -> None:
    (record,) = read(lines(tmp_path, '{"question": "A\u2028B\u0085C?"}'))[0]
    assert record.text == "A\u2028B\u0085C?"


def test_columns_of_all_rows_are_offered(tmp_path: Path) -> None:
    path = lines(tmp_path, {"question": "A?"}, {"question": "B?", "late": 1})
    assert preview(path).columns == ("question", "late")


def test_split_words(tmp_path: Path) -> None:
    words = ["pool", "audit", "Held_Out", "test", "nonsense"]
    records, problems = read(lines(tmp_path, *({"question": f"{w}?", "split": w} for w in words)))
    assert [r.split.value for r in records] == ["pool", "audit", "held-out", "held-out"]
    assert problems[0].reason == "the split 'nonsense' is none of pool, audit, held-out, train, test"
