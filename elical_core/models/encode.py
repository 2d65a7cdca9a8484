"""From questions to token ids: exactly one BOS, nothing cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elical_core.errors import QuestionTooLong
from elical_core.models.prompt import Prompt, shorten


def encode(
    tokenizer: Any, prompt: Prompt, questions: Sequence[str], contexts: Sequence[str] | None, max_tokens: int
) -> list[list[int]]:
    """Token ids per question, in order, none longer than ``max_tokens``; ``[]`` for no questions.

    ``contexts`` is row-aligned or None. Each row begins with exactly one BOS when the tokenizer adds one by itself or
    the chat template writes one, and with none when the model knows none. Raises QuestionTooLong for the first prompt
    beyond the limit.
    """
    if contexts is not None and len(contexts) != len(questions):
        raise ValueError(f"{len(questions)} questions but {len(contexts)} contexts")
    if not questions:
        return []
    texts = [
        prompt.render(tokenizer, question, context)
        for question, context in zip(questions, contexts or [""] * len(questions), strict=True)
    ]
    bos = tokenizer.bos_token_id
    adds_bos = bos is not None and tokenizer("a").input_ids[:1] == [bos]
    rows = []
    for question, ids in zip(questions, tokenizer(texts, add_special_tokens=False).input_ids, strict=True):
        body = list(ids)
        while bos is not None and body[:1] == [bos]:
            body.pop(0)
        row = [bos, *body] if adds_bos or len(body) < len(ids) else body
        if len(row) > max_tokens:
            raise QuestionTooLong(
                f"the question {shorten(question)!r} ({len(question):,} characters) needs {len(row):,} tokens with its "
                f"prompt, the limit is {max_tokens:,}; shorten it, it is never cut"
            )
        rows.append(row)
    return rows
