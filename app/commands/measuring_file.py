"""Measuring a project's current model on a file of questions with reference answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.commands.home_folder import Home, note
from app.services import checkpoints
from app.services.projects import ProjectView
from elical_core.confidence import ConfidenceModel
from elical_core.config import SamplingConfig
from elical_core.consistency import MiniLM, judge
from elical_core.datasets import RowProblem, read_questions
from elical_core.domain import Measured, QuestionRecord, Relation, Stage
from elical_core.errors import CheckpointError, ImportRefused
from elical_core.metrics import evaluate
from elical_core.models import Prompt, load_model, locate
from elical_core.sampling.base import SamplingRequest
from elical_core.sampling.transformers import TransformersSampler


def current_model(home: Home, project: ProjectView) -> Path:
    """The newest calibrated checkpoint of a project, or its Stage-1 model when there is none."""
    for stage in (Stage.CALIBRATION, Stage.ELICITATION):
        if found := checkpoints.newest_checkpoint(home.database, home.who, project.id, stage=stage):
            return home.settings.home / found.path
    raise CheckpointError(f"project {project.name} has no trained model yet; run `elical elicit {project.name}` first")


def measure_file(home: Home, project: ProjectView, file: Path) -> list[Measured]:
    """Every metric of the current model on the file's questions: greedy answers are made now and judged by the
    reference answers; those that the cascade cannot decide are left out and counted."""
    questions = _with_references(file)
    folder = current_model(home, project)
    loaded = load_model(locate(project.model_id, home=home.settings.home, revision=project.model_revision))
    prompt = Prompt.from_json(dict(project.prompt))
    note(f"answering {len(questions)} questions")
    requests = [
        SamplingRequest(question_id=row, key=question.external_id, text=question.text, context=question.context)
        for row, question in enumerate(questions)
    ]
    config = SamplingConfig.from_json({**project.sampling.to_json(), "k": 1})
    answers = {r.question_id: r.greedy.text for r in TransformersSampler(loaded, prompt).sample(requests, config)}
    embedder = MiniLM()
    decided = [
        judge(question.text, [answers[row]], question.reference_answers, embedder=embedder)[0].relation
        for row, question in enumerate(questions)
    ]
    model = ConfidenceModel.load(folder, loaded=loaded)
    confidence = model.score([question.text for question in questions], [question.context for question in questions])
    known = np.array([relation is not Relation.UNRESOLVED for relation in decided])
    correct = np.array([relation is Relation.SAME for relation in decided])
    group = np.array([question.group for question in questions])
    return evaluate(confidence[known], correct[known], group=group[known], left_out=int((~known).sum()))


def _with_references(file: Path) -> list[QuestionRecord]:
    found = [record for _, record in read_questions(file) if not isinstance(record, RowProblem)]
    usable = [record for record in found if record.reference_answers]
    if not usable:
        raise ImportRefused(f"{file.name} has no question with reference answers; name their column answer")
    if len(usable) < len(found):
        note(f"{len(found) - len(usable)} questions without reference answers are left out")
    return usable
