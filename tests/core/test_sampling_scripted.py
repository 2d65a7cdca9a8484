"""The public fake, and that the sampling package can be imported without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from elical_core.config import SamplingConfig
from elical_core.domain import AnswerClass
from elical_core.errors import InputError
from elical_core.sampling import Sampler, SamplingRequest, ScriptedSampler


def request(text: str, number: int = 1) -> SamplingRequest:
    return SamplingRequest(question_id=number, key=str(number), text=text)


def test_it_says_what_it_was_told_to() -> None:
    sampler: Sampler = ScriptedSampler({"capital?": ["Paris", "Paris", "Lyon", ""]}, model_fingerprint="m")
    (record,) = sampler.sample([request("capital?", 7)], SamplingConfig(k=5, seed=3))
    assert (record.question_id, record.model_fingerprint, record.seed) == (7, "m", 3)
    assert (record.greedy.text, record.greedy.tokens, record.greedy.logprobs) == ("Paris", ("Paris",), (-0.5,))
    assert [sample.text for sample in record.samples] == ["Paris", "Lyon", "", "Paris", "Lyon"]
    assert record.samples[2].answer_class is AnswerClass.EMPTY


def test_a_lone_greedy_answer_is_repeated() -> None:
    (record,) = ScriptedSampler({"q": ["a"]}).sample([request("q")], SamplingConfig(k=2))
    assert [sample.text for sample in record.samples] == ["a", "a"]


def test_unknown_questions_are_refused_before_any_work() -> None:
    sampler = ScriptedSampler({"q": ["a"]})
    with pytest.raises(InputError, match="no scripted answers for 'other'"):
        next(sampler.sample([request("q"), request("other")], SamplingConfig(k=1)))
    assert sampler.asked == {}


def test_it_can_crash_in_the_middle() -> None:
    sampler = ScriptedSampler({"q": ["a"], "r": ["b"]}, fail_on="r")
    stream = sampler.sample([request("q"), request("r")], SamplingConfig(k=1))
    assert next(stream).greedy.text == "a"
    with pytest.raises(RuntimeError, match="scripted failure"):
        next(stream)
    assert sampler.asked == {"q": 1}


def test_models_and_sampling_import_without_torch() -> None:
    code = (
        "import sys; import elical_core.models, elical_core.sampling;"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
