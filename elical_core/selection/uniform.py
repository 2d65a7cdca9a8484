"""Random: every near-duplicate group has the same chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elical_core.selection.base import Draw, Pool
from elical_core.selection.checks import check_pool
from elical_core.selection.drawing import check_groups, one_per_group


@dataclass(frozen=True)
class RandomSelector:
    """Draws groups with equal chance, then one member of each. The yardstick for every other selector."""

    name: str = "random"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        check_pool(pool, n)
        rows, member = one_per_group(pool.group, rng)
        check_groups(len(rows), n, len(pool))
        picked = rng.permutation(len(rows))[:n]
        return Draw(index=rows[picked], probability=member[picked] * n / max(len(rows), 1), reason=("random",) * n)
