"""The sampler on tiny random models of several families, against transformers' own generate and exact probabilities."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
import torch

from elical_core.config import SamplingConfig
from elical_core.domain import AnswerClass, GenerationRecord
from elical_core.errors import InputError, QuestionTooLong
from elical_core.models import LoadedModel, Prompt, encode
from elical_core.models.tiny import FAMILIES, tiny_model
from elical_core.sampling import SamplingRequest, TransformersSampler
from elical_core.sampling.answers import AnswerReader
from elical_core.sampling.choose import CPU, Engines, Limits
from elical_core.sampling.decode import Decoder
from elical_core.sampling.engine import Room
from elical_core.sampling.transformers import length_class

pytestmark = pytest.mark.usefixtures("one_thread")

PROMPT = Prompt(kind="few-shot", text="Q: one?\nA: two\n\nQ: {question}\nA:")
QUESTIONS = [f"question {i} {'x' * (i * 7 % 40)}?" for i in range(24)]
CONFIG = SamplingConfig(k=6, max_new_tokens=12)


def requests(questions: Sequence[str] = QUESTIONS) -> list[SamplingRequest]:
    return [SamplingRequest(question_id=i, key=text, text=text) for i, text in enumerate(questions)]


def ask(
    sampler: TransformersSampler, config: SamplingConfig, asked: Sequence[SamplingRequest] | None = None
) -> dict[int, GenerationRecord]:
    return {record.question_id: record for record in sampler.sample(requests() if asked is None else asked, config)}


def said(record: GenerationRecord) -> list[str]:
    return [record.greedy.text, *(sample.text for sample in record.samples)]


def plain_only(sampler: TransformersSampler) -> TransformersSampler:
    sampler._engines = dataclasses.replace(sampler._engines, fast=None, why_not="asked for")
    return sampler


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_branches(family: str) -> None:
    assert TransformersSampler(tiny_model(family), PROMPT).slow_because == ""


@pytest.mark.parametrize("way", ["fast", "plain"])
@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_equals_generate(family: str, way: str) -> None:
    loaded = tiny_model(family)
    sampler = TransformersSampler(loaded, PROMPT)
    records = ask(sampler if way == "fast" else plain_only(sampler), CONFIG)
    for i, row in enumerate(encode(loaded.tokenizer, PROMPT, QUESTIONS, None, 2048)):
        ids = torch.tensor([row])
        out = loaded.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=12,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
        )
        new = out.sequences[0, len(row) :].tolist()
        assert records[i].greedy.text == loaded.tokenizer.decode(new, skip_special_tokens=True).split("\n")[0].strip()
        for step, (token, logprob) in enumerate(zip(new, records[i].greedy.logprobs, strict=False)):
            assert logprob == pytest.approx(torch.log_softmax(out.scores[step][0], -1)[token].item(), abs=1e-4)


@pytest.mark.parametrize("way", ["fast", "plain"])
@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_answers_do_not_depend_on_the_batch(way: str, penalty: float) -> None:
    """fp32: alone, among 24, in another order and in small rooms. In lower precision ties may swap."""
    loaded = tiny_model("gemma3")
    config = dataclasses.replace(CONFIG, repetition_penalty=penalty)

    def sampler(most: Room = CPU.most) -> TransformersSampler:
        made = TransformersSampler(loaded, PROMPT, limits=Limits(most=most, logit_bytes=2**29, cache_bytes=2**28))
        return made if way == "fast" else plain_only(made)

    together = ask(sampler(), config)
    backwards = ask(sampler(), config, requests()[::-1])
    narrow = ask(sampler(Room(64, 2)), config)
    for request in requests():
        (alone,) = sampler().sample([request], config)
        for other in (alone, backwards[request.question_id], narrow[request.question_id]):
            assert said(other) == said(together[request.question_id])


def test_both_engines_say_the_same() -> None:
    loaded = tiny_model("llama")
    fast, plain = TransformersSampler(loaded, PROMPT), plain_only(TransformersSampler(loaded, PROMPT))
    assert {i: said(r) for i, r in ask(fast, CONFIG).items()} == {i: said(r) for i, r in ask(plain, CONFIG).items()}


def test_seed_and_key_decide() -> None:
    sampler = TransformersSampler(tiny_model(), PROMPT)
    one = ask(sampler, CONFIG)
    assert ask(sampler, CONFIG) == one
    other = ask(sampler, dataclasses.replace(CONFIG, seed=1))
    assert [said(other[i]) != said(one[i]) for i in one].count(True) > 12
    assert all(other[i].greedy.text == one[i].greedy.text for i in one)
    fewer = ask(sampler, dataclasses.replace(CONFIG, k=2))
    assert all(fewer[i].samples == one[i].samples[:2] for i in one)


@pytest.mark.parametrize("way", ["fast", "plain"])
def test_samples_follow_the_exact_probabilities(way: str) -> None:
    """2 tokens, 4,000 samples: every frequent answer within 4 standard errors of its exact probability."""
    loaded = tiny_model("llama", sharpness=3.0)
    sampler = TransformersSampler(loaded, Prompt(kind="chat", text="{question}"))
    sampler._prompt = Prompt(kind="few-shot", text="Q {question}")
    sampler._reader = AnswerReader(loaded.tokenizer, Prompt(kind="chat", text="{question}"), [2])
    if way == "plain":
        plain_only(sampler)
    config = SamplingConfig(k=200, max_new_tokens=2, temperature=0.9, top_k=8, top_p=0.9, repetition_penalty=1.2)
    asked = [SamplingRequest(question_id=i, key=str(i), text="who") for i in range(20)]
    counts = Counter(sample.text for record in sampler.sample(asked, config) for sample in record.samples)
    exact = exact_answers(loaded, [1, *loaded.tokenizer.convert_tokens_to_ids(list("Q who"))], config)
    assert sum(exact.values()) == pytest.approx(1)
    n = sum(counts.values())
    assert n == 4000
    assert set(counts) <= set(exact)
    for text, p in exact.items():
        if p * n >= 20:
            assert abs(counts[text] - n * p) <= 4 * (n * p * (1 - p)) ** 0.5, text


def exact_answers(loaded: LoadedModel, prompt: list[int], config: SamplingConfig) -> dict[str, float]:
    """Probability of every answer of at most two tokens, by transformers' own logits processors."""
    from transformers import (
        LogitsProcessorList,
        RepetitionPenaltyLogitsProcessor,
        TemperatureLogitsWarper,
        TopKLogitsWarper,
        TopPLogitsWarper,
    )

    process = LogitsProcessorList(
        [
            RepetitionPenaltyLogitsProcessor(config.repetition_penalty),
            TemperatureLogitsWarper(config.temperature),
            TopKLogitsWarper(config.top_k),
            TopPLogitsWarper(config.top_p),
        ]
    )

    def step(ids: list[int]) -> dict[int, float]:
        row = torch.tensor([ids])
        p = torch.softmax(process(row, loaded.model(row).logits[:, -1]).double(), -1)[0]
        return {i: float(x) for i, x in enumerate(p) if x > 0}

    exact: dict[str, float] = {}
    for a, p in step(prompt).items():
        after = {2: 1.0} if a == 2 else step([*prompt, a])
        for b, q in after.items():
            text = loaded.tokenizer.decode([a, b], skip_special_tokens=True).strip()
            exact[text] = exact.get(text, 0) + p * q
    return exact


