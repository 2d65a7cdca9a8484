"""Sampling: every question gets a greedy answer, k sampled ones, their clusters and the Stage-1 target."""

from __future__ import annotations

import logging
from typing import Any

from app.services import generations, projects
from app.stages.context import StageContext
from elical_core.consistency import MiniLM, Sampled, cluster_many
from elical_core.models.fingerprint import model_fingerprint
from elical_core.sampling.transformers import TransformersSampler

log = logging.getLogger("elical.jobs")

CHUNK = 32
"""Questions sampled together and stored in one transaction. A killed worker starts at the last stored chunk and meets
the same batches again, so its answers are those of an undisturbed run."""


def remaining(context: StageContext, project_id: int, limit: int | None) -> dict[str, Any]:
    """{"fingerprint": of model and prompt, "total": questions to answer, at most ``limit``}. Loads the model."""
    project = projects.project_by_id(context.database, context.who, project_id)
    context.report(0, 0, "loading the model")
    loaded = context.models.get("sampling", project)
    fingerprint = model_fingerprint(loaded.weights_fingerprint, context.prompt(project))
    waiting = generations.count_unsampled(context.database, context.who, project_id, fingerprint)
    return {"fingerprint": fingerprint, "total": waiting if limit is None else min(waiting, limit)}


def sample_chunk(context: StageContext, project_id: int, fingerprint: str, *, done: int, total: int) -> int:
    """Answer the next chunk of questions and store it whole; returns how many were answered."""
    project = projects.project_by_id(context.database, context.who, project_id)
    requests = generations.unsampled(
        context.database, context.who, project_id, fingerprint, limit=min(CHUNK, total - done)
    )
    if not requests:
        return 0
    sampler = TransformersSampler(context.models.get("sampling", project), context.prompt(project))
    records = []
    for record in sampler.sample(requests, project.sampling):
        records.append(record)
        context.report(done + len(records), total, "sampling questions")
    text = {request.question_id: request.text for request in requests}
    clusterings = cluster_many(
        [Sampled(question=text[r.question_id], greedy=r.greedy, samples=r.samples) for r in records],
        embedder=MiniLM(),
    )
    generations.store(context.database, context.who, project_id, list(zip(records, clusterings, strict=True)))
    log.info("stored %d answered questions, %d of %d", len(records), done + len(records), total)
    return len(records)
