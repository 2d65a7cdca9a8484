"""Selection: draw the next questions for labelling, two streams interleaved, every probability logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.services import checkpoints, projects, rounds
from app.services.rounds import Candidate, DrawnQuestion
from app.services.score_files import read_features, read_scores
from app.stages.context import StageContext
from elical_core.config import SelectionConfig
from elical_core.domain import Split, Stage, Stream
from elical_core.errors import PoolTooSmall, TrainingError
from elical_core.selection import Pool, draw_round
from elical_core.selection.rounds import distinct


def select(context: StageContext, project_id: int, n: int, settings: Mapping[str, object]) -> int:
    """Draw ``n`` questions, or what is left of the pool, into a new round; how many were drawn.

    A restart of the same job finds the round that it has stored and draws nothing twice.
    """
    before = rounds.size_of_job(context.database, context.who, project_id, context.job_id)
    if before is not None:
        return before
    stage1 = checkpoints.newest_checkpoint(context.database, context.who, project_id, stage=Stage.ELICITATION)
    if stage1 is None:
        raise TrainingError("there is no Stage-1 model yet; run `elical elicit` before selecting questions")
    project = projects.project_by_id(context.database, context.who, project_id)
    earlier = [
        item for round_ in rounds.list_rounds(context.database, context.who, project_id) for item in round_.items
    ]
    config = SelectionConfig.from_json({"seed": project.seed + len(earlier), **settings})
    folder = context.settings.home / stage1.path
    confidence = read_scores(folder)
    ids, features = read_features(folder)
    _, whitened = read_features(folder, "whitened")
    row_of = {int(question_id): row for row, question_id in enumerate(ids)}
    found = rounds.candidates(context.database, context.who, project_id)
    usable = [c for c in found if c.question_id in confidence and c.question_id in row_of]
    if not usable:
        raise PoolTooSmall("every answered question has been drawn already; sample or import more questions")
    train, audit = ([c for c in usable if c.split is split] for split in (Split.POOL, Split.AUDIT))
    train_pool, audit_pool = (_pool(listed, confidence, row_of, features, whitened) for listed in (train, audit))
    drawn = draw_round(
        train_pool,
        audit_pool,
        min(n, distinct(train_pool) + distinct(audit_pool)),
        config=config,
        rng=np.random.default_rng(config.seed),
        drawn=len(earlier),
        audit_drawn=sum(item.stream is Stream.AUDIT for item in earlier),
    )
    listed = {Stream.TRAIN: train, Stream.AUDIT: audit}
    return rounds.add_round(
        context.database,
        context.who,
        project_id,
        [
            DrawnQuestion(
                question_id=listed[item.stream][item.index].question_id,
                stream=item.stream,
                probability=item.probability,
                reason=item.reason,
            )
            for item in drawn
        ],
        config=config,
        checkpoint_id=stage1.id,
        job_id=context.job_id,
    )


def _pool(
    listed: Sequence[Candidate],
    confidence: Mapping[int, float],
    row_of: Mapping[int, int],
    features: NDArray[np.float32],
    whitened: NDArray[np.float32],
) -> Pool:
    ids = [candidate.question_id for candidate in listed]
    rows = [row_of[i] for i in ids]
    number = {group: i for i, group in enumerate(dict.fromkeys(candidate.group for candidate in listed))}
    return Pool(
        confidence=np.array([confidence[i] for i in ids], np.float64),
        embedding=features[rows],
        features=whitened[rows],
        group=np.array([number[candidate.group] for candidate in listed], np.int64),
        consistency=np.array([np.nan if c.consistency is None else c.consistency for c in listed], np.float64),
    )
