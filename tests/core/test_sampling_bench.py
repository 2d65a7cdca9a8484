"""The benchmark's own arithmetic, on a tiny model."""

from __future__ import annotations

import json

import pytest

from elical_core.config import SamplingConfig
from elical_core.models import Prompt
from elical_core.models.tiny import tiny_model
from elical_core.sampling.bench import bench_sampling, matmul_rate, matrix_shapes

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_matrix_is_counted_once() -> None:
    # per layer q (32, 32), k and v (32, 16), o (32, 32), gate and up (32, 48), down (48, 32); head (32, letters)
    loaded = tiny_model("llama")
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 48
    head = loaded.model.get_output_embeddings().weight.numel()
    assert sum(a * b for a, b in matrix_shapes(loaded.model)) == 3 * layer + head
    assert matmul_rate(loaded, rows=32) > 1e6


def test_bench_reports_both_arms() -> None:
    prompt = Prompt(kind="few-shot", text="Q: {question}\nA:")
    result = bench_sampling(
        tiny_model("llama"),
        prompt,
        [f"question {i}?" for i in range(6)],
        config=SamplingConfig(k=3, max_new_tokens=4),
        baseline_questions=2,
    )
    assert (result["questions"], result["baseline_questions"], result["k"]) == (6, 2, 3)
    assert result["ratio"] == result["questions_per_second"] / result["baseline_questions_per_second"] > 0
    assert 0 < result["matmul_share"] < 1
    assert result["dtype"] == "float32"
    assert json.loads(json.dumps(result)) == result
