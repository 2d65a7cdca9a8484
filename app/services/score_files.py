"""A checkpoint's per-question arrays on disk: read by pages without torch, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from elical_core.selection.whitening import Whitening

SCORES = "scores.parquet"
FEATURES = "features.safetensors"
RANK = 64


def write_scores(folder: Path, question_ids: Sequence[int], confidence: Sequence[float]) -> None:
    """``confidence`` in [0, 1], row-aligned with ``question_ids``."""
    table = pa.table(
        {"question_id": pa.array(question_ids, pa.int64()), "confidence": pa.array(confidence, pa.float64())}
    )
    pq.write_table(table, folder / f".{SCORES}")
    os.replace(folder / f".{SCORES}", folder / SCORES)


def read_scores(folder: Path) -> dict[int, float]:
    """Question id -> confidence; empty when the checkpoint has not been scored."""
    if not (folder / SCORES).exists():
        return {}
    table = pq.read_table(folder / SCORES)
    return dict(zip(table["question_id"].to_pylist(), table["confidence"].to_pylist(), strict=True))


def write_features(folder: Path, question_ids: Sequence[int], features: NDArray[np.float32], rank: int = RANK) -> None:
    """``features`` (n, d), row-aligned with ``question_ids``; their ``rank`` strongest whitened components are stored
    beside them, because every refit of the instant head reads those."""
    whitened = Whitening.fit(features, rank).apply(features) if len(features) else np.zeros((0, 0), np.float32)
    arrays = {
        "question_id": np.asarray(question_ids, np.int64),
        "features": np.ascontiguousarray(features, np.float32),
        "whitened": np.ascontiguousarray(whitened, np.float32),
    }
    save_file(arrays, folder / f".{FEATURES}")
    os.replace(folder / f".{FEATURES}", folder / FEATURES)


def read_features(folder: Path, name: str = "features") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(question ids (n,), ``features`` or ``whitened`` (n, d)); both empty when the checkpoint has not been scored."""
    if not (folder / FEATURES).exists():
        return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    with safe_open(folder / FEATURES, framework="numpy") as stored:
        return stored.get_tensor("question_id"), stored.get_tensor(name)
