"""The packaged language model, few questions: packing is exact, training repeats bit for bit, scores are the job's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from elical_core.confidence import ConfidenceModel, TrainingItem, calibrate, elicit
from elical_core.confidence.checkpoint import ADAPTER, HEAD
from elical_core.confidence.precision import at_precision
from elical_core.confidence.session import fresh, rows_for
from elical_core.config import CalibrationConfig, ConfidenceConfig, ElicitationConfig
from elical_core.models import LoadedModel, default_prompt

PLACES = ["France", "Chad", "Peru", "Laos", "Fiji", "Oman", "Mali", "Cuba", "Iran", "Togo", "Iraq", "Niue"]
ITEMS = [
    TrainingItem(key=f"{kind}{place}", text=text.format(place), target=target)
    for kind, text, target in (
        ("capital", "What is the capital of {}?", 0.9),
        ("ant", "How many ants were counted by the customs of {} on the third day of the year 1911?", 0.1),
    )
    for place in PLACES
]
TEXTS = [item.text for item in ITEMS]
CONFIG = ElicitationConfig(steps=6, batch_size=8, learning_rate=2e-3)


def test_packed_states_are_those_of_separate_prompts(packaged: LoadedModel) -> None:
    """fp32, padded left and right and alone against packed: 1e-4 of the size of the states."""
    exact = at_precision(packaged, "fp32")
    rows = rows_for(exact.tokenizer, default_prompt("few-shot"), TEXTS[::5], None, 512)
    assert min(row.shared for row in rows) > 50
    with (
        fresh(exact, default_prompt("few-shot"), ConfidenceConfig(), bf16=False, seed=0, keep_lower=False) as session,
        torch.no_grad(),
    ):
        for name, parameter in session.peft_model.named_parameters():
            if "lora_B" in name:
                parameter.fill_(0.01)
        packed = session.reader.read(rows)
        others = [replace(session.reader, way="padded", side=side).read(rows) for side in ("left", "right")]
        others.append(session.reader.read(rows[:1]))
    for other in others:
        assert float((other - packed[: len(other)]).abs().max() / packed.abs().max()) < 1e-4


def test_stage1_and_stage2(packaged: LoadedModel, tmp_path: Path, packaged_home: Path) -> None:
    for name in ("a", "b"):
        elicit(
            packaged,
            default_prompt("few-shot"),
            ITEMS,
            shape=ConfidenceConfig(),
            config=CONFIG,
            out=tmp_path / name,
        )
    for file in (ADAPTER, HEAD):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    scores = ConfidenceModel.load(tmp_path / "a", loaded=packaged).score(TEXTS)
    assert scores[:12].mean() > scores[12:].mean() + 0.2
    served = ConfidenceModel.load(tmp_path / "a", home=packaged_home, device="cpu")
    assert np.array_equal(served.score(TEXTS), scores)
    one_by_one = np.concatenate([served.score([text]) for text in TEXTS[::4]])
    np.testing.assert_allclose(one_by_one, scores[::4], atol=0.03)  # bf16
    labels = [TrainingItem(key=item.key, text=item.text, target=0.5 * item.target) for item in ITEMS]
    stage2 = calibrate(
        tmp_path / "a",
        labels,
        config=CalibrationConfig(steps=4, learning_rate=2e-3),
        out=tmp_path / "c",
        label_set_hash="h",
        loaded=packaged,
    )
    assert stage2.steps == 4
    assert ConfidenceModel.load(tmp_path / "c", loaded=packaged).score(TEXTS).mean() < scores.mean()


@pytest.mark.slow
def test_training_is_three_times_as_fast_as_a_plain_loop(packaged: LoadedModel) -> None:
    from elical_core.confidence.bench import bench_training

    found = bench_training(packaged, default_prompt("few-shot"), ITEMS)
    assert found["ratio"] >= 3, found
