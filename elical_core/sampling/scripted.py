"""A sampler that says what it was told to: for tests of everything behind sampling, and for trying the pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice

from elical_core.config import SamplingConfig
from elical_core.consistency.clean import classify
from elical_core.domain import Answer, GenerationRecord
from elical_core.errors import InputError
from elical_core.sampling.base import SamplingRequest


class ScriptedSampler:
    """A Sampler without a model. ``answers`` maps a question's text to its answers: the first is the greedy one, the
    rest are the samples, repeated from the first of them until there are k (the greedy answer alone is repeated).

    ``log_probability`` is given to every word of a greedy answer. ``fail_on`` names a question at which a RuntimeError
    is raised, as a crash in the middle of a job would. ``asked`` counts the questions that were answered, by text.
    """

    def __init__(
        self,
        answers: Mapping[str, Sequence[str]],
        *,
        model_fingerprint: str = "scripted",
        log_probability: float = -0.5,
        fail_on: str | None = None,
    ) -> None:
        self.model_fingerprint = model_fingerprint
        self.asked: dict[str, int] = {}
        self._answers, self._log_probability, self._fail_on = answers, log_probability, fail_on

    def sample(self, requests: Sequence[SamplingRequest], config: SamplingConfig) -> Iterator[GenerationRecord]:
        """One record per request, in order. Raises InputError before any work for a question that has no script."""
        if unknown := [request.text for request in requests if not self._answers.get(request.text)]:
            raise InputError(f"no scripted answers for {unknown[0]!r}; add at least the greedy one")
        for request in requests:
            if request.text == self._fail_on:
                raise RuntimeError(f"scripted failure at {request.text!r}")
            self.asked[request.text] = self.asked.get(request.text, 0) + 1
            greedy, *samples = self._answers[request.text]
            yield GenerationRecord(
                question_id=request.question_id,
                model_fingerprint=self.model_fingerprint,
                seed=config.seed,
                greedy=self._answer(greedy, with_tokens=True),
                samples=tuple(self._answer(text) for text in islice(cycle(samples or [greedy]), config.k)),
            )

    def _answer(self, text: str, with_tokens: bool = False) -> Answer:
        words = tuple(text.split()) if with_tokens else ()
        return Answer(
            text=text,
            answer_class=classify(text, truncated=False),
            tokens=words,
            logprobs=(self._log_probability,) * len(words),
        )
