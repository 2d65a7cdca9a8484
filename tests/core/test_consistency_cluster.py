"""Clusters and the Stage-1 target, worked by hand; properties of the partition."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.config import ConsistencyConfig
from elical_core.consistency import Sampled, TableEmbedder, classify, cluster, cluster_many, compare
from elical_core.consistency.questions import asks_for_any
from elical_core.domain import Answer, AnswerClass, Consistency, DecidingStep, Relation


def answers(texts: Sequence[str]) -> list[Answer]:
    return [Answer(text=text, answer_class=classify(text)) for text in texts]


def clustered(question: str, greedy: str, samples: Sequence[str], embedder: TableEmbedder | None = None) -> Consistency:
    return cluster(question, answers([greedy])[0], answers(samples), embedder=embedder)


def test_by_hand() -> None:
    # same as Paris: Paris, paris., It's Paris, "Paris, France"; different: London, Lyon; not compared: the refusal
    result = clustered(
        "Where was it signed?",
        "Paris",
        ["Paris", "London", "paris.", "It's Paris", "I don't know", "Paris, France", "Lyon"],
    )
    assert (result.same, result.different, result.unresolved) == (4, 2, 1)
    assert result.target == pytest.approx(4 / 6)
    assert [(c.representative, c.members, c.holds_greedy, c.step) for c in result.clusters] == [
        ("Paris", (0, 2, 3, 5), True, DecidingStep.ENTITY),
        ("London", (1,), False, DecidingStep.EXACT),
        ("Lyon", (6,), False, DecidingStep.EXACT),
        ("I don't know", (4,), False, DecidingStep.NONE),
    ]


def test_mass_sums_to_one() -> None:
    result = clustered("Capital of France?", "Paris", ["Paris", "Paris", "Paris", "It's Paris", "London"])
    shares = [len(c.members) / 5 for c in result.clusters]
    assert shares == [0.8, 0.2]
    assert result.target == pytest.approx(0.8)


def test_all_the_same_is_certain() -> None:
    result = clustered("Capital of France?", "Paris", ["Paris"] * 20)
    assert (result.target, len(result.clusters)) == (1.0, 1)


def test_the_greedy_answer_alone_in_its_cluster() -> None:
    result = clustered("How many?", "7", ["8", "8", "9"])
    assert result.target == 0
    assert (result.clusters[0].members, result.clusters[0].holds_greedy) == ((), True)
    assert [c.members for c in result.clusters[1:]] == [(0, 1), (2,)]


def test_twenty_refusals_are_no_consistency() -> None:
    result = clustered("Capital of France?", "I do not have access to that", ["I do not have access to that"] * 20)
    assert result.target is None
    assert result.reason == "all answers are refusals"
    assert (result.same, result.different, result.unresolved) == (0, 0, 20)
    assert [len(c.members) for c in result.clusters] == [20]  # one line on the screen


@pytest.mark.parametrize(
    ("greedy", "samples", "reason"),
    [
        ("Paris", [""] * 3, "all answers are empty"),
        ("Paris", ["", "I don't know"], "no sample is an answer"),
        ("I don't know", ["Paris", "Paris"], "the greedy reply is a refusal"),
        ("", ["Paris"], "the greedy reply is empty"),
        ("Paris", ["Paris", "", "", "I don't know"], "only 1 of 4 samples"),
        ("Paris", [], "there are no samples"),
    ],
)
def test_no_target_without_enough_answers(greedy: str, samples: list[str], reason: str) -> None:
    result = clustered("Capital of France?", greedy, samples)
    assert result.target is None
    assert result.reason.startswith(reason)


def test_half_is_enough() -> None:
    assert clustered("Capital of France?", "Paris", ["Paris", "Paris", "", ""]).target == 1.0


def test_truncated_replies_are_not_compared() -> None:
    cut = Answer(text="The capital of France is", answer_class=AnswerClass.TRUNCATED)
    result = cluster("Capital of France?", answers(["Paris"])[0], [cut, cut, *answers(["Paris", "Paris"])])
    assert (result.same, result.unresolved) == (2, 2)
    all_cut = cluster("Capital of France?", cut, [cut])
    assert all_cut.target is None
    assert all_cut.reason == "all answers are cut off"


def test_an_answer_is_in_one_cluster_only() -> None:
    result = clustered("What are they?", "cats and dogs", ["cats", "dogs", "cats and dogs", "dogs and cats"])
    assert sorted(m for c in result.clusters for m in c.members) == [0, 1, 2, 3]
    assert result.clusters[0].members == (2, 3)


def test_no_merging_along_a_chain() -> None:
    # "John Smith" is a form of "Smith" and "Ann Smith" is too, but they are different persons
    who = "Who wrote it?"
    assert compare(who, "Smith", "John Smith").relation is Relation.SAME
    assert compare(who, "Smith", "Ann Smith").relation is Relation.SAME
    assert compare(who, "John Smith", "Ann Smith").relation is Relation.DIFFERENT
    result = clustered(who, "Smith", ["John Smith", "Ann Smith", "Ann Smith"])
    assert [(c.representative, c.members) for c in result.clusters] == [("Smith", (1, 2)), ("John Smith", (0,))]
    assert (result.same, result.different, result.unresolved) == (2, 0, 1)


def test_what_is_the_same_as_a_different_answer_is_different() -> None:
    vectors = {"liver": (1.0, 0.0, 0.0), "muscles": (0.0, 1.0, 0.0), "muscle tissue muscles": (0.45, 0.85, 0.27)}
    result = clustered("What is it?", "liver", list(vectors), TableEmbedder(vectors))
    assert (result.same, result.different, result.unresolved) == (1, 2, 0)


def test_unresolved_pairs_leave_numerator_and_denominator() -> None:
    vectors = {"red dye": (1.0, 0.0), "scarlet pigment": (0.6, 0.8), "blue": (0.0, 1.0)}
    result = clustered("What is it?", "red dye", ["red dye", "scarlet pigment", "blue"], TableEmbedder(vectors))
    assert (result.same, result.different, result.unresolved) == (1, 1, 1)
    assert result.target == 0.5


def test_many_right_answers_give_no_target() -> None:
    question = "Name a Nobel laureate in physics."
    samples = [f"{first} {last}" for first in ("Ann", "Bob", "Cid") for last in ("Ray", "Lee", "Orr")]
    result = clustered(question, "Ann Ray", samples)
    assert result.target is None
    assert "many answers are right" in result.reason
    forced = cluster(question, answers(["Ann Ray"])[0], answers(samples), several_valid=False)
    assert forced.target is not None
    assert asks_for_any("Give me an example of a prime number")
    assert not asks_for_any("Name the capital of France")
    assert not asks_for_any("What is the capital of France?")


def test_one_embedding_call_serves_many_questions() -> None:
    embedder = TableEmbedder({})
    items = [
        Sampled(question=f"What is thing {i}?", greedy=answers(["rand"])[0], samples=answers(["African rand", "x y"]))
        for i in range(5)
    ]
    together = cluster_many(items, embedder=embedder)
    assert embedder.calls == 1
    assert together == [cluster(i.question, i.greedy, i.samples, embedder=TableEmbedder({})) for i in items]
    assert cluster_many([]) == []


def test_the_share_needed_is_a_setting() -> None:
    lenient = ConsistencyConfig(min_decided_share=0.1)
    result = cluster("Capital?", answers(["Paris"])[0], answers(["Paris", "", "", ""]), config=lenient)
    assert result.target == 1.0


def test_scripts_of_the_world() -> None:
    samples = ["東京", "东京", "القاهرة", "القاهرة.", "Москва", "москва", "दिल्ली", "👍", "ไทย", "\ud800", "ﷺ"]
    result = clustered("首都はどこですか", "東京", samples)
    assert sorted(m for c in result.clusters for m in c.members) == list(range(len(samples)))
    assert result.same == 1


_TEXTS = ["Paris", "paris.", "Paris, France", "London", "5", "five", "-5", "Smith", "John Smith", "Ann Smith", ""]
_TEXTS += ["...", "I don't know", "not Paris", "cats and dogs", "cats", "1939", "May 1939", "東京", "A", "yes", "no"]
_SAMPLES = st.lists(st.sampled_from(_TEXTS), max_size=10)


@given(st.sampled_from(["Who?", "Where is it?", "When?"]), st.sampled_from(_TEXTS), _SAMPLES)
def test_clusters_are_a_partition(question: str, greedy: str, samples: list[str]) -> None:
    result = clustered(question, greedy, samples)
    assert sorted(m for c in result.clusters for m in c.members) == list(range(len(samples)))
    assert sum(c.holds_greedy for c in result.clusters) == 1
    assert all(c.members or c.holds_greedy for c in result.clusters)
    assert result.same + result.different + result.unresolved == len(samples)
    assert (result.target is None) == bool(result.reason)
    assert result.target is None or result.target == result.same / (result.same + result.different)
    for c in result.clusters:
        texts = {samples[m] for m in c.members}
        kinds = {classify(t) for t in texts}
        assert len(kinds) <= 1
        if kinds == {AnswerClass.ANSWER}:
            assert all(compare(question, a, b).relation is not Relation.DIFFERENT for a in texts for b in texts)


@given(st.sampled_from(_TEXTS), _SAMPLES, st.integers(0, 99))
def test_the_order_of_the_samples_does_not_matter(greedy: str, samples: list[str], seed: int) -> None:
    order = list(range(len(samples)))
    random.Random(seed).shuffle(order)
    one = clustered("Who wrote it?", greedy, samples)
    other = clustered("Who wrote it?", greedy, [samples[i] for i in order])
    assert (one.target, one.reason, one.same, one.different) == (
        other.target,
        other.reason,
        other.same,
        other.different,
    )
    assert [(c.representative, frozenset(c.members), c.step) for c in one.clusters] == [
        (c.representative, frozenset(order[m] for m in c.members), c.step) for c in other.clusters
    ]
