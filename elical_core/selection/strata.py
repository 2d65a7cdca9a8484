"""Confidence bins and embedding clusters: the strata that a round is spread over."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from elical_core.selection.checks import check_finite

_FIT_ROWS = 20_000
_PREDICT_ROWS = 50_000


def confidence_bin(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """(N,) bin numbers 0..bins-1 of nearly equal size, ascending; equal confidences share one (deciles for 10)."""
    n = len(confidence)
    if n == 0:
        return np.empty(0, dtype=np.int64)
    # bin b starts above the value of rank ceil(b n / bins): only then do so many lie strictly below
    first = -(-np.arange(1, bins) * n // bins) - 1
    edges = np.partition(confidence, np.unique(first))[first] if bins > 1 else np.empty(0)
    return np.searchsorted(edges, confidence, "left").astype(np.int64)


def embedding_cluster(embedding: NDArray[np.float32], clusters: int) -> NDArray[np.int64]:
    """(N,) cluster numbers of (N, d) rows by k-means, the same at every call; all 0 for d = 0 or one cluster.

    The centres come from at most 20,000 rows, so that a large pool costs seconds. Raises InputError naming rows that
    are not finite.
    """
    n, d = embedding.shape
    clusters = min(clusters, n)
    if d == 0 or clusters < 2:
        return np.zeros(n, dtype=np.int64)
    check_finite(embedding, "embedding")
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    fit_rows = np.sort(np.random.default_rng(0).permutation(n)[:_FIT_ROWS])
    model = MiniBatchKMeans(clusters, random_state=0, n_init=1, batch_size=2048, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        model.fit(embedding[fit_rows])
    parts = [model.predict(embedding[first : first + _PREDICT_ROWS]) for first in range(0, n, _PREDICT_ROWS)]
    return np.concatenate(parts).astype(np.int64)
