"""The two trainings: elicitation (Stage 1, no labels) and calibration (Stage 2, labels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from elical_core.confidence.adapter import adapter_state, lora_config
from elical_core.confidence.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from elical_core.confidence.items import Progress, TrainingItem, check_items, split_validation
from elical_core.confidence.manifest import MANIFEST, Manifest, token_position
from elical_core.confidence.packing import Row
from elical_core.confidence.precision import Precision, at_precision, resolve_precision
from elical_core.confidence.session import Session, fresh, opened, require_same_model, rows_for
from elical_core.confidence.training import SCORE_ROWS, Lesson, Outcome, confidences, train
from elical_core.config import CalibrationConfig, ConfidenceConfig, ElicitationConfig, OptimisationConfig
from elical_core.domain import Stage
from elical_core.models import LoadedModel, Prompt, load_model, locate, model_fingerprint
from elical_core.models.home import default_home

SCALE_ROWS = 512  # questions from which the states' mean and scale are taken
LIBRARIES = ("torch", "transformers", "peft", "safetensors", "numpy")


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
    rows = _rows(loaded, prompt, items, shape)
    precision = resolve_precision(config.precision, loaded)
    working = at_precision(loaded, precision)
    with fresh(working, prompt, shape, bf16=precision == "bf16", seed=config.seed, keep_lower=True) as session:
        training, _ = split_validation(items, config.validation_share, config.seed)
        session.head.standardise(session.reader.read_all([rows[n] for n in training[:SCALE_ROWS]], SCORE_ROWS))
        session.head.start_at(_mean_target(items))
        outcome, facts = _learn(session, rows, items, config, progress)
        return _write(out, session, working, prompt, shape, config, precision, items, outcome, facts, Stage.ELICITATION)


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
    rows = _rows(loaded, parent.prompt, items, parent.shape)
    precision: Precision = "bf16" if parent.manifest.precision == "bf16" else "fp32"
    working = at_precision(loaded, precision)
    with opened(parent, working, keep_lower=True) as session:
        outcome, facts = _learn(session, rows, items, config, progress)
        facts |= {
            "label_set_hash": label_set_hash,
            "parent": {
                "name": stage1.name,
                "manifest_sha256": sha256((stage1 / MANIFEST).read_bytes()).hexdigest(),
                "seed": parent.manifest.seed,
            },
        }
        return _write(
            out,
            session,
            working,
            parent.prompt,
            parent.shape,
            config,
            precision,
            items,
            outcome,
            facts,
            Stage.CALIBRATION,
        )


def load_for(checkpoint: Checkpoint, home: Path | None, device: str) -> LoadedModel:
    """The language model that the checkpoint names, in the precision that it was trained in."""
    model = checkpoint.manifest.model
    source = locate(str(model["spec"]), home=home or default_home(), revision=model["revision"])
    return load_model(source, device=device, dtype="bf16" if checkpoint.manifest.precision == "bf16" else "fp32")


def _rows(loaded: LoadedModel, prompt: Prompt, items: Sequence[TrainingItem], shape: ConfidenceConfig) -> list[Row]:
    texts, contexts = [item.text for item in items], [item.context for item in items]
    return rows_for(loaded.tokenizer, prompt, texts, contexts, shape.max_tokens)


def _mean_target(items: Sequence[TrainingItem]) -> float:
    return float(np.average([item.target for item in items], weights=[item.weight for item in items]))


def _learn(
    session: Session,
    rows: Sequence[Row],
    items: Sequence[TrainingItem],
    config: OptimisationConfig,
    progress: Progress | None,
) -> tuple[Outcome, dict[str, Any]]:
    """Trains, and collects what the manifest says about the items and the validation share."""
    training, validation = split_validation(items, config.validation_share, config.seed)
    everything = Lesson(
        rows=rows,
        targets=torch.tensor([item.target for item in items], dtype=torch.float32),
        weights=torch.tensor([item.weight for item in items], dtype=torch.float32),
    )
    watched = everything.take(validation)
    outcome = train(
        session.peft_model, session.head, session.reader, everything.take(training), watched, config, progress
    )
    warnings = []
    if len({item.target for item in items}) == 1:
        warnings.append(f"all {len(items)} targets are {items[0].target:g}: the model learns this constant, no ranking")
    if config.validation_share and not validation:
        warnings.append(f"{len(items)} questions are too few for a validation share: no early stopping")
    metrics: dict[str, float | None] = {}
    if validation:
        found = confidences(session.head, session.reader, watched.rows)
        targets = watched.targets.double().numpy()
        metrics = {
            "mse": float(np.average((found - targets) ** 2, weights=watched.weights.numpy())),
            "mean_confidence": float(found.mean()),
            "mean_target": float(targets.mean()),
            "correlation": float(np.corrcoef(found, targets)[0, 1]) if found.std() and targets.std() else None,
        }
    return outcome, {
        "n_train": len(training),
        "n_validation": len(validation),
        "metrics": metrics,
        "warnings": tuple(warnings),
    }


def _write(
    out: Path,
    session: Session,
    loaded: LoadedModel,
    prompt: Prompt,
    shape: ConfidenceConfig,
    config: OptimisationConfig,
    precision: Precision,
    items: Sequence[TrainingItem],
    outcome: Outcome,
    facts: Mapping[str, Any],
    stage: Stage,
) -> Manifest:
    source = loaded.source

    def manifest(files: Mapping[str, str]) -> Manifest:
        return Manifest(
            stage=stage,
            model={
                "spec": source.spec,
                "name": source.name,
                "revision": source.revision,
                "weights_fingerprint": loaded.weights_fingerprint,
            },
            fingerprint=model_fingerprint(loaded.weights_fingerprint, prompt),
            token_position=token_position(shape.head),
            width=len(session.head.mean),
            precision=precision,
            way=session.reader.way,
            shape=shape.to_json(),
            settings=config.to_json(),
            seed=config.seed,
            n_items=len(items),
            target_mean=_mean_target(items),
            steps=outcome.steps,
            best_step=outcome.best_step,
            trainable_weights=sum(
                p.numel() for p in (*session.peft_model.parameters(), *session.head.parameters()) if p.requires_grad
            ),
            seconds=round(outcome.seconds, 3),
            questions_per_second=round(outcome.questions_per_second, 2),
            curve=tuple({"step": k.step, "loss": k.loss, "validation": k.validation} for k in outcome.looks),
            versions={name: version(name) for name in LIBRARIES},
            files=files,
            **facts,
        )

    return write_checkpoint(
        out,
        prompt=prompt,
        lora=lora_config(shape, session.reader.decoder),
        adapter=adapter_state(session.peft_model),
        head=session.head.state_dict(),
        manifest=manifest,
    )
