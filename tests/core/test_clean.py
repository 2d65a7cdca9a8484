"""Step 0: an answer out of its wrapping, and what kind of reply it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.consistency import classify, clean
from elical_core.consistency.clean import without_thought
from elical_core.consistency.text import comparable
from elical_core.domain import AnswerClass


@pytest.mark.parametrize(
    ("reply", "bare"),
    [
        ("Paris", "Paris"),
        ("  Paris.  ", "Paris"),
        ("The answer is Paris.", "Paris"),
        ("Answer: Paris", "Paris"),
        ("Sure! The final answer is: **Paris**", "Paris"),
        ("<think>France, so</think>\nParis", "Paris"),
        ("so it must be</think>Paris", "Paris"),
        ("[THINK]hm[/THINK]Paris", "Paris"),
        ("<|channel|>analysis<|message|>hm<|channel|>final<|message|>Paris", "Paris"),
        ("```\nParis\n```", "Paris"),
        ("`Paris`", "Paris"),
        ("\\boxed{42}", "42"),
        ("3 * 4 = 12, plus 2. The answer is 14.", "14"),
        ("20 + 5\n#### 25", "25"),
        ("“Paris”", "Paris"),
        ("- Paris", "Paris"),
        ("-5", "-5"),
        ("- 5", "- 5"),
        ("10²", "10^2"),
        ("1½", "1 1/2"),
        ("Ｐａｒｉｓ", "Paris"),
        ("Par\u200bis", "Paris"),
        ("A", "A"),
        ("A.", "A"),
        ("パリ。", "パリ"),
        ("...", ""),
        ("?", ""),
        ("", ""),
        ("<think>", ""),
        ("⚾", "⚾"),
        ("C++", "C++"),
        ("25%", "25%"),
    ],
)
def test_clean(reply: str, bare: str) -> None:
    assert clean(reply) == bare


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        "I don’t know who that is",
        "I do not have access to real-time information",
        "I'm sorry, but I can't help with that.",
        "As an AI language model, I cannot answer.",
        "I cannot provide that information",
        "There is no information about this",
        "Unfortunately, I have no data on it",
        "Unknown",
        "The answer is not known.",
        "N/A",
        "No idea",
        "Je ne sais pas",
        "Ich weiß es nicht",
        "No lo sé",
        "Я не знаю",
        "我不知道",
        "わかりません",
        "لا أعرف",
    ],
)
def test_refusals(reply: str) -> None:
    assert classify(reply) is AnswerClass.REFUSAL
    assert classify(reply, truncated=True) is AnswerClass.REFUSAL


@pytest.mark.parametrize(
    "title",
    ["I'm Sorry", "Sorry", "I Don't Know Why", "I Can't Get No Satisfaction", "The Unknown Soldier", "As I Lay Dying"],
)
def test_titles_that_sound_like_refusals_are_answers(title: str) -> None:
    assert classify(title) is AnswerClass.ANSWER


def test_a_reply_cut_inside_its_thought_is_truncated_and_leaks_nothing() -> None:
    cut = "<think>The capital of France might be Lyon, or"
    assert classify(cut) is AnswerClass.TRUNCATED
    assert clean(cut) == ""
    assert without_thought(cut)[1]


def test_cut_and_empty_replies() -> None:
    assert classify("The painter was born in", truncated=True) is AnswerClass.TRUNCATED
    assert classify("", truncated=True) is AnswerClass.TRUNCATED
    assert classify(" \n...") is AnswerClass.EMPTY
    assert classify("<think>done</think>") is AnswerClass.EMPTY


@given(st.text(max_size=80))
def test_clean_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert comparable(comparable(text)) == comparable(text)


_PIECES = ["<think>", "</think>", "**", "`", "```\n", '"', "The answer is ", "Paris", ". ", "- ", "\n", "It's ", "(A)"]


@given(st.lists(st.sampled_from([*_PIECES, "10²", "½", "#### ", "\\boxed{", "}"]), max_size=8).map("".join))
def test_clean_is_idempotent_on_wrappings(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert comparable(comparable(text)) == comparable(text)
