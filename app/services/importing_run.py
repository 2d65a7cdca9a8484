"""One import: gather the rows, compare them with the project, store them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.services.importing_report import ImportReport, Tally
from app.services.importing_spool import Spool, SpooledRow
from db.engine import Database
from db.repositories.imports import ImportRepository, StoredQuestion
from db.repositories.projects import ProjectRepository
from elical_core.datasets.options import ReadOptions
from elical_core.datasets.rows import BLANK_LINE, ParsedRow, ProblemKind, RowProblem
from elical_core.datasets.splits import assign_split
from elical_core.domain import QuestionRecord, Split
from elical_core.errors import Conflict, InputError

Progress = Callable[[int, int, str], None]  # (done, total, message); total is 0 while it is not known
PROGRESS_EVERY = 2000
STRENGTH = (Split.POOL, Split.AUDIT, Split.HELD_OUT)  # the strictest split of a group takes all of the group


class Import:
    """Used once. Every row ends as new, updated, skipped or rejected, and the counts are checked before the commit."""

    def __init__(
        self,
        database: Database,
        project_id: int,
        options: ReadOptions,
        on_conflict: str = "reject",
        progress: Progress | None = None,
        on_problem: Callable[[RowProblem], None] | None = None,
    ) -> None:
        if on_conflict not in {"reject", "update"}:
            raise InputError(f"on_conflict is reject or update, got {on_conflict!r}")
        self._database = database
        self._project_id = project_id
        self._options = options
        self._update = on_conflict == "update"
        self._progress = progress or (lambda done, total, message: None)
        self._tally = Tally(on_problem=on_problem)
        self._group_split: dict[str, Split] = {}  # groups that are not where the seeded hash would put them

    def run(
        self,
        rows: Iterable[ParsedRow | RowProblem],
        *,
        file: str,
        dry_run: bool,
        layout: dict[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> ImportReport:
        with Spool() as spool:
            self._gather(rows, spool)
            with self._database.read.begin() as session:
                known_state = ImportRepository(session).state(self._project_id)
                self._learn_groups(session)
                self._compare(session, spool)
            if dry_run:
                self._count(spool)
                return self._report(file, True, layout, notes)
            try:
                with self._database.write.begin() as session:
                    ProjectRepository(session).lock(self._project_id)
                    if ImportRepository(session).state(self._project_id) != known_state:
                        self._learn_groups(session)
                        self._compare(session, spool)
                    self._apply_updates(session, spool)
                    self._insert(session, spool)
                    return self._report(file, False, layout, notes)
            except IntegrityError as error:
                raise Conflict(
                    f"somebody else imported into this project; nothing of {file} was stored, try again"
                ) from error

    def _gather(self, rows: Iterable[ParsedRow | RowProblem], spool: Spool) -> None:
        for parsed in rows:
            self._tally.read += 1
            if self._tally.read % PROGRESS_EVERY == 0:
                self._progress(self._tally.read, 0, "reading rows")
            if isinstance(parsed, RowProblem):
                self._tally.add(parsed)
            elif (earlier := spool.add(parsed)) is not None:
                self._tally_twice(parsed, earlier)
            elif parsed.split_given:
                self._note_split(parsed.record.group, parsed.record.split)

    def _tally_twice(self, parsed: ParsedRow, earlier: SpooledRow) -> None:
        differing = differences(parsed.record, earlier.record, split=parsed.split_given or earlier.split_given)
        if not differing or not parsed.id_given:
            self._tally.identical += 1
            reason = f"the same question and answers as row {earlier.row}"
            self._leave_out(parsed, ProblemKind.SKIPPED, reason, "the same as an earlier row")
        else:
            self._tally.conflicting += 1
            reason = f"row {earlier.row} has the same id but another {' and '.join(differing)}"
            self._leave_out(parsed, ProblemKind.REJECTED, reason, "an earlier row has the same id but other content")

    def _leave_out(self, row: ParsedRow | SpooledRow, kind: ProblemKind, reason: str, short: str) -> None:
        identity = row.record.external_id if row.id_given else ""
        self._tally.add(
            RowProblem(row=row.row, line=row.line, kind=kind, reason=reason, external_id=identity), short=short
        )

    def _note_split(self, group: str, split: Split) -> None:
        usual = assign_split(group, self._options.seed, self._options.audit_share)
        before = self._group_split.get(group)
        if before is None and split is usual:
            return
        self._group_split[group] = max(split, before or split, key=STRENGTH.index)

    def _learn_groups(self, session: Session) -> None:
        for group, split in ImportRepository(session).group_splits(self._project_id):
            self._note_split(group, split)

    def _compare(self, session: Session, spool: Spool) -> None:
        """Takes the rows that the project already has out of the new ones."""
        repository = ImportRepository(session)
        if repository.state(self._project_id)[0] == 0:
            return
        for external_ids in spool.ids("new"):
            if known := repository.known(self._project_id, external_ids):
                for row in spool.get(known):
                    self._compare_one(row, known[row.record.external_id], spool)

    def _compare_one(self, row: SpooledRow, question: StoredQuestion, spool: Spool) -> None:
        differing = differences(row.record, question, split=row.split_given)
        if not differing or not row.id_given:
            self._tally.identical += 1
            spool.mark(row, "skipped")
            reason = "already in the project"
            self._leave_out(row, ProblemKind.SKIPPED, reason, reason)
        elif self._update:
            spool.mark(row, "update")
        else:
            self._reject_conflict(row, differing, spool, "")

    def _reject_conflict(self, row: SpooledRow, differing: Sequence[str], spool: Spool, why: str) -> None:
        self._tally.conflicting += 1
        spool.mark(row, "rejected")
        reason = f"the id is in the project with another {' and '.join(differing)}{why}"
        self._leave_out(row, ProblemKind.REJECTED, reason, f"the id is in the project with other content{why}")

    def _apply_updates(self, session: Session, spool: Spool) -> None:
        repository = ImportRepository(session)
        for chunk in spool.chunks("update"):
            known = repository.known(self._project_id, [row.record.external_id for row in chunk])
            busy = repository.labelled_or_drawn([question.id for question in known.values()])
            for row in chunk:
                question = known.get(row.record.external_id)
                if question is None:  # deleted since the comparison
                    spool.mark(row, "new")
                elif question.id in busy:
                    differing = differences(row.record, question, split=row.split_given)
                    self._reject_conflict(row, differing, spool, "; it is labelled or drawn for labelling, so it stays")
                else:
                    split = _overwrite(repository, question, row)
                    self._tally.updated += 1
                    self._tally.splits[split] += 1

    def _insert(self, session: Session, spool: Spool) -> None:
        repository = ImportRepository(session)
        total = spool.count("new")
        for chunk in spool.chunks("new"):
            repository.insert([self._columns(row) for row in chunk])
            self._tally.new += len(chunk)
            self._progress(self._tally.new, total, "storing questions")

    def _columns(self, row: SpooledRow) -> dict[str, Any]:
        record = row.record
        split = record.split if row.split_given else self._group_split.get(record.group, record.split)
        self._tally.splits[split] += 1
        return {
            "project_id": self._project_id,
            "external_id": record.external_id,
            "text": record.text,
            "context": record.context,
            "reference_answers": list(record.reference_answers),
            "domain": record.domain,
            "details": dict(record.metadata),
            "split": split,
            "group": record.group or record.external_id,
        }

    def _count(self, spool: Spool) -> None:
        for chunk in spool.chunks("new"):
            for row in chunk:
                self._columns(row)
            self._tally.new += len(chunk)
        self._tally.updated = spool.count("update")

    def _report(self, file: str, dry_run: bool, layout: dict[str, Any] | None, notes: Sequence[str]) -> ImportReport:
        tally = self._tally
        found = list(notes)
        if tally.new and not tally.splits[Split.AUDIT] and tally.splits[Split.POOL] >= 20:
            found.append("no question went to the audit part; without audit questions no curve can be measured")
        if blanks := tally.reasons[BLANK_LINE]:
            found.append(f"{blanks} blank lines between rows were skipped")
        return tally.report(file, dry_run=dry_run, layout=layout or {}, notes=tuple(found))


def differences(record: QuestionRecord, other: QuestionRecord | StoredQuestion, *, split: bool) -> list[str]:
    """What differs, in words of the screen; nothing when the row is already stored. References that a person typed in
    are theirs and never count; a split counts only when the file names it, a group only when nothing else differs."""
    if isinstance(other, StoredQuestion):
        typed, metadata = other.reference_by_id is not None, other.details
    else:
        typed, metadata = False, dict(other.metadata)
    pairs: dict[str, bool] = {
        "text": record.text != other.text,
        "context": record.context != other.context,
        "reference answers": not typed and list(record.reference_answers) != list(other.reference_answers),
        "domain": record.domain != other.domain,
        "group": (record.group or record.external_id) != (other.group or other.external_id),
        "split": split and record.split is not other.split,
        "metadata": dict(record.metadata) != metadata,
    }
    changed = [name for name, differs in pairs.items() if differs]
    return [name for name in changed if name != "group"] or changed


def _overwrite(repository: ImportRepository, question: StoredQuestion, row: SpooledRow) -> Split:
    """Gives the question's split, which stays unless the file names another."""
    record = row.record
    if (question.text, question.context) != (record.text, record.context):
        repository.forget_answers(question.id)
    typed = question.reference_by_id is not None
    split = record.split if row.split_given else question.split
    repository.change(
        question.id,
        text=record.text,
        context=record.context,
        reference_answers=question.reference_answers if typed else list(record.reference_answers),
        domain=record.domain,
        details=dict(record.metadata),
        group=record.group or record.external_id,
        split=split,
    )
    return split
