"""How far a project has come in the loop import, sample, elicit, select, label, calibrate, and what is next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.services.actors import Actor, require
from app.services.checkpoints import CheckpointView, view
from app.services.labels import LabelCounts, count, read_labels
from db.engine import Database
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from elical_core.domain import CheckpointState, Role, Split, Stage, Stream


class Step(StrEnum):
    """What to do next."""

    IMPORT = "import"
    SAMPLE = "sample"
    ELICIT = "elicit"
    SELECT = "select"
    LABEL = "label"
    CALIBRATE = "calibrate"
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class ProjectState:
    """All counts are questions. ``undecided`` are drawn questions nobody has labelled, skipped or been unsure of.

    ``calibrate_blocked`` says why calibration cannot start (no labels, one kind only), empty when it can.
    """

    questions: Mapping[Split, int]
    sampled: int
    with_target: int  # of the pool
    drawn: int
    undecided: int
    labels: LabelCounts
    budget: int
    checkpoints: tuple[CheckpointView, ...]
    calibrate_blocked: str
    next_step: Step
    reason: str

    @property
    def pool(self) -> int:
        return self.questions[Split.POOL]

    @property
    def audit(self) -> int:
        return self.questions[Split.AUDIT]

    @property
    def held_out(self) -> int:
        return self.questions[Split.HELD_OUT]

    @property
    def total(self) -> int:
        return sum(self.questions.values())

    @property
    def labelled_train(self) -> int:
        return self.labels.train

    @property
    def labelled_audit(self) -> int:
        return self.labels.audit

    @property
    def seconds_spent(self) -> float:
        return self.labels.seconds

    def newest(self, stage: Stage) -> CheckpointView | None:
        found = [item for item in self.checkpoints if item.stage is stage]
        return found[-1] if found else None


def project_state(database: Database, who: Actor, project_id: int) -> ProjectState:
    """Where the project stands, from one snapshot of the database."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        projects = ProjectRepository(session)
        project = projects.get(project_id)
        questions = projects.question_counts(project_id)
        sampled, with_target = projects.sampled_counts(project_id)
        drawn = {item.question_id for item, _ in RoundRepository(session).items(project_id)}
        labels = read_labels(session, project_id)
        decided = {item.question_id for item in labels if item.reason != "withdrawn"}
        checkpoints = tuple(view(row) for row in projects.checkpoints(project_id))
        counts = count(labels)
        blocked = _calibrate_blocked([item.soft for item in labels if item.stream is Stream.TRAIN], checkpoints)
        step, reason = next_step(
            total=sum(questions.values()),
            sampled=sampled,
            with_target=with_target,
            undecided=len(drawn - decided),
            counts=counts,
            budget=project.budget,
            checkpoints=checkpoints,
            calibrate_blocked=blocked,
        )
        return ProjectState(
            questions=questions,
            sampled=sampled,
            with_target=with_target,
            drawn=len(drawn),
            undecided=len(drawn - decided),
            labels=counts,
            budget=project.budget,
            checkpoints=checkpoints,
            calibrate_blocked=blocked,
            next_step=step,
            reason=reason,
        )


def next_step(
    *,
    total: int,
    sampled: int,
    with_target: int,
    undecided: int,
    counts: LabelCounts,
    budget: int,
    checkpoints: tuple[CheckpointView, ...],
    calibrate_blocked: str,
) -> tuple[Step, str]:
    """The next step and why, in a sentence. Pure: the whole order of the loop stands here."""
    stage1 = [item for item in checkpoints if item.stage is Stage.ELICITATION]
    stage2 = [item for item in checkpoints if item.stage is Stage.CALIBRATION]
    if total == 0:
        return Step.IMPORT, "There are no questions yet."
    if not stage1 and sampled < total:
        return Step.SAMPLE, f"{total - sampled:,} of {total:,} questions have no answers of the model yet."
    if not stage1 and with_target == 0:
        return Step.SAMPLE, "No sampled answer could be compared with the greedy one; sample more answers per question."
    if not stage1:
        return Step.ELICIT, f"{with_target:,} questions have a consistency target to learn from."
    if undecided:
        return (
            Step.LABEL,
            f"{undecided:,} drawn questions wait for a label; {counts.labelled:,} of {budget:,} are done.",
        )
    if not calibrate_blocked:
        if not stage2:
            return Step.CALIBRATE, f"{counts.train:,} labels are there and none has been learned from yet."
        if stage2[-1].state is CheckpointState.STALE:
            return Step.CALIBRATE, "Labels that the calibrated model learned from have changed since."
        if stage2[-1].n_labels < counts.train:
            return Step.CALIBRATE, f"{counts.train - stage2[-1].n_labels:,} labels are newer than the calibrated model."
    if counts.labelled < budget:
        return Step.SELECT, f"No drawn question is left; {budget - counts.labelled:,} labels of the budget are."
    if calibrate_blocked:
        return Step.SELECT, f"The budget is used up, but calibration cannot start: {calibrate_blocked}"
    return Step.DONE, f"All {budget:,} labels of the budget are given and learned from."


def _calibrate_blocked(soft: list[float | None], checkpoints: tuple[CheckpointView, ...]) -> str:
    known = [value for value in soft if value is not None]
    if not any(item.stage is Stage.ELICITATION for item in checkpoints):
        return "there is no Stage-1 model yet; elicit first"
    if not known:
        return "there are no training labels yet; label some questions first"
    if len(set(known)) == 1:
        return f"all {len(known)} training labels have the same value ({known[0]:.2g}); label more questions"
    return ""
