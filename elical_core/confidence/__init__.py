"""The confidence model: LoRA and a head on a frozen language model. torch is loaded only when training or scoring."""

from typing import TYPE_CHECKING, Any

from elical_core.confidence.items import Progress, TrainingItem
from elical_core.confidence.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from elical_core.confidence.model import ConfidenceModel
    from elical_core.confidence.stages import calibrate, elicit

__all__ = ["ConfidenceModel", "Manifest", "Progress", "TrainingItem", "calibrate", "elicit", "read_manifest"]

_HEAVY = {
    "ConfidenceModel": "elical_core.confidence.model",
    "calibrate": "elical_core.confidence.stages",
    "elicit": "elical_core.confidence.stages",
}


def __getattr__(name: str) -> Any:
    """Loads torch only when a name needs it."""
    if name in _HEAVY:
        from importlib import import_module

        return getattr(import_module(_HEAVY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
