"""What both stages learn from, and the share of it that watches the training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from elical_core.errors import TrainingError

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``; raising JobCancelled from it stops the work and leaves nothing behind."""

MIN_VALIDATION = 20  # fewer items than this say more about chance than about the training


@dataclass(frozen=True, kw_only=True)
class TrainingItem:
    """One question with what its confidence should be.

    ``key`` is unique and stable; ``target`` is in [0, 1]; ``weight`` > 0 says how much the target is trusted relative
    to the others (a k-sample mean k, a single verdict 1); items of one ``group`` are never split between training and
    validation, an empty group is a group of its own. ``greedy`` says whether the greedy answer is correct,
    where that is known beside a ``target`` that comes from sampled answers: Stage 2 then fits the level to it.
    """

    key: str
    text: str
    context: str = ""
    target: float
    weight: float = 1.0
    group: str = ""
    greedy: bool | None = None


def check_items(items: Sequence[TrainingItem]) -> None:
    """Raises TrainingError that names the first item which cannot be learned from, or when there is none at all."""
    if not items:
        raise TrainingError(
            "there is nothing to learn from: 0 questions have a target; sample or label some questions first"
        )
    seen: set[str] = set()
    for item in items:
        if item.key in seen:
            raise TrainingError(f"the question {item.key!r} is given twice; give every question once")
        seen.add(item.key)
        if not 0 <= item.target <= 1:  # NaN fails too
            raise TrainingError(f"the target of {item.key!r} is {item.target}; targets are between 0 and 1")
        if not (item.weight > 0 and math.isfinite(item.weight)):
            raise TrainingError(f"the weight of {item.key!r} is {item.weight}; weights are positive and finite")


def split_validation(items: Sequence[TrainingItem], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Row numbers to train on and row numbers to validate on, each ascending; whole groups, the same for one seed
    whatever the order of the items.

    Groups are taken in the order of a seeded hash of their names until ``share`` of the items is reached, skipping
    groups that would take more than half of the items. No validation (everything trains) when fewer than
    ``MIN_VALIDATION`` items would be in it.
    """
    groups: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        name = f"group {item.group}" if item.group else f"key {item.key}"
        groups.setdefault(name, []).append(row)
    wanted = share * len(items)
    validation: list[int] = []
    for name in sorted(groups, key=lambda name: (sha256(f"{seed}\n{name}".encode()).digest(), name)):
        if len(validation) >= wanted:
            break
        if len(validation) + len(groups[name]) <= len(items) / 2:
            validation += groups[name]
    if len(validation) < max(MIN_VALIDATION, wanted / 2):
        return list(range(len(items))), []
    held = set(validation)
    return [row for row in range(len(items)) if row not in held], sorted(validation)
