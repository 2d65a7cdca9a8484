"""Confidences made by other tools: read whole or refused with the row."""

from pathlib import Path

import pytest

from elical_core.datasets.scored import read_scored
from elical_core.errors import ImportRefused


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_with_words_and_groups(tmp_path: Path) -> None:
    file = write(tmp_path / "s.csv", "confidence,correct,group\n0.95,true,a\n.2,Incorrect,a\n1,1.0,b\n")
    confidence, correct, group = read_scored(file)
    assert confidence.tolist() == [0.95, 0.2, 1.0]
    assert correct.tolist() == [1.0, 0.0, 1.0]
    assert group is not None
    assert group.tolist() == ["a", "a", "b"]


def test_json_lines_without_groups(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", '{"confidence": 0.5, "correct": 1}\n{"confidence": 0.25, "correct": false}\n')
    confidence, correct, group = read_scored(file)
    assert confidence.tolist() == [0.5, 0.25]
    assert correct.tolist() == [1.0, 0.0]
    assert group is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("confidence,correct\n0.5,1\nhigh,1\n", "row 2: confidence must be a number"),
        ("confidence,correct\n0.5,1\n0.5,maybe\n", "row 2: correct must be"),
        ("confidence,correct\n,1\n", "row 1: confidence must be a number"),
        ("score,label\n0.5,1\n", "no column confidence and correct; its columns are score, label"),
        ("", "cannot be read as CSV"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ImportRefused, match=says):
        read_scored(write(tmp_path / "s.csv", text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="there is no file"):
        read_scored(tmp_path / "none.csv")
