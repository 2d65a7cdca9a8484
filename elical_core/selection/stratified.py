"""Stratified random: spread evenly over confidence and topics, every group with the same chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elical_core.selection.base import Draw, Pool
from elical_core.selection.checks import check_pool
from elical_core.selection.drawing import check_groups, even_walk, one_per_group
from elical_core.selection.strata import confidence_bin, embedding_cluster


@dataclass(frozen=True)
class StratifiedSelector:
    """Proportional allocation over confidence bin x embedding cluster; ``clusters=1`` spreads over confidence alone.

    The chance of each question is exact: n / groups, shared equally inside a near-duplicate group. A pool without
    embeddings (d = 0) is spread over confidence alone.
    """

    confidence_bins: int = 10
    clusters: int = 10
    name: str = "stratified"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        check_pool(pool, n)
        rows, member = one_per_group(pool.group, rng)
        check_groups(len(rows), n, len(pool))
        level = confidence_bin(pool.confidence[rows], self.confidence_bins)
        topic = embedding_cluster(pool.embedding, self.clusters)[rows]
        mixed = rng.permutation(int(topic.max(initial=0)) + 1)[topic]
        picked = even_walk((level, mixed), n, rng)
        with_topic = bool(topic.any())
        reason = tuple(
            f"confidence bin {level[i] + 1} of {self.confidence_bins}"
            + (f", topic {topic[i] + 1}" if with_topic else "")
            for i in picked
        )
        return Draw(index=rows[picked], probability=member[picked] * n / max(len(rows), 1), reason=reason)
