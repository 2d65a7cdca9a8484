"""The cascade as a whole: entities, aliases, embeddings, scripts, and what decides without a model."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.config import ConsistencyConfig
from elical_core.consistency import Cascade, Decision, Pair, compare
from elical_core.consistency.cascade import Embeddings, NamesDiffer
from elical_core.consistency.embedding import TableEmbedder
from elical_core.consistency.pair import AskedOf, Reading
from elical_core.consistency.parse import parse
from elical_core.consistency.text import near_spelling
from elical_core.consistency.verdict import read_verdict
from elical_core.domain import DecidingStep, Relation

SAME, DIFFERENT, UNRESOLVED = Relation.SAME, Relation.DIFFERENT, Relation.UNRESOLVED
WHO, WHERE, WHAT = "Who wrote it?", "Where is it?", "What is it?"


@pytest.mark.parametrize(
    ("question", "a", "b", "expected"),
    [
        (WHAT, "Paris", "It's Paris", SAME),
        (WHAT, "Röntgen", "Rontgen", SAME),
        (WHAT, "Röntgen", "Roentgen", SAME),
        (WHAT, "Dvořák", "Dvorak", SAME),
        (WHAT, "the United States", "USA", SAME),
        (WHAT, "U.S.", "America", SAME),
        (WHAT, "South America", "America", UNRESOLVED),
        (WHAT, "National Basketball Association", "NBA", SAME),
        (WHAT, "Warner Bros.", "Warner Brothers", SAME),
        (WHO, "Charles Dickens", "Dickens", SAME),
        (WHO, "W. Somerset Maugham", "William Somerset Maugham", SAME),
        (WHO, "Dimitar Todorov Dimov", "Dimitar Dimov", SAME),
        (WHO, "Senator John Kerry", "Sen. John Kerry", SAME),
        (WHO, "Bill Clinton", "William Clinton", SAME),
        (WHO, "Christian Krohg", "Christian Krogh", SAME),
        (WHO, "Mikhail Gorbachev, Soviet leader", "Mikhail Gorbachev", SAME),
        (WHO, "Bill Clinton", "Hillary Clinton", DIFFERENT),
        (WHO, "George W. Bush", "George H. W. Bush", UNRESOLVED),
        (WHO, "Louis XVI", "Louis XVIII", DIFFERENT),
        (WHO, "Louis XVI", "Louis", UNRESOLVED),
        (WHO, "George Orwell", "George Lucas", DIFFERENT),
        (WHO, "Iran", "President of Iran", UNRESOLVED),
        (WHERE, "Paris", "Paris, France", SAME),
        (WHERE, "Egypt", "Cairo, Egypt", DIFFERENT),
        ("In what country is it?", "Egypt", "Cairo, Egypt", SAME),
        (WHERE, "Namibia", "United Arab Emirates", DIFFERENT),
        ("What color is it?", "red color", "red", SAME),
        (WHAT, "Paris", "a city in France", UNRESOLVED),
        (WHAT, "CEO A", "CTO B", UNRESOLVED),
        (WHAT, "A.I.S.", "A. S. S.", DIFFERENT),
        (WHAT, "東京", "Tokyo", UNRESOLVED),
        (WHAT, "Москва", "Moscow", UNRESOLVED),
        (WHAT, "القاهرة", "القاهرة.", SAME),
    ],
)
def test_entities_without_a_model(question: str, a: str, b: str, expected: Relation) -> None:
    decision = compare(question, a, b)
    assert compare(question, b, a).relation is decision.relation
    if expected is UNRESOLVED:  # the point of these: never the same
        assert decision.relation is not SAME
    else:
        assert decision.relation is expected, decision


def test_native_script_against_romanised_name_asks_a_judge() -> None:
    assert compare(WHERE, "東京", "Tokyo", similarity=0.05).relation is UNRESOLVED
    assert compare(WHERE, "Москва", "Moscow", similarity=0.9).relation is UNRESOLVED


def test_the_embedding_alone_never_merges() -> None:
    # the two kinds of pairs that were merged elsewhere at cosine .985
    for a, b in (("smaller", "larger"), ("Ann Lee, CEO", "Bob Ray, CTO"), ("automobile magazine", "car magazine")):
        assert compare(WHAT, a, b, similarity=0.985).relation is not SAME


def test_hint_and_similarity_merge_only_together() -> None:
    hinted = (WHAT, "rand", "African rand")
    assert compare(*hinted, similarity=0.79).relation is UNRESOLVED
    decision = compare(*hinted, similarity=0.8)
    assert (decision.relation, decision.step) == (SAME, DecidingStep.EMBEDDING)
    assert compare(*hinted, similarity=0.29).relation is DIFFERENT


def test_something_else_on_each_side_and_far_apart_is_different() -> None:
    assert compare(WHAT, "muscles", "liver", similarity=0.49).relation is DIFFERENT
    assert compare(WHAT, "muscles", "liver", similarity=0.51).relation is UNRESOLVED
    assert compare(WHAT, "muscles", "liver").relation is UNRESOLVED
    assert compare(WHAT, "Japan", "a Japanese artist", similarity=0.49).relation is UNRESOLVED  # forms of one word
    assert compare(WHAT, "cotton", "cotton fabric", similarity=0.49).relation is UNRESOLVED  # nothing else on one side


def test_typed_different_vetoes_every_later_step() -> None:
    for a, b in (("-5", "5"), ("not Paris", "Paris"), ("Apollo 11", "Apollo 12"), ("cats and dogs", "cats")):
        decision = compare(WHAT, a, b, similarity=0.99)
        assert (decision.relation, decision.step) == (DIFFERENT, DecidingStep.TYPED)


def test_yes_is_not_far_from_a_sentence_that_says_yes() -> None:
    assert compare("Are both English?", "Yes", "Both men are English", similarity=0.02).relation is UNRESOLVED


def test_aliases_of_the_project() -> None:
    aliases = [("Mark Twain", "Samuel Clemens"), ("1st place", "gold medal")]
    decision = compare(WHO, "mark twain", "Samuel Clemens.", aliases=aliases)
    assert (decision.relation, decision.step) == (SAME, DecidingStep.ALIAS)
    assert compare(WHAT, "gold medal", "1st place", aliases=aliases).relation is SAME
    assert compare(WHO, "Mark Twain", "gold medal", aliases=aliases).relation is not SAME


@pytest.mark.parametrize("refusal", ["I don't know", "", "...", "<think>so", "I cannot answer that"])
def test_what_is_no_answer_is_not_compared(refusal: str) -> None:
    for other in (refusal, "Paris"):
        assert compare(WHERE, refusal, other).relation is UNRESOLVED


def test_thresholds_come_from_the_settings() -> None:
    config = ConsistencyConfig(embedding_same_from=0.5, entity_max_tokens=2)
    assert compare(WHAT, "rand", "African rand", similarity=0.6, config=config).relation is SAME
    longer = ("Wonder Woman Statue", "Wonder Woman Marble Statue")
    assert compare(WHAT, *longer, similarity=0.9, config=config).relation is UNRESOLVED
    assert compare(WHAT, *longer, similarity=0.9).relation is SAME


class OwnStep:
    """A later step, as an NLI model or a judge would be: it decides what it is shown."""

    needs_hint = False

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[Pair]) -> list[Decision | None]:
        self.shown += [pair.texts for pair in pairs]
        return [Decision(SAME, DecidingStep.NLI, "both ways") for _ in pairs]


def test_a_further_step_slots_in_and_sees_only_what_is_open() -> None:
    step = OwnStep()
    cascade = Cascade(Cascade.offline(None).rules, (step, NamesDiffer(), Embeddings(TableEmbedder({}))))
    asked = AskedOf.read(WHO, (), ConsistencyConfig())
    texts = [("Mark Twain", "Samuel Clemens"), ("5", "6"), ("I don't know", "5")]
    decisions = cascade.decide([Pair(asked, Reading(asked, parse(a)), Reading(asked, parse(b))) for a, b in texts])
    assert [d.relation for d in decisions] == [SAME, DIFFERENT, UNRESOLVED]
    assert step.shown == [("Mark Twain", "Samuel Clemens")]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("same", SAME),
        ("Correct.", SAME),
        ("INCORRECT", DIFFERENT),
        ("<think>the same?</think> different", DIFFERENT),
        ('{"verdict": "same"}', SAME),
        ("not the same", DIFFERENT),
        ("not certain", UNRESOLVED),
        ("", UNRESOLVED),
        ("Both answers refer to the same city, although one could argue", UNRESOLVED),
        ("same or different", UNRESOLVED),
        ("<think>they are the same", UNRESOLVED),
    ],
)
def test_a_judge_that_gives_no_plain_verdict_leaves_the_pair_unresolved(reply: str, expected: Relation) -> None:
    assert read_verdict(reply) is expected


def test_near_spelling() -> None:
    assert near_spelling("krohg", "krogh")
    assert near_spelling("reagan", "reaglan")
    assert near_spelling("smith", "smyth")
    assert not near_spelling("iran", "iraq")  # too short
    assert not near_spelling("ieyasu", "iemory")
    assert not near_spelling("paris", "paris")


_WORDS = [
    "Paris",
    "France",
    "not",
    "5",
    "five",
    "-5",
    "1939",
    "May 1939",
    "and",
    ",",
    "(A)",
    "yes",
    "no",
    "東京",
    "r",
    "é",
]
_ANSWERS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join)
_QUESTIONS = st.sampled_from([WHO, WHERE, WHAT, "When?", "How many?", "Is it?", "Which is older, Paris or France?"])


@given(_QUESTIONS, _ANSWERS, _ANSWERS, st.sampled_from([None, 0.1, 0.6, 0.9]))
def test_compare_is_symmetric(question: str, a: str, b: str, similarity: float | None) -> None:
    forth, back = compare(question, a, b, similarity=similarity), compare(question, b, a, similarity=similarity)
    assert (forth.relation, forth.step) == (back.relation, back.step)


@given(_QUESTIONS, _ANSWERS)
def test_an_answer_is_the_same_as_itself(question: str, a: str) -> None:
    expected = SAME if parse(a).is_answer else UNRESOLVED
    assert compare(question, a, a).relation is expected


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_compared_without_error(a: str, b: str) -> None:
    assert compare(b, a, b).relation is compare(b, b, a).relation
