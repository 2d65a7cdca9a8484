"""Scores of a loaded checkpoint: in order, alone or together, shared or owned, and equal to the job's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import elical_core
from elical_core.confidence import ConfidenceModel, TrainingItem, elicit
from elical_core.config import ConfidenceConfig, ElicitationConfig
from elical_core.errors import QuestionTooLong
from elical_core.models import LoadedModel
from tests.core.conftest import TINY_PROMPT

pytestmark = pytest.mark.usefixtures("one_thread")
Tiny = Callable[..., LoadedModel]
QUESTIONS = ["who ?", "what is the capital of the first river ?", "where did the year start " * 6, "0 1 2"] * 3


@pytest.fixture(scope="module")
def checkpoint(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scoring") / "checkpoint"
    items = [TrainingItem(key=str(i), text=f"{q} {i % 4}", target=i % 5 / 4) for i, q in enumerate(QUESTIONS * 2)]
    config = ElicitationConfig(steps=12, learning_rate=1e-2, validation_share=0)
    elicit(tiny(), TINY_PROMPT, items, shape=ConfidenceConfig(), config=config, out=out)
    return out


def test_scores_alone_and_together_agree(tiny: Tiny, checkpoint: Path) -> None:
    assert elical_core.ConfidenceModel is ConfidenceModel
    model = ConfidenceModel.load(str(checkpoint), loaded=tiny())
    together = model.score(QUESTIONS)
    assert together.shape == (12,)
    assert together.dtype == np.float64
    assert ((together > 0) & (together < 1)).all()
    assert np.ptp(together) > 0.01
    alone = np.concatenate([model.score([q]) for q in QUESTIONS])
    for other in (alone, model.score(QUESTIONS, batch_size=1), model.score(QUESTIONS, batch_size=5)):
        np.testing.assert_allclose(other, together, atol=1e-4)
    np.testing.assert_allclose(model.score(QUESTIONS[::-1])[::-1], together, atol=1e-4)


def test_owned_and_shared_models_give_the_same_bits(tiny: Tiny, checkpoint: Path) -> None:
    owned, shared = ConfidenceModel.load(checkpoint), ConfidenceModel.load(checkpoint, loaded=tiny())
    assert np.array_equal(owned.score(QUESTIONS), shared.score(QUESTIONS))
    assert np.array_equal(owned.features(QUESTIONS), shared.features(QUESTIONS))
    assert np.array_equal(shared.score(QUESTIONS), shared.score(QUESTIONS))


def test_features_are_what_the_head_reads(tiny: Tiny, checkpoint: Path) -> None:
    from safetensors.numpy import load_file

    model = ConfidenceModel.load(checkpoint, loaded=tiny())
    features = model.features(QUESTIONS)
    assert features.shape == (12, 32)
    assert features.dtype == np.float32
    head = load_file(checkpoint / "head.safetensors")
    logits = (features - head["mean"]) / head["scale"] @ head["out.weight"][0] + head["out.bias"][0]
    np.testing.assert_allclose(1 / (1 + np.exp(-logits)), model.score(QUESTIONS), atol=1e-6)
    scores, again = model.score_with_features(QUESTIONS)
    assert np.array_equal(scores, model.score(QUESTIONS))
    assert np.array_equal(again, features)


def test_no_questions_and_too_long_ones(tiny: Tiny, checkpoint: Path) -> None:
    model = ConfidenceModel.load(checkpoint, loaded=tiny())
    assert model.score([]).shape == (0,)
    assert model.score([]).dtype == np.float64
    assert model.features([]).shape == (0, 32)
    with pytest.raises(QuestionTooLong, match="never cut"):
        model.score(["who ?", "river " * 2100])
    with pytest.raises(ValueError, match="batch_size"):
        model.score(["who ?"], batch_size=0)


def test_a_model_in_another_precision_is_loaded_again(tiny: Tiny, checkpoint: Path) -> None:
    bf16 = tiny(dtype="bf16")
    model = ConfidenceModel.load(checkpoint, loaded=bf16)
    assert model.manifest.precision == "fp32"
    assert np.array_equal(model.score(QUESTIONS), ConfidenceModel.load(checkpoint, loaded=tiny()).score(QUESTIONS))
    assert not any("lora" in name for name, _ in bf16.model.named_modules())


def test_an_owned_model_that_goes_away_frees_nothing_of_others(tiny: Tiny, checkpoint: Path) -> None:
    loaded = tiny()
    for _ in range(2):
        ConfidenceModel.load(checkpoint, loaded=loaded).score(["who ?"])
        assert not any("lora" in name for name, _ in loaded.model.named_modules())


def test_peft_itself_reads_the_adapter(tiny: Tiny, checkpoint: Path) -> None:
    """The adapter folder is PEFT's own format: another program gets the same states."""
    import torch
    from peft import PeftModel

    ours = ConfidenceModel.load(checkpoint, loaded=tiny()).features(["who ?"])
    loaded = tiny()
    with pytest.warns(FutureWarning, match="is_gradient_checkpointing"):
        PeftModel.from_pretrained(loaded.model, str(checkpoint / "adapter"))
    from elical_core.models import encode

    ids = torch.tensor(encode(loaded.tokenizer, TINY_PROMPT, ["who ?"], None, 512))
    with torch.no_grad():
        theirs = loaded.model.get_decoder()(input_ids=ids)[0][0, -1].numpy()
    np.testing.assert_allclose(theirs, ours[0], atol=1e-4)
