"""Labels in: a file of verdicts, or of correct answers, becomes verdicts on the sampled answers.

Reading, checking and judging happen before the write transaction, which only compares with what is stored and inserts:
people go on labelling while a large file comes in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from app.services.checkpoints import refresh_staleness
from app.services.label_reading import LabelEntry, checked
from app.services.label_table import read_rows
from app.services.users import create
from db.base import utc_now
from db.engine import Database
from db.models import Question, Round, RoundItem, User, Verdict
from db.repositories.label_targets import JudgeableAnswer, LabelTarget, LabelTargetRepository, StoredVerdict
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from elical_core.domain import Relation, Role, VerdictValue
from elical_core.errors import InputError


@dataclass(frozen=True, kw_only=True)
class LabelProblem:
    """Why a row was not taken. ``row`` counts from 1 (JSONL: line number)."""

    row: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class LabelImportReport:
    """Numbers of rows: ``read`` = ``imported`` + ``skipped`` + ``rejected``. Skipped ones are there already."""

    read: int
    imported: int
    skipped: int
    rejected: int
    problems: tuple[LabelProblem, ...]


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A row with the answers it judges."""

    row: int
    entry: LabelEntry
    target: LabelTarget
    values: Mapping[JudgeableAnswer, VerdictValue]


def import_labels(
    database: Database, who: Actor, project_id: int, file: Path, *, dry_run: bool = False
) -> LabelImportReport:
    """Imports a JSONL, CSV or Parquet file in one transaction; rows that cannot be used are reported, the others are
    stored.

    A row needs ``external_id`` and either ``answer`` with ``value`` (correct, incorrect, unsure, skipped, withdrawn),
    or ``correct_answers``: then every sampled answer that means the same as one of them is correct and all others are
    incorrect, and they are kept as reference answers. Optional: annotator (the caller when missing; an unknown name
    becomes a new annotator) and the other columns of an exported file; ``seconds`` counts once per ``client_key``. A
    row that is in the project already is skipped. Raises InputError when the file cannot be read at all.
    """
    require(who, Role.ADMIN)
    judged, problems = _judge(database, project_id, list(read_rows(file)))
    with database.write() as session:
        ProjectRepository(session).lock(project_id)
        storing = _Storing(session, project_id, who)
        imported = skipped = 0
        for item in judged:
            try:
                stored = storing.take(item)
            except InputError as error:
                problems.append(LabelProblem(row=item.row, reason=str(error)))
            else:
                imported, skipped = imported + stored, skipped + (not stored)
        storing.finish()
        refresh_staleness(session, project_id)
        if not dry_run:
            session.commit()
    return LabelImportReport(
        read=imported + skipped + len(problems),
        imported=imported,
        skipped=skipped,
        rejected=len(problems),
        problems=tuple(sorted(problems, key=lambda problem: problem.row)),
    )


def _judge(
    database: Database, project_id: int, rows: Sequence[tuple[int, Mapping[str, Any]]]
) -> tuple[list[_Judged], list[LabelProblem]]:
    """Every row with the answers that it judges, or its problem. Reads one snapshot."""
    entries, problems, judged = [], [], []
    for number, cells in rows:
        try:
            entries.append((number, checked(cells)))
        except InputError as error:
            problems.append(LabelProblem(row=number, reason=str(error)))
    wanted = {entry.external_id for _, entry in entries}
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        repository = LabelTargetRepository(session, project_id)
        known, targets = repository.questions(wanted), repository.targets(wanted)
    for number, entry in entries:
        try:
            target = _target(entry, known, targets)
            judged.append(_Judged(row=number, entry=entry, target=target, values=_values(entry, target)))
        except InputError as error:
            problems.append(LabelProblem(row=number, reason=str(error)))
    return judged, problems


def _target(entry: LabelEntry, known: set[str], targets: Mapping[str, list[LabelTarget]]) -> LabelTarget:
    """The answers of the model that the row names, else the question's newest."""
    if entry.external_id not in known:
        raise InputError(f"no question has the id {entry.external_id!r}; import the questions first")
    found = targets.get(entry.external_id)
    if not found:
        raise InputError(f"question {entry.external_id!r} has no sampled answers to attach a label to; sample it first")
    return next((target for target in found if target.fingerprint == entry.model_fingerprint), found[0])


def _values(entry: LabelEntry, target: LabelTarget) -> dict[JudgeableAnswer, VerdictValue]:
    if entry.value is None:
        from elical_core.consistency import judge

        decided = judge(target.text, [answer.representative for answer in target.answers], entry.correct_answers)
        return {
            answer: VerdictValue.CORRECT if decision.relation is Relation.SAME else VerdictValue.INCORRECT
            for answer, decision in zip(target.answers, decided, strict=True)
        }
    exact = (answer for answer in target.answers if answer.representative == entry.answer)
    member = (answer for answer in target.answers if entry.answer in answer.texts)
    if (found := next(exact, None) or next(member, None)) is None:
        raise InputError(f"{entry.answer!r} is not among the sampled answers to question {entry.external_id!r}")
    return {found: entry.value}