def test_long_and_short_prompts_mix() -> None:
    loaded = tiny_model("llama")
    sampler = TransformersSampler(loaded, PROMPT)
    asked = requests(["short?", "y" * 100, "z" * 300, "w" * 700, "middle " * 9])
    together = ask(sampler, CONFIG, asked)
    for request in asked:
        (alone,) = sampler.sample([request], CONFIG)
        assert said(alone) == said(together[request.question_id])


@pytest.mark.parametrize("family", ["gemma3", "gemma2"])
def test_beyond_the_sliding_window_the_plain_engine_reads(family: str) -> None:
    loaded = tiny_model(family, sliding_window=48)
    sampler = TransformersSampler(loaded, PROMPT)
    assert sampler.slow_because == ""
    question = "z" * 120
    (record,) = sampler.sample(requests([question]), CONFIG)
    ids = torch.tensor(encode(loaded.tokenizer, PROMPT, [question], None, 2048))
    out = loaded.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)
    text = loaded.tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
    assert record.greedy.text == text.split("\n")[0].strip()


def test_answers_stop_at_the_line_end_and_a_cut_answer_is_truncated() -> None:
    loaded = tiny_model("llama", sharpness=0.01)  # nearly uniform: newline 1 in 100 tokens
    records = ask(TransformersSampler(loaded, PROMPT), SamplingConfig(k=40, max_new_tokens=60, top_p=1, top_k=100))
    answers = list(itertools.chain.from_iterable(record.samples for record in records.values()))
    assert all("\n" not in answer.text for answer in answers)
    cut = [answer for answer in answers if answer.answer_class is AnswerClass.TRUNCATED]
    assert 0 < len(cut) < len(answers)
    # each token ends the answer with probability of about 2 in 99 (newline, <eos>): .98^60 = .30 are cut
    assert len(cut) / len(answers) == pytest.approx((1 - 2 / 99) ** 60, abs=0.08)


