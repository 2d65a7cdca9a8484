"""Stage 2: continue from Stage 1 on what people judged."""

from __future__ import annotations

from typing import Any

from app.services import checkpoints, labels, progress, projects
from app.services.labels import LabelledQuestion
from app.stages.context import StageContext
from app.stages.score import score_all
from elical_core.confidence import TrainingItem, calibrate
from elical_core.config import CalibrationConfig
from elical_core.domain import LabelKind, Stage
from elical_core.errors import TrainingError


def snapshot(context: StageContext, project_id: int) -> dict[str, Any]:
    """The labels and the Stage-1 checkpoint that this training uses, so that a restarted one uses the same.

    Raises TrainingError in words when there is nothing to learn from.
    """
    state = progress.project_state(context.database, context.who, project_id)
    if state.calibrate_blocked:
        raise TrainingError(f"Stage 2 cannot start: {state.calibrate_blocked}")
    project = projects.project_by_id(context.database, context.who, project_id)
    parent = state.newest(Stage.ELICITATION)
    assert parent is not None, "calibrate_blocked says so"
    taken = labels.training_labels(context.database, context.who, project_id)
    targets = [(label, target_of(label, project.label_kind)) for label in taken.labels]
    return {
        "parent_id": parent.id,
        "label_set_hash": taken.label_set_hash,
        "question_ids": list(taken.question_ids),
        "items": [
            {
                "key": label.external_id,
                "text": label.text,
                "context": label.context,
                "target": target,
                "group": label.group,
                "greedy": label.greedy,
            }
            for label, target in targets
            if target is not None
        ],
    }


def target_of(label: LabelledQuestion, kind: LabelKind) -> float | None:
    """What Stage 2 learns for this question; None when the label says nothing of that kind."""
    if kind is LabelKind.SOFT:
        return label.soft
    return None if label.greedy is None else float(label.greedy)


def train(context: StageContext, project_id: int, taken: dict[str, Any], settings: dict[str, Any]) -> int:
    """Train on the snapshot, score the project's questions and return the checkpoint's id."""
    project = projects.project_by_id(context.database, context.who, project_id)
    parent = checkpoints.checkpoint(context.database, context.who, taken["parent_id"])
    config = CalibrationConfig.from_json({"seed": project.seed, **settings})
    folder = context.settings.checkpoints(project_id) / context.job_id
    manifest = calibrate(
        context.settings.home / parent.path,
        [TrainingItem(**item) for item in taken["items"]],
        config=config,
        out=folder,
        label_set_hash=taken["label_set_hash"],
        loaded=context.models.get("training", project),
        progress=context.report,
    )
    score_all(context, project, folder)
    return checkpoints.add_checkpoint(
        context.database,
        context.who,
        project_id,
        stage=Stage.CALIBRATION,
        parent_id=parent.id,
        path=context.settings.relative(folder),
        settings=config.to_json(),
        seed=config.seed,
        metrics=manifest.metrics,
        label_set_hash=taken["label_set_hash"],
        question_ids=taken["question_ids"],
    ).id
