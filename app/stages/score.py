"""Confidence of every answered question of a project under one checkpoint, and the features that selection uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.services import generations
from app.services.projects import ProjectView
from app.services.score_files import write_features, write_scores
from app.stages.context import StageContext
from elical_core.confidence import ConfidenceModel

CHUNK = 256


def score_all(context: StageContext, project: ProjectView, folder: Path) -> None:
    """Write ``scores.parquet`` and ``features.safetensors`` into the checkpoint's folder, one row a question.

    Only questions with answers: the others can be neither drawn nor measured yet.
    """
    questions = generations.answered(context.database, context.who, project.id)
    model = ConfidenceModel.load(folder, loaded=context.models.get("training", project))
    confidence: list[float] = []
    features = []
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        texts, contexts = [q.text for q in chunk], [q.context for q in chunk]
        scored, hidden = model.score_with_features(texts, contexts)
        confidence += scored.tolist()
        features.append(hidden)
        context.report(start + len(chunk), len(questions), "scoring questions")
    ids = [question.question_id for question in questions]
    write_features(folder, ids, np.concatenate(features) if features else np.zeros((0, 0), np.float32))
    write_scores(folder, ids, confidence)
