"""From where a project stands to what its overview shows: the strip of steps and the one button."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.components.steps import StepCard, StepState
from app.components.words import count
from app.services.checkpoints import CheckpointView
from app.services.jobs import FIRST_BATCH, ROUND, JobKind, JobView
from app.services.progress import ProjectState, Step
from elical_core.domain import CheckpointState, Split, Stage

_ORDER = (Step.IMPORT, Step.SAMPLE, Step.ELICIT, Step.SELECT, Step.LABEL, Step.CALIBRATE, Step.DONE)
_RUNS = {
    JobKind.SAMPLE: "Sample",
    JobKind.ELICIT: "Elicit",
    JobKind.SELECT: "Label",
    JobKind.CALIBRATE: "Calibrate",
    JobKind.EVALUATE: "Calibrate",
}


@dataclass(frozen=True, kw_only=True)
class NextAct:
    """The overview's button: it opens ``page``, or starts ``job`` with ``options``. ``blocked`` says why it cannot."""

    label: str
    reason: str
    page: str = ""
    job: JobKind | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    blocked: str = ""


def strip(state: ProjectState, active: list[JobView]) -> list[StepCard]:
    """The five steps with their counts, in order."""
    running = {_RUNS[job.kind] for job in active if job.kind in _RUNS and job.started_at is not None}
    at = _ORDER.index(state.next_step)
    held_out = state.questions.get(Split.HELD_OUT, 0)
    stage1, stage2 = state.newest(Stage.ELICITATION), state.newest(Stage.CALIBRATION)
    elicited = "targets learned" if stage1 else "no Stage 1 yet"
    cards = [
        ("Import", f"{state.total:,}", "questions" + (f", {held_out:,} held out" if held_out else ""), 0, 0),
        ("Sample", f"{state.sampled:,}", f"of {state.total:,} answered", 1, 1),
        ("Elicit", f"{state.with_target:,}" if stage1 else "–", elicited, 2, 2),
        ("Label", f"{state.labels.labelled:,}", f"of {state.budget:,} labels", 3, 4),
        ("Calibrate", f"{stage2.n_labels:,}" if stage2 else "–", _calibrated_words(stage2), 5, 5),
    ]
    found = [
        StepCard(name=name, figure=figure, words=words, state=_state(name, first, last, at, running))
        for name, figure, words, first, last in cards
    ]
    if stage2 is not None and stage2.state is CheckpointState.FRESH and found[-1].state is StepState.LATER:
        found[-1] = replace(found[-1], state=StepState.DONE)
    return found


def _calibrated_words(stage2: CheckpointView | None) -> str:
    if stage2 is None:
        return "no Stage 2 yet"
    return "labels learned" if stage2.state is CheckpointState.FRESH else "labels learned, now stale"


def _state(name: str, first: int, last: int, at: int, running: set[str]) -> StepState:
    if name in running:
        return StepState.RUNNING
    if at > last:
        return StepState.DONE
    return StepState.NEXT if at >= first else StepState.LATER


def next_act(state: ProjectState, active: list[JobView]) -> NextAct:
    """What the one button does now."""
    draw = max(1, min(ROUND, state.budget - state.labels.labelled))
    acts = {
        Step.IMPORT: NextAct(label="Import questions", reason=state.reason, page="app_pages/import_questions.py"),
        Step.SAMPLE: NextAct(
            label="Prepare for labelling",
            reason=f"{state.reason} Sampling, Stage 1 and the first selection run one after the other.",
            job=JobKind.PREPARE,
            options={"first": FIRST_BATCH, "n": draw},
        ),
        Step.ELICIT: NextAct(label="Train Stage 1", reason=state.reason, job=JobKind.ELICIT),
        Step.SELECT: NextAct(
            label=f"Select {count(draw, 'question')}", reason=state.reason, job=JobKind.SELECT, options={"n": draw}
        ),
        Step.LABEL: NextAct(label="Label questions", reason=state.reason, page="app_pages/annotate.py"),
        Step.CALIBRATE: NextAct(label="Train Stage 2", reason=state.reason, job=JobKind.CALIBRATE),
        Step.DONE: NextAct(label="See the quality", reason=state.reason, page="app_pages/quality.py"),
    }
    act = acts[state.next_step]
    if act.job is not None and any(act.job is JobKind.PREPARE or job.kind.queue == act.job.queue for job in active):
        words = "A job of this project is running; the next step starts after it."
        return NextAct(label=act.label, reason=act.reason, job=act.job, options=act.options, blocked=words)
    return act
