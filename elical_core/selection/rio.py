"""RIO-mix: half of a round spread evenly, half where a label lowers the head's error most (randomised I-optimal).

The head's remaining Brier error is tr(C M): C the covariance of its weights, M = mean g^2 x x', g = p (1 - p). A label
at x has information W = m g and lowers it by D(x) = W x'CMCx / (1 + W x'Cx).

science.md section 8 picks one at a time with chance q = D^4 / sum D^4 and updates C after each. Then a question's
chance to be drawn in the round is not known, only the chance of each pick. Here the same process is followed in
expectation: C takes up the expected information of a slice of the round, q is computed again, and the chances add up.
One systematic draw with these chances follows, so that the logged probability is the true one, every question keeps at
least half of its chance under random, and the cost does not grow with the number of picks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elical_core.selection.base import Draw, Pool
from elical_core.selection.checks import check_pool
from elical_core.selection.drawing import check_groups, even_walk_by_chance, one_per_group
from elical_core.selection.instant_head import InstantHeadConfig
from elical_core.selection.logistic import safe_logit
from elical_core.selection.strata import confidence_bin, embedding_cluster

Floats = NDArray[np.float64]
STRATIFIED_FIRST = 50
SLICES = 4
SHARPNESS = 4
_ROWS = 65_536
_BLOCK = 40_000
_KEPT_TRACE = 0.999
_PRIOR_WIDTH = 0.08


def prior_covariance(rank: int, width: float = _PRIOR_WIDTH) -> Floats:
    """(rank + 2, rank + 2) covariance of the head before any label."""
    config = InstantHeadConfig()
    return np.diag(np.r_[config.slope_sd**2, config.intercept_sd**2, np.full(rank, width**2)])


@dataclass(frozen=True)
class PoolDesign:
    """``x`` (N, d) float32 rows (z0, 1, phi); ``g`` (N,) p (1 - p); ``information`` (N,) W of a label there."""

    x: NDArray[np.float32]
    g: Floats
    information: Floats

    def moment(self, weight: Floats) -> Floats:
        """(d, d) sum of weight x x', in blocks of rows."""
        total = np.zeros((self.x.shape[1], self.x.shape[1]))
        for first in range(0, len(self.x), _ROWS):
            block = self.x[first : first + _ROWS]
            scaled = block * weight[first : first + _ROWS, None].astype(np.float32)
            total += (scaled.T @ block).astype(np.float64)
        return (total + total.T) / 2

    def every(self, step: int) -> PoolDesign:
        """Each ``step``-th question, whose moments stand for the pool's."""
        return PoolDesign(self.x[::step], self.g[::step], self.information[::step])


def pool_design(pool: Pool, rows: NDArray[np.int64]) -> PoolDesign:
    p = pool.confidence[rows]
    z0 = safe_logit(p) if pool.stage1_logit is None else pool.stage1_logit[rows]
    phi = np.empty((len(rows), 0), dtype=np.float32) if pool.features is None else pool.features[rows]
    x = np.column_stack([z0, np.ones(len(rows)), phi]).astype(np.float32)
    g = p * (1 - p)
    return PoolDesign(x, g, pool.dispersion * g)


def gain(design: PoolDesign, covariance: Floats, m: Floats) -> Floats:
    """(N,) D(x): how much one label at x lowers tr(C M), in blocks of rows.

    With C = L L' and u = L'x, x'Cx = u'u and x'CMCx = u' (L'ML) u; of L'ML the directions that hold 99.9% are kept.
    """
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(covariance)))
    values, vectors = np.linalg.eigh(root.T @ m @ root)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    kept = int(np.searchsorted(np.cumsum(values), _KEPT_TRACE * values.sum())) + 1
    inner, outer = root.astype(np.float32), (vectors[:, :kept] * np.sqrt(values[:kept])).astype(np.float32)
    found = np.empty(len(design.x))
    for first in range(0, len(design.x), _ROWS):
        rows = slice(first, first + _ROWS)
        u = design.x[rows] @ inner
        spread, lowered = (np.square(part).sum(axis=1, dtype=np.float64) for part in (u, u @ outer))
        found[rows] = design.information[rows] * lowered / (1 + design.information[rows] * spread)
    return found


