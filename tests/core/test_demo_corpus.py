"""The embedded corpus: sound, without doubles, and fair from its first question on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from elical_core.datasets import ReadOptions
from elical_core.datasets.convert import normalise
from elical_core.demo import corpus, corpus_path
from elical_core.domain import QuestionRecord, Split
from elical_core.models.prompt import default_prompt


@pytest.fixture(scope="module")
def records() -> list[QuestionRecord]:
    return corpus()


def test_about_1500_questions_in_several_domains(records: list[QuestionRecord]) -> None:
    assert 1400 <= len(records) <= 1800
    domains = Counter(record.domain for record in records)
    assert len(domains) >= 8
    assert max(domains.values()) < 0.25 * len(records)


def test_no_question_and_no_id_twice(records: list[QuestionRecord]) -> None:
    assert len({record.external_id for record in records}) == len(records)
    assert len({normalise(record.text) for record in records}) == len(records)


def test_every_question_has_answers_and_does_not_hold_them(records: list[QuestionRecord]) -> None:
    for record in records:
        assert record.reference_answers, record
        assert all(answer == answer.strip() and answer for answer in record.reference_answers)
        words = normalise(record.text).split()
        assert normalise(record.reference_answers[0]).split() != words
        if len(record.reference_answers[0]) > 3:
            assert f" {normalise(record.reference_answers[0])} " not in f" {' '.join(words)} ", record


def test_questions_read_like_questions(records: list[QuestionRecord]) -> None:
    for record in records:
        assert record.text[0].isupper() or record.text[0] in "İ", record.text
        assert record.text.endswith(("?", ".")), record.text
        assert record.text == " ".join(record.text.split())
        assert len(record.text) < 120


def test_a_seventh_is_held_out_across_domains_and_subjects_stay_together(records: list[QuestionRecord]) -> None:
    held_out = [record for record in records if record.split is Split.HELD_OUT]
    assert 0.12 <= len(held_out) / len(records) <= 0.18
    assert {record.domain for record in held_out} == {record.domain for record in records}
    splits: dict[str, set[Split]] = {}
    for record in records:
        splits.setdefault(record.group, set()).add(record.split)
    assert all(len(found) == 1 for found in splits.values())


@pytest.mark.parametrize("first", [100, 200, 500])
def test_the_beginning_is_a_fair_sample(records: list[QuestionRecord], first: int) -> None:
    """Shares of domains among the first n are within .03 of those of all; the obscure half's share is within .06."""
    whole, part = Counter(r.domain for r in records), Counter(r.domain for r in records[:first])
    for domain, n in whole.items():
        assert abs(part[domain] / first - n / len(records)) <= 0.03
    size = Counter(r.external_id.rsplit("-", 1)[0] for r in records)

    def obscure(record: QuestionRecord) -> bool:
        kind, rank = record.external_id.rsplit("-", 1)
        return int(rank) > size[kind] / 2

    assert abs(sum(map(obscure, records[:first])) / first - 0.5) <= 0.06


def test_the_split_follows_the_seed(records: list[QuestionRecord]) -> None:
    other = corpus(ReadOptions(seed=1))
    assert [r.external_id for r in other] == [r.external_id for r in records]
    assert {r.external_id for r in other if r.split is Split.HELD_OUT} == {
        r.external_id for r in records if r.split is Split.HELD_OUT
    }
    assert [r.split for r in other] != [r.split for r in records]


def test_the_prompt_gives_no_answer_away(records: list[QuestionRecord]) -> None:
    prompt = default_prompt("few-shot").text
    assert not [record.text for record in records if record.text in prompt]


def test_the_sources_are_named() -> None:
    text = corpus_path().with_name("SOURCES.md").read_text(encoding="utf-8")
    assert all(name in text for name in ("GeoNames", "pycountry", "mendeleev", "CC BY 4.0"))


@pytest.mark.slow
def test_the_script_makes_this_very_file(tmp_path: Path) -> None:
    make_corpus = pytest.importorskip("elical_core.demo.make_corpus", reason="needs the packages of the facts")
    made = list(make_corpus.rows())
    assert made == [json.loads(line) for line in corpus_path().read_text(encoding="utf-8").splitlines()]
