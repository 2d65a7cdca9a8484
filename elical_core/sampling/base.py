"""The sampler's edge: what every backend takes and gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from elical_core.config import SamplingConfig
from elical_core.domain import GenerationRecord


@dataclass(frozen=True, kw_only=True)
class SamplingRequest:
    """One question to be answered. ``key`` names it in every seed, so its answers do not depend on the batch."""

    question_id: int
    key: str
    text: str
    context: str = ""


class Sampler(Protocol):
    """Answers questions: greedy once and ``config.k`` times at random."""

    model_fingerprint: str

    def sample(self, requests: Sequence[SamplingRequest], config: SamplingConfig) -> Iterator[GenerationRecord]:
        """One record per request, each as soon as it is finished, in any order.

        Raises QuestionTooLong before any work when a prompt exceeds ``config.max_prompt_tokens``.
        """
        ...
