"""Confidences and verdicts made by any other tool: rows {confidence, correct[, group]}."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elical_core.errors import ImportRefused

WORDS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "correct": 1.0, "incorrect": 0.0, "yes": 1.0, "no": 0.0}


def read_scored(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.str_] | None]:
    """(confidence (n,), correct (n,) in 0/1, group (n,) or None) of a CSV or JSON Lines file.

    ``correct`` may be 0/1, true/false, yes/no or correct/incorrect. Raises ImportRefused naming the columns found, or
    the first row whose value is not a number or not a verdict; a row is never dropped.
    """
    if not path.is_file():
        raise ImportRefused(f"there is no file {path}; name a CSV or JSON Lines file with confidence and correct")
    lines = path.suffix.lower() in {".jsonl", ".ndjson"}
    try:
        table = (
            pd.read_json(path, lines=True, dtype=False)
            if lines
            else pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        )
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ImportRefused(f"{path.name} cannot be read as {'JSON Lines' if lines else 'CSV'}: {error}") from error
    if missing := [name for name in ("confidence", "correct") if name not in table.columns]:
        found = ", ".join(map(str, table.columns)) or "none"
        raise ImportRefused(f"{path.name} has no column {' and '.join(missing)}; its columns are {found}")
    confidence = _numbers(path, table["confidence"])
    correct = _verdicts(path, table["correct"])
    return confidence, correct, table["group"].astype(str).to_numpy(np.str_) if "group" in table.columns else None


def _numbers(path: Path, column: pd.Series) -> NDArray[np.float64]:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
    _refuse(path, column, np.isfinite(numbers), "confidence must be a number from 0 to 1")
    return numbers


def _verdicts(path: Path, column: pd.Series) -> NDArray[np.float64]:
    words = column.map(lambda value: WORDS.get(str(value).strip().lower().removesuffix(".0"), np.nan))
    verdicts = words.to_numpy(np.float64)
    _refuse(path, column, np.isfinite(verdicts), "correct must be 0/1, true/false, yes/no or correct/incorrect")
    return verdicts


def _refuse(path: Path, column: pd.Series, good: NDArray[np.bool_], rule: str) -> None:
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise ImportRefused(f"{path.name}, row {row + 1}: {rule}, got {column.iloc[row]!r}")
