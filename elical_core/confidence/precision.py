"""Which number format a checkpoint is trained and read in. Decided by a rule, not by a stopwatch, and written down."""

from __future__ import annotations

from typing import Literal

import torch

from elical_core.models import LoadedModel, load_model
from elical_core.models.load import has_fast_bf16

Precision = Literal["fp32", "bf16"]


def resolve_precision(setting: str, loaded: LoadedModel) -> Precision:
    """``auto`` is bf16 for a model held in bf16 on a device that multiplies bf16 natively, else fp32."""
    if setting in ("fp32", "bf16"):
        return "fp32" if setting == "fp32" else "bf16"
    held_in_bf16 = next(loaded.model.parameters()).dtype == torch.bfloat16
    return "bf16" if held_in_bf16 and has_fast_bf16(loaded.device) else "fp32"


def at_precision(loaded: LoadedModel, precision: Precision) -> LoadedModel:
    """``loaded`` itself when its weights have that precision, else the same files loaded again in it.

    Loading again (rather than converting) gives exactly the model that a later ``ConfidenceModel.load`` reads.
    """
    wanted = torch.bfloat16 if precision == "bf16" else torch.float32
    if next(loaded.model.parameters()).dtype == wanted:
        return loaded
    return load_model(loaded.source, device=str(loaded.device), dtype=precision)
