"""Answers questions with a model on this machine: a prompt is read once, equal beginnings of answers are said once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby

from elical_core.config import SamplingConfig
from elical_core.domain import Answer, GenerationRecord
from elical_core.errors import QuestionTooLong
from elical_core.models import Prompt, encode, model_fingerprint
from elical_core.models.load import LoadedModel
from elical_core.models.prompt import shorten
from elical_core.sampling.answers import AnswerReader, end_tokens
from elical_core.sampling.base import SamplingRequest
from elical_core.sampling.choose import Limits, choose_engines
from elical_core.sampling.decode import Decoder
from elical_core.sampling.tree import Growing

PROBES = ("a", "1", "Who", "the")  # questions that share nothing: what their prompts share is the prompt's own text


def length_class(tokens: int) -> int:
    """The bound of the class that a prompt of ``tokens`` belongs to: 32, 64, 96, 128, 192, 256, 384, 512, 768, ...

    Prompts of one class share memory of that size, so that one long prompt does not slow the short ones, and so that
    the shapes of a question's computation do not depend on the other questions.
    """
    if tokens <= 128:
        return max(1, -(-tokens // 32)) * 32
    half: int = 2 ** ((tokens - 1).bit_length() - 1)
    return half + half // 2 if tokens <= half + half // 2 else 2 * half


class TransformersSampler:
    """A Sampler over a loaded model.

    The same question, seed and settings give the same answers whatever else is in the call. Seeds are per question and
    matrix products are shaped so that a row's result does not depend on its neighbours; what is left are libraries that
    choose another kernel for another batch size (not seen on CPUs with bf16 units nor in fp32, possible on GPUs), where
    tokens of nearly equal probability may swap.
    """

    def __init__(self, loaded: LoadedModel, prompt: Prompt, *, limits: Limits | None = None) -> None:
        self.model_fingerprint = model_fingerprint(loaded.weights_fingerprint, prompt)
        self._loaded, self._prompt = loaded, prompt
        self._reader = AnswerReader(loaded.tokenizer, prompt, end_tokens(loaded.model, loaded.tokenizer, prompt))
        self._engines = choose_engines(loaded, limits)
        self.answer_tokens = 0  # of all answers so far
        self.head_rows = 0  # rows of logits computed for them: equal beginnings once
        self.body_rows = 0  # tokens that went through the layers: the same, and the prompts' own tokens

    @property
    def slow_because(self) -> str:
        """Why this model is sampled without shared branches; empty when it is not."""
        return self._engines.why_not

    def sample(self, requests: Sequence[SamplingRequest], config: SamplingConfig) -> Iterator[GenerationRecord]:
        """See Sampler. Also raises QuestionTooLong where prompt and answer exceed what the model can read."""
        if not requests:
            return
        prompts = self._encode(requests, config)
        common = self._common(prompts)
        order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), i))
        for longest, group in groupby(order, key=lambda i: length_class(len(prompts[i]) - len(common))):
            waiting = deque((i, prompts[i][len(common) :], requests[i].key) for i in group)
            engine = self._engines.for_length(len(common) + longest + config.max_new_tokens)
            decoder = Decoder(engine, self._reader, config, self._loaded.device)
            try:
                decoder.start(common, len(common) + longest)
                while waiting or decoder.busy:
                    for done in decoder.step(waiting):
                        yield self._record(requests[done.index], done, config)
            finally:
                self.head_rows += decoder.head_rows
                self.body_rows += decoder.body_rows
                engine.stop()

    def _encode(self, requests: Sequence[SamplingRequest], config: SamplingConfig) -> list[list[int]]:
        prompts = encode(
            self._loaded.tokenizer,
            self._prompt,
            [request.text for request in requests],
            [request.context for request in requests],
            config.max_prompt_tokens,
        )
        reach = getattr(self._loaded.model.config.get_text_config(), "max_position_embeddings", None)
        for request, prompt in zip(requests, prompts, strict=True):
            if reach is not None and len(prompt) + config.max_new_tokens > reach:
                raise QuestionTooLong(
                    f"the question {shorten(request.text)!r} needs {len(prompt):,} tokens with its prompt and "
                    f"{config.max_new_tokens:,} for the answer, the model reads at most {reach:,}; shorten it"
                )
        return prompts

    def _common(self, prompts: list[list[int]]) -> list[int]:
        """The tokens that all prompts begin with, found from the prompt alone where possible, so that it is the same in
        every call."""
        every = prompts + encode(self._loaded.tokenizer, self._prompt, PROBES, None, 1_000_000)
        lowest, highest = min(every), max(every)
        length = next((i for i, (a, b) in enumerate(zip(lowest, highest, strict=False)) if a != b), len(lowest))
        return lowest[: min(length, min(map(len, every)) - 1)]

    def _record(self, request: SamplingRequest, done: Growing, config: SamplingConfig) -> GenerationRecord:
        self.answer_tokens += sum(map(len, done.tokens))
        known: dict[tuple[tuple[int, ...], bool], Answer] = {}
        samples = []
        for tokens, ended in zip(done.tokens[1:], done.ended[1:], strict=True):
            said = (tuple(tokens), ended)
            if said not in known:
                known[said] = self._reader.answer(tokens, ended)
            samples.append(known[said])
        return GenerationRecord(
            question_id=request.question_id,
            model_fingerprint=self.model_fingerprint,
            seed=config.seed,
            greedy=self._reader.answer(done.tokens[0], done.ended[0], done.greedy_logprobs),
            samples=tuple(samples),
        )
