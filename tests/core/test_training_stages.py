"""Both trainings on a tiny model: they learn, repeat bit for bit, continue, cancel, and refuse what cannot be used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elical_core.confidence import ConfidenceModel, Manifest, TrainingItem, calibrate, elicit, read_manifest
from elical_core.confidence.checkpoint import ADAPTER, FILES, HEAD, PROMPT
from elical_core.confidence.greedy import greedy_shift
from elical_core.config import CalibrationConfig, ConfidenceConfig, ElicitationConfig
from elical_core.domain import Stage
from elical_core.errors import CheckpointError, ConfigError, JobCancelled, QuestionTooLong, TrainingError
from elical_core.models import LoadedModel
from tests.core.conftest import TINY_PROMPT

pytestmark = pytest.mark.usefixtures("one_thread")
Tiny = Callable[..., LoadedModel]
KINDS = [("who wrote the name", 0.9), ("what is the capital of the river", 0.1), ("where did the year start", 0.5)]
FAST = ElicitationConfig(learning_rate=1e-2, steps=60, batch_size=8, validation_share=0.25)
STAGE2 = CalibrationConfig(learning_rate=5e-3, steps=20, batch_size=8, validation_share=0.25)
NUMBERS = ["0", "1", "2", "3"]


def items(n: int = 96, target: float | None = None) -> list[TrainingItem]:
    """Three kinds of questions with a target each, made distinct by digits."""
    made = []
    for i in range(n):
        text, value = KINDS[i % 3]
        digits = " ".join(NUMBERS[i // 4**place % 4] for place in range(3))
        made.append(TrainingItem(key=f"q{i}", text=f"{text} {digits} ?", target=value if target is None else target))
    return made


def stage1(loaded: LoadedModel, out: Path, shape: ConfidenceConfig | None = None, n: int = 96) -> Manifest:
    return elicit(loaded, TINY_PROMPT, items(n), shape=shape or ConfidenceConfig(), config=FAST, out=out)


@pytest.fixture(scope="module")
def trained(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stage1") / "checkpoint"
    stage1(tiny(), out)
    return out


SHAPES = [
    ConfidenceConfig(),
    ConfidenceConfig(head="mlp"),
    ConfidenceConfig(head="mean-pool"),
    ConfidenceConfig(lora_layers="top-half"),
    ConfidenceConfig(lora_dropout=0.1),
]


@pytest.mark.parametrize("shape", SHAPES, ids=["linear", "mlp", "mean-pool", "top-half", "dropout"])
def test_stage1_learns_and_scores_as_it_was_trained(tiny: Tiny, tmp_path: Path, shape: ConfidenceConfig) -> None:
    loaded = tiny()
    manifest = stage1(loaded, tmp_path / "c", shape)
    # predicting the mean target .5 for .9/.1/.5 costs (.16 + .16 + 0) / 3 = .107
    assert manifest.metrics["mse"] is not None
    assert manifest.metrics["mse"] < 0.02
    texts, targets = [item.text for item in items()], np.array([item.target for item in items()])
    scores = ConfidenceModel.load(tmp_path / "c", loaded=loaded).score(texts)
    assert scores.dtype == np.float64
    assert float(((scores - targets) ** 2).mean()) < 0.02
    assert read_manifest(tmp_path / "c") == manifest


def test_the_manifest_tells_the_story(trained: Path, tiny: Tiny) -> None:
    manifest, loaded = read_manifest(trained), tiny()
    assert manifest.stage is Stage.ELICITATION
    assert (manifest.n_items, manifest.n_train + manifest.n_validation) == (96, 96)
    assert manifest.n_validation == 24
    assert manifest.model["weights_fingerprint"] == loaded.weights_fingerprint
    assert manifest.token_position == "last real token by attention mask"
    assert manifest.precision == "fp32"
    assert manifest.trainable_weights > 0
    assert manifest.steps <= 60
    assert manifest.best_step in {entry["step"] for entry in manifest.curve}
    best = min(entry["validation"] or 0 for entry in manifest.curve)
    assert manifest.metrics["mse"] == pytest.approx(best, abs=1e-9)
    assert set(manifest.files) == set(FILES)
    assert ElicitationConfig.from_json(dict(manifest.settings)) == FAST
    assert {path.name for path in trained.iterdir()} == {"adapter", HEAD, PROMPT, "manifest.json"}
    assert str(Path.home()) not in (trained / "adapter" / "adapter_config.json").read_text()


def test_same_seed_same_bits_other_seed_other_bits(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    stage1(tiny(), tmp_path / "again")
    for name in (ADAPTER, HEAD):
        assert (tmp_path / "again" / name).read_bytes() == (trained / name).read_bytes()
    elicit(tiny(), TINY_PROMPT, items(), shape=ConfidenceConfig(), config=replace(FAST, seed=5), out=tmp_path / "other")
    assert (tmp_path / "other" / HEAD).read_bytes() != (trained / HEAD).read_bytes()


def test_stage2_continues_stage1(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    labels = [replace(item, target=item.target * 0.5) for item in items()]
    out = tmp_path / "stage2"
    manifest = calibrate(trained, labels, config=STAGE2, out=out, label_set_hash="abc", loaded=tiny())
    assert manifest.stage is Stage.CALIBRATION
    assert manifest.label_set_hash == "abc"
    assert manifest.parent is not None
    assert manifest.parent["name"] == trained.name
    assert manifest.shape == read_manifest(trained).shape
    texts = [item.text for item in labels]
    wanted = np.array([item.target for item in labels])
    model = ConfidenceModel.load(out)  # finds the language model by itself
    before, after = (m.score(texts) for m in (ConfidenceModel.load(trained, loaded=tiny()), model))
    assert float(((after - wanted) ** 2).mean()) < 0.5 * float(((before - wanted) ** 2).mean())


def test_stage2_fits_its_level_to_greedy_verdicts(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    """Sampled answers are right in .3 of the cases, the greedy one in 3 of 4: scores average .75, order unchanged."""
    labels = [replace(item, target=0.6 * item.target) for item in items()]
    judged = [replace(item, greedy=bool(i % 4)) for i, item in enumerate(labels)]
    texts = [item.text for item in labels]
    scores = []
    for name, given in (("soft", labels), ("few", [*judged[:29], *labels[29:]]), ("both", judged)):
        config = replace(STAGE2, validation_share=0)
        manifest = calibrate(trained, given, config=config, out=tmp_path / name, label_set_hash="", loaded=tiny())
        scores.append(ConfidenceModel.load(tmp_path / name, loaded=tiny()).score(texts))
        assert manifest.metrics["greedy_verdicts"] == sum(item.greedy is not None for item in given)
    soft, few, both = scores
    assert np.array_equal(few, soft)  # 29 verdicts are too few
    assert float(both.mean()) == pytest.approx(0.75, abs=0.02)
    assert np.array_equal(np.argsort(both, kind="stable"), np.argsort(soft, kind="stable"))


def test_greedy_shift_by_hand() -> None:
    """Logit 0 for 40 questions, 30 correct: without the prior b = log 3 = 1.0986, with it 40 (.75 - p) = b / 6.25."""
    shift = greedy_shift(np.zeros(40), np.array([1.0] * 30 + [0.0] * 10))
    assert 40 * (0.75 - 1 / (1 + np.exp(-shift))) == pytest.approx(shift / 6.25, abs=1e-9)
    assert shift == pytest.approx(1.08, abs=0.01)
    assert greedy_shift(np.zeros(29), np.ones(29)) == 0.0
    assert 2 < greedy_shift(np.zeros(40), np.ones(40)) < 8  # one class stays finite


def test_l2_to_start_holds_stage2_near_stage1(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    labels = [replace(item, target=1 - item.target) for item in items()]
    texts = [item.text for item in labels]
    start = ConfidenceModel.load(trained, loaded=tiny()).score(texts)
    moved = {}
    for strength in (0.0, 1.0):
        config = replace(STAGE2, l2_to_start=strength, validation_share=0)
        out = tmp_path / str(strength)
        calibrate(trained, labels, config=config, out=out, label_set_hash="", loaded=tiny())
        moved[strength] = float(np.abs(ConfidenceModel.load(out, loaded=tiny()).score(texts) - start).mean())
    assert moved[1.0] < 0.7 * moved[0.0]


def test_weights_say_whom_to_believe(tiny: Tiny, tmp_path: Path) -> None:
    """Every question twice, with targets 1 and 0; a weight of 9 to 1 moves the mean from .5 to .9."""
    doubled = [
        replace(item, key=f"{item.key}/{target}", target=target, weight=weight)
        for item in items(24)
        for target, weight in ((1.0, 9.0), (0.0, 1.0))
    ]
    config = replace(FAST, validation_share=0)
    elicit(tiny(), TINY_PROMPT, doubled, shape=ConfidenceConfig(), config=config, out=tmp_path / "c")
    scores = ConfidenceModel.load(tmp_path / "c", loaded=tiny()).score([item.text for item in items(24)])
    assert float(scores.mean()) == pytest.approx(0.9, abs=0.05)


def test_twenty_items_train_without_validation_and_say_so(tiny: Tiny, tmp_path: Path) -> None:
    manifest = stage1(tiny(), tmp_path / "c", n=20)
    assert (manifest.n_train, manifest.n_validation, manifest.metrics) == (20, 0, {})
    assert "no early stopping" in manifest.warnings[0]
    one = elicit(
        tiny(), TINY_PROMPT, items(1), shape=ConfidenceConfig(), config=replace(FAST, steps=1), out=tmp_path / "one"
    )
    assert one.steps == 1


@pytest.mark.parametrize("target", [0.0, 0.4, 1.0])
def test_constant_targets_train_and_say_so(tiny: Tiny, tmp_path: Path, target: float) -> None:
    config = replace(FAST, steps=10)
    manifest = elicit(
        tiny(), TINY_PROMPT, items(24, target), shape=ConfidenceConfig(), config=config, out=tmp_path / "c"
    )
    assert "this constant, no ranking" in manifest.warnings[0]
    scores = ConfidenceModel.load(tmp_path / "c", loaded=tiny()).score(["who ?"])
    assert float(scores[0]) == pytest.approx(target, abs=0.05)


def test_nothing_to_learn_from(tiny: Tiny, tmp_path: Path) -> None:
    def train(rows: list[TrainingItem]) -> None:
        elicit(tiny(), TINY_PROMPT, rows, shape=ConfidenceConfig(), config=FAST, out=tmp_path / "c")

    with pytest.raises(TrainingError, match="0 questions"):
        train([])
    with pytest.raises(TrainingError, match="'q0' is given twice"):
        train([*items(3), *items(1)])
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(TrainingError, match="between 0 and 1"):
            train(items(3, bad))
    with pytest.raises(TrainingError, match="positive and finite"):
        train([replace(items(1)[0], weight=0.0)])
    with pytest.raises(QuestionTooLong, match="who who"):
        train([*items(3), TrainingItem(key="long", text="who " * 3000, target=0.5)])
    assert not list(tmp_path.iterdir())


def test_a_loss_that_explodes_is_reported(tiny: Tiny, tmp_path: Path) -> None:
    loaded = tiny(seed=3)
    loaded.model.get_decoder().norm.weight.data.fill_(float("nan"))
    with pytest.raises(TrainingError, match="lower the learning rate"):
        stage1(loaded, tmp_path / "c")
    assert not list(tmp_path.iterdir())


def test_cancel_leaves_nothing_and_frees_the_model(tiny: Tiny, tmp_path: Path) -> None:
    loaded = tiny()
    told = []

    def progress(done: int, total: int, message: str) -> None:
        told.append((done, total, message))
        if done == 3:
            raise JobCancelled("stopped")

    with pytest.raises(JobCancelled):
        elicit(
            loaded,
            TINY_PROMPT,
            items(),
            shape=ConfidenceConfig(),
            config=FAST,
            out=tmp_path / "c",
            progress=progress,
        )
    assert [entry[:2] for entry in told] == [(1, 60), (2, 60), (3, 60)]
    assert not list(tmp_path.iterdir())
    assert not any("lora" in name for name, _ in loaded.model.named_modules())


def test_a_new_training_replaces_the_old_folder(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    shutil.copytree(trained, out)
    shutil.copytree(trained, tmp_path / ".c.12345678.tmp")  # left by a killed process
    elicit(tiny(), TINY_PROMPT, items(30), shape=ConfidenceConfig(), config=replace(FAST, steps=3), out=out)
    assert read_manifest(out).n_items == 30
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        stage1(tiny(), tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").exists()


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_an_incomplete_or_changed_folder_is_refused(tiny: Tiny, trained: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "c"
    shutil.copytree(trained, out)
    data = (out / name).read_bytes()
    (out / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(CheckpointError, match="train it again"):
        ConfidenceModel.load(out, loaded=tiny())
    (out / name).unlink()
    with pytest.raises(CheckpointError, match="train"):
        ConfidenceModel.load(out, loaded=tiny())
    with pytest.raises(CheckpointError, match="no checkpoint folder"):
        ConfidenceModel.load(tmp_path / "nowhere")


def change(out: Path, **values: object) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | values))


def test_another_model_prompt_or_token_position_is_refused(tiny: Tiny, trained: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="train again on this model"):
        ConfidenceModel.load(trained, loaded=tiny(seed=9))
    with pytest.raises(CheckpointError, match="train again on this model"):
        calibrate(trained, items(), config=STAGE2, out=tmp_path / "s", label_set_hash="", loaded=tiny("llama"))
    out = tmp_path / "c"
    shutil.copytree(trained, out)
    change(out, fingerprint="0" * 16)
    with pytest.raises(CheckpointError, match="prompt"):
        ConfidenceModel.load(out, loaded=tiny())
    change(out, fingerprint=read_manifest(trained).fingerprint, token_position="second to last token")
    with pytest.raises(CheckpointError, match="second to last token"):
        ConfidenceModel.load(out, loaded=tiny())
    change(out, format=99)
    with pytest.raises(CheckpointError, match="format 99"):
        ConfidenceModel.load(out, loaded=tiny())


def test_no_trainable_weight_is_an_error(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no layers called"):
        stage1(tiny(), tmp_path / "c", ConfidenceConfig(lora_targets=("nothing",)))
