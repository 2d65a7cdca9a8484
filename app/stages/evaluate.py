"""Evaluation: measure checkpoints on the audit stream and on held-out questions, and store what was found."""

from __future__ import annotations

import logging

from app.services import checkpoints, evaluation, measurements
from app.services.checkpoints import CheckpointView
from app.services.score_files import read_scores
from app.stages.context import StageContext
from elical_core.consistency import MiniLM
from elical_core.domain import Stage

log = logging.getLogger("elical.jobs")


def evaluate(context: StageContext, project_id: int, checkpoint_id: int) -> int:
    """Measure one checkpoint, and its Stage-1 parent on the same questions; the number of measurements stored."""
    checkpoint = checkpoints.checkpoint(context.database, context.who, checkpoint_id)
    family = [checkpoint]
    if checkpoint.parent_id is not None:
        family.append(checkpoints.checkpoint(context.database, context.who, checkpoint.parent_id))
    return _measure(context, project_id, family)


def evaluate_all(context: StageContext, project_id: int) -> int:
    """Measure every checkpoint of the project on today's labels."""
    return _measure(context, project_id, checkpoints.list_checkpoints(context.database, context.who, project_id))


def _measure(context: StageContext, project_id: int, family: list[CheckpointView]) -> int:
    context.report(0, len(family), "measuring checkpoints")
    samples = [
        evaluation.audit(context.database, context.who, project_id),
        evaluation.held_out(context.database, context.who, project_id, MiniLM()),
    ]
    stored = 0
    for done, checkpoint in enumerate(family, 1):
        scores = read_scores(context.settings.home / checkpoint.path)
        before = None
        if checkpoint.stage is Stage.CALIBRATION and checkpoint.parent_id is not None:
            parent = checkpoints.checkpoint(context.database, context.who, checkpoint.parent_id)
            before = read_scores(context.settings.home / parent.path)
        for judged in samples:
            found = evaluation.measure(judged, scores, before)
            measurements.replace(
                context.database, context.who, project_id, checkpoint=checkpoint, stream=judged.stream, found=found
            )
            stored += len(found)
            log.info("checkpoint %d on %s: %d questions", checkpoint.id, judged.stream, len(judged.question_ids))
        context.report(done, len(family), "measuring checkpoints")
    return stored
