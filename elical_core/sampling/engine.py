"""What a decoding loop needs of a model: read prompts, lengthen branches, give the best next tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch

from elical_core.sampling.vocabulary import TopTokens


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One more token after a branch of the previous call.

    ``parent`` is that call's row number, or -1 for the first token after the prompt in ``slot``; ``depth`` counts the
    tokens of the branch, this one included.
    """

    slot: int
    parent: int
    depth: int
    token: int


class Room(NamedTuple):
    """How many branches and prompts an engine holds at once."""

    branches: int
    slots: int


def cache_bytes_per_token(model: Any) -> int:
    """Bytes of keys and values that one token takes, over all layers, from the model's settings."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * heads * dim * model.dtype.itemsize)


class Engine(Protocol):
    """A model that holds prompts in numbered slots and branches in rows.

    ``joins`` tells whether new prompts may come while branches are alive. One decoding loop at a time.
    """

    joins: bool

    def start(self, common: Sequence[int], longest_prompt: int, max_new_tokens: int, at_least: int) -> Room:
        """Clears everything, reads the tokens that all prompts begin with and says how much fits into memory.

        ``longest_prompt`` is in tokens and includes ``common``; ``at_least`` branches of one prompt always fit.
        """
        ...

    def forward(self, branches: Sequence[Branch], prompts: Sequence[tuple[int, Sequence[int]]]) -> torch.Tensor:
        """One pass: a row per branch, then a row per prompt (slot, its tokens after ``common``), in the given order.

        The next call's ``parent`` numbers refer to these branches. Branches that are not continued are forgotten.
        """
        ...

    def best(self, rows: torch.Tensor, m: int, seen: torch.Tensor, total_rows: torch.Tensor) -> TopTokens:
        """The best next tokens after rows of ``forward``; see SlicedHead.best."""
        ...

    def stop(self) -> None:
        """Frees the memory of the run."""
        ...
