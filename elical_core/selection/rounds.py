"""A round: questions to learn from and questions to measure with, mixed so that nobody can tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elical_core.config import SelectionConfig
from elical_core.domain import Stream
from elical_core.errors import PoolTooSmall
from elical_core.selection.base import Draw, Pool, Selector
from elical_core.selection.registry import selector as named_selector
from elical_core.selection.stratified import StratifiedSelector


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One question of a round. ``index``: row of the pool of its ``stream``; ``probability`` in (0, 1]: its chance of
    being drawn in this round; ``reason``: a few words, never shown to the annotator before the verdict."""

    stream: Stream
    index: int
    probability: float
    reason: str


def distinct(pool: Pool) -> int:
    """How many questions can be drawn when near-duplicates count once."""
    return len(np.unique(pool.group))


def audit_size(n: int, share: float, *, train: int, audit: int, drawn: int = 0, audit_drawn: int = 0) -> int:
    """How many of ``n`` go to the audit stream: the share of all ``drawn + n`` so far, within what each pool still has.

    ``train`` and ``audit``: distinct questions left in each pool. Raises PoolTooSmall when both together are short.
    """
    if n > train + audit:
        raise PoolTooSmall(
            f"asked for {n} questions but {train + audit} are unlabelled ({train} to learn from, {audit} to measure "
            "with, near-duplicates counted once); lower the number or import more"
        )
    wanted = int(np.floor(share * (drawn + n) + 0.5)) - audit_drawn
    return int(np.clip(np.clip(wanted, 0, n), n - train, audit))


def draw_round(
    train: Pool,
    audit: Pool,
    n: int,
    *,
    config: SelectionConfig,
    rng: np.random.Generator,
    selector: Selector | None = None,
    drawn: int = 0,
    audit_drawn: int = 0,
) -> list[Drawn]:
    """``n`` questions in showing order: ``config.audit_share`` of them from ``audit``, the rest from ``train``.

    The train stream is drawn by ``selector`` (None: the one that ``config`` names), the audit stream with equal
    probability within confidence bins; positions are random, the order inside each stream is kept. ``drawn`` and
    ``audit_drawn`` count what earlier rounds drew, so that small rounds reach the share too. When one pool runs out the
    other fills up. Raises PoolTooSmall when both together hold fewer than ``n`` distinct questions.
    """
    measured = audit_size(
        n, config.audit_share, train=distinct(train), audit=distinct(audit), drawn=drawn, audit_drawn=audit_drawn
    )
    learner = selector or named_selector(config)
    auditor = StratifiedSelector(config.confidence_bins, clusters=1, name="audit")
    learn = learner.draw(train, n - measured, rng)
    measure = auditor.draw(audit, measured, rng)
    is_audit = np.zeros(n, dtype=bool)
    is_audit[rng.permutation(n)[:measured]] = True
    streams = {False: iter(_listed(Stream.TRAIN, learn)), True: iter(_listed(Stream.AUDIT, measure))}
    return [next(streams[bool(here)]) for here in is_audit]


def _listed(stream: Stream, draw: Draw) -> list[Drawn]:
    rows = zip(draw.index, draw.probability, draw.reason, strict=True)
    return [Drawn(stream=stream, index=int(i), probability=float(p), reason=why) for i, p, why in rows]
