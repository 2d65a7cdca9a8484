"""The background jobs as durable workflows: sample, elicit, select, calibrate, evaluate, and prepare, a chain of them.

Every step that DBOS records is repeated at most once after a kill: a restarted worker goes on behind the last recorded
step. So each step either stores nothing or stores its whole result in one transaction, and a step that trains takes the
snapshot that an earlier step recorded. What the steps do stands in ``app.stages``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from dbos import DBOS

from app.services.jobs import PROGRESS, JobKind, is_cancelled, make_id
from app.stages import calibrate as calibration
from app.stages import elicit as elicitation
from app.stages import evaluate as evaluation
from app.stages import sample as sampling
from app.stages import select as selection
from app.stages.context import Reporter, StageContext
from app.worker_state import job_log, worker
from elical_core.errors import ElicalError

log = logging.getLogger("elical.jobs")
T = TypeVar("T")

PARTS = 5  # of a chain: sample, elicit, select, sample the rest, elicit on everything


def _context() -> StageContext:
    state, job_id = worker(), DBOS.workflow_id
    assert job_id is not None
    if job_id not in state.reporters:
        state.reporters[job_id] = Reporter(
            lambda event: DBOS.set_event(PROGRESS, event), lambda: is_cancelled(state.settings, job_id)
        )
    return StageContext(
        settings=state.settings,
        database=state.database,
        who=state.actor,
        models=state.models,
        report=state.reporters[job_id],
        job_id=job_id,
    )


def _step(name: str, work: Callable[[StageContext], T]) -> T:
    """Run ``work`` as one recorded step, its log lines going to the job's own file."""

    def body() -> T:
        context = _context()
        with job_log(context.settings, context.job_id):
            try:
                return work(context)
            except ElicalError as error:
                log.error("%s", error)
                raise
            except Exception as error:
                log.exception("fault while %s", name)
                words = f"{name} failed: {type(error).__name__}: {error}; the log has the details"
                raise RuntimeError(words) from error

    return DBOS.run_step({"name": name}, body)


@DBOS.workflow(name=JobKind.SAMPLE.value)
def sample(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options: limit (questions)."""
    found = _step("find questions", lambda c: sampling.remaining(c, project_id, options.get("limit")))
    fingerprint, total = found["fingerprint"], found["total"]
    done = 0
    while done < total:
        chunk = partial(sampling.sample_chunk, project_id=project_id, fingerprint=fingerprint, done=done, total=total)
        stored = _step("sample", chunk)
        if not stored:
            break
        done += stored
    return {"sampled": done}


@DBOS.workflow(name=JobKind.ELICIT.value)
def elicit(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options: settings (fields of ElicitationConfig)."""
    newest = _step("snapshot", lambda c: elicitation.snapshot(c, project_id))
    checkpoint = _step("train", lambda c: elicitation.train(c, project_id, newest, options.get("settings", {})))
    measured = _step("evaluate", lambda c: evaluation.evaluate(c, project_id, checkpoint))
    return {"checkpoint": checkpoint, "measurements": measured}


@DBOS.workflow(name=JobKind.SELECT.value)
def select(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options: n, settings (fields of SelectionConfig)."""
    settings = options.get("settings", {})
    return {"drawn": _step("select", lambda c: selection.select(c, project_id, int(options["n"]), settings))}


@DBOS.workflow(name=JobKind.CALIBRATE.value)
def calibrate(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options: settings (fields of CalibrationConfig)."""
    taken = _step("snapshot", lambda c: calibration.snapshot(c, project_id))
    checkpoint = _step("train", lambda c: calibration.train(c, project_id, taken, options.get("settings", {})))
    measured = _step("evaluate", lambda c: evaluation.evaluate(c, project_id, checkpoint))
    return {"checkpoint": checkpoint, "labels": len(taken["question_ids"]), "measurements": measured}


@DBOS.workflow(name=JobKind.EVALUATE.value)
def evaluate(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Measure every checkpoint of the project anew."""
    return {"measurements": _step("evaluate", lambda c: evaluation.evaluate_all(c, project_id))}


@DBOS.workflow(name=JobKind.PREPARE.value)
def prepare(project_id: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options: first (questions sampled before the first training), n (questions drawn), settings by stage.

    A small first batch makes the annotate page usable within minutes; the rest is sampled behind it, and then Stage 1
    is trained again on everything.
    """
    first = int(options["first"])
    parts: list[tuple[JobKind, dict[str, Any]]] = [
        (JobKind.SAMPLE, {"limit": first}),
        (JobKind.ELICIT, {"settings": options.get("elicit", {})}),
        (JobKind.SELECT, {"n": int(options["n"]), "settings": options.get("select", {})}),
        (JobKind.SAMPLE, {}),
    ]
    results = [_part(kind, project_id, number, part) for number, (kind, part) in enumerate(parts)]
    if results[-1]["sampled"]:
        _part(JobKind.ELICIT, project_id, len(parts), {"settings": options.get("elicit", {})})
    return {"sampled": results[0]["sampled"] + results[3]["sampled"], "drawn": results[2]["drawn"]}


def _part(kind: JobKind, project_id: int, number: int, options: dict[str, Any]) -> dict[str, Any]:
    """Run one part of a chain on its own queue and wait for it; or for the user's own job of that kind."""
    assert DBOS.workflow_id is not None
    DBOS.set_event(PROGRESS, {"step": f"part {number + 1}: {kind.value}", "done": number, "total": PARTS})
    suffix = f"{DBOS.workflow_id.rsplit('-', 1)[-1]}.{number}"
    handle: Any = DBOS.enqueue_workflow_with_options(
        {
            "workflow_name": kind.value,
            "workflow_id": make_id(project_id, kind, suffix),
            "queue_name": kind.queue,
            "deduplication_id": f"{kind.value}:{project_id}",
            "duplication_policy": "return-existing",
            "attributes": {"kind": kind.value, "project_id": project_id, "by": worker().actor.name},
        },
        project_id,
        options,
    )
    result: dict[str, Any] = handle.get_result()
    return result