def test_all_samples_empty() -> None:
    sampler = TransformersSampler(tiny_model(), PROMPT)
    sampler._reader.end_ids = frozenset(range(200))  # whatever is said first ends the answer
    records = ask(sampler, CONFIG)
    assert {text for record in records.values() for text in said(record)} == {""}
    assert {sample.answer_class for record in records.values() for sample in record.samples} == {AnswerClass.EMPTY}
    assert all(record.greedy.tokens == record.greedy.logprobs == () for record in records.values())


def test_all_samples_identical() -> None:
    sampler = TransformersSampler(tiny_model("llama"), PROMPT)
    records = ask(sampler, dataclasses.replace(CONFIG, top_p=0.01, repetition_penalty=1))
    assert all(set(said(record)) == {record.greedy.text} for record in records.values())
    assert sampler.head_rows <= len(QUESTIONS) * CONFIG.max_new_tokens


def test_equal_beginnings_are_computed_once() -> None:
    loaded = tiny_model("llama", sharpness=60.0)  # one token takes nearly all probability
    sampler = TransformersSampler(loaded, PROMPT)
    records = ask(sampler, SamplingConfig(k=20, max_new_tokens=12))
    answers = sum(len(record.samples) + 1 for record in records.values())
    assert sampler.head_rows < answers * 12 / 5
    assert len(records) == len(QUESTIONS)


def test_impossible_logits_give_missing_log_probabilities() -> None:
    reader = AnswerReader(tiny_model().tokenizer, PROMPT, [2])
    answer = reader.answer([30, 31], True, [float("-inf"), float("nan")])
    assert answer.logprobs == (None, None)
    assert len(answer.tokens) == 2


def test_tokens_behind_the_line_end_are_left_out() -> None:
    tokenizer = tiny_model().tokenizer
    reader = AnswerReader(tokenizer, PROMPT, [2])
    ids = tokenizer.convert_tokens_to_ids(list(" ab\n"))
    assert reader.ends(ids)
    answer = reader.answer(ids, True, [-0.1, -0.2, -0.3, -0.4])
    assert (answer.text, answer.tokens, answer.logprobs) == ("ab", (" ", "a", "b"), (-0.1, -0.2, -0.3))


def test_records_come_as_they_finish_and_settings_stay() -> None:
    loaded = tiny_model("gemma3")
    before = loaded.model.config.to_dict(), loaded.model.config._attn_implementation, loaded.model.training
    sampler = TransformersSampler(loaded, PROMPT, limits=Limits(most=Room(64, 4), logit_bytes=0, cache_bytes=2**28))
    stream = sampler.sample(requests(), CONFIG)
    assert next(stream).greedy is not None
    assert sampler.answer_tokens < 24 * 7 * 12 / 2  # the rest has not been asked yet
    assert not torch.is_inference_mode_enabled()
    assert loaded.model.config._attn_implementation == before[1]
    stream.close()
    assert (loaded.model.config.to_dict(), loaded.model.config._attn_implementation, loaded.model.training) == before


def test_an_error_inside_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = tiny_model("llama")
    sampler = TransformersSampler(loaded, PROMPT)
    attention = loaded.model.config._attn_implementation

    def fails(self: Decoder, *args: object) -> None:
        raise MemoryError("full")

    monkeypatch.setattr(Decoder, "_draw", fails)
    with pytest.raises(MemoryError):
        list(sampler.sample(requests(), CONFIG))
    monkeypatch.undo()
    assert loaded.model.config._attn_implementation == attention
    assert len(ask(sampler, CONFIG)) == len(QUESTIONS)


def test_refusals_before_any_work() -> None:
    sampler = TransformersSampler(tiny_model(), PROMPT)
    with pytest.raises(QuestionTooLong, match="the limit is 64"):
        next(sampler.sample(requests(["ok?", "y" * 100]), SamplingConfig(max_prompt_tokens=64)))
    with pytest.raises(QuestionTooLong, match="the model reads at most 1,024"):
        next(sampler.sample(requests(["y" * 1000]), CONFIG))
    with pytest.raises(InputError, match="a question is empty"):
        next(sampler.sample(requests([" "]), CONFIG))
    assert list(sampler.sample([], CONFIG)) == []


def test_engine_choice_reports_why() -> None:
    engines = Engines(plain=lambda: "plain", fast=lambda: "fast", why_not="", reach=100)  # type: ignore[arg-type,return-value]
    assert [engines.for_length(n) for n in (100, 101)] == ["fast", "plain"]


def test_length_classes() -> None:
    assert [length_class(n) for n in (0, 1, 32, 33, 128, 129, 192, 193, 257, 385, 513, 1025)] == [
        *(32, 32, 32, 64, 128, 192, 192, 256, 384, 512, 768, 1536)
    ]
