"""One question's answers while they grow: answers that have said the same so far are one branch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Growing:
    """A question in work. Member 0 is the greedy answer, members 1..k the samples.

    ``tokens[m]`` are the tokens of member m without the one that ended it; ``ended[m]`` tells that the model ended the
    answer itself. ``chance`` is (k, max_new_tokens), see pick.uniforms.
    """

    index: int
    slot: int
    chance: NDArray[np.float64]
    prompt_tokens: list[int]  # distinct ids, sorted, for the repetition penalty
    tokens: list[list[int]] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    greedy_logprobs: list[float] = field(default_factory=list)
    alive: int = 0  # members that still grow

    def __post_init__(self) -> None:
        members = len(self.chance) + 1
        self.tokens = [[] for _ in range(members)]
        self.ended = [False] * members
        self.alive = members
        self._in_prompt = frozenset(self.prompt_tokens)

    def has(self, token: int) -> bool:
        """Whether the prompt contains ``token``."""
        return token in self._in_prompt


@dataclass
class Node:
    """A row whose next token is due: the members that have said the same so far, and what they said."""

    growing: Growing
    members: list[int]
    said: list[int]
    row: int  # its branch's number in the engine's last call; -1 for a prompt
    fresh: list[int] = field(default_factory=list)  # distinct tokens of ``said`` that are not in the prompt
