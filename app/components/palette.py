"""What each colour means, everywhere. Mid-tones, so that one value reads on light and on dark."""

from __future__ import annotations

STAGE_1 = "#8a909b"
INSTANT_HEAD = "#3a86dc"
CALIBRATED = "#e07d22"
TARGET = "#2fa06a"
OTHER = "#a563b8"

_ESTIMATORS = {
    "stage-1": ("Stage 1", STAGE_1),
    "instant-head": ("Instant head", INSTANT_HEAD),
    "calibrated": ("Stage 2 (LoRA)", CALIBRATED),
}


def estimator_name(estimator: str) -> str:
    """The words for an estimator on screen; its own id when it has no other."""
    return _ESTIMATORS.get(estimator, (estimator, OTHER))[0]


def estimator_colour(estimator: str) -> str:
    return _ESTIMATORS.get(estimator, (estimator, OTHER))[1]


def faded(colour: str, opacity: float) -> str:
    """``#rrggbb`` as ``rgba(...)``; opacity in [0, 1]."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
