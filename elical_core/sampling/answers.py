"""From tokens to answers: when one has ended, what it says and what kind of text it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from elical_core.consistency.clean import classify
from elical_core.domain import Answer
from elical_core.models.prompt import Prompt

MARK = "answer"  # stands for an answer when the chat template is asked what follows one


class AnswerReader:
    """Reads the tokens of one model: its end tokens, and the strings that end an answer to this prompt."""

    def __init__(self, tokenizer: Any, prompt: Prompt, end_ids: Iterable[int]) -> None:
        self.end_ids = frozenset(end_ids)
        self._tokenizer = tokenizer
        self._stop = prompt.stop
        self._last_letters = {string[-1] for string in prompt.stop}
        self._pieces: dict[int, str] = {}

    def ends(self, tokens: Sequence[int]) -> bool:
        """Whether the last of ``tokens`` completes a stop string. ``tokens`` holds no end token."""
        if not self._last_letters.intersection(self._piece(tokens[-1])):
            return False
        return self._cut(self._text(tokens)) is not None

    def answer(self, tokens: Sequence[int], ended: bool, logprobs: Sequence[float] = ()) -> Answer:
        """The text up to the first stop string, without spaces around it.

        ``ended`` is False when the answer was cut by the limit of new tokens. ``logprobs`` is row-aligned with
        ``tokens`` or empty; -inf and NaN become None. Tokens that lie wholly behind the stop string are left out.
        """
        whole = self._text(tokens)
        text = self._cut(whole)
        kept = len(tokens)
        if text is not None:
            while kept and len(self._text(tokens[: kept - 1])) >= len(text):
                kept -= 1
        spoken = (whole if text is None else text).strip()
        if not ended:
            spoken = spoken.rstrip("\ufffd")  # half of a letter
        return Answer(
            text=spoken,
            answer_class=classify(spoken, truncated=not ended),
            tokens=tuple(self._piece(token) for token in tokens[:kept]) if logprobs else (),
            logprobs=tuple(value if math.isfinite(value) else None for value in logprobs[:kept]),
        )

    def _cut(self, text: str) -> str | None:
        """What stands before the first stop string, or None when there is none."""
        found = [at for string in self._stop if (at := text.find(string)) >= 0]
        return text[: min(found)] if found else None

    def _text(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _piece(self, token: int) -> str:
        if token not in self._pieces:
            self._pieces[token] = str(self._tokenizer.decode([token], clean_up_tokenization_spaces=False))
        return self._pieces[token]


def end_tokens(model: Any, tokenizer: Any, prompt: Prompt) -> set[int]:
    """Tokens that end an answer: the tokenizer's and the generation settings' end tokens, and for chat prompts the
    special token that the chat template writes after an answer."""
    ends = {tokenizer.eos_token_id}
    named = getattr(model.generation_config, "eos_token_id", None)
    ends.update(named if isinstance(named, list) else [named])
    if prompt.kind == "chat" and tokenizer.chat_template:
        talk = [{"role": "user", "content": "question"}, {"role": "assistant", "content": MARK}]
        _, _, after = str(tokenizer.apply_chat_template(talk, tokenize=False)).rpartition(MARK)
        first = tokenizer(after.lstrip(), add_special_tokens=False).input_ids[:1]
        ends.update(token for token in first if token in tokenizer.all_special_ids or token in _special(tokenizer))
    return {int(token) for token in ends if token is not None}


def _special(tokenizer: Any) -> set[int]:
    return {number for number, added in tokenizer.added_tokens_decoder.items() if added.special}