def remaining_gain(covariance: Floats, m: Floats) -> float:
    """G = tr(C M): the Brier error that more labels could still take away."""
    return float(np.einsum("ij,ji->", covariance, m))


def with_information(covariance: Floats, information: Floats) -> Floats:
    """Covariance after labels that add ``information`` (d, d) to the precision."""
    d = len(covariance)
    inverse = np.linalg.solve(np.eye(d) + covariance @ information, covariance)
    return (inverse + inverse.T) / 2


def capped(chance: Floats, total: float) -> Floats:
    """Chances scaled to sum to ``total`` with none above 1; what is cut off goes to the others in proportion."""
    chance = chance * (total / max(chance.sum(), 1e-300))
    for _ in range(60):
        over = chance > 1
        if not over.any():
            break
        chance[over] = 1.0
        rest = chance < 1
        room = total - (~rest).sum()
        if not rest.any():
            break
        chance[rest] *= room / max(chance[rest].sum(), 1e-300)
    return np.minimum(chance, 1.0)


def rio_chances(design: PoolDesign, covariance: Floats, n: int, focused: float) -> Floats:
    """(N,) chance of each of N questions in a round of ``n``; the expected number of focused picks is ``focused``.

    The other n - focused are spread evenly: no chance is below (n - focused) / N. The moments of a pool above 40,000
    come from every k-th question; the chances stay exact, because they are what is drawn with.
    """
    size = len(design.x)
    even = np.full(size, 1 / size)
    aimed = np.zeros(size)
    step = -(-size // _BLOCK)
    block = design.every(step)
    m = block.moment(block.g**2) / len(block.x)
    for _ in range(SLICES if focused > 0 else 0):
        d = gain(design, covariance, m)
        sharp = (d / max(d.max(), 1e-300)) ** SHARPNESS
        q = sharp / sharp.sum() if sharp.sum() > 0 else even
        q = capped(q, 1.0) if focused <= 1 else capped(q * focused, focused) / focused
        aimed += q * focused / SLICES
        taken = q * focused / SLICES + even * (n - focused) / SLICES
        covariance = with_information(covariance, block.moment(taken[::step] * block.information) * size / len(block.x))
    return capped(aimed + even * (n - focused), float(n))


@dataclass(frozen=True)
class RioMixSelector:
    """Half stratified, half randomised I-optimal, with exact chances; the first 50 labels are stratified only."""

    confidence_bins: int = 10
    clusters: int = 10
    share: float = 0.5
    name: str = "rio-mix"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        check_pool(pool, n)
        rows, member = one_per_group(pool.group, rng)
        check_groups(len(rows), n, len(pool))
        if n == 0:
            return Draw(index=np.empty(0, dtype=np.int64), probability=np.empty(0), reason=())
        design = pool_design(pool, rows)
        covariance = pool.covariance if pool.covariance is not None else prior_covariance(design.x.shape[1] - 2)
        focused = self.share * max(0, n - max(0, STRATIFIED_FIRST - pool.labelled))
        chance = rio_chances(design, covariance, n, focused)
        level = confidence_bin(pool.confidence[rows], self.confidence_bins)
        topic = embedding_cluster(pool.embedding, self.clusters)[rows]
        mixed = rng.permutation(int(topic.max(initial=0)) + 1)[topic]
        picked = even_walk_by_chance((level, mixed), chance, rng)
        typical = n / len(rows)
        reason = tuple(
            f"teaches {chance[i] / typical:.1f} times as likely as random"
            if chance[i] > 1.5 * typical
            else f"confidence bin {level[i] + 1} of {self.confidence_bins}"
            for i in picked
        )
        return Draw(index=rows[picked], probability=np.minimum(member[picked] * chance[picked], 1), reason=reason)
