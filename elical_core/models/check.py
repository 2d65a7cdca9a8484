"""Does a prompt go with a model? Told when a project is made, not when its sampling fails."""

from __future__ import annotations

from elical_core.errors import ModelError
from elical_core.models.encode import encode
from elical_core.models.prompt import Prompt
from elical_core.models.quiet import one_line, quiet_transformers
from elical_core.models.source import ModelSource


def check_prompt(source: ModelSource, prompt: Prompt, max_tokens: int) -> int:
    """Tokens of the prompt around a one-word question; reads only the tokenizer.

    Raises ModelError when the tokenizer cannot be read or has no chat template that a chat prompt needs, and
    QuestionTooLong when the prompt alone exceeds ``max_tokens``.
    """
    from transformers import AutoTokenizer

    with quiet_transformers():
        try:
            tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"the tokenizer of {source.spec} cannot be read: {one_line(error)}") from error
    return len(encode(tokenizer, prompt, ["Why?"], None, max_tokens)[0])
