"""The words around a question. Two editable files lie in ``prompts/``; a project stores its own copy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args
from weakref import WeakKeyDictionary

from elical_core.errors import InputError, ModelError

PromptKind = Literal["few-shot", "chat"]
FOLDER = Path(__file__).parent / "prompts"
PLACEHOLDER = re.compile(r"\{(question|context)\}")
MAX_BYTES = 100_000


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A template with ``{question}`` and, if wanted, ``{context}``; a line whose ``{context}`` is empty falls out.

    ``few-shot`` is continued as plain text and answered up to the end of the line; ``chat`` is the user's message in
    the tokenizer's chat template. Other braces, and braces in questions, are plain text.
    """

    kind: PromptKind
    text: str

    def __post_init__(self) -> None:
        if self.kind not in get_args(PromptKind):
            raise InputError(f"prompt kind must be few-shot or chat, got {self.kind!r}")
        if self.text.count("{question}") != 1:
            raise InputError(
                f"the prompt has {self.text.count('{question}')} places for {{question}}; write {{question}} once, "
                f"where the question goes"
            )

    @property
    def stop(self) -> tuple[str, ...]:
        """Strings that end an answer, beside the model's own end tokens."""
        return ("\n",) if self.kind == "few-shot" else ()

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        if set(stored) != {"kind", "text"}:
            raise InputError(f"a stored prompt has the keys kind and text, got {', '.join(sorted(stored)) or 'none'}")
        return cls(kind=stored["kind"], text=stored["text"])

    def fill(self, question: str, context: str = "") -> str:
        """The template with question and context put in; few-shot questions become one line.

        Raises InputError for a blank question and for a context that the template has no place for.
        """
        if not question.strip():
            raise InputError("a question is empty; remove it or give it a text")
        if context.strip() and "{context}" not in self.text:
            raise InputError(
                f"the question {shorten(question)!r} has a context but the prompt has no place for it; "
                f"write {{context}} into the prompt or leave the context out"
            )
        values = {
            "question": " ".join(question.split()) if self.kind == "few-shot" else question.strip(),
            "context": context.strip(),
        }
        lines = [line for line in self.text.split("\n") if values["context"] or "{context}" not in line]
        return PLACEHOLDER.sub(lambda match: values[match[1]], "\n".join(lines)).strip()

    def render(self, tokenizer: Any, question: str, context: str = "") -> str:
        """The whole text that the model reads, with the chat template's marks and without a doubled BOS.

        Special tokens written inside a question are broken up, so that they are read as text. Raises ModelError when a
        chat prompt meets a tokenizer without chat template.
        """
        text = self.fill(defuse(tokenizer, question), defuse(tokenizer, context))
        if self.kind == "few-shot":
            return text
        if not tokenizer.chat_template:
            raise ModelError(
                f"the tokenizer of {tokenizer.name_or_path} has no chat template; use the few-shot prompt "
                f"(--prompt few-shot) or an instruct model"
            )
        message = [{"role": "user", "content": text}]
        return str(
            tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True, enable_thinking=False)
        )


def default_prompt(kind: PromptKind) -> Prompt:
    """The prompt that ships with EliCal."""
    return Prompt(kind=kind, text=(FOLDER / f"{kind}.txt").read_text(encoding="utf-8").rstrip("\n"))


def load_prompt(name_or_file: str) -> Prompt:
    """``few-shot``, ``chat``, or a UTF-8 text file with ``{question}`` in it.

    A file is a few-shot prompt unless its first line is ``#chat`` (that line is left out). Raises InputError.
    """
    if name_or_file in get_args(PromptKind):
        return default_prompt(cast(PromptKind, name_or_file))
    path = Path(name_or_file).expanduser()
    if not path.is_file():
        raise InputError(f"there is no prompt {name_or_file}; use few-shot, chat or the path of a text file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"the prompt file {path} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"the prompt file {path} is not UTF-8 text; save it as UTF-8") from error
    first, _, rest = text.partition("\n")
    if first.strip().lower() == "#chat":
        return Prompt(kind="chat", text=rest.rstrip("\n"))
    return Prompt(kind="few-shot", text=text.rstrip("\n"))


def shorten(text: str, limit: int = 60) -> str:
    """One line of at most ``limit`` characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def defuse(tokenizer: Any, text: str) -> str:
    """``text`` with a space inside every special token that is written in it: ``<eos>`` becomes ``< eos>``."""
    marks, first_letters = _special_marks(tokenizer)
    if first_letters.isdisjoint(text):
        return text
    for mark in marks:
        if mark in text:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


def _special_marks(tokenizer: Any) -> tuple[tuple[str, ...], frozenset[str]]:
    """The special tokens of two letters or more, and the letters they begin with; read once per tokenizer and size,
    because a large vocabulary has thousands of them."""
    size = len(tokenizer)
    if tokenizer not in _marks or _marks[tokenizer][0] != size:
        special = (str(a.content) for a in tokenizer.added_tokens_decoder.values() if a.special)
        marks = tuple(mark for mark in special if len(mark) > 1)
        _marks[tokenizer] = (size, marks, frozenset(mark[0] for mark in marks))
    return _marks[tokenizer][1:]


_marks: WeakKeyDictionary[Any, tuple[int, tuple[str, ...], frozenset[str]]] = WeakKeyDictionary()
