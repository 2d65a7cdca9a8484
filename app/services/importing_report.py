"""What an import did, or would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from elical_core.datasets.rows import ProblemKind, RowProblem
from elical_core.domain import Split

PROBLEMS_SHOWN = 1000
REASONS_COUNTED = 200


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """``read`` = ``imported`` + ``skipped`` + ``rejected``, always; blank lines between rows count as read and skipped.

    ``imported`` = ``new`` + ``updated``. ``identical`` (part of skipped): already in the project, or earlier in the
    file. ``conflicting`` (part of rejected): the id is taken by other content. ``problems``: the first 1,000, in row
    order; ``problems_left_out`` more. ``reasons`` counts all of them, the commonest 50. ``splits`` counts the imported
    questions. ``generations``: recorded answers stored (records only). ``notes``: what else a person should know.
    """

    file: str
    dry_run: bool
    read: int
    new: int
    updated: int
    skipped: int
    rejected: int
    identical: int
    conflicting: int
    problems: tuple[RowProblem, ...]
    problems_left_out: int
    reasons: Mapping[str, int]
    splits: Mapping[Split, int]
    layout: Mapping[str, Any] = field(default_factory=dict)
    generations: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.read != self.imported + self.skipped + self.rejected:
            raise RuntimeError(
                f"the counts of {self.file} do not add up: read {self.read}, imported {self.imported}, skipped "
                f"{self.skipped}, rejected {self.rejected}"
            )

    @property
    def imported(self) -> int:
        return self.new + self.updated

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "dry_run": self.dry_run,
            "read": self.read,
            "imported": self.imported,
            "skipped": self.skipped,
            "rejected": self.rejected,
            "new": self.new,
            "updated": self.updated,
            "identical": self.identical,
            "conflicting": self.conflicting,
            "splits": {split.value: n for split, n in self.splits.items()},
            "generations": self.generations,
            "reasons": dict(self.reasons),
            "problems": [problem.to_json() for problem in self.problems],
            "problems_left_out": self.problems_left_out,
            "notes": list(self.notes),
            **self.layout,
        }


@dataclass
class Tally:
    """Counts rows as they are decided; problems beyond the first thousand are only counted."""

    read: int = 0
    new: int = 0
    updated: int = 0
    identical: int = 0
    conflicting: int = 0
    kinds: Counter[ProblemKind] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    splits: Counter[Split] = field(default_factory=Counter)
    problems: list[RowProblem] = field(default_factory=list)
    on_problem: Callable[[RowProblem], None] | None = None

    def add(self, problem: RowProblem, *, short: str = "") -> None:
        """``short``: the reason without what is particular to the row, for counting."""
        self.kinds[problem.kind] += 1
        reason = short or problem.reason
        self.reasons[reason if reason in self.reasons or len(self.reasons) < REASONS_COUNTED else "other reasons"] += 1
        if self.on_problem is not None:
            self.on_problem(problem)
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(problem)

    def report(
        self, file: str, *, dry_run: bool, layout: Mapping[str, Any], notes: tuple[str, ...], generations: int = 0
    ) -> ImportReport:
        return ImportReport(
            file=file,
            dry_run=dry_run,
            read=self.read,
            new=self.new,
            updated=self.updated,
            skipped=self.kinds[ProblemKind.SKIPPED],
            rejected=self.kinds[ProblemKind.REJECTED],
            identical=self.identical,
            conflicting=self.conflicting,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.row)),
            problems_left_out=self.kinds.total() - len(self.problems),
            reasons=dict(self.reasons.most_common(50)),
            splits={split: self.splits[split] for split in Split},
            layout=layout,
            generations=generations,
            notes=notes,
        )
