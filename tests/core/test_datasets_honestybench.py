"""Records with answers: every field checked, every length checked, a reason for each bad row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elical_core.datasets.honestybench import HonestyRecord, looks_like_records, read_records
from elical_core.datasets.rows import RowProblem
from elical_core.domain import AnswerClass, Split
from elical_core.errors import ImportRefused

RECORD: dict[str, Any] = {
    "id": 7,
    "split": "pool",
    "dataset": "nq",
    "question": "who wrote faust",
    "answer": ["Goethe", "J. W. Goethe"],
    "greedy_response": ["Goethe"],
    "greedy_correctness": 1,
    "greedy_tokens": [["Goe", "the", "\n"]],
    "greedy_logprobs": [[-0.5, -0.25, -0.125]],
    "greedy_cumulative_logprobs": [-0.875],
    "sampling_response": ["Goethe", "Marlowe", ""],
    "sampling_correctness": [1, 0, 0],
}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "records.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return path


def one(folder: Path, **changed: Any) -> HonestyRecord | RowProblem:
    (found,) = read_records(write(folder, {**RECORD, **changed}), max_new_tokens=3)
    return found


def test_a_record_by_hand(tmp_path: Path) -> None:
    found = one(tmp_path)
    assert isinstance(found, HonestyRecord)
    assert found.question.external_id == "pool-7"
    assert found.question.reference_answers == ("Goethe", "J. W. Goethe")
    assert found.question.domain == "nq"
    assert found.question.split in {Split.POOL, Split.AUDIT}
    assert found.question.metadata == {"gold_greedy": "1", "gold_samples": "100"}
    assert found.greedy.text == "Goethe"
    assert found.greedy.logprobs == (-0.5, -0.25, -0.125)
    assert found.greedy.answer_class is AnswerClass.ANSWER
    assert [s.answer_class for s in found.samples] == [AnswerClass.ANSWER, AnswerClass.ANSWER, AnswerClass.EMPTY]
    assert (found.greedy_correct, found.samples_correct) == (True, (True, False, False))


def test_their_test_questions_are_held_out(tmp_path: Path) -> None:
    for word in ("test", "ood"):
        found = one(tmp_path, split=word)
        assert isinstance(found, HonestyRecord)
        assert found.question.split is Split.HELD_OUT


def test_an_answer_cut_by_the_limit_is_truncated(tmp_path: Path) -> None:
    found = one(tmp_path, greedy_tokens=[["Goe", "the", "was"]])
    assert isinstance(found, HonestyRecord)
    assert found.greedy.answer_class is AnswerClass.TRUNCATED


def test_missing_log_probabilities_are_missing_and_no_crash(tmp_path: Path) -> None:
    text = json.dumps({**RECORD, "greedy_cumulative_logprobs": None})
    path = write(tmp_path, text.replace("-0.25", "-Infinity").replace("-0.125", "NaN"))
    (found,) = read_records(path)
    assert isinstance(found, HonestyRecord)
    assert found.greedy.logprobs == (-0.5, None, None)
    absent = ("greedy_logprobs", "greedy_tokens", "sampling_correctness", "greedy_correctness")
    without = one(tmp_path, **dict.fromkeys(absent))
    assert isinstance(without, HonestyRecord)
    assert (without.greedy.logprobs, without.greedy_correct, without.samples_correct) == ((), None, ())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sampling_correctness": [1, 0]}, "sampling_response has 3 entries and sampling_correctness 2"),
        ({"sampling_correctness": [1, 0, 2]}, "sampling_correctness holds 2; 0 or 1 is needed"),
        ({"sampling_response": []}, "sampling_response is missing or empty"),
        ({"sampling_response": "x"}, "sampling_response is missing or empty"),
        ({"sampling_response": ["a", ["b"], "c"]}, "a list or an object where a text is needed"),
        ({"greedy_response": []}, "a list of 0 where one greedy value is needed"),
        ({"greedy_response": None}, "greedy_response is missing"),
        ({"greedy_correctness": 0.4}, "greedy_correctness holds 0.4"),
        ({"greedy_logprobs": [[-0.5]]}, "greedy_tokens has 3 entries and greedy_logprobs 1"),
        ({"greedy_logprobs": [[-0.5, 0.25, -0.1]]}, "the log-probability 0.25 is above 0"),
        ({"greedy_cumulative_logprobs": [-9.0]}, "logprobs is -9.0, but greedy_logprobs sum to -0.8750"),
        ({"answer": ["Goethe", ""]}, "one of the reference answers is empty"),
        ({"question": " "}, "the question (question) is empty"),
        ({"split": "third"}, "the split 'third' is none of"),
    ],
)
def test_bad_records_have_their_reason(tmp_path: Path, changed: dict[str, Any], reason: str) -> None:
    found = one(tmp_path, **changed)
    assert isinstance(found, RowProblem)
    assert reason in found.reason


def test_other_rows_go_on_after_a_bad_one(tmp_path: Path) -> None:
    found = list(read_records(write(tmp_path, "{", RECORD, "", {**RECORD, "id": 8})))
    assert [type(one) for one in found] == [RowProblem, HonestyRecord, RowProblem, HonestyRecord]


def test_records_are_told_from_questions(tmp_path: Path) -> None:
    assert looks_like_records(write(tmp_path, RECORD))
    assert not looks_like_records(write(tmp_path, {"question": "A?", "answer": ["x"]}))
    table = tmp_path / "a.csv"
    table.write_text("question\nA?\n", encoding="utf-8")
    assert not looks_like_records(table)
    with pytest.raises(ImportRefused, match="records are JSON Lines"):
        list(read_records(table))