@dataclass
class _Storing:
    """Compares rows with what the project has and collects the new events."""

    session: Session
    project_id: int
    who: Actor
    _new: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        repository = LabelTargetRepository(self.session, self.project_id)
        self._draws = repository.draws()
        self._annotators = {name: user_id for name, user_id in self.session.execute(select(User.name, User.id))}
        self._by_key: dict[tuple[str, int], StoredVerdict] = {}
        self._newest: dict[tuple[int, int], StoredVerdict] = {}
        self._references: dict[int, tuple[tuple[str, ...], int]] = {}
        self._first_position: dict[int, int] = {}
        self._rounds: dict[tuple[str, datetime], int] = {}
        self._items: dict[int, list[dict[str, Any]]] = {}
        for verdict in repository.verdicts():
            self._remember(verdict)

    def take(self, item: _Judged) -> bool:
        """Whether the row brings anything new. Raises InputError before anything of it is kept."""
        name = item.entry.annotator
        annotator_id = self._annotators.get(name, 0) if name else self.who.id
        key = item.entry.client_key or _key(item, name or self.who.name)
        fresh = {
            answer: value
            for answer, value in item.values.items()
            if not self._is_there(item, answer, value, key, annotator_id)
        }
        if item.entry.correct_answers:
            self._keep_references(item, annotator_id or self.who.id)
        if not fresh:
            return False
        if not annotator_id:
            annotator_id = self._annotators[name] = create(self.session, name, Role.ANNOTATOR).id
        draw, created_at = self._draw(item), item.entry.created_at or utc_now()
        for answer, value in fresh.items():
            newest = self._newest.get((answer.cluster_id, annotator_id))
            version = max(item.entry.version, (newest.version if newest else 0) + 1)
            self._remember(
                StoredVerdict(
                    cluster_id=answer.cluster_id,
                    annotator_id=annotator_id,
                    client_key=key,
                    version=version,
                    value=value,
                )
            )
            self._new.append(
                {
                    "cluster_id": answer.cluster_id,
                    "question_id": item.target.question_id,
                    "annotator_id": annotator_id,
                    "round_id": draw,
                    "value": value,
                    "answer_text": answer.representative,
                    "seconds_on_screen": item.entry.seconds,
                    "client_key": key,
                    "version": version,
                    "created_at": created_at,
                }
            )
        return True

    def finish(self) -> None:
        """Inserts the collected draws and events in the order of the file."""
        for question_id, (new, by) in self._references.items():
            question = self.session.get_one(Question, question_id)
            merged = list(dict.fromkeys([*question.reference_answers, *new]))
            if merged != question.reference_answers:
                question.reference_answers, question.reference_by_id = merged, by
        self.session.flush()
        for items in self._items.values():
            self.session.execute(insert(RoundItem), items)
        if self._new:
            self.session.execute(insert(Verdict), self._new)

    def _remember(self, verdict: StoredVerdict) -> None:
        self._by_key[verdict.client_key, verdict.cluster_id] = verdict
        newest = self._newest.get((verdict.cluster_id, verdict.annotator_id))
        if newest is None or newest.version < verdict.version:
            self._newest[verdict.cluster_id, verdict.annotator_id] = verdict

    def _is_there(
        self, item: _Judged, answer: JudgeableAnswer, value: VerdictValue, key: str, annotator_id: int
    ) -> bool:
        same = self._by_key.get((key, answer.cluster_id))
        if same is not None and (same.value, same.annotator_id) != (value, annotator_id):
            raise InputError(
                f"{answer.representative!r} is {same.value} under the same client_key already, but {value} here; leave "
                "client_key out to record a new verdict"
            )
        newest = self._newest.get((answer.cluster_id, annotator_id))
        repeats = not item.entry.client_key and newest is not None and newest.value == value
        return same is not None or repeats

    def _keep_references(self, item: _Judged, annotator_id: int) -> None:
        new, _ = self._references.get(item.target.question_id, ((), 0))
        self._references[item.target.question_id] = (new + item.entry.correct_answers, annotator_id)

    def _draw(self, item: _Judged) -> int | None:
        """The round of the question: its own, or one made from the row's columns; None when it was not drawn."""
        question_id, entry = item.target.question_id, item.entry
        if question_id not in self._draws and entry.probability is not None and entry.drawn_at is not None:
            drawn_by = self._round(entry.policy, entry.drawn_at)
            items = self._items.setdefault(drawn_by, [])
            items.append(
                {
                    "round_id": drawn_by,
                    "question_id": question_id,
                    "position": self._first_position[drawn_by] + len(items),
                    "stream": entry.stream,
                    "probability": entry.probability,
                    "reason": "imported",
                }
            )
            self._draws[question_id] = drawn_by
        return self._draws.get(question_id)

    def _round(self, policy: str, drawn_at: datetime) -> int:
        if (policy, drawn_at) not in self._rounds:
            same = select(Round).where(
                Round.project_id == self.project_id, Round.policy == policy, Round.created_at == drawn_at
            )
            settings = {"selection": {}, "overlap": 1, "job": "", "imported": True}
            row = self.session.scalar(same) or Round(
                project_id=self.project_id, policy=policy, seed=0, settings=settings, created_at=drawn_at
            )
            self.session.add(row)
            self.session.flush()
            self._rounds[policy, drawn_at] = row.id
            self._first_position[row.id] = RoundRepository(self.session).size(row.id)
        return self._rounds[policy, drawn_at]


def _key(item: _Judged, annotator: str) -> str:
    """The same row of a file without client keys has the same key at every import."""
    content = [item.target.question_id, annotator, sorted((a.cluster_id, v.value) for a, v in item.values.items())]
    return "import-" + hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
