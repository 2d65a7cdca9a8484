"""The two trainings: elicitation (Stage 1, no labels) and calibration (Stage 2, labels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from elical_core.confidence.checkpoint import Checkpoint, read_checkpoint
from elical_core.confidence.items import Progress, TrainingItem, check_items, split_validation
from elical_core.confidence.job import TrainingJob, mean_target
from elical_core.confidence.manifest import MANIFEST, Manifest
from elical_core.confidence.precision import at_precision, resolve_precision
from elical_core.confidence.session import fresh, opened, require_same_model
from elical_core.confidence.training import SCORE_ROWS
from elical_core.config import CalibrationConfig, ConfidenceConfig, ElicitationConfig
from elical_core.domain import Stage
from elical_core.models import LoadedModel, Prompt, default_home, load_model, locate

SCALE_ROWS = 512  # questions from which the states' mean and scale are taken


def elicit(
    loaded: LoadedModel,
    prompt: Prompt,
    items: Sequence[TrainingItem],
    *,
    shape: ConfidenceConfig,
    config: ElicitationConfig,
    out: Path,
    progress: Progress | None = None,
) -> Manifest:
    """Stage 1: teaches a fresh adapter and head the share of sampled answers that agree with the greedy one.

    ``loaded`` is left as it was found. ``out`` appears whole, with its manifest, or not at all. Raises TrainingError
    for no items or targets outside [0, 1], QuestionTooLong before any work, ConfigError; what ``progress`` raises
    passes through.
    """
    check_items(items)
    precision = resolve_precision(config.precision, loaded)
    job = TrainingJob(
        loaded=at_precision(loaded, precision),
        prompt=prompt,
        shape=shape,
        config=config,
        precision=precision,
        items=items,
    )
    rows = job.rows()
    training, _ = split_validation(items, config.validation_share, config.seed)
    with fresh(job.loaded, prompt, shape, bf16=precision == "bf16", seed=config.seed, keep_lower=True) as session:
        session.head.standardise(session.reader.read_all([rows[n] for n in training[:SCALE_ROWS]], SCORE_ROWS))
        session.head.start_at(mean_target(items))
        return job.run(session, rows, Stage.ELICITATION, out, progress)


def calibrate(
    stage1: Path,
    items: Sequence[TrainingItem],
    *,
    config: CalibrationConfig,
    out: Path,
    label_set_hash: str,
    loaded: LoadedModel | None = None,
    home: Path | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Manifest:
    """Stage 2: continues Stage 1's adapter and head on human labels.

    The model's shape, prompt and precision are Stage 1's. ``loaded`` must be the model of ``stage1`` and is left as it
    was found; without it the model is loaded (``home``, ``device``). Raises as ``elicit`` does, and CheckpointError for
    an unusable ``stage1``.
    """
    check_items(items)
    parent = read_checkpoint(stage1)
    if loaded is None:
        loaded = load_for(parent, home, device)
    require_same_model(parent, loaded)
    job = TrainingJob(
        loaded=at_precision(loaded, parent.precision),
        prompt=parent.prompt,
        shape=parent.shape,
        config=config,
        precision=parent.precision,
        items=items,
    )
    rows = job.rows()
    origin: Mapping[str, Any] = {
        "label_set_hash": label_set_hash,
        "parent": {
            "name": stage1.name,
            "manifest_sha256": sha256((stage1 / MANIFEST).read_bytes()).hexdigest(),
            "seed": parent.manifest.seed,
        },
    }
    with opened(parent, job.loaded, keep_lower=True) as session:
        return job.run(session, rows, Stage.CALIBRATION, out, progress, origin)


def load_for(checkpoint: Checkpoint, home: Path | None, device: str) -> LoadedModel:
    """The language model that the checkpoint names, in the precision that it was trained in."""
    model = checkpoint.manifest.model
    source = locate(str(model["spec"]), home=home or default_home(), revision=model["revision"])
    return load_model(source, device=device, dtype=checkpoint.precision)
