"""Simulated coverage: how often each 95% interval holds the truth, on pools whose truth is known.

A made-up model says s where the truth is p, with hidden differences between questions that no score sees; Stage 1 (the
baseline) is noisier and overconfident. Two worlds: "rare" (about one answer in seven is correct) and "even".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elical_core.errors import ConfigError
from elical_core.metrics.audit_auroc import pseudo_auroc
from elical_core.metrics.audit_report import audit_measures
from elical_core.metrics.tally import Floats
from elical_core.selection.drawing import even_walk, even_walk_by_chance
from elical_core.selection.rio import capped
from elical_core.selection.strata import confidence_bin

WORLDS = {"rare": -2.2, "even": 0.0}
SIZES = (60, 100, 250, 1000)
_TRUTH_ROWS = 400_000
_LOOKS = 10
_SAMPLES = 20


@dataclass(frozen=True, kw_only=True)
class CoverageRow:
    """How often an interval of ``metric`` held the truth in ``repeats`` simulated projects.

    ``look``: "fixed" = after ``n`` labels; "any" = at every tenth label from 60 to ``n`` at once. ``below`` and
    ``above``: share of projects in which the truth lay below the interval or above it. ``width``: mean, at ``n``.
    """

    world: str
    labels: str
    draw: str
    look: str
    n: int
    metric: str
    coverage: float
    below: float
    above: float
    width: float
    repeats: int


@dataclass(frozen=True)
class World:
    """(N,) columns: ``score`` judged, ``baseline`` Stage 1, ``truth`` chance of correct; ``known`` (N, 1) covariate."""

    score: Floats
    baseline: Floats
    truth: Floats
    known: Floats


def made_up(size: int, base: float, rng: np.random.Generator) -> World:
    z = rng.normal(0, 1.6, size)
    truth = expit(base + 0.8 * z + rng.normal(0, 0.8, size))
    score = expit(base + z + 0.5)
    baseline = expit(base + 1.3 * z + 1 + rng.normal(0, 0.3, size))
    return World(score, baseline, truth, truth[:, None] + rng.normal(0, 0.2, (size, 1)))


@lru_cache(maxsize=8)
def true_values(base: float) -> dict[str, float]:
    """What the metrics are in the population, from 400,000 questions with known chances."""
    world = made_up(_TRUTH_ROWS, base, np.random.default_rng(99))
    s, s0, p = world.score, world.baseline, world.truth
    brier = [float(np.mean(c**2 + (1 - 2 * c) * p)) for c in (s, s0)]
    area = [pseudo_auroc(c, p) for c in (s, s0)]
    rank = np.empty(len(s), dtype=np.int64)
    rank[np.argsort(s)] = np.arange(len(s))
    ece = {b: float(np.mean(np.abs(np.bincount(b * rank // len(s), s - p) * b / len(s)))) for b in (5, 10)}
    return {
        "auroc": area[0],
        "brier": brier[0],
        "signed_gap": float(np.mean(s - p)),
        "alignment": float(np.mean(np.where(s >= 0.5, p, 1 - p))),
        "ece_5": ece[5],
        "ece_10": ece[10],
        "auroc_gain": area[0] - area[1],
        "brier_gain": brier[1] - brier[0],
    }


def _verdicts(truth: Floats, labels: str, rng: np.random.Generator) -> Floats:
    if labels == "hard":
        return (rng.random(len(truth)) < truth).astype(np.float64)
    knows = rng.beta(2 * truth + 1e-6, 2 * (1 - truth) + 1e-6)
    return rng.binomial(_SAMPLES, knows) / _SAMPLES


def _draw(world: World, n: int, draw: str, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    level = confidence_bin(world.baseline, 10)
    size = len(level)
    if draw == "uniform":
        return even_walk((level,), n, rng), np.full(n, n / size)
    aimed = world.score * (1 - world.score)
    chance = capped(0.5 * aimed / aimed.sum() + 0.5 / size, float(n))
    rows = even_walk_by_chance((level,), chance, rng)
    return rows, chance[rows]


def _cell(
    world_name: str, labels: str, draw: str, look: str, n: int, *, repeats: int, pool: int, seed: int
) -> list[CoverageRow]:
    base = WORLDS[world_name]
    true = true_values(base)
    seen: dict[str, list[tuple[bool, bool, float]]] = {}
    looks = [n] if look == "fixed" else list(range(min(60, n), n + 1, _LOOKS))
    for repeat in range(repeats):
        rng = np.random.default_rng((seed, repeat, n))
        world = made_up(pool, base, rng)
        y = _verdicts(world.truth, labels, rng)
        rows, chance = _draw(world, n, draw, rng)
        missed: dict[str, tuple[bool, bool, float]] = {}
        for so_far in looks:
            found = audit_measures(
                world.score,
                rows[:so_far],
                y[rows[:so_far]],
                baseline=world.baseline,
                probability=chance[:so_far] * so_far / n,
                design_score=world.baseline,
                covariates=world.known,
                anytime=look == "any",
            )
            for m in found:
                if m.low is None or m.high is None:
                    continue
                name = m.metric if m.metric != "ece" else f"ece_{m.method.split()[0]}"
                if name not in true:
                    continue
                before = missed.get(m.metric, (False, False, 0.0))
                under, over = true[name] < m.low, true[name] > m.high
                missed[m.metric] = (before[0] or under, before[1] or over, m.high - m.low)
        for metric, outcome in missed.items():
            seen.setdefault(metric, []).append(outcome)
    drawn = []
    for metric, outcomes in seen.items():
        below, above, width = (np.array(column, dtype=float) for column in zip(*outcomes, strict=True))
        drawn.append(
            CoverageRow(
                world=world_name,
                labels=labels,
                draw=draw,
                look=look,
                n=n,
                metric=metric,
                coverage=float(1 - np.maximum(below, above).mean()),
                below=float(below.mean()),
                above=float(above.mean()),
                width=float(width.mean()),
                repeats=len(outcomes),
            )
        )
    return drawn


def coverage_table(
    *,
    sizes: Sequence[int] = SIZES,
    worlds: Sequence[str] = tuple(WORLDS),
    labels: Sequence[str] = ("hard", "soft"),
    draws: Sequence[str] = ("uniform", "active"),
    looks: Sequence[str] = ("fixed", "any"),
    repeats: int = 400,
    pool: int = 4000,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[CoverageRow]:
    """Coverage of every audit interval in every combination. With 400 repeats a coverage of .95 has an error of .011.

    "any" looks are simulated once per world, kind and draw, up to 250 labels (or the largest size if that is smaller).
    """
    if unknown := sorted(set(worlds) - set(WORLDS)):
        raise ConfigError(f"there is no world {', '.join(unknown)}; known are {', '.join(WORLDS)}")
    if max(sizes) > pool:
        raise ConfigError(f"{max(sizes)} labels cannot be drawn from a pool of {pool}; make the pool larger")
    cells = [
        (w, kind, draw, look, n)
        for w in worlds
        for kind in labels
        for draw in draws
        for look in looks
        for n in (sizes if look == "fixed" else [min(250, max(sizes))])
    ]
    rows: list[CoverageRow] = []
    for done, (w, kind, draw, look, n) in enumerate(cells):
        if progress:
            progress(done, len(cells), f"{w}, {kind} labels, {draw} draws, {look} look, n = {n}")
        rows += _cell(w, kind, draw, look, n, repeats=repeats, pool=pool, seed=seed)
    if progress:
        progress(len(cells), len(cells), "done")
    return rows


def as_markdown(rows: Sequence[CoverageRow]) -> str:
    """The table with one line per world, kind of label, draw, look and n, and one column per metric."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    lines = ["| world | labels | draws | look | n | " + " | ".join(metrics) + " |", "|---" * (5 + len(metrics)) + "|"]
    cells: dict[tuple[str, str, str, str, int], dict[str, str]] = {
        (r.world, r.labels, r.draw, r.look, r.n): {} for r in rows
    }
    for r in rows:
        cells[(r.world, r.labels, r.draw, r.look, r.n)][r.metric] = f"{100 * r.coverage:.1f}"
    for key, found in cells.items():
        lines.append("| " + " | ".join(map(str, key)) + " | " + " | ".join(found.get(m, "-") for m in metrics) + " |")
    return "\n".join(lines)
