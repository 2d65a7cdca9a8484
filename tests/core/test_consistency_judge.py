"""Answers against references."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.consistency import TableEmbedder, judge, reference_problem
from elical_core.domain import DecidingStep, Relation

SAME, DIFFERENT, UNRESOLVED = Relation.SAME, Relation.DIFFERENT, Relation.UNRESOLVED


def one(question: str, answer: str, *references: str) -> Relation:
    (decision,) = judge(question, [answer], references)
    return decision.relation


@pytest.mark.parametrize(
    ("question", "answer", "reference", "expected"),
    [
        ("When was it signed?", "It was signed in 1648", "1648", SAME),
        ("When was it signed?", "It was signed in 1649", "1648", DIFFERENT),
        ("When was it signed?", "1648 or 1649", "1648", UNRESOLVED),
        ("Where is it?", "Paris, France", "Paris", SAME),
        ("Where is it?", "Rio de Janeiro, Brazil", "Brazil", SAME),
        ("Where is it?", "Brazil", "Rio de Janeiro", DIFFERENT),
        ("Where is it?", "It is not in Paris", "Paris", DIFFERENT),
        ("Where is it?", "Paris or London", "Paris", UNRESOLVED),
        ("Who sang it?", "Rihanna and Lady Gaga", "Rihanna", UNRESOLVED),
        ("Who sang it?", "The singer was Rihanna.", "Rihanna", SAME),
        ("Who wrote it?", "Dickens", "Charles Dickens", SAME),
        ("Who wrote it?", "Charles Dickens wrote it", "Charles Dickens", SAME),
        ("Who wrote it?", "Mark Twain", "Charles Dickens", DIFFERENT),
        ("How many are there?", "five", "5", SAME),
        ("How many are there?", "There are 25 of them", "5", DIFFERENT),
        ("How many are there?", "3.14", "314", DIFFERENT),
        ("Is it so?", "Yes, it is", "yes", SAME),
        ("Is it so?", "No", "yes", DIFFERENT),
        ("Pick one.", "C", "A", DIFFERENT),
        ("Pick one.", "A", "A", SAME),
        ("Which is it? (A) tin (B) iron", "B", "iron", SAME),
        ("Which is it? (A) tin (B) iron", "It has a long history", "A", UNRESOLVED),
        ("Where is it?", "I don't know", "Paris", DIFFERENT),
        ("Where is it?", "", "Paris", DIFFERENT),
        ("首都は?", "答えは東京です", "東京", SAME),
        ("首都は?", "東京ではない", "東京", UNRESOLVED),
        ("首都は?", "東京", "Tokyo", UNRESOLVED),
        ("Is it known?", "Unknown", "unknown", DIFFERENT),
    ],
)
def test_one_reference(question: str, answer: str, reference: str, expected: Relation) -> None:
    assert one(question, answer, reference) is expected


def test_any_of_several_references() -> None:
    decisions = judge("Who?", ["Ann Lee", "Bob Ray", "Cid", ""], ["Zoe Orr", "Bob Ray"])
    assert [d.relation for d in decisions] == [DIFFERENT, SAME, DIFFERENT, DIFFERENT]
    assert decisions[1].step is DecidingStep.EXACT
    assert decisions[3].why == "the reply is empty"


def test_a_reference_that_normalises_to_nothing_matches_nothing() -> None:
    assert judge("Which?", ["London", "A"], ["?"]) == judge("Which?", ["London", "A"], [])
    assert {d.relation for d in judge("Which?", ["London", "A"], ["...", ""])} == {UNRESOLVED}
    assert one("Which?", "London", "...", "London") is SAME


@pytest.mark.parametrize("text", ["", "  ", "...", "?", "<think>Paris", "``"])
def test_references_refused_at_import(text: str) -> None:
    assert reference_problem(text)


@pytest.mark.parametrize(
    "text", ["A", "a", "The Who", "the", "It", "5", "-5", "⚾", "東京", "no", "unknown", "C++", "%"]
)
def test_references_that_serve(text: str) -> None:
    assert reference_problem(text) == ""


def test_with_an_embedder_more_is_decided() -> None:
    embedder = TableEmbedder({"muscles": (1.0, 0.0), "liver": (0.2, 0.98)})
    assert judge("Where is it found?", ["muscles"], ["liver"])[0].relation is UNRESOLVED
    assert judge("Where is it found?", ["muscles"], ["liver"], embedder=embedder)[0].relation is DIFFERENT
    assert judge("Where?", [], ["liver"], embedder=embedder) == []


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=3), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_gets_a_decision(question: str, answers: list[str], references: list[str]) -> None:
    decisions = judge(question, answers, references)
    assert len(decisions) == len(answers)
    for answer, decision in zip(answers, decisions, strict=True):
        if not answer.strip() and any(not reference_problem(r) for r in references):
            assert decision.relation is DIFFERENT
