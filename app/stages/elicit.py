"""Stage 1: train the confidence model to foretell the consistency of the answers. No labels."""

from __future__ import annotations

from typing import Any

from app.services import checkpoints, generations, projects
from app.stages.context import StageContext
from app.stages.score import score_all
from elical_core.confidence import elicit
from elical_core.config import ConfidenceConfig, ElicitationConfig
from elical_core.domain import Stage


def snapshot(context: StageContext, project_id: int) -> int:
    """The newest generation that this training may see, so that a restarted training sees the same ones."""
    return generations.newest_id(context.database, context.who, project_id)


def train(context: StageContext, project_id: int, newest: int, settings: dict[str, Any]) -> int:
    """Train on every pool question sampled up to ``newest`` and score the project's questions; the checkpoint's id."""
    project = projects.project_by_id(context.database, context.who, project_id)
    items = generations.elicitation_items(context.database, context.who, project_id, newest)
    folder = context.settings.checkpoints(project_id) / context.job_id
    config = ElicitationConfig.from_json({"seed": project.seed, **settings})
    manifest = elicit(
        context.models.get("training", project),
        context.prompt(project),
        items,
        shape=ConfidenceConfig(),
        config=config,
        out=folder,
        progress=context.report,
    )
    score_all(context, project, folder)
    return checkpoints.add_checkpoint(
        context.database,
        context.who,
        project_id,
        stage=Stage.ELICITATION,
        path=context.settings.relative(folder),
        settings=config.to_json(),
        seed=config.seed,
        metrics=manifest.metrics,
    ).id
