"""Prompts: what stands around a question, one BOS, nothing cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.errors import InputError, ModelError, QuestionTooLong
from elical_core.models import Prompt, default_prompt, encode, load_prompt, model_fingerprint
from elical_core.models.prompt import defuse, shorten
from elical_core.models.tiny import tiny_tokenizer

SHORT = Prompt(kind="few-shot", text="Q: {question}\nA:")
CHAT = (
    "{% for m in messages %}<bos>[{{ m.role }}]{{ m.content }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}[me]{% endif %}"
)


def test_a_line_with_an_empty_context_falls_out() -> None:
    prompt = Prompt(kind="few-shot", text="Passage: {context}\nQ: {question}\nA:")
    assert prompt.fill("who?") == "Q: who?\nA:"
    assert prompt.fill("who?", "Some text.") == "Passage: Some text.\nQ: who?\nA:"


@given(question=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1).filter(str.strip))
def test_a_question_is_put_in_letter_by_letter(question: str) -> None:
    line = " ".join(question.split())
    assert SHORT.fill(question) == f"Q: {line}\nA:"


def test_braces_and_placeholders_in_texts_stay_as_they_are() -> None:
    prompt = Prompt(kind="few-shot", text="{x} {{}} %s {context}\nQ: {question}\nA:")
    assert prompt.fill("what is {context} {question} {0}", "a {question}") == (
        "{x} {{}} %s a {question}\nQ: what is {context} {question} {0}\nA:"
    )


def test_few_shot_questions_become_one_line_and_chat_questions_do_not() -> None:
    assert SHORT.fill(" who\n\n is it? ") == "Q: who is it?\nA:"
    assert Prompt(kind="chat", text="{question}").fill(" a\nb ") == "a\nb"


@pytest.mark.parametrize("text", ["no place", "{question} {question}", ""])
def test_a_prompt_has_one_place_for_the_question(text: str) -> None:
    with pytest.raises(InputError, match=r"places for \{question\}"):
        Prompt(kind="few-shot", text=text)


def test_empty_questions_and_homeless_contexts_are_refused() -> None:
    with pytest.raises(InputError, match="a question is empty"):
        SHORT.fill(" \n")
    with pytest.raises(InputError, match="'who\\?' has a context but the prompt has no place"):
        SHORT.fill("who?", "some context")


@pytest.mark.parametrize("kind", ["few-shot", "chat"])
def test_the_shipped_prompts_are_complete(kind: str) -> None:
    prompt = load_prompt(kind)
    assert prompt.kind == kind
    assert "Passage: ctx" in prompt.fill("who?", "ctx")
    assert "{" not in prompt.fill("who?")
    assert prompt.stop == (("\n",) if kind == "few-shot" else ())
    assert Prompt.from_json(prompt.to_json()) == prompt


def test_stored_prompts_with_other_keys_are_refused() -> None:
    with pytest.raises(InputError, match="has the keys kind and text, got kind, name, text"):
        Prompt.from_json({"kind": "chat", "text": "{question}", "name": "x"})
    with pytest.raises(InputError, match="few-shot or chat, got 'essay'"):
        Prompt.from_json({"kind": "essay", "text": "{question}"})


def test_prompt_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Frage: {question}\nAntwort:\n", encoding="utf-8")
    assert load_prompt(str(file)) == Prompt(kind="few-shot", text="Frage: {question}\nAntwort:")
    file.write_text("#chat\nBe brief. {question}\n", encoding="utf-8")
    assert load_prompt(str(file)) == Prompt(kind="chat", text="Be brief. {question}")
    file.write_bytes(b"\xff\xfe{question}")
    with pytest.raises(InputError, match="not UTF-8"):
        load_prompt(str(file))
    file.write_text("{question}" + "x" * 100_001, encoding="utf-8")
    with pytest.raises(InputError, match="at most 100,000"):
        load_prompt(str(file))
    with pytest.raises(InputError, match="there is no prompt few_shot; use few-shot, chat or the path"):
        load_prompt("few_shot")


@pytest.mark.parametrize("adds_bos", [True, False])
@pytest.mark.parametrize("prompt", [SHORT, Prompt(kind="chat", text="{question}")], ids=["few-shot", "chat"])
def test_one_bos_whoever_writes_it(adds_bos: bool, prompt: Prompt) -> None:
    tokenizer = tiny_tokenizer(CHAT, adds_bos=adds_bos)
    (row,) = encode(tokenizer, prompt, ["who is <bos> and <eos>?"], None, 100)
    wanted = 1 if adds_bos or prompt.kind == "chat" else 0
    assert row.count(tokenizer.bos_token_id) == wanted
    assert row[:1] == [tokenizer.bos_token_id] or not wanted
    assert row.count(tokenizer.eos_token_id) == (1 if prompt.kind == "chat" else 0)


def test_a_doubled_bos_of_the_template_becomes_one() -> None:
    tokenizer = tiny_tokenizer("{{ bos_token }}{{ bos_token }}{{ messages[0].content }}")
    assert encode(tokenizer, Prompt(kind="chat", text="{question}"), ["ab"], None, 9) == [
        [1, *tokenizer.convert_tokens_to_ids(["a", "b"])]
    ]


def test_special_tokens_in_questions_are_read_as_text() -> None:
    assert defuse(tiny_tokenizer(), "a <eos> b <bos>") == "a < eos> b < bos>"


def test_chat_without_a_template_is_refused() -> None:
    with pytest.raises(ModelError, match="has no chat template; use the few-shot prompt"):
        encode(tiny_tokenizer(), default_prompt("chat"), ["who?"], None, 1000)


def test_long_questions_are_refused_with_the_limit_named() -> None:
    question = "why " * 5000
    with pytest.raises(
        QuestionTooLong, match=r"'why why .*…' \(20,000 characters\) needs 20,\d+ tokens .* limit is 2,048"
    ):
        encode(tiny_tokenizer(), SHORT, ["short?", question], None, 2048)
    exactly = encode(tiny_tokenizer(), SHORT, ["abc"], None, 10)
    assert len(exactly[0]) == 10  # <bos>, "Q: abc\nA:" has 9 letters
    with pytest.raises(QuestionTooLong, match="needs 10 tokens with its prompt, the limit is 9"):
        encode(tiny_tokenizer(), SHORT, ["abc"], None, 9)


def test_no_questions_give_no_rows() -> None:
    assert encode(tiny_tokenizer(), SHORT, [], None, 10) == []


def test_fingerprints_change_with_weights_and_with_every_letter() -> None:
    base = model_fingerprint("abc", SHORT)
    assert base == model_fingerprint("abc", Prompt.from_json(SHORT.to_json()))
    assert len({base, model_fingerprint("abd", SHORT), model_fingerprint("abc", load_prompt("few-shot"))}) == 3
    assert base != model_fingerprint("abc", Prompt(kind="chat", text=SHORT.text))


def test_shorten() -> None:
    assert shorten("a\n b") == "a b"
    assert shorten("x" * 61) == "x" * 59 + "…"
