"""A checkpoint's per-question arrays on disk: read by pages without torch, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

SCORES = "scores.parquet"
FEATURES = "features.safetensors"


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


def write_features(folder: Path, question_ids: Sequence[int], parts: Sequence[NDArray[np.float32]]) -> None:
    """``parts`` stack to (n, d), row-aligned with ``question_ids``."""
    features = np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)
    save_file(
        {"question_id": np.asarray(question_ids, np.int64), "features": np.ascontiguousarray(features, np.float32)},
        folder / f".{FEATURES}",
    )
    os.replace(folder / f".{FEATURES}", folder / FEATURES)


def read_features(folder: Path) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(question ids (n,), features (n, d)); both empty when the checkpoint has not been scored."""
    if not (folder / FEATURES).exists():
        return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    stored = load_file(folder / FEATURES)
    return stored["question_id"], stored["features"]
